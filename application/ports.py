"""What the use cases need of the outside, one Protocol each; adapters implement them, one composition root joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel

from application.aggregate import Aggregate
from domain.editing import EditRequest, Proposal
from domain.event import Context, Event, Recorded, StreamId
from domain.memory import ExtractedFact, Fact, RecalledFact, RecallQuery, RetainItem, Standing, UnreadQuery
from domain.mental_model.record import Citation, FailureReason
from domain.reflection import ReflectQuestion, Thought, ToolResult
from domain.usage import ModelCall


class MindFailed(Exception):
    """A model could not be asked or gave nothing usable. `transient` tells whether the same call may work later;
    `reason` is the finer failure reason; `calls` are the calls already paid for; `raw` the last reply, if any;
    `resume_at` (UTC) is when a transient failure passes, where the endpoint told that and it is not soon."""

    def __init__(
        self,
        message: str,
        *,
        reason: FailureReason,
        transient: bool,
        calls: Sequence[ModelCall] = (),
        raw: str = "",
        resume_at: datetime | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.transient = transient
        self.calls = tuple(calls)
        self.raw = raw
        self.resume_at = resume_at


class Clock(Protocol):
    def now(self) -> datetime: ...


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

    def lock(self, alone: Sequence[StreamId], shared: Sequence[StreamId], tx: Transaction) -> None:
        """Locks streams to the end of `tx`: some alone, some together with others that share them. Waits for them."""
        ...

    def append(self, appends: Sequence[StreamAppend], context: Context, tx: Transaction) -> None:
        """Raises StaleVersion when a stream is no longer at the version expected."""
        ...


class RetainInbox(Protocol):
    """Items of asynchronous retains, kept until their operation ends."""

    def put(self, operation_id: UUID, bank_id: str, items: Sequence[RetainItem], tx: Transaction) -> None: ...

    def take(self, operation_id: UUID) -> Sequence[RetainItem] | None:
        """The items, in the order of the request; None when they are gone (their bank was deleted)."""
        ...

    def drop(self, operation_id: UUID, tx: Transaction, bank_id: str | None = None) -> bool:
        """Whether there was anything to drop; with a bank only what waits for that bank is."""
        ...

    def drop_bank(self, bank_id: str, tx: Transaction) -> None: ...

    def waiting(self, bank_id: str) -> Sequence[tuple[str, ...]]:
        """The tags of every item of a bank that waits to be retained."""
        ...


@dataclass(frozen=True)
class KeptReply:
    """`payload` is the reply as it came. `counted`: an event tells already what it cost."""

    payload: Mapping[str, Any]
    counted: bool = False


class KeptReplies(Protocol):
    """Replies of language models, kept by the operation they were asked for until it ends: what an attempt has paid for
    is not paid again by the next. `key` stands for the whole request."""

    def reply(self, operation_id: UUID, key: str) -> KeptReply | None:
        """The reply to the same request of the same operation. Raises MindFailed when that cannot be told now."""
        ...

    def keep(self, operation_id: UUID, key: str, payload: Mapping[str, Any]) -> None:
        """Keeps a reply at once, whatever becomes of the transaction of the attempt; one that is kept stays. Where
        keeping fails, the reply is not kept, and the work goes on."""
        ...

    def count(self, operation_id: UUID, tx: Transaction) -> None:
        """An event in `tx` tells what the attempt cost: all that is kept of it is counted."""
        ...

    def drop(self, operation_id: UUID, tx: Transaction | None = None) -> None:
        """Forgets the replies: the operation has ended, or what was answered could not be used."""
        ...

    def drop_before(self, moment: datetime) -> int:
        """Forgets what was kept before a time, and tells how many replies: those of attempts that went on after their
        operation had ended."""
        ...


@dataclass(frozen=True)
class EmbeddedFact:
    """A fact to store with the vector of its text."""

    fact: ExtractedFact
    vector: Sequence[float]


@dataclass(frozen=True)
class RetainedItem:
    """An item with the facts read out of it. `document_id` is always set: one is minted when the request named none."""

    item: RetainItem
    document_id: str
    text: str
    """The whole document text after this item: the item's content, or the stored text with it appended."""
    facts: Sequence[EmbeddedFact]


@dataclass(frozen=True)
class MemoryWrite:
    """What a write changed. `position` is the bank's clock after it; `written` counts new fact versions."""

    position: int
    written: int
    closed: int


class MemoryStore(Protocol):
    """The versioned, append-only store of facts of all banks."""

    def position(self, bank_id: str) -> int:
        """The bank's clock: the last committed position, 0 for a bank without memory."""
        ...

    def write(self, bank_id: str, items: Sequence[RetainedItem], at: datetime, tx: Transaction) -> MemoryWrite:
        """Upserts documents: facts of a document that are said again are kept, the others closed, new ones added."""
        ...

    def document_text(self, bank_id: str, document_id: str, tx: Transaction | None = None) -> str | None:
        """Stored text of a document; with a transaction its row is locked until the end of it."""
        ...

    def recall(self, query: RecallQuery, vector: Sequence[float]) -> Sequence[RecalledFact]:
        """Hybrid recall, best first, all arms under one snapshot, as of `query.window.upto` when a window is given."""
        ...

    def newest_in_scope(self, query: RecallQuery) -> Fact | None:
        """The newest fact (by position) inside scope and window; None when nothing is readable there."""
        ...

    def unread(self, query: UnreadQuery) -> Sequence[Fact]:
        """What a delta has to read, by position. No fact is left out but by `query.limit`."""
        ...

    def standings(self, bank_id: str, cited: Sequence[Citation], upto: int) -> Sequence[Standing]:
        """What became of cited facts, as of a position, in the order asked."""
        ...

    def nearness(self, bank_id: str, positions: Sequence[int], vectors: Sequence[Sequence[float]]) -> dict[int, float]:
        """By position of a fact version, the largest cosine similarity of its vector to one of `vectors`. Versions
        without a comparable vector are left out."""
        ...

    def forget_bank(self, bank_id: str, tx: Transaction) -> int:
        """Erases all memory of a bank and moves its clock; returns the number of facts erased."""
        ...


@dataclass(frozen=True)
class Embeddings:
    vectors: Sequence[Sequence[float]]
    calls: Sequence[ModelCall] = ()


class Embedder(Protocol):
    model: str

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One unit-length vector a text, in order. Raises MindFailed."""
        ...

    def close(self) -> None:
        """Frees what it holds; it is not used afterwards."""
        ...


@dataclass(frozen=True)
class Extraction:
    facts: Sequence[ExtractedFact]
    calls: Sequence[ModelCall] = ()


class FactExtractor(Protocol):
    def extract(self, item: RetainItem, *, mission: str | None, now: datetime) -> Extraction:
        """Facts of one item. Raises MindFailed; an item without facts gives none."""
        ...


class ReflectPolicy(Protocol):
    """Decides the next tool call, or the document."""

    engine: str
    deterministic: bool
    """The same question and facts give the same answer: after "no answer" a retry is pointless."""

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        """`must_finish` forbids another tool call. Raises MindFailed."""
        ...


class DocumentEditor(Protocol):
    """Proposes typed operations on a document; applying them is not its business."""

    engine: str
    deterministic: bool

    def propose(self, request: EditRequest) -> Proposal:
        """Operations for a task; none when nothing is to be changed. Raises MindFailed."""
        ...


@dataclass(frozen=True)
class Structured:
    """A value that fits the schema asked for."""

    value: dict[str, Any]
    raw: str = ""
    calls: Sequence[ModelCall] = ()


class StructuredExtractor(Protocol):
    """Reads a value of a given JSON schema out of a document."""

    def extract(self, markdown: str, schema: Mapping[str, Any], *, max_tokens: int) -> Structured:
        """Raises MindFailed (reason `structured_output_failed`) when no value that fits could be had."""
        ...


class Identities(Protocol):
    def new(self) -> UUID: ...
