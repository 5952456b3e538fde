"""The audit timeline: one sentence an event, with who, why, when and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from domain.event import Event, Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelEvent,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import DeltaRecord, RefreshRecord, RefreshWindow, RetractionRecord
from domain.usage import total
from projections.projection import Projection, Query, Statement, model_key, page_reader, page_sql

DDL = """
CREATE TABLE timeline (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    position bigint NOT NULL,
    topic text NOT NULL,
    occurred_at timestamptz NOT NULL,
    actor text NOT NULL,
    key_id text,
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
    RefreshFailedDeltaNotApplied,
    RefreshFailedStructuredOutput,
    RefreshFailedError,
    ContentEdited,
    ContentReverted,
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
    key_id: str | None
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
        case ContentWritten() | ContentUnchanged() | ContentPreservedNoNewFacts():
            return _refreshed(event)
        case RefreshFailedEmptyCandidate():
            return "Refused an empty text; kept the document"
        case RefreshFailedDeltaNotApplied(failure_reason=reason, error_message=message):
            return f"Edits not applied ({reason}): {message}; kept the document"
        case RefreshFailedStructuredOutput(error_message=message):
            return f"No structured view of the new text: {message}; kept the document and its view"
        case RefreshFailedError(failure_reason=reason, error_message=message):
            return f"Refresh failed ({reason}): {message}; kept the document"
        case ContentEdited(text=text):
            return f"Edited by hand to {_number(len(text), 'character')}"
        case ContentReverted(to_version=version):
            return f"Put back to version {version}"
        case ContentCleared():
            return "Cleared by hand"
        case MentalModelDeleted():
            return "Deleted"
        case _:
            assert_never(event)


def _refreshed(event: ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts) -> str:
    record = event.record
    if record.delta is not None and record.effective_mode == "delta":
        return _edited(event, record, record.delta)
    match event:
        case ContentWritten(text=text):
            did = f"Wrote {_number(len(text), 'character')} resting on {_number(len(record.evidence), 'fact')}"
        case ContentUnchanged():
            did = f"Came to the same text again, resting on {_number(len(record.evidence), 'fact')}"
        case ContentPreservedNoNewFacts():
            did = "Nothing to read in scope; kept the document"
    return f"{did} (read to position {record.window.upto}, {record.effective_mode}, {record.engine})"


def _edited(
    event: ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts, record: RefreshRecord, delta: DeltaRecord
) -> str:
    """A delta: what it did, what it rests on, what is left for later."""
    told = [
        *_operations(delta),
        *([f"resting on {_number(len(record.evidence), 'new fact')}"] if record.evidence else []),
    ]
    match event:
        case ContentWritten():
            did = "Edited: "
        case ContentUnchanged():
            did = "Edited without a change of the text: "
        case ContentPreservedNoNewFacts():
            read = len(delta.readings)
            found = f"None of {_number(read, 'new fact')} concerns it" if read else "Nothing new to read"
            did, told = f"{found}; ", ["kept the document"]
    told += _left_and_taken_back(record, delta)
    return f"{did}{', '.join(told)} (read {_positions(record.window)}, delta, {record.engine})"


def _positions(window: RefreshWindow) -> str:
    match window.upto - window.after:
        case 1:
            return f"position {window.upto}"
        case more if more > 1:
            return f"positions {window.after + 1} to {window.upto}"
        case _:
            return f"to position {window.upto}"


def _operations(delta: DeltaRecord) -> list[str]:
    skipped = sum(1 for edit in delta.edits if edit.skipped is not None)
    applied = f"{_number(len(delta.edits) - skipped, 'operation')} applied"
    return [applied, f"{skipped} skipped"] if skipped else [applied]


def _left_and_taken_back(record: RefreshRecord, delta: DeltaRecord) -> list[str]:
    """What became of facts that are gone, and what is left for the next refresh."""
    told = []
    retraction = record.retraction or RetractionRecord()
    if retraction.fact_ids:
        came_of_it = "taken back" if retraction.applied else "still to be taken back"
        told.append(f"{_number(len(retraction.fact_ids), 'fact')} {came_of_it}")
    if retraction.broken:
        told.append(f"{_number(len(retraction.broken), 'citation')} dropped that this memory never had")
    verdicts = Counter(reading.verdict for reading in delta.readings)
    if verdicts["pending"]:
        told.append(f"{_number(verdicts['pending'], 'fact')} still to be worked in")
    if verdicts["set_aside"]:
        told.append(f"{_number(verdicts['set_aside'], 'fact')} set aside")
    return told


def _number(number: int, of: str) -> str:
    return f"{number} {of}{'' if number == 1 else 's'}"


def project(recorded: Recorded) -> Iterable[Statement]:
    event = recorded.event
    record: RefreshRecord | None = getattr(event, "record", None)
    yield Statement(
        "INSERT INTO timeline (bank_id, mental_model_id, version, position, topic, occurred_at, actor, key_id,"
        " cause, operation_id, sentence, calls, tokens, duration_ms) VALUES (%(bank_id)s, %(id)s, %(version)s,"
        " %(position)s, %(topic)s, %(at)s, %(actor)s, %(key_id)s, %(cause)s, %(operation_id)s, %(sentence)s,"
        " %(calls)s, %(tokens)s, %(duration_ms)s) ON CONFLICT DO NOTHING",
        {
            **model_key(recorded),
            "position": recorded.position,
            "topic": event.TOPIC,
            "at": recorded.occurred_at,
            "actor": recorded.actor,
            "key_id": recorded.key_id,
            "cause": recorded.cause,
            "operation_id": recorded.operation_id,
            "sentence": sentence(event),  # type: ignore[arg-type]  # HANDLES are all the events of a mental model
            "calls": len(record.calls) if record else 0,
            "tokens": total(record.calls).total_tokens if record else 0,
            "duration_ms": record.duration_ms if record else 0,
        },
    )


PROJECTION = Projection("timeline", 3, "timeline", ("bank_id", "mental_model_id", "version"), DDL, HANDLES, project)


_COLUMNS = (
    "version, position, topic, occurred_at, actor, key_id, cause, operation_id::text AS operation_id, sentence, calls,"
    " tokens, duration_ms"
)


_OF_MODEL = "bank_id = %(bank_id)s AND mental_model_id = %(id)s"


def entries(bank_id: str, mental_model_id: str) -> Query[list[TimelineEntry]]:
    """Everything that ever happened to a mental model, deleted ones included, in order."""
    return Query(
        f"SELECT {_COLUMNS} FROM timeline WHERE {_OF_MODEL} ORDER BY version",
        {"bank_id": bank_id, "id": mental_model_id},
        lambda rows: [TimelineEntry(**row) for row in rows],
    )


def page(bank_id: str, mental_model_id: str, limit: int, offset: int) -> Query[tuple[list[TimelineEntry], int]]:
    """A page of `entries` and how many there are. Oldest first: pages stay as they are while events are added."""
    return Query(
        page_sql("timeline", _COLUMNS, _OF_MODEL, ("version",)),
        {"bank_id": bank_id, "id": mental_model_id, "limit": limit, "offset": offset},
        page_reader(TimelineEntry, "version"),
    )
