"""The endpoints of banks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from adapters.http import errors
from adapters.http.backend import Api, Backend
from adapters.http.fields import AnyLimit, BankId, Offset
from adapters.http.requests import BankRequest
from adapters.http.responses import (
    BankListItem,
    BankListResponse,
    BankProfileResponse,
    BankStatsResponse,
    DeleteResponse,
    Disposition,
    Problem,
    respond,
)
from adapters.http.times import iso, iso_or_none
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_statistics
from domain import bank
from projections import banks, operations
from projections.banks import BankRow

router = APIRouter(prefix="/v1/default/banks", tags=["Banks"], route_class=WireRoute)

NO_SUCH_BANK = {"model": Problem, "description": "No such bank"}


@router.get("", response_model=BankListResponse)
async def list_banks(
    api: Api,
    q: Annotated[str | None, Query(description="Part of the id or the name; upper and lower case are one.")] = None,
    limit: AnyLimit = 100,
    offset: Offset = 0,
) -> Response:
    """The banks there are, by id."""
    rows, total = await api.ask(banks.page(q or None, limit, offset))
    memories = await api.ask(memory_statistics.of_banks([row.bank_id for row in rows]))
    items = [_list_item(row, memories.get(row.bank_id, memory_statistics.NOTHING)) for row in rows]
    return respond(BankListResponse(banks=items, total=total, limit=limit, offset=offset))


@router.put("/{bank_id}", response_model=BankProfileResponse)
async def create_or_update_bank(api: Api, bank_id: BankId, body: BankRequest) -> Response:
    """Creates a bank, or changes what is given of one."""
    return await _put(api, bank_id, body, "PUT bank")


@router.patch("/{bank_id}", response_model=BankProfileResponse, responses={404: NO_SUCH_BANK})
async def update_bank(api: Api, bank_id: BankId, body: BankRequest) -> Response:
    """Changes what is given of a bank that is there."""
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
    await api.require_bank(bank_id)
    body = BankStatsResponse(
        bank_id=bank_id,
        total_nodes=memory.facts,
        total_documents=memory.documents,
        nodes_by_fact_type=memory.facts_by_type,
        pending_operations=by_status.get("pending", 0) + by_status.get("processing", 0),
        failed_operations=by_status.get("failed", 0),
        operations_by_status=by_status,
        last_memory_write_at=iso_or_none(memory.written_at),
        total_observations=memory.facts_by_type.get("observation", 0),
    )
    return respond(body)


async def _put(api: Backend, bank_id: str, body: BankRequest, cause: str) -> Response:
    """Traits that are not given stay as they are."""
    stored = await api.command(
        api.service.banks.put,
        api.by_user(cause),
        bank_id,
        body.name,
        bank.Missions(
            reflect=body.chosen_reflect_mission(),
            retain=body.retain_mission,
            observations=body.observations_mission,
        ),
        body.traits(),
    )
    return respond(
        BankProfileResponse(
            bank_id=stored.bank_id,
            name=stored.name,
            disposition=Disposition(**stored.disposition.model_dump()),
            mission=stored.missions.reflect or "",
            retain_mission=stored.missions.retain,
            observations_mission=stored.missions.observations,
        )
    )


def _list_item(row: BankRow, memory: memory_statistics.MemorySize) -> BankListItem:
    return BankListItem(
        bank_id=row.bank_id,
        name=row.name,
        disposition=Disposition(**row.disposition),
        mission=row.missions.get("reflect"),
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
        fact_count=memory.facts,
        last_document_at=iso_or_none(memory.document_at),
        last_write_at=iso_or_none(memory.written_at),
    )
