"""The endpoints that fill and search memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from adapters.http import ignored
from adapters.http.backend import Api, Backend
from adapters.http.fields import BankId
from adapters.http.memory_wire import recall_result
from adapters.http.requests import MemoryItem, RecallRequest, RetainRequest
from adapters.http.responses import (
    Problem,
    RecallResponse,
    RetainResponse,
    respond,
)
from adapters.http.wire_route import WireRoute
from application.memories import Recalled
from domain.event import Context
from domain.memory import FACTS_OF_BUDGET, RecalledFact, RecallQuery, RetainItem, estimated_tokens
from domain.scope import Scope
from domain.usage import total

"""Facts a recall finds at most, before its token limit cuts them."""
DEFAULT_MAX_TOKENS = 4096

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/memories",
    tags=["Memory"],
    route_class=WireRoute,
    responses={
        502: {"model": Problem, "description": "A model gave nothing usable"},
        503: {"model": Problem, "description": "A model or the database cannot serve just now"},
    },
)


@router.post("", response_model=RetainResponse)
async def retain_memories(api: Api, bank_id: BankId, body: RetainRequest) -> Response:
    """Reads facts out of the items and keeps them, all or none. Creates the bank when there is none."""
    context = api.by_user("POST memories")
    items = [_item(each, body.document_tags or [], context) for each in body.items]
    if body.run_async:
        return await _retain_later(api, context, bank_id, items, body)
    if body.operation_id is not None:
        ignored.note({"operation_id": body.operation_id})
    retained = await api.with_model(api.service.memories.retain, context, bank_id, items)
    return respond(
        RetainResponse(bank_id=bank_id, items_count=len(items), run_async=False, usage=total(retained.calls))
    )


@router.post(
    "/recall", response_model=RecallResponse, responses={404: {"model": Problem, "description": "No such bank"}}
)
async def recall_memories(api: Api, bank_id: BankId, body: RecallRequest) -> Response:
    """Facts near the query in meaning or in words, best first, cut at `max_tokens` of text."""
    await api.require_bank(bank_id)
    query = _query(bank_id, body)
    began = time.perf_counter()
    recalled = await api.with_model(api.service.memories.recall, query)
    duration_ms = round((time.perf_counter() - began) * 1000, 1)
    floor = body.min_scores.final if body.min_scores else None
    found = [each for each in recalled.facts if floor is None or each.scores.final >= floor]
    include = body.include
    answer = RecallResponse(
        results=[recall_result(each) for each in found],
        entities={} if include is None or include.entities is not None else None,
        chunks={} if include is not None and include.chunks is not None else None,
        source_facts={} if include is not None and include.source_facts is not None else None,
        trace=_trace(query, body, recalled, found, duration_ms) if body.trace else None,
    )
    return respond(answer)


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


def _item(given: MemoryItem, document_tags: Sequence[str], context: Context) -> RetainItem:
    """The item with what was not given filled in: no timestamp is now."""
    return RetainItem(
        content=given.content,
        context=given.context,
        timestamp=context.now if given.timestamp is None else None if given.timestamp == "unset" else given.timestamp,
        document_id=given.document_id,
        tags=tuple(dict.fromkeys([*(given.tags or ()), *document_tags])),
        metadata=tuple((given.metadata or {}).items()),
        entities=tuple(dict.fromkeys(entity.text for entity in given.entities or ())),
        update_mode=given.update_mode or "replace",
    )


def _query(bank_id: str, body: RecallRequest) -> RecallQuery:
    chosen: dict[str, Any] = {}
    if body.min_scores is not None and body.min_scores.semantic is not None:
        chosen["min_semantic"] = body.min_scores.semantic
    return RecallQuery(
        bank_id=bank_id,
        text=body.query,
        scope=Scope(
            tags=tuple(body.tags or ()),
            tags_match=body.tags_match,
            tag_groups=tuple(body.tag_groups) if body.tag_groups else None,
            fact_types=tuple(body.types) if body.types else None,
        ),
        limit=FACTS_OF_BUDGET[body.budget or "mid"],
        max_tokens=DEFAULT_MAX_TOKENS if body.max_tokens is None else body.max_tokens,
        **chosen,
    )


def _trace(
    query: RecallQuery, body: RecallRequest, recalled: Recalled, found: Sequence[RecalledFact], duration_ms: float
) -> dict[str, Any]:
    return {
        "query": query.text,
        "budget": body.budget or "mid",
        "limit": query.limit,
        "max_tokens": query.max_tokens,
        "min_semantic": query.min_semantic,
        "scope": query.scope.model_dump(mode="json", by_alias=True),
        "results": len(found),
        "dropped_by_min_scores": len(recalled.facts) - len(found),
        "found_by_meaning": sum(1 for each in found if each.scores.semantic is not None),
        "found_by_word": sum(1 for each in found if each.scores.keyword is not None),
        "result_tokens": sum(estimated_tokens(each.fact.text) for each in found),
        "usage": total(recalled.calls).model_dump(),
        "duration_ms": duration_ms,
    }
