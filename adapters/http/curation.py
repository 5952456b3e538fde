"""The endpoints of single memories: browse, read, correct, set aside, delete."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BeforeValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from adapters.http import errors
from adapters.http.backend import Api
from adapters.http.fields import (
    CONTEXT_LENGTH,
    ENTITIES_AT_MOST,
    AnyLimit,
    BankId,
    Entity,
    Offset,
    TagFilter,
    moment,
    not_blank,
)
from adapters.http.memory_ids import known_memory
from adapters.http.memory_responses import (
    ListMemoryUnitsResponse,
    MemoryUnitDetail,
    memory_unit,
    memory_unit_detail,
)
from adapters.http.requests import Body, example
from adapters.http.responses import DeleteResponse, Problem, respond
from adapters.http.tag_filters import scope_of
from adapters.http.visibility import require_writable_memory, seen_memory
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_listing
from adapters.postgres.memory_listing import ConsolidationState, FactFilter, State, TimeField
from application.curation import Asked
from domain.curation import FactEdit
from domain.refusals import FactNotFound
from domain.scope import FactType, TagsMatch

router = APIRouter(prefix="/v1/default/banks/{bank_id}/memories", tags=["Memory"], route_class=WireRoute)

NO_SUCH_MEMORY = {"model": Problem, "description": "No such bank or memory"}
TEXT_LENGTH = 20_000


ClearableTime = Annotated[datetime, BeforeValidator(moment)] | Literal[""] | None
Part = Annotated[str | None, Query(description="Part of the text or the context, in any case.")]
AskedTime = Annotated[
    TimeField | None,
    Query(description="What dates and order are of; memories without it are left out. With dates alone: created_at."),
]
When = Annotated[datetime | None, BeforeValidator(moment), Query()]


class UpdateMemoryRequest(Body):
    """Null is as a field that is absent."""

    model_config = example(text="The team talks in two channels.", occurred_end="")

    text: Annotated[str, Field(max_length=TEXT_LENGTH), AfterValidator(not_blank)] | None = None
    context: Annotated[str, Field(max_length=CONTEXT_LENGTH)] | None = Field(default=None, description="'' clears it.")
    occurred_start: ClearableTime = Field(default=None, description="'' clears it.")
    occurred_end: ClearableTime = Field(default=None, description="'' clears it.")
    mentioned_at: ClearableTime = Field(default=None, description="'' clears it.")
    fact_type: Literal["world", "experience"] | None = None
    entities: Annotated[list[Entity], Field(max_length=ENTITIES_AT_MOST)] | None = Field(
        default=None, description="Replace those it has; [] takes all away."
    )
    resolve_entities: bool | None = Field(
        default=True, description="Whether names are matched with those the bank knows, also in nearly their spelling."
    )
    state: Literal["valid", "invalidated"] | None = None
    reason: Annotated[str, Field(max_length=CONTEXT_LENGTH)] | None = None

    def asked(self) -> Asked:
        given = {name: value for name in FactEdit.model_fields if (value := getattr(self, name)) is not None}
        changes = {name: None if value == "" else value for name, value in given.items()}
        edit = FactEdit.model_validate(changes)
        return Asked(edit, self.state, self.reason, self.resolve_entities is not False)


@router.get("/list", response_model=ListMemoryUnitsResponse, responses={404: NO_SUCH_MEMORY})
async def list_memories(
    api: Api,
    bank_id: BankId,
    type: FactType | None = None,
    q: Part = None,
    consolidation_state: ConsolidationState | None = None,
    state: State = "valid",
    document_id: str | None = None,
    entity_id: UUID | None = None,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any",
    time_field: AskedTime = None,
    start_date: When = None,
    end_date: When = None,
    limit: AnyLimit = 100,
    offset: Offset = 0,
) -> Response:
    """Memories of a bank, the latest first."""
    chosen = FactFilter(
        scope=api.principal.narrowed(scope_of(tags, tags_match, fact_types=[type] if type else None)),
        state=state,
        text=q or None,
        consolidation=consolidation_state,
        document_id=document_id,
        entity_id=entity_id,
        time_field=time_field,
        start=start_date,
        end=end_date,
    )
    listed, total = await api.ask(memory_listing.page(bank_id, chosen, limit, offset))
    if not total:
        await api.require_bank(bank_id)
    body = ListMemoryUnitsResponse(
        items=[memory_unit(each) for each in listed], total=total, limit=limit, offset=offset
    )
    return respond(body)


@router.get("/{memory_id}", response_model=MemoryUnitDetail, responses={404: NO_SUCH_MEMORY})
async def get_memory(api: Api, bank_id: BankId, memory_id: str) -> Response:
    """A memory, current or set aside."""
    fact_id = await known_memory(api, bank_id, memory_id)
    return respond(memory_unit_detail(await seen_memory(api, bank_id, fact_id)))


@router.patch(
    "/{memory_id}",
    response_model=MemoryUnitDetail,
    responses={
        400: {"model": Problem, "description": "An observation: it is made of facts"},
        404: NO_SUCH_MEMORY,
        409: {"model": Problem, "description": "It is set aside: restore it to edit it"},
    },
)
async def update_memory(api: Api, bank_id: BankId, memory_id: str, body: UpdateMemoryRequest) -> Response:
    """Corrects a fact, sets it aside, or restores it. What was observed of it is made anew."""
    fact_id = await known_memory(api, bank_id, memory_id)
    await require_writable_memory(api, bank_id, fact_id)
    await api.with_model(
        api.service.curation.curate,
        api.by_user("PATCH memory"),
        bank_id,
        fact_id,
        body.asked(),
    )
    listed = await api.ask(memory_listing.find(bank_id, fact_id))
    if listed is None:  # deleted since
        raise FactNotFound(bank_id, memory_id)
    return respond(memory_unit_detail(listed))


@router.delete("/{memory_id}", response_model=DeleteResponse, responses={404: NO_SUCH_MEMORY})
async def delete_memory(api: Api, bank_id: BankId, memory_id: str) -> Response:
    """Deletes one memory for good (not in the contract)."""
    fact_id = await known_memory(api, bank_id, memory_id)
    await require_writable_memory(api, bank_id, fact_id)
    erased = await api.command(api.service.curation.delete_fact, api.by_user("DELETE memory"), bank_id, fact_id)
    return respond(DeleteResponse(message=f"Memory '{memory_id}' deleted", deleted_count=erased.facts))


FILTERS = frozenset({"type", "tags", "tags_match"})


@router.delete("", response_model=DeleteResponse, responses={404: NO_SUCH_MEMORY})
async def clear_bank_memories(
    api: Api,
    request: Request,
    bank_id: BankId,
    type: FactType | None = None,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any_strict",
) -> Response:
    """Deletes the memories of a bank for good: all, those of a type, or those with tags (not in the contract). A filter
    that is not known is refused, for without it more would be deleted than was meant."""
    if unknown := sorted(set(request.query_params) - FILTERS):
        known = ", ".join(sorted(FILTERS))
        raise errors.unprocessable(("query", unknown[0]), f"no such filter; nothing was deleted. There are {known}")
    scope = scope_of(tags, tags_match, fact_types=[type] if type else None)
    erased = await api.command(api.service.curation.delete_facts, api.by_user("DELETE memories"), bank_id, scope)
    return respond(DeleteResponse(message=f"{erased.facts} memories deleted", deleted_count=erased.facts))
