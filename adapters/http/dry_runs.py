"""The endpoint of the dry run: what a refresh would do now, told and not recorded."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.dry_run_responses import (
    DryRunRefreshResult,
    FactCounts,
    RefreshScope,
    RefreshTrace,
    RefreshWindowTimes,
)
from adapters.http.fields import BankId
from adapters.http.recall_responses import recall_result
from adapters.http.reflect import output_of
from adapters.http.responses import Problem, respond
from adapters.http.times import iso, iso_or_none
from adapters.http.visibility import require_model
from adapters.http.wire_route import WireRoute
from application.dry_run import Preview
from application.text_diff import unified_diff
from domain.mental_model.record import RefreshRecord, RefreshWindow, ResolvedScope
from domain.usage import total
from projections import reflect_response
from projections.refresh_trace import trace_of

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/mental-models/{mental_model_id}",
    tags=["Mental Models"],
    route_class=WireRoute,
    responses={
        404: {"model": Problem, "description": "No such bank or mental model"},
        502: {"model": Problem, "description": "The refresh would fail, and why: no answer, or nothing usable"},
        503: {"model": Problem, "description": "A model, the memory or the database cannot serve just now"},
    },
)


@router.post("/dry-run-refresh", response_model=DryRunRefreshResult)
async def dry_run_refresh_mental_model(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """Reads and asks what a refresh would, tells what would come of it, and writes nothing. It costs what a refresh
    costs."""
    context = api.by_user("POST dry-run-refresh")
    await require_model(api, bank_id, mental_model_id)
    preview = await api.with_model(api.service.dry_runs.refresh, context, bank_id, mental_model_id)
    return respond(await api.command(_result, preview))


def _result(preview: Preview) -> DryRunRefreshResult:
    model, record = preview.model, preview.outcome.record
    current = model.content.strip()
    trace = _trace(preview)
    return DryRunRefreshResult(
        mental_model_id=model.mental_model_id,
        name=model.name,
        requested_mode=record.requested_mode,
        effective_mode=record.effective_mode,
        mode_fallback_reason=record.mode_fallback_reason,
        outcome=trace.outcome,
        would_persist=preview.would_persist,
        scope=_scope(record.scope),
        window=_window(record.window),
        facts=_counts(record),
        based_on=_based_on(preview),
        current_content=current,
        candidate_content=record.candidate,
        preview_content=preview.content if preview.content != model.content else current,
        diff=unified_diff(_lines(model.content), _lines(preview.content), names=("current", "preview")),
        delta_operations=trace.delta_operations,
        retraction=trace.retraction,
        trace=trace,
        usage=total(record.calls),
        duration_ms=record.duration_ms,
        warnings=list(record.warnings),
    )


def _lines(content: str) -> str:
    """What is compared: a line feed more or less at the end is no difference that a preview has to show."""
    stripped = content.strip()
    return f"{stripped}\n" if stripped else ""


def _scope(resolved: ResolvedScope) -> RefreshScope:
    scope = resolved.scope
    return RefreshScope(
        tags=list(scope.tags) if scope.tags or scope.tags_match == "exact" else None,
        tags_match=scope.tags_match,
        tag_groups=None if scope.tag_groups is None else list(scope.tag_groups),
        fact_types=None if scope.fact_types is None else list(scope.fact_types),
        exclude_mental_models=resolved.exclude_mental_models,
        exclude_mental_model_ids=list(resolved.exclude_mental_model_ids),
    )


def _window(window: RefreshWindow) -> RefreshWindowTimes:
    return RefreshWindowTimes(
        created_after=iso_or_none(window.created_after),
        created_before=iso(window.created_before),
        watermark=iso_or_none(window.watermark),
    )


def _counts(record: RefreshRecord) -> FactCounts:
    return FactCounts(
        retrieved={each.fact_type: each.count for each in record.retrieved},
        used=dict(Counter(each.fact_type for each in record.evidence)),
    )


def _based_on(preview: Preview) -> dict[str, Any]:
    """As a real refresh would leave it: folded from the events as they would be."""
    events = preview.events_with_outcome
    told = reflect_response.as_of(events[-1].version, events)
    return {} if told is None else told["based_on"]


def _trace(preview: Preview) -> RefreshTrace:
    trace = trace_of(preview.outcome, None)
    for call, result in zip(trace["tool_calls"], preview.outputs, strict=True):
        call["output"] = {**output_of(result), "memories": [recall_result(each).model_dump() for each in result.facts]}
    return RefreshTrace.model_validate(trace)
