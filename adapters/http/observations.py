"""The endpoints of observations: where there are any, how one came to be, and clearing them to be made anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, RootModel
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import BankId, Offset
from adapters.http.memory_ids import known_memory
from adapters.http.responses import DeleteResponse, Problem, respond
from adapters.http.times import iso, iso_or_none
from adapters.http.visibility import seen_memory
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_consolidation_reads
from adapters.postgres.memory_consolidation_reads import ObservationVersion, Told
from domain.refusals import FactNotFound

NO_SUCH_MEMORY = {"model": Problem, "description": "No such bank or memory"}
MOST_CHANGES = 50
"""Changes of an observation that are told (the system of reference); older ones stay in the database."""

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}",
    tags=["Observations"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank"}},
)


class ObservationScope(BaseModel):
    tags: list[str]
    count: int


class ObservationScopesResponse(BaseModel):
    scopes: list[ObservationScope]
    total: int
    limit: int
    offset: int


class ClearMemoryObservationsResponse(BaseModel):
    deleted_count: int


class SourceFact(BaseModel):
    """A fact that the change was made for, as it was last told."""

    id: str
    text: str
    type: str
    is_current: bool


class ObservationChange(BaseModel):
    """What an observation was before a change, and what is new with it."""

    version: int
    changed_at: str
    previous_text: str
    new_text: str
    previous_tags: list[str]
    previous_occurred_start: str | None
    previous_occurred_end: str | None
    previous_mentioned_at: str | None
    new_source_memory_ids: list[str]
    source_facts: list[SourceFact]


class ObservationHistory(RootModel[list[ObservationChange]]):
    """Newest first."""


@router.get("/observations/scopes", response_model=ObservationScopesResponse)
async def list_observation_scopes(
    api: Api, bank_id: BankId, limit: Annotated[int, Query(ge=0, le=1000)] = 100, offset: Offset = 0
) -> Response:
    """The sets of tags that there are observations for, with how many; an empty one is of what is untagged."""
    scopes, total = await api.ask(memory_consolidation_reads.scopes_page(bank_id, limit, offset))
    if not total:
        await api.require_bank(bank_id)
    listed = [ObservationScope(tags=tags, count=count) for tags, count in scopes]
    return respond(ObservationScopesResponse(scopes=listed, total=total, limit=limit, offset=offset))


@router.delete("/observations", response_model=DeleteResponse)
async def clear_observations(api: Api, bank_id: BankId) -> Response:
    """Ends all observations; the facts are consolidated anew."""
    count = await api.command(api.service.observations.clear, api.by_user("DELETE observations"), bank_id)
    return respond(DeleteResponse(message=f"{count} observations cleared", deleted_count=count))


@router.delete(
    "/memories/{memory_id}/observations",
    response_model=ClearMemoryObservationsResponse,
    responses={404: NO_SUCH_MEMORY},
)
async def clear_memory_observations(api: Api, bank_id: BankId, memory_id: str) -> Response:
    """Ends the observations that rest on a memory; it and what they rest on beside it are consolidated anew."""
    fact_id = await known_memory(api, bank_id, memory_id)
    by_user = api.by_user("DELETE memory observations")
    count = await api.command(api.service.observations.clear_of, by_user, bank_id, fact_id)
    return respond(ClearMemoryObservationsResponse(deleted_count=count))


@router.get("/memories/{memory_id}/history", response_model=ObservationHistory, responses={404: NO_SUCH_MEMORY})
async def get_observation_history(api: Api, bank_id: BankId, memory_id: str) -> Response:
    """How an observation changed in its last 50 changes, newest first, with the facts that each was made for. A fact is
    no observation: it has no such history."""
    fact_id = await known_memory(api, bank_id, memory_id)
    if api.principal.tags is not None:
        await seen_memory(api, bank_id, fact_id)
    versions = await api.ask(memory_consolidation_reads.versions(bank_id, fact_id, MOST_CHANGES + 1))
    if not versions:
        known = await api.ask(memory_consolidation_reads.told(bank_id, [str(fact_id)]))
        if not known:
            await api.require_bank(bank_id)
            raise FactNotFound(bank_id, memory_id)
    if not all(api.principal.sees(version.tags) for version in versions):
        raise FactNotFound(bank_id, memory_id)
    new = {after.version: _new_sources(before, after) for before, after in pairwise(versions)}
    sources = sorted({source for each in new.values() for source in each})
    facts = await api.ask(memory_consolidation_reads.told(bank_id, sources)) if sources else {}
    facts = {each: told for each, told in facts.items() if api.principal.sees(told.tags)}
    changes = [_change(before, after, new[after.version], facts) for before, after in pairwise(versions)]
    return respond(ObservationHistory(changes[::-1]), keep_nulls=True)


def _new_sources(before: ObservationVersion, after: ObservationVersion) -> list[str]:
    known = set(before.source_ids)
    return [source for source in after.source_ids if source not in known]


def _change(
    before: ObservationVersion, after: ObservationVersion, new: Sequence[str], facts: Mapping[str, Told]
) -> ObservationChange:
    return ObservationChange(
        version=after.version,
        changed_at=iso(after.recorded_at),
        previous_text=before.text,
        new_text=after.text,
        previous_tags=before.tags,
        previous_occurred_start=iso_or_none(before.occurred_start),
        previous_occurred_end=iso_or_none(before.occurred_end),
        previous_mentioned_at=iso_or_none(before.mentioned_at),
        new_source_memory_ids=list(new),
        source_facts=_sources(new, facts),
    )


def _sources(ids: Sequence[str], facts: Mapping[str, Told]) -> list[SourceFact]:
    told = (facts[each] for each in ids if each in facts)
    return [SourceFact(id=each.id, text=each.text, type=each.fact_type, is_current=each.current) for each in told]
