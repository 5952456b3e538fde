"""What an event is, which stream it belongs to, and the envelope it is kept in.

A payload holds meaning only; who, when and why are in the envelope, which the event log adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Literal
from uuid import UUID, uuid5

from domain.value import Value

Actor = Literal["user", "worker", "cron", "consolidation", "retraction sweep", "system"]
StreamKind = Literal["mental_model", "bank", "operation", "request", "knowledge_base", "api_key"]
Upcast = Callable[[Mapping[str, Any]], dict[str, Any]]

STREAMS = UUID("5f4b2c1e-6a0d-4c38-9d55-70616c696d70")
"""Namespace of stream ids: a stream's id follows from its kind, bank and name."""


RECORDED: Mapping[str, Any] = {"recorded": True}
"""Validation context of what is read back: rules for what may be asked do not apply to what was taken."""


class Event(Value):
    """A fact about an aggregate, in the past tense. `TOPIC` is its permanent name, `SCHEMA` the version of its shape;
    `UPCASTS[n]` turns a stored payload of shape n into shape n + 1."""

    TOPIC: ClassVar[str]
    SCHEMA: ClassVar[int] = 1
    UPCASTS: ClassVar[Mapping[int, Upcast]] = {}


@dataclass(frozen=True, slots=True)
class StreamId:
    """Identity of an aggregate: its kind, its bank, and its name there (the bank's own stream is named as the bank)."""

    kind: StreamKind
    bank_id: str
    name: str

    @property
    def uuid(self) -> UUID:
        return _uuid(f"{self.kind}\x1f{self.bank_id}\x1f{self.name}")


@lru_cache(maxsize=10_000)
def _uuid(told: str) -> UUID:
    """Kept: a command asks for the id of each of its streams several times."""
    return uuid5(STREAMS, told)


@dataclass(frozen=True, slots=True)
class Context:
    """Who asks, when, and why: the part of the envelope that a command brings along."""

    actor: Actor
    now: datetime
    operation_id: UUID | None = None
    cause: str = ""
    """Why, in a few words a person understands: "PATCH", "refresh after retain" ..."""
    key_id: str | None = None
    """The API key that a user came with; the secret is nowhere."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event as it stands in the log. `version` counts in its stream from 1, `position` in the whole log."""

    stream: StreamId
    version: int
    position: int
    event: Event
    actor: Actor
    operation_id: UUID | None
    cause: str
    occurred_at: datetime
    key_id: str | None = None
