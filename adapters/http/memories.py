"""The endpoint that fills memory."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import Response

from adapters.http import ignored
from adapters.http.backend import Api, Backend
from adapters.http.fields import BankId
from adapters.http.requests import RetainRequest
from adapters.http.responses import (
    Problem,
    RetainResponse,
    respond,
)
from adapters.http.retained_items import item_of
from adapters.http.visibility import require_writable_items
from adapters.http.wire_route import WireRoute
from domain.event import Context
from domain.memory import RetainItem
from domain.usage import total

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/memories",
    tags=["Memory"],
    route_class=WireRoute,
    responses={
        409: {"model": Problem, "description": "Another request has the operation id, or a text is not stored"},
        502: {"model": Problem, "description": "A model gave nothing usable"},
        503: {"model": Problem, "description": "A model or the database cannot serve just now"},
    },
)


@router.post("", response_model=RetainResponse)
async def retain_memories(api: Api, bank_id: BankId, body: RetainRequest) -> Response:
    """Reads facts out of the items and keeps them, all or none; an error names the item that could not be read. With
    `async` they are read in the background, many in batches, of which each is an operation and is retried on its own.
    Creates the bank when there is none."""
    context = api.by_user("POST memories")
    items = [item_of(each, body.document_tags or [], context.now) for each in body.items]
    await require_writable_items(api, bank_id, items)
    if body.run_async:
        return await _retain_later(api, context, bank_id, items, body)
    if body.operation_id is not None:
        ignored.note({"operation_id": body.operation_id})
    retained = await api.with_model(api.service.memories.retain, context, bank_id, items)
    return respond(
        RetainResponse(bank_id=bank_id, items_count=len(items), run_async=False, usage=total(retained.calls))
    )


async def _retain_later(
    api: Backend, context: Context, bank_id: str, items: Sequence[RetainItem], body: RetainRequest
) -> Response:
    operation_id = await api.command(api.service.memories.retain_later, context, bank_id, items, body.operation_id)
    return respond(
        RetainResponse(
            bank_id=bank_id,
            items_count=len(items),
            run_async=True,
            operation_id=str(operation_id),
            operation_ids=[str(operation_id)],
        )
    )
