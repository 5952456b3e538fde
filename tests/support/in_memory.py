"""The ports in memory: small, real implementations with transactions that roll back and versions that go stale.

Minds are scripted: a list of answers, used one after another; one question more than expected fails.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import mul
from typing import Any
from uuid import UUID

from application.aggregate import Aggregate
from application.ports import (
    EmbeddedFact,
    Loaded,
    MemoryWrite,
    RetainedDocument,
    Spelling,
    StoredChunk,
    StoredDocument,
    StreamAppend,
    Transaction,
    WaitingItems,
    Wanted,
)
from domain.digest import sha256_of
from domain.event import Context, Event, Recorded, StreamId
from domain.memory import (
    Fact,
    RecalledFact,
    RecallQuery,
    RecallScores,
    RetainItem,
    Standing,
    UnreadQuery,
    Window,
    estimated_tokens,
)
from domain.mental_model.record import Citation
from domain.refusals import StaleVersion
from domain.scope import admits
from tests.support.examples import NOW

SOMEONE = Context("user", NOW)


class FixedClock:
    """Stands still until it is moved."""

    def __init__(self, now: datetime = NOW) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def move(self, by: timedelta) -> None:
        self._now += by


class NumberedIdentities:
    """Ids 1, 2, 3 ..."""

    def __init__(self) -> None:
        self._last = 0

    def new(self) -> UUID:
        self._last += 1
        return UUID(int=self._last)


@dataclass
class InMemoryTransaction:
    undo: list[Callable[[], None]] = field(default_factory=list)
    alone: set[StreamId] = field(default_factory=set)
    shared: set[StreamId] = field(default_factory=set)


def in_memory(tx: Transaction) -> InMemoryTransaction:
    assert isinstance(tx, InMemoryTransaction)
    return tx


def undo_of(tx: Transaction) -> list[Callable[[], None]]:
    return in_memory(tx).undo


class InMemoryTransactions:
    """What was done in a transaction that raises is undone. `begun` and `committed` count them."""

    def __init__(self) -> None:
        self.begun = 0
        self.committed = 0

    @contextmanager
    def begin(self) -> Iterator[InMemoryTransaction]:
        self.begun += 1
        tx = InMemoryTransaction()
        try:
            yield tx
        except BaseException:
            for undo in reversed(tx.undo):
                undo()
            raise
        self.committed += 1


class InMemoryEventLog:
    """EventLog. `meanwhile` holds what others, who take no lock, do just before an append: one for each append to come;
    `before_lock` what others do while a lock is waited for: one for each lock to come. In a transaction only what it
    holds is loaded, and only what it holds alone is appended to."""

    def __init__(self) -> None:
        self.streams: dict[StreamId, list[Recorded]] = {}
        self.meanwhile: deque[Callable[[], None]] = deque()
        self.before_lock: deque[Callable[[], None]] = deque()
        self.loads = 0
        self.locked: list[tuple[Sequence[StreamId], Sequence[StreamId]]] = []
        """What was locked alone, and what shared, by each transaction."""
        self._position = 0

    def load(self, aggregate: Aggregate[Any], stream: StreamId, tx: Transaction | None = None) -> Loaded:
        if tx is not None:
            assert stream in in_memory(tx).alone | in_memory(tx).shared, f"{stream} is decided on without its lock"
        self.loads += 1
        state: Any = aggregate.initial
        recorded = self.streams.get(stream, [])
        for each in recorded:
            state = aggregate.evolve(state, each)
        return Loaded(state, len(recorded))

    def events(self, stream: StreamId, *, upto: int | None = None) -> Sequence[Recorded]:
        return self.streams.get(stream, [])[:upto]

    def hold(self, wanted: Sequence[Wanted], tx: Transaction) -> Sequence[Loaded]:
        alone = [each.stream for each in wanted if not each.shared]
        self._lock(alone, [each.stream for each in wanted if each.shared], tx)
        return [self.load(each.aggregate, each.stream, tx) for each in wanted]

    def _lock(self, alone: Sequence[StreamId], shared: Sequence[StreamId], tx: Transaction) -> None:
        assert undo_of(tx) == [], "a lock is taken before anything is done"
        if self.before_lock:
            self.before_lock.popleft()()
        in_memory(tx).alone.update(alone)
        in_memory(tx).shared.update(shared)
        self.locked.append((tuple(alone), tuple(shared)))

    def append(self, appends: Sequence[StreamAppend], context: Context, tx: Transaction) -> None:
        if self.meanwhile:
            self.meanwhile.popleft()()
        for append in appends:
            assert append.stream in in_memory(tx).alone, f"{append.stream} is appended to without its lock"
            if len(self.events(append.stream)) != append.expected:
                raise StaleVersion(f"'{append.stream.name}'")
            undo_of(tx).append(lambda append=append: self._cut(append.stream, append.expected))  # type: ignore[misc]  # bound now
            self.record(append.stream, *append.events, context=context)

    def record(self, stream: StreamId, *events: Event, context: Context = SOMEONE) -> None:
        """Appends without asking anybody: what happened before, or elsewhere."""
        recorded = self.streams.setdefault(stream, [])
        for event in events:
            self._position += 1
            recorded.append(
                Recorded(
                    stream,
                    len(recorded) + 1,
                    self._position,
                    event,
                    context.actor,
                    context.operation_id,
                    context.cause,
                    context.now,
                )
            )

    def of(self, stream: StreamId) -> list[Event]:
        """The events of a stream, without their envelopes."""
        return [recorded.event for recorded in self.events(stream)]

    def _cut(self, stream: StreamId, length: int) -> None:
        del self.streams[stream][length:]


class InMemoryInbox:
    """RetainInbox. `items` are those that wait, by operation."""

    def __init__(self, next_order: Callable[[], int]) -> None:
        self._next_order = next_order
        self.items: dict[UUID, Sequence[RetainItem]] = {}
        self._bank_of: dict[UUID, str] = {}
        self._waiting: dict[UUID, WaitingItems] = {}

    def put(
        self,
        operation_id: UUID,
        bank_id: str,
        items: Sequence[RetainItem],
        tx: Transaction,
        places: Sequence[int] | None = None,
    ) -> None:
        self._keep(tx)
        self.items.setdefault(operation_id, items)
        self._bank_of[operation_id] = bank_id
        at = range(len(items)) if places is None else places
        self._waiting.setdefault(operation_id, WaitingItems(items, self._next_order(), list(at)))

    def take(self, operation_id: UUID) -> WaitingItems | None:
        items = self.items.get(operation_id)
        return None if items is None else replace(self._waiting[operation_id], items=items)

    def keep(self, operation_id: UUID, bank_id: str, left: WaitingItems, tx: Transaction) -> bool:
        if operation_id not in self.items or self._bank_of[operation_id] != bank_id:
            return False
        self._keep(tx)
        self.items[operation_id] = left.items
        self._waiting[operation_id] = left
        return True

    def drop(self, operation_id: UUID, tx: Transaction, bank_id: str | None = None) -> bool:
        if bank_id is not None and self._bank_of.get(operation_id) != bank_id:
            return False
        self._keep(tx)
        return self.items.pop(operation_id, None) is not None

    def drop_bank(self, bank_id: str, tx: Transaction) -> None:
        self._keep(tx)
        self.items = {key: items for key, items in self.items.items() if self._bank_of[key] != bank_id}

    def waiting(self, bank_id: str) -> Sequence[tuple[str, ...]]:
        of_bank = [items for key, items in self.items.items() if self._bank_of[key] == bank_id]
        return [item.tags for items in of_bank for item in items]

    def _keep(self, tx: Transaction) -> None:
        items, waiting = dict(self.items), dict(self._waiting)

        def restore() -> None:
            self.items, self._waiting = items, waiting

        undo_of(tx).append(restore)


@dataclass(frozen=True)
class _Row:
    """A fact version, valid until `to_position` (None: still); its vector is empty when it has none."""

    bank_id: str
    fact: Fact
    to_position: int | None = None
    vector: tuple[float, ...] = ()


def numbered_fact(position: int) -> UUID:
    """The id of the fact that was added at a position."""
    return UUID(int=10_000 + position)


def _stored(item: RetainItem, embedded: EmbeddedFact) -> dict[str, Any]:
    """What a fact is stored with: what it says, and what it has of its item."""
    said = embedded.fact
    return {
        "text": said.text,
        "fact_type": said.fact_type,
        "tags": tuple(sorted(set(item.tags))),
        "context": item.context,
        "occurred_start": said.occurred_start,
        "occurred_end": said.occurred_end,
        "mentioned_at": item.timestamp,
        "metadata": tuple(sorted(dict(item.metadata).items())),
        "entities": tuple(dict.fromkeys((*said.entities, *item.entities))),
        "vector": embedded.vector,
    }


def _is_unread(query: UnreadQuery, fact: Fact) -> bool:
    if not admits(query.scope, fact.tags, fact.fact_type):
        return False
    if fact.position > query.after or fact.position in query.pending:
        return True
    return query.covered_scope is not None and not admits(query.covered_scope, fact.tags, fact.fact_type)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float | None:
    """None when they cannot be compared: of different lengths, or without direction."""
    if len(one) != len(other) or not any(one) or not any(other):
        return None
    return math.fsum(map(mul, one, other)) / (math.hypot(*one) * math.hypot(*other))


class InMemoryMemoryStore:
    """MemoryStore over a list of fact versions. Recall ranks by words in common, then by age; it and `unread` keep what
    they were asked, and raise `broken`. Vectors of the same length are comparable.

    `meanwhile` holds what others do just after the next position was told."""

    def __init__(self) -> None:
        self.rows: list[_Row] = []
        self.documents: dict[tuple[str, str], str] = {}
        self.queries: list[RecallQuery] = []
        self.unread_queries: list[UnreadQuery] = []
        self.broken: Exception | None = None
        self.meanwhile: deque[Callable[[], None]] = deque()
        self.asked = 0
        self._clock: dict[str, int] = {}
        self._stored: dict[tuple[str, str], StoredDocument] = {}

    def position(self, bank_id: str) -> int:
        told = self._now(bank_id)
        if self.meanwhile:
            self.meanwhile.popleft()()
        return told

    def next_order(self) -> int:
        self.asked += 1
        return self.asked

    def write(self, bank_id: str, documents: Sequence[RetainedDocument], at: datetime, tx: Transaction) -> MemoryWrite:
        rows, texts, clock, stored = list(self.rows), dict(self.documents), dict(self._clock), dict(self._stored)
        undo_of(tx).append(lambda: self._restore(rows, texts, clock, stored))
        written = closed = 0
        for document in documents:
            said = [(item.item, each) for item in document.items for each in item.facts]
            kept_chunks = {str(chunk.chunk_id) for chunk in document.chunks if chunk.kept}
            closed += self._close(bank_id, document.document_id, {each.fact.text for _, each in said}, kept_chunks)
            kept = {row.fact.text for row in self._open(bank_id) if row.fact.document_id == document.document_id}
            ids = {chunk.number: str(chunk.chunk_id) for chunk in document.chunks}
            for item, embedded in said:
                if embedded.fact.text not in kept:
                    chunk = None if embedded.fact.chunk is None else ids.get(embedded.fact.chunk)
                    more = {"document_id": document.document_id, "chunk_id": chunk, "recorded_at": at}
                    self.add(bank_id, **_stored(item, embedded), **more)
                    kept.add(embedded.fact.text)
                    written += 1
            self._keep(bank_id, document)
        return MemoryWrite(self._now(bank_id), written, closed)

    def _keep(self, bank_id: str, document: RetainedDocument) -> None:
        key = bank_id, document.document_id
        self.documents[key] = document.text
        self._stored[key] = StoredDocument(
            document.text if document.text_stored else None,
            self.next_order(),
            document.parts,
            [
                StoredChunk(str(each.chunk_id), document.document_id, each.number, each.text, each.read_with)
                for each in document.chunks
            ],
        )

    def add(self, bank_id: str, text: str, *, vector: Sequence[float] = (), **changes: Any) -> Fact:
        """Adds one fact, or with `id` and `version` a version of one, at the next position of its bank."""
        position = self._tick(bank_id)
        fields: dict[str, Any] = {
            "id": numbered_fact(position),
            "version": 1,
            "fact_type": "world",
            "recorded_at": NOW + timedelta(minutes=position),
        }
        fact = Fact(position=position, text=text, **{**fields, **changes})
        self.rows.append(_Row(bank_id, fact, vector=tuple(vector)))
        return fact

    def close(self, bank_id: str, *facts: Fact) -> None:
        """Ends facts, each at the next position of its bank: they are gone from there on."""
        for row in [row for row in self._open(bank_id) if row.fact in facts]:
            self.rows[self.rows.index(row)] = replace(row, to_position=self._tick(bank_id))

    def document_text(self, bank_id: str, document_id: str) -> str | None:
        return self.documents.get((bank_id, document_id))

    def stored_documents(self, bank_id: str, document_ids: Sequence[str]) -> Mapping[str, StoredDocument]:
        """A document whose text was put there by hand has a revision of its own, and neither parts nor chunks."""
        found: dict[str, StoredDocument] = {}
        for document_id in document_ids:
            text, stored = self.documents.get((bank_id, document_id)), self._stored.get((bank_id, document_id))
            if stored is not None and stored.text in (None, text):
                found[document_id] = stored
            elif text is not None:
                found[document_id] = StoredDocument(text, -int(sha256_of(text)[:12], 16), (), ())
        return found

    def revisions(self, bank_id: str, document_ids: Sequence[str], tx: Transaction) -> Mapping[str, int]:
        assert isinstance(tx, InMemoryTransaction)
        return {each: stored.revision for each, stored in self.stored_documents(bank_id, document_ids).items()}

    def chunks(self, bank_id: str, chunk_ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        known = {each.chunk_id: each for key, one in self._stored.items() if key[0] == bank_id for each in one.chunks}
        return {each: known[each] for each in chunk_ids if each in known}

    def spellings(self, bank_id: str, names: Sequence[str]) -> Mapping[str, Sequence[Spelling]]:
        known = {name.lower(): name for row in self._open(bank_id) for name in row.fact.entities}
        return {name: [Spelling(known[name.lower()], 1.0)] for name in names if name.lower() in known}

    def recall(self, query: RecallQuery, vector: Sequence[float]) -> Sequence[RecalledFact]:
        assert vector
        self.queries.append(query)
        if self.broken is not None:
            raise self.broken
        words = set(query.text.lower().split())
        ranked = sorted(
            self._readable(query), key=lambda fact: (-len(words & set(fact.text.lower().split())), -fact.position)
        )
        found: list[RecalledFact] = []
        left = query.max_tokens
        for rank, fact in enumerate(ranked[: query.limit], start=1):
            if left is not None and (left := left - estimated_tokens(fact.text)) < 0:
                break
            found.append(RecalledFact(fact=fact, scores=RecallScores(semantic=1 / rank, final=1 / rank)))
        return found

    def newest_in_scope(self, query: RecallQuery) -> Fact | None:
        return max(self._readable(query), key=lambda fact: fact.position, default=None)

    def unread(self, query: UnreadQuery) -> Sequence[Fact]:
        self.unread_queries.append(query)
        if self.broken is not None:
            raise self.broken
        current = self._current_at(query.bank_id, query.upto)
        return [fact for fact in current if _is_unread(query, fact)][: query.limit]

    def standings(self, bank_id: str, cited: Sequence[Citation], upto: int) -> Sequence[Standing]:
        versions = {(row.fact.id, row.fact.version): row.fact for row in self._of_bank(bank_id)}
        current = self._current_at(bank_id, upto)
        now, by_text = {fact.id: fact for fact in current}, {fact.text: fact for fact in current}
        found = []
        for citation in cited:
            standing = Standing(
                fact_id=citation.fact_id,
                version=citation.version,
                cited=versions.get((citation.fact_id, citation.version)),
                now=now.get(citation.fact_id),
            )
            if standing.now is None and standing.cited is not None:
                standing = standing.model_copy(update={"same_text": by_text.get(standing.cited.text)})
            found.append(standing)
        return found

    def nearness(self, bank_id: str, positions: Sequence[int], vectors: Sequence[Sequence[float]]) -> dict[int, float]:
        asked = [row for row in self._of_bank(bank_id) if row.fact.position in positions]
        near = {row.fact.position: [_cosine(row.vector, vector) for vector in vectors] for row in asked}
        comparable = {position: [each for each in found if each is not None] for position, found in near.items()}
        return {position: max(found) for position, found in comparable.items() if found}

    def forget_bank(self, bank_id: str, tx: Transaction) -> int:
        rows, documents, clock, stored = list(self.rows), dict(self.documents), dict(self._clock), dict(self._stored)
        undo_of(tx).append(lambda: self._restore(rows, documents, clock, stored))
        self._stored = {key: each for key, each in stored.items() if key[0] != bank_id}
        self.rows = [row for row in rows if row.bank_id != bank_id]
        self.documents = {key: text for key, text in documents.items() if key[0] != bank_id}
        self._tick(bank_id)
        return len(rows) - len(self.rows)

    def _readable(self, query: RecallQuery) -> list[Fact]:
        window = query.window or Window(upto=self._now(query.bank_id))
        return [
            fact
            for fact in self._current_at(query.bank_id, window.upto)
            if fact.position > window.after and admits(query.scope, fact.tags, fact.fact_type)
        ]

    def _current_at(self, bank_id: str, upto: int) -> list[Fact]:
        """The facts current at a position, by their own."""
        return [
            row.fact
            for row in self._of_bank(bank_id)
            if row.fact.position <= upto and (row.to_position is None or row.to_position > upto)
        ]

    def _of_bank(self, bank_id: str) -> list[_Row]:
        return [row for row in self.rows if row.bank_id == bank_id]

    def _open(self, bank_id: str) -> list[_Row]:
        return [row for row in self._of_bank(bank_id) if row.to_position is None]

    def _close(self, bank_id: str, document_id: str, said: set[str], kept_chunks: set[str]) -> int:
        of_document = [row.fact for row in self._open(bank_id) if row.fact.document_id == document_id]
        gone = [fact for fact in of_document if fact.text not in said and fact.chunk_id not in kept_chunks]
        self.close(bank_id, *gone)
        return len(gone)

    def _now(self, bank_id: str) -> int:
        return self._clock.get(bank_id, 0)

    def _tick(self, bank_id: str) -> int:
        self._clock[bank_id] = self._now(bank_id) + 1
        return self._clock[bank_id]

    def _restore(
        self,
        rows: list[_Row],
        documents: dict[tuple[str, str], str],
        clock: dict[str, int],
        stored: dict[tuple[str, str], StoredDocument],
    ) -> None:
        self.rows, self.documents, self._clock, self._stored = rows, documents, clock, stored
