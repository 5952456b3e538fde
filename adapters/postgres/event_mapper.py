"""Domain events to stored events and back: payload and envelope as JSON, validated both ways.

A stored event is `{"envelope": {...}, "payload": {...}}` in UTF-8, so that psql reads it (view `event_log`). The class
is found by its permanent topic, never by its module; a payload of an older shape is upcast before it is validated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from pydantic import ValidationError

from domain import api_keys, bank, knowledge_base, operation, request
from domain.event import RECORDED, Context, Event, Recorded, StreamId
from domain.mental_model import events as mental_model_events


class UnreadableEvent(Exception):
    """A stored event cannot be read: its topic is unknown or its payload does not fit. Says which event."""


class UnstorableEvent(Exception):
    """An event holds text that cannot be stored as JSON in PostgreSQL (a NUL or a lone surrogate)."""


def _event_types() -> dict[str, type[Event]]:
    types: dict[str, type[Event]] = {}
    for union in (
        mental_model_events.MentalModelEvent,
        bank.BankEvent,
        operation.OperationEvent,
        request.RequestEvent,
        knowledge_base.KnowledgeBaseEvent,
        api_keys.ApiKeyEvent,
    ):
        for event_type in _flatten(union):
            if event_type.TOPIC in types:
                raise AssertionError(f"two events share the topic {event_type.TOPIC}")
            types[event_type.TOPIC] = event_type
    return types


def _flatten(union: Any) -> Iterable[type[Event]]:
    members = get_args(union)
    return (leaf for member in members for leaf in _flatten(member)) if members else (union,)


EVENT_TYPES: Mapping[str, type[Event]] = _event_types()


def to_stored(stream: StreamId, version: int, event: Event, context: Context) -> StoredEvent:
    """Raises UnstorableEvent for text PostgreSQL cannot hold, ValidationError for a payload that breaks its model."""
    envelope = {
        "schema": type(event).SCHEMA,
        "stream": stream.kind,
        "bank_id": stream.bank_id,
        "name": stream.name,
        "actor": context.actor,
        "operation_id": str(context.operation_id) if context.operation_id else None,
        "cause": context.cause,
        "occurred_at": context.now.isoformat(),
        **({} if context.key_id is None else {"key_id": context.key_id}),
    }
    try:
        payload = event.model_dump(mode="json", by_alias=True)
        type(event).model_validate(payload)
        state = json.dumps(
            {"envelope": envelope, "payload": payload}, ensure_ascii=False, separators=(",", ":")
        ).encode()
    except UnicodeEncodeError as error:
        raise UnstorableEvent(f"{event.TOPIC} holds a lone surrogate; replace it before recording") from error
    if b"\\u0000" in state and _has_nul([envelope, payload]):
        raise UnstorableEvent(f"{event.TOPIC} holds a NUL character; remove it before recording")
    return StoredEvent(originator_id=stream.uuid, originator_version=version, topic=event.TOPIC, state=state)


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_has_nul(key) or _has_nul(item) for key, item in value.items())
    return isinstance(value, list) and any(_has_nul(item) for item in value)


def to_recorded(stored: StoredEvent, position: int = 0) -> Recorded:
    """Raises UnreadableEvent with the stream, version and reason."""
    try:
        document = json.loads(stored.state)
        envelope, payload = document["envelope"], document["payload"]
        event = to_event(stored.topic, envelope["schema"], payload)
        return Recorded(
            stream=StreamId(envelope["stream"], envelope["bank_id"], envelope["name"]),
            version=stored.originator_version,
            position=position,
            event=event,
            actor=envelope["actor"],
            operation_id=UUID(envelope["operation_id"]) if envelope["operation_id"] else None,
            cause=envelope["cause"],
            occurred_at=datetime.fromisoformat(envelope["occurred_at"]),
            key_id=envelope.get("key_id"),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise UnreadableEvent(
            f"event {stored.originator_version} of stream {stored.originator_id} ({stored.topic}) is unreadable:"
            f" {error}"
        ) from error


def to_event(topic: str, schema: int, payload: Mapping[str, Any]) -> Event:
    """The event of a stored payload, upcast to the present shape. Raises KeyError for an unknown topic or a shape newer
    than this code, ValueError for a payload that does not fit."""
    if topic not in EVENT_TYPES:
        raise KeyError(f"unknown topic {topic}")
    event_type = EVENT_TYPES[topic]
    if schema > event_type.SCHEMA:
        raise KeyError(f"{topic} has shape {schema}, this version knows {event_type.SCHEMA}; upgrade first")
    for shape in range(schema, event_type.SCHEMA):
        payload = event_type.UPCASTS[shape](payload)
    try:
        return event_type.model_validate(payload, context=dict(RECORDED))
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}") from error
