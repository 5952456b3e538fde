"""The endpoint that lists tags."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from adapters.http.backend import Api, Backend
from adapters.http.fields import AnyLimit, BankId, Offset
from adapters.http.responses import ListTagsResponse, Problem, TagItem, respond
from adapters.http.visibility import visible_model_tags
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_statistics
from projections import documents

Source = Literal["memories", "mental_models"]
NO_LIMIT = 2**31 - 1

router = APIRouter(prefix="/v1/default/banks/{bank_id}/tags", tags=["Tags"], route_class=WireRoute)


@router.get("", response_model=ListTagsResponse, responses={404: {"model": Problem, "description": "No such bank"}})
async def list_tags(
    api: Api,
    bank_id: BankId,
    q: Annotated[str | None, Query(description="`*` stands for any characters; upper and lower case are one.")] = None,
    source: Source = "memories",
    limit: AnyLimit = 100,
    offset: Offset = 0,
) -> Response:
    """Tags of memories or of mental models with how many bear them, the most frequent first."""
    if api.principal.tags is not None:
        return await _own_tags(api, bank_id, api.principal.tags, q, source, limit, offset)
    tags_page = memory_statistics.tags_page if source == "memories" else documents.tags_page
    counted, total = await api.ask(tags_page(bank_id, _like(q), limit, offset))
    if not total:
        await api.require_bank(bank_id)
    items = [TagItem(tag=tag, count=count) for tag, count in counted]
    return respond(ListTagsResponse(items=items, total=total, limit=limit, offset=offset))


async def _own_tags(
    api: Backend, bank_id: str, own: Sequence[str], q: str | None, source: Source, limit: int, offset: int
) -> Response:
    """The tags that a key is held to, as often as it sees them."""
    await api.require_bank(bank_id)
    if source == "memories":
        everything = await api.ask(memory_statistics.tags_page(bank_id, _like(q), NO_LIMIT, 0))
        counted = [(tag, count) for tag, count in everything[0] if tag in own]
    else:
        like = re.compile(".*".join(map(re.escape, (q or "*").lower().split("*"))), re.DOTALL)
        tags = (tag for tags in (await visible_model_tags(api, bank_id) or {}).values() for tag in tags)
        found = Counter(tag for tag in tags if like.fullmatch(tag.lower()))
        counted = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    items = [TagItem(tag=tag, count=count) for tag, count in counted[offset : offset + limit]]
    return respond(ListTagsResponse(items=items, total=len(counted), limit=limit, offset=offset))


def _like(pattern: str | None) -> str | None:
    """A wildcard pattern as one of SQL's LIKE; nothing asked, nothing filtered."""
    if not pattern:
        return None
    for special in ("\\", "%", "_"):
        pattern = pattern.replace(special, f"\\{special}")
    return pattern.replace("*", "%").lower()
