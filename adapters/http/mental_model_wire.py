"""Mental models, their history and their events as responses."""

from __future__ import annotations

from typing import Any

from adapters.http.responses import EventResponse, HistoryEntry, MentalModelResponse
from adapters.http.times import iso, iso_or_none
from domain.event import Recorded
from domain.mental_model.state import MentalModel
from projections import history, reflect_response
from projections.documents import Detail, DocumentRow
from projections.staleness import Staleness
from projections.timeline import TimelineEntry


def of_row(row: DocumentRow, staleness: Staleness | None = None) -> MentalModelResponse:
    return MentalModelResponse(
        id=row.mental_model_id,
        bank_id=row.bank_id,
        name=row.name,
        tags=row.tags,
        version=row.version,
        created_at=iso(row.created_at),
        last_refreshed_at=iso(row.last_refreshed_at),
        last_memory_seen_at=iso_or_none(row.last_memory_seen_at),
        last_refresh_failed_at=iso_or_none(row.last_refresh_failed_at),
        last_full_refreshed_at=iso_or_none(row.last_full_refreshed_at),
        is_stale=staleness.is_stale if staleness else None,
        stale_reasons=list(staleness.reasons) if staleness and staleness.reasons else None,
        source_query=row.source_query,
        max_tokens=row.max_tokens,
        trigger=_without_nulls(row.trigger),
        content=row.content,
        reflect_response=row.reflect_response,
    )


def as_it_was(model: MentalModel, version: int, events: list[Recorded], detail: Detail) -> MentalModelResponse:
    """A mental model at a version of its stream; `events` are all of them. What is stale now says nothing of then."""
    more: dict[str, Any] = {}
    if detail != "metadata":
        more |= {
            "source_query": model.source_query,
            "max_tokens": model.max_tokens,
            "trigger": _without_nulls(model.trigger.model_dump(mode="json", by_alias=True)),
            "content": model.content,
        }
    if detail == "full":
        more["reflect_response"] = reflect_response.as_of(version, events)
    return MentalModelResponse(
        id=model.mental_model_id,
        bank_id=model.bank_id,
        name=model.name,
        tags=list(model.tags),
        version=version,
        created_at=iso(model.created_at),
        last_refreshed_at=iso(model.last_refreshed_at),
        last_memory_seen_at=iso_or_none(model.last_memory_seen_at),
        last_refresh_failed_at=iso_or_none(model.last_refresh_failed_at),
        last_full_refreshed_at=iso_or_none(model.last_full_refreshed_at),
        **more,
    )


def _without_nulls(trigger: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if trigger is None else {name: value for name, value in trigger.items() if value is not None}


def history_entry(entry: history.HistoryEntry) -> dict[str, Any]:
    """An entry as clients know it: one of a change has no kind unless it was a clear, one of a failure says why."""
    told = HistoryEntry(
        version=entry.version,
        changed_at=iso(entry.changed_at),
        previous_content=entry.previous_content,
        previous_reflect_response=entry.previous_reflect_response,
        actor=entry.actor,
        operation_id=entry.operation_id,
    ).model_dump(exclude={"kind", "outcome", "failure_reason", "error_message"})
    if entry.kind != "version":
        told["kind"] = entry.kind
    if entry.kind == "refresh_failed":
        told |= {
            "outcome": entry.outcome,
            "failure_reason": entry.failure_reason,
            "error_message": entry.error_message,
        }
    return told


def event(entry: TimelineEntry, payload: dict[str, Any] | None = None) -> EventResponse:
    return EventResponse(
        version=entry.version,
        position=entry.position,
        topic=entry.topic,
        occurred_at=iso(entry.occurred_at),
        actor=entry.actor,
        cause=entry.cause,
        operation_id=entry.operation_id,
        sentence=entry.sentence,
        calls=entry.calls,
        tokens=entry.tokens,
        duration_ms=entry.duration_ms,
        payload=payload,
    )
