"""The log of streams, the transactions it is written in, and what every use case needs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel

from application.aggregate import Aggregate
from domain.event import Context, Event, Recorded, StreamId


class Clock(Protocol):
    def now(self) -> datetime: ...


class Identities(Protocol):
    def new(self) -> UUID: ...


class Transaction(Protocol):
    """An open database transaction; only adapters look inside."""


class Transactions(Protocol):
    def begin(self) -> AbstractContextManager[Transaction]: ...


@dataclass(frozen=True)
class Loaded:
    """A stream folded: its state, and the version it is at (0 when it has no events)."""

    state: Any
    version: int


@dataclass(frozen=True)
class Wanted:
    """A stream to be held and folded: alone, or `shared` with others that share it."""

    aggregate: Aggregate[Any]
    stream: StreamId
    shared: bool = False


@dataclass(frozen=True)
class StreamAppend:
    """Events for one stream that stands at `expected`; `state` is the state after them, for a snapshot."""

    stream: StreamId
    expected: int
    events: tuple[Event, ...]
    state: BaseModel
    state_version: int


class EventLog(Protocol):
    """The log of all streams. Read models are folded, and jobs queued, in the transaction of the append."""

    def load(self, aggregate: Aggregate[Any], stream: StreamId, tx: Transaction | None = None) -> Loaded:
        """The stream folded; with a transaction, as that transaction sees it."""
        ...

    def events(self, stream: StreamId, *, upto: int | None = None) -> Sequence[Recorded]:
        """The events of a stream in order, to version `upto` at most."""
        ...

    def hold(self, wanted: Sequence[Wanted], tx: Transaction) -> Sequence[Loaded]:
        """Locks streams to the end of `tx`, waiting for them, and gives each as it stands then. Raises what `load`
        does."""
        ...

    def append(self, appends: Sequence[StreamAppend], context: Context, tx: Transaction) -> None:
        """Raises StaleVersion when a stream is no longer at the version expected."""
        ...
