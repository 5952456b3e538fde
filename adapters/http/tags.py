"""The endpoint that lists tags."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import AnyLimit, BankId, Offset
from adapters.http.responses import ListTagsResponse, Problem, TagItem, respond
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_statistics
from projections import documents

router = APIRouter(prefix="/v1/default/banks/{bank_id}/tags", tags=["Tags"], route_class=WireRoute)


@router.get("", response_model=ListTagsResponse, responses={404: {"model": Problem, "description": "No such bank"}})
async def list_tags(
    api: Api,
    bank_id: BankId,
    q: Annotated[str | None, Query(description="`*` stands for any characters; upper and lower case are one.")] = None,
    source: Literal["memories", "mental_models"] = "memories",
    limit: AnyLimit = 100,
    offset: Offset = 0,
) -> Response:
    """Tags of memories or of mental models with how many bear them, the most frequent first."""
    tags_page = memory_statistics.tags_page if source == "memories" else documents.tags_page
    counted, total = await api.ask(tags_page(bank_id, _like(q), limit, offset))
    if not total:
        await api.require_bank(bank_id)
    items = [TagItem(tag=tag, count=count) for tag, count in counted]
    return respond(ListTagsResponse(items=items, total=total, limit=limit, offset=offset))


def _like(pattern: str | None) -> str | None:
    """A wildcard pattern as one of SQL's LIKE; nothing asked, nothing filtered."""
    if not pattern:
        return None
    for special in ("\\", "%", "_"):
        pattern = pattern.replace(special, f"\\{special}")
    return pattern.replace("*", "%").lower()
