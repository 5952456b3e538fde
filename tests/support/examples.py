"""Values for tests: a mental model about the Charles Bridge in Prague, its facts, its refreshes and their times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from domain.digest import sha256_of
from domain.document import ids_of, parse
from domain.event import Actor, Event, Recorded, StreamId
from domain.memory import Fact, RecalledFact, RecallScores
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    RefreshFailedError,
)
from domain.mental_model.record import Citation, Evidence, PieceGrounds, RefreshRecord, RefreshWindow, ResolvedScope
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh.grounds import leaves
from domain.scope import EVERYTHING
from domain.usage import ModelCall

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
BANK = "prague"
MODEL = "charles-bridge"
QUESTION = "What is known about the Charles Bridge?"
OPERATION = UUID("11111111-2222-4333-8444-555555555555")
MENTAL_MODEL_STREAM = StreamId("mental_model", BANK, MODEL)
BANK_STREAM = StreamId("bank", BANK, BANK)
OPERATION_STREAM = StreamId("operation", BANK, str(OPERATION))
REQUEST_STREAM = StreamId("request", BANK, "00000000-0000-4000-8000-000000000001")
KNOWLEDGE_BASE_STREAM = StreamId("knowledge_base", BANK, BANK)
API_KEY_STREAM = StreamId("api_key", "", "0123456789ab")
STREAMS = {
    stream.kind: stream
    for stream in (
        MENTAL_MODEL_STREAM,
        BANK_STREAM,
        OPERATION_STREAM,
        REQUEST_STREAM,
        KNOWLEDGE_BASE_STREAM,
        API_KEY_STREAM,
    )
}


def later(minutes: int) -> datetime:
    """So many minutes after NOW."""
    return NOW + timedelta(minutes=minutes)


def fact_id(number: int) -> UUID:
    return UUID(int=0xFAC700000000 + number)


def recorded(event: Event, version: int = 1, *, at: datetime = NOW, actor: Actor = "user", cause: str = "") -> Recorded:
    """The event as it stands in the log, in the stream that its topic names."""
    stream = next(stream for kind, stream in STREAMS.items() if event.TOPIC.startswith(f"{kind}."))
    key_id = API_KEY_STREAM.name if event.TOPIC == "operation.requested" else None
    return Recorded(stream, version, version, event, actor, None, cause, at, key_id)


def created(**changes: Any) -> MentalModelCreated:
    fields: dict[str, Any] = {
        "bank_id": BANK,
        "mental_model_id": MODEL,
        "name": "Charles Bridge",
        "source_query": QUESTION,
        "tags": (),
        "max_tokens": 2048,
        "trigger": Trigger(),
    }
    return MentalModelCreated(**{**fields, **changes})


def mental_model(**changes: Any) -> MentalModel:
    fields: dict[str, Any] = {
        "bank_id": BANK,
        "mental_model_id": MODEL,
        "name": "Charles Bridge",
        "source_query": QUESTION,
        "tags": (),
        "max_tokens": 2048,
        "trigger": Trigger(),
        "created_at": NOW,
        "last_refreshed_at": NOW,
    }
    return MentalModel(**{**fields, **changes})


def window(upto: int = 7, watermark: datetime | None = NOW) -> RefreshWindow:
    return RefreshWindow(after=0, upto=upto, created_before=NOW, watermark=watermark)


def refresh_record(**changes: Any) -> RefreshRecord:
    """A full refresh of everything, read to position 7."""
    fields: dict[str, Any] = {
        "requested_mode": "full",
        "effective_mode": "full",
        "source_query": QUESTION,
        "scope": ResolvedScope(scope=EVERYTHING, exclude_mental_model_ids=(MODEL,)),
        "window": window(),
        "duration_ms": 12,
        "engine": "offline",
        "parser_version": 1,
    }
    return RefreshRecord(**{**fields, **changes})


def evidence(number: int = 1, **changes: Any) -> Evidence:
    fields: dict[str, Any] = {
        "fact_id": fact_id(number),
        "version": 1,
        "position": number,
        "fact_type": "world",
        "text": f"Fact {number} about the bridge.",
    }
    return Evidence(**{**fields, **changes})


def citation(number: int = 1, **changes: Any) -> Citation:
    """Of the fact that `evidence` of the same number is."""
    fields: dict[str, Any] = {"fact_id": fact_id(number), "version": 1, "position": number, "fact_type": "world"}
    return Citation(**{**fields, **changes})


def written(text: str = "The bridge was finished in 1402.\n", **changes: Any) -> ContentWritten:
    """The first document of a mental model, of which nothing is known but that it was written."""
    document = parse(text)
    pieces = tuple(PieceGrounds(id=piece) for piece, _ in leaves(document))
    record = refresh_record(**changes)
    return ContentWritten(text=text, sha256=sha256_of(text), ids=ids_of(document), pieces=pieces, record=record)


def unchanged(**changes: Any) -> ContentUnchanged:
    return ContentUnchanged(record=refresh_record(**changes))


def preserved(**changes: Any) -> ContentPreservedNoNewFacts:
    return ContentPreservedNoNewFacts(record=refresh_record(**changes))


def failed(*, transient: bool = False, **changes: Any) -> RefreshFailedError:
    return RefreshFailedError(
        failure_reason="unexpected_error",
        error_message="the endpoint answered 500",
        transient=transient,
        record=refresh_record(**changes),
    )


def fact(number: int = 1, text: str | None = None, **changes: Any) -> Fact:
    fields: dict[str, Any] = {
        "id": fact_id(number),
        "version": 1,
        "position": number,
        "text": text if text is not None else f"Fact {number} about the bridge.",
        "fact_type": "world",
        "recorded_at": later(number),
    }
    return Fact(**{**fields, **changes})


def found(number: int = 1, **changes: Any) -> RecalledFact:
    return RecalledFact(fact=fact(number, **changes), scores=RecallScores(semantic=0.8, final=1 / (60 + number)))


def call(purpose: str = "reflect_1", read: int = 100, wrote: int = 20) -> ModelCall:
    return ModelCall(purpose=purpose, model="scripted", input_tokens=read, output_tokens=wrote, duration_ms=3)
