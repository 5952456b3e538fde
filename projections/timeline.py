"""The audit timeline: one sentence an event, with who, why, when and what it cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from domain.event import Event, Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelEvent,
    MentalModelRenamed,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import RefreshRecord
from domain.usage import total
from projections.projection import Projection, Query, Row, Statement

DDL = """
CREATE TABLE timeline (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    position bigint NOT NULL,
    topic text NOT NULL,
    occurred_at timestamptz NOT NULL,
    actor text NOT NULL,
    cause text NOT NULL,
    operation_id uuid,
    sentence text NOT NULL,
    calls int NOT NULL,
    tokens int NOT NULL,
    duration_ms int NOT NULL,
    PRIMARY KEY (bank_id, mental_model_id, version)
)"""

HANDLES: tuple[type[Event], ...] = (
    MentalModelCreated,
    MentalModelRenamed,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
    ContentWritten,
    ContentUnchanged,
    ContentPreservedNoNewFacts,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    ContentCleared,
    MentalModelDeleted,
)


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    version: int
    position: int
    topic: str
    occurred_at: datetime
    actor: str
    cause: str
    operation_id: str | None
    sentence: str
    calls: int
    tokens: int
    duration_ms: int


def sentence(event: MentalModelEvent) -> str:
    """What happened, for a person."""
    match event:
        case MentalModelCreated(source_query=query):
            return f"Created to answer “{query}”"
        case MentalModelRenamed(name=name):
            return f"Renamed to “{name}”"
        case SourceQueryChanged(source_query=query):
            return f"Question changed to “{query}”"
        case TagsChanged(tags=tags):
            return f"Tags changed to {', '.join(tags)}" if tags else "Tags removed"
        case TokenBudgetChanged(max_tokens=tokens):
            return f"Length budget changed to {tokens} tokens"
        case TriggerChanged(trigger=trigger):
            return f"Trigger changed (mode {trigger.mode})"
        case ContentWritten(text=text, record=record):
            return f"Wrote {len(text)} characters resting on {_facts(record)}{_read(record)}"
        case ContentUnchanged(record=record):
            return f"Came to the same text again, resting on {_facts(record)}{_read(record)}"
        case ContentPreservedNoNewFacts(record=record):
            return f"Nothing to read in scope; kept the document{_read(record)}"
        case RefreshFailedEmptyCandidate():
            return "Refused an empty text; kept the document"
        case RefreshFailedError(failure_reason=reason, error_message=message):
            return f"Refresh failed ({reason}): {message}; kept the document"
        case ContentCleared():
            return "Cleared by hand"
        case MentalModelDeleted():
            return "Deleted"
        case _:
            assert_never(event)


def _facts(record: RefreshRecord) -> str:
    return f"{len(record.evidence)} fact{'' if len(record.evidence) == 1 else 's'}"


def _read(record: RefreshRecord) -> str:
    return f" (read to position {record.window.upto}, {record.effective_mode}, {record.engine})"


def project(recorded: Recorded) -> Iterable[Statement]:
    event = recorded.event
    record: RefreshRecord | None = getattr(event, "record", None)
    yield Statement(
        "INSERT INTO timeline (bank_id, mental_model_id, version, position, topic, occurred_at, actor, cause,"
        " operation_id, sentence, calls, tokens, duration_ms) VALUES (%(bank_id)s, %(id)s, %(version)s, %(position)s,"
        " %(topic)s, %(at)s, %(actor)s, %(cause)s, %(operation_id)s, %(sentence)s, %(calls)s, %(tokens)s,"
        " %(duration_ms)s) ON CONFLICT DO NOTHING",
        {
            "bank_id": recorded.stream.bank_id,
            "id": recorded.stream.name,
            "version": recorded.version,
            "position": recorded.position,
            "topic": event.TOPIC,
            "at": recorded.occurred_at,
            "actor": recorded.actor,
            "cause": recorded.cause,
            "operation_id": recorded.operation_id,
            "sentence": sentence(event),  # type: ignore[arg-type]  # HANDLES are all the events of a mental model
            "calls": len(record.calls) if record else 0,
            "tokens": total(record.calls).total_tokens if record else 0,
            "duration_ms": record.duration_ms if record else 0,
        },
    )


PROJECTION = Projection("timeline", 1, "timeline", ("bank_id", "mental_model_id", "version"), DDL, HANDLES, project)


_COLUMNS = (
    "version, position, topic, occurred_at, actor, cause, operation_id::text AS operation_id, sentence, calls, tokens,"
    " duration_ms"
)


def entries(bank_id: str, mental_model_id: str) -> Query[list[TimelineEntry]]:
    """Everything that ever happened to a mental model, deleted ones included, in order."""

    def read(rows: Sequence[Row]) -> list[TimelineEntry]:
        return [TimelineEntry(**row) for row in rows]

    return Query(
        f"SELECT {_COLUMNS} FROM timeline WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s ORDER BY version",
        {"bank_id": bank_id, "id": mental_model_id},
        read,
    )


def page(bank_id: str, mental_model_id: str, limit: int, offset: int) -> Query[tuple[list[TimelineEntry], int]]:
    """A page of `entries` and how many there are. Oldest first: pages stay as they are while events are added."""

    def read(rows: Sequence[Row]) -> tuple[list[TimelineEntry], int]:
        listed = [{column: row[column] for column in row if column != "total"} for row in rows]
        total = rows[0]["total"] if rows else 0
        return [TimelineEntry(**row) for row in listed if row["version"] is not None], total

    where = "bank_id = %(bank_id)s AND mental_model_id = %(id)s"
    return Query(
        f"WITH listed AS (SELECT {_COLUMNS} FROM timeline WHERE {where}"
        "   ORDER BY version LIMIT %(limit)s OFFSET %(offset)s)"
        f" SELECT listed.*, counted.total FROM (SELECT count(*) AS total FROM timeline WHERE {where}) counted"
        " LEFT JOIN listed ON true ORDER BY version",
        {"bank_id": bank_id, "id": mental_model_id, "limit": limit, "offset": offset},
        read,
    )
