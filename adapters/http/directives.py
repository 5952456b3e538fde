"""The endpoints of directives: hard rules for what a bank answers."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from starlette.responses import Response

from adapters.http import errors
from adapters.http.backend import Api, Backend
from adapters.http.bank_requests import CreateDirectiveRequest, UpdateDirectiveRequest
from adapters.http.bank_responses import DirectiveListResponse, DirectiveResponse
from adapters.http.fields import BankId, Offset, TagFilter
from adapters.http.responses import Deleted, Problem, respond
from adapters.http.times import iso
from adapters.http.wire_route import WireRoute
from domain.refusals import DirectiveNotFound
from projections import directives
from projections.directives import DirectiveRow, ListMatch

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/directives",
    tags=["Directives"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank or directive"}},
)


@router.get("", response_model=DirectiveListResponse)
async def list_directives(
    api: Api,
    bank_id: BankId,
    tags: TagFilter = None,
    tags_match: ListMatch = "any",
    active_only: bool = True,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Offset = 0,
) -> Response:
    """Directives of a bank, the one that is told first in front. With `tags`, untagged ones are listed all the same."""
    asked = directives.page(
        bank_id, tags=tags or (), match=tags_match, active_only=active_only, limit=limit, offset=offset
    )
    rows, total = await api.ask(asked)
    if not total:
        await api.require_bank(bank_id)
    items = [_wire(bank_id, row) for row in rows]
    return respond(DirectiveListResponse(items=items, total=total, limit=limit, offset=offset))


@router.post("", response_model=DirectiveResponse)
async def create_directive(api: Api, bank_id: BankId, body: CreateDirectiveRequest) -> Response:
    """Adds a directive. Creates the bank when there is none."""
    directive_id = await api.command(
        api.service.directives.add, api.by_user("POST directive"), bank_id, body.name, body.content, body.changes()
    )
    return await _one(api, bank_id, directive_id)


@router.get("/{directive_id}", response_model=DirectiveResponse)
async def get_directive(api: Api, bank_id: BankId, directive_id: UUID) -> Response:
    """One directive."""
    return await _one(api, bank_id, directive_id)


@router.patch("/{directive_id}", response_model=DirectiveResponse)
async def update_directive(api: Api, bank_id: BankId, directive_id: UUID, body: UpdateDirectiveRequest) -> Response:
    """Changes what is given; null is as absent, and `tags: []` makes it one for all answers."""
    changes = body.changes()
    if not changes:
        told = "The request changes nothing: give at least one of name, content, priority, is_active, tags"
        raise errors.unprocessable(("body",), told, "nothing_to_change")
    by = api.by_user("PATCH directive")
    await api.command(api.service.directives.change, by, bank_id, directive_id, changes)
    return await _one(api, bank_id, directive_id)


@router.delete("/{directive_id}", response_model=Deleted)
async def delete_directive(api: Api, bank_id: BankId, directive_id: UUID) -> Response:
    """Removes it."""
    await api.command(api.service.directives.remove, api.by_user("DELETE directive"), bank_id, directive_id)
    return respond(Deleted())


async def _one(api: Backend, bank_id: str, directive_id: UUID) -> Response:
    row = await api.ask(directives.find(bank_id, directive_id))
    if row is None:
        await api.require_bank(bank_id)
        raise DirectiveNotFound(bank_id, str(directive_id))
    return respond(_wire(bank_id, row))


def _wire(bank_id: str, row: DirectiveRow) -> DirectiveResponse:
    return DirectiveResponse(
        id=str(row.directive_id),
        bank_id=bank_id,
        name=row.name,
        content=row.content,
        priority=row.priority,
        is_active=row.is_active,
        tags=row.tags,
        created_at=iso(row.created_at),
        updated_at=iso(row.updated_at),
    )
