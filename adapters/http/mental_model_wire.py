"""Mental models, their history and their events as responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    return MentalModelResponse(**fields_of(row, staleness))


def fields_of(row: DocumentRow, staleness: Staleness | None = None) -> dict[str, Any]:
    """The fields of a MentalModelResponse in its order, without nulls: a list of a thousand is made of these, in a
    fraction of the time that models of them take."""
    told: dict[str, Any] = {
        "id": row.mental_model_id,
        "bank_id": row.bank_id,
        "name": row.name,
        "tags": row.tags,
        "version": row.version,
        "created_at": iso(row.created_at),
        "last_refreshed_at": iso(row.last_refreshed_at),
    }
    if row.last_memory_seen_at is not None:
        told["last_memory_seen_at"] = iso(row.last_memory_seen_at)
    if row.last_refresh_failed_at is not None:
        told["last_refresh_failed_at"] = iso(row.last_refresh_failed_at)
    if row.last_full_refreshed_at is not None:
        told["last_full_refreshed_at"] = iso(row.last_full_refreshed_at)
    told["is_paused"] = row.last_refresh_failed_at is not None
    told["is_knowledge_page"] = row.is_knowledge_page
    if staleness is not None:
        told["is_stale"] = staleness.is_stale
        if staleness.reasons:
            told["stale_reasons"] = staleness.reasons
    if row.content is not None:
        told |= {
            "source_query": row.source_query,
            "max_tokens": row.max_tokens,
            "trigger": without_nulls(row.trigger),
            "content": row.content,
        }
    if row.reflect_response is not None:
        told["reflect_response"] = row.reflect_response
    return told


def listed(rows: Iterable[DocumentRow], stale: Mapping[str, Staleness], **page: int) -> dict[str, Any]:
    """A MentalModelListResponse, as its fields."""
    return {"items": [fields_of(row, stale.get(row.mental_model_id)) for row in rows], **page}


def as_it_was(model: MentalModel, version: int, events: list[Recorded], detail: Detail) -> MentalModelResponse:
    """A mental model at a version of its stream; `events` are all of them. What is stale now says nothing of then."""
    more: dict[str, Any] = {}
    if detail != "metadata":
        more |= {
            "source_query": model.source_query,
            "max_tokens": model.max_tokens,
            "trigger": without_nulls(model.trigger.model_dump(mode="json", by_alias=True)),
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
        is_paused=model.last_refresh_failed_at is not None,
        **more,
    )


def without_nulls(trigger: Mapping[str, Any] | None) -> dict[str, Any] | None:
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
        key_id=entry.key_id,
        cause=entry.cause,
        operation_id=entry.operation_id,
        sentence=entry.sentence,
        calls=entry.calls,
        tokens=entry.tokens,
        duration_ms=entry.duration_ms,
        payload=payload,
    )
