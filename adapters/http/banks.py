"""The endpoints of banks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from adapters.http import errors
from adapters.http.backend import Api, Backend
from adapters.http.bank_requests import BankRequest
from adapters.http.bank_responses import BankListItem, BankListResponse, BankProfileResponse, Disposition
from adapters.http.fields import AnyLimit, BankId, Offset
from adapters.http.responses import BankStatsResponse, DeleteResponse, Problem, respond
from adapters.http.times import iso, iso_or_none
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_consolidation_reads, memory_statistics
from domain.bank.values import NEUTRAL
from domain.bank_config import BankConfig
from domain.bank_config_changes import changes_of
from projections import banks, operations
from projections.banks import BankRow

router = APIRouter(prefix="/v1/default/banks", tags=["Banks"], route_class=WireRoute)

NO_SUCH_BANK = {"model": Problem, "description": "No such bank"}
NOT_ACCEPTED = {"model": Problem, "description": "A key or value that is not accepted"}


@router.get("", response_model=BankListResponse)
async def list_banks(
    api: Api,
    q: Annotated[str | None, Query(description="Part of the id or the name; upper and lower case are one.")] = None,
    limit: AnyLimit = 100,
    offset: Offset = 0,
) -> Response:
    """The banks there are, by id."""
    own = api.principal.banks
    rows, total = await api.ask(banks.page(q or None, limit, offset, None if own is None else sorted(own)))
    if api.principal.tags is not None:
        names = [_name_of(row) for row in rows]
        return respond(BankListResponse(banks=names, total=total, limit=limit, offset=offset))
    memories = await api.ask(memory_statistics.of_banks([row.bank_id for row in rows]))
    defaults = api.service.settings.bank_defaults
    items = [_list_item(row, memories.get(row.bank_id, memory_statistics.NOTHING), defaults) for row in rows]
    return respond(BankListResponse(banks=items, total=total, limit=limit, offset=offset))


@router.put("/{bank_id}", response_model=BankProfileResponse, responses={400: NOT_ACCEPTED})
async def create_or_update_bank(api: Api, bank_id: BankId, body: BankRequest) -> Response:
    """Creates a bank, or changes what is given of one."""
    return await _put(api, bank_id, body, "PUT bank")


@router.patch("/{bank_id}", response_model=BankProfileResponse, responses={400: NOT_ACCEPTED, 404: NO_SUCH_BANK})
async def update_bank(api: Api, bank_id: BankId, body: BankRequest) -> Response:
    """Changes what is given of a bank that is there: only PUT creates one."""
    await api.require_bank(bank_id)
    if body.asks_nothing():
        raise errors.unprocessable(
            ("body",), "The request changes nothing: give a name, a mission or a disposition", "nothing_to_change"
        )
    return await _put(api, bank_id, body, "PATCH bank")


@router.delete("/{bank_id}", response_model=DeleteResponse, responses={404: NO_SUCH_BANK})
async def delete_bank(api: Api, bank_id: BankId) -> Response:
    """Deletes a bank with its memory and its mental models."""
    erased = await api.command(api.service.banks.delete, api.by_user("DELETE bank"), bank_id)
    message = f"Bank '{bank_id}' and all associated data deleted successfully"
    return respond(DeleteResponse(message=message, deleted_count=erased))


@router.get("/{bank_id}/stats", response_model=BankStatsResponse, responses={404: NO_SUCH_BANK})
async def get_agent_stats(
    api: Api,
    bank_id: BankId,
    refresh: bool = False,  # noqa: ARG001 - part of the contract; nothing is cached here
) -> Response:
    """What a bank holds, and its operations by status."""
    memory = await api.ask(memory_statistics.of_bank(bank_id))
    by_status = await api.ask(operations.counts(bank_id))
    consolidation = await api.ask(memory_consolidation_reads.of_bank(bank_id))
    causal = await api.ask(memory_statistics.causal_links(bank_id))
    await api.require_bank(bank_id)
    body = BankStatsResponse(
        bank_id=bank_id,
        total_nodes=memory.facts,
        total_links=sum(causal.values()),
        links_by_link_type={"causal": sum(causal.values())} if causal else {},
        links_by_fact_type=causal,
        links_breakdown={fact_type: {"causal": links} for fact_type, links in causal.items()},
        total_documents=memory.documents,
        nodes_by_fact_type=memory.facts_by_type,
        pending_operations=by_status.get("pending", 0) + by_status.get("processing", 0),
        failed_operations=by_status.get("failed", 0),
        operations_by_status=by_status,
        last_consolidated_at=iso_or_none(consolidation.last_at),
        last_memory_write_at=iso_or_none(memory.written_at),
        pending_consolidation=consolidation.pending,
        failed_consolidation=consolidation.failed,
        total_observations=memory.facts_by_type.get("observation", 0),
    )
    return respond(body)


async def _put(api: Backend, bank_id: str, body: BankRequest, cause: str) -> Response:
    changes = changes_of(body.settings())
    stored = await api.command(api.service.banks.put, api.by_user(cause), bank_id, body.name, changes)
    config = api.service.banks.resolved(stored)
    return respond(
        BankProfileResponse(
            bank_id=stored.bank_id,
            name=stored.name,
            disposition=_disposition(config),
            mission=config.reflect_mission or "",
            retain_mission=config.retain_mission,
            observations_mission=config.observations_mission,
        )
    )


def _disposition(config: BankConfig) -> Disposition:
    return Disposition(
        skepticism=config.disposition_skepticism or NEUTRAL,
        literalism=config.disposition_literalism or NEUTRAL,
        empathy=config.disposition_empathy or NEUTRAL,
    )


def _name_of(row: BankRow) -> BankListItem:
    """What a key that is held to tags is told of a bank: that it is there."""
    return BankListItem(
        bank_id=row.bank_id,
        name=row.name,
        disposition=_disposition(BankConfig()),
        mission=None,
        created_at=iso(row.created_at),
        updated_at=iso(row.created_at),
        fact_count=0,
        last_document_at=None,
        last_write_at=None,
    )


def _list_item(row: BankRow, memory: memory_statistics.MemorySize, defaults: BankConfig) -> BankListItem:
    config = row.config.over(defaults)
    return BankListItem(
        bank_id=row.bank_id,
        name=row.name,
        disposition=_disposition(config),
        mission=config.reflect_mission,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        fact_count=memory.facts,
        last_document_at=iso_or_none(memory.document_at),
        last_write_at=iso_or_none(memory.written_at),
    )
