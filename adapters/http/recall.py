"""The endpoint that searches memory."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from adapters.http import ignored
from adapters.http.backend import Api
from adapters.http.fields import BankId
from adapters.http.recall_requests import (
    DEFAULT_CHUNK_TOKENS,
    DEFAULT_MAX_TOKENS,
    IncludeOptions,
    MinScores,
    RecallRequest,
    SourceFactsOption,
)
from adapters.http.recall_responses import RecallResponse, answer_fields, names_of
from adapters.http.responses import Problem, respond_with
from adapters.http.tag_filters import exact
from adapters.http.wire_route import WireRoute
from adapters.postgres import entity_listing
from application import recall
from application.recall import Recalled
from domain.memory import LEAST_SEMANTIC, estimated_tokens
from domain.period import Period
from domain.recall.selection import SourceFactsLimit
from domain.scope import Scope
from domain.usage import total

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/memories",
    tags=["Memory"],
    route_class=WireRoute,
    responses={
        404: {"model": Problem, "description": "No such bank"},
        502: {"model": Problem, "description": "A model gave nothing usable"},
        503: {"model": Problem, "description": "A model or the database cannot serve just now"},
    },
)


@router.post("/recall", response_model=RecallResponse)
async def recall_memories(api: Api, bank_id: BankId, body: RecallRequest) -> Response:
    """Facts near the query in meaning, words, links and time, best first, cut at `max_tokens` of text."""
    asked = _asked(bank_id, body)
    asked = replace(asked, scope=api.principal.narrowed(await exact(api, bank_id, asked.scope)))
    began = time.perf_counter()
    recalled = await api.with_model(api.service.recalls.recall, api.by_user("POST recall"), asked)
    duration_ms = round((time.perf_counter() - began) * 1000, 1)
    if asked.min_reranker is not None and recalled.reranker is None:
        ignored.note({"reranker": asked.min_reranker}, "min_scores.")
    include = body.include or IncludeOptions()
    names = names_of(recalled.facts) if include.entities is not None else []
    ids = await api.ask(entity_listing.ids(names)) if names else {}
    trace = {"trace": _trace(asked, recalled, duration_ms)} if body.trace else {}
    return respond_with(answer_fields(recalled, include, ids) | trace)


def _asked(bank_id: str, body: RecallRequest) -> recall.RecallRequest:
    floors = body.min_scores or MinScores()
    include = body.include or IncludeOptions()
    window = body.temporal_window
    return recall.RecallRequest(
        bank_id=bank_id,
        text=body.query,
        scope=Scope(
            tags=tuple(body.tags or ()),
            tags_match=body.tags_match,
            tag_groups=tuple(body.tag_groups) if body.tag_groups else None,
            fact_types=tuple(body.types) if body.types else None,
        ),
        budget=body.budget or "mid",
        max_tokens=DEFAULT_MAX_TOKENS if body.max_tokens is None else body.max_tokens,
        at=body.query_timestamp,
        period=Period(window.start, window.end) if window else None,
        prefer_observations=body.prefer_observations,
        min_semantic=LEAST_SEMANTIC if floors.semantic is None else floors.semantic,
        min_keyword=floors.keyword or 0.0,
        min_reranker=floors.reranker,
        min_final=floors.final,
        chunk_tokens=None
        if include.chunks is None
        else DEFAULT_CHUNK_TOKENS
        if include.chunks.max_tokens is None
        else include.chunks.max_tokens,
        source_facts=_source_facts(include.source_facts),
    )


def _source_facts(option: SourceFactsOption | None) -> SourceFactsLimit | None:
    return None if option is None else SourceFactsLimit.model_validate(option.model_dump(exclude_none=True))


def _trace(asked: recall.RecallRequest, recalled: Recalled, duration_ms: float) -> dict[str, Any]:
    query, scores = recalled.query, [each.scores for each in recalled.facts]
    period = query.period
    return {
        "query": query.text,
        "budget": asked.budget,
        "limit": query.limit,
        "max_tokens": asked.max_tokens,
        "min_semantic": query.min_semantic,
        "scope": query.scope.model_dump(mode="json", by_alias=True),
        "temporal_window": None if period is None else {"start": period.start, "end": period.end},
        "arms": {
            "semantic": sum(1 for each in scores if each.semantic is not None),
            "keyword": sum(1 for each in scores if each.keyword is not None),
            "graph": sum(1 for each in scores if each.graph is not None),
            "temporal": sum(1 for each in scores if each.temporal is not None),
        },
        "reranker": None if recalled.reranker is None else _reranker(recalled),
        "found": recalled.found,
        "results": len(recalled.facts),
        "result_tokens": sum(estimated_tokens(each.fact.text) for each in recalled.facts),
        "usage": total(recalled.calls).model_dump(),
        "duration_ms": duration_ms,
    }


def _reranker(recalled: Recalled) -> dict[str, str | None]:
    """Why it had no say, when it failed: the order is that of the arms then."""
    return {"model": recalled.reranker, "failure": recalled.reranker_failure}
