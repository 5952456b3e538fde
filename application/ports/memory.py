"""The memory of banks: the store of facts, and what waits to be read into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from application.ports.log import Transaction
from domain.memory import ExtractedFact, Fact, RecalledFact, RecallQuery, RetainItem, Standing, UnreadQuery
from domain.mental_model.record import Citation
from domain.retain import Part


@dataclass(frozen=True)
class WaitingItems:
    """Items of an asynchronous retain that are still to be retained. `asked` is its place in the order of retains,
    `places` where the items stood in the request, `facts` what was read of those that are done."""

    items: Sequence[RetainItem]
    asked: int
    places: Sequence[int]
    facts: int = 0


class RetainInbox(Protocol):
    """Items of asynchronous retains, kept until their operation ends."""

    def put(
        self,
        operation_id: UUID,
        bank_id: str,
        items: Sequence[RetainItem],
        tx: Transaction,
        places: Sequence[int] | None = None,
    ) -> None:
        """The retain gets its place in the order of retains. Without `places` the items are the whole request."""
        ...

    def take(self, operation_id: UUID) -> WaitingItems | None:
        """The items, in the order of the request; None when they are gone (their bank was deleted)."""
        ...

    def keep(self, operation_id: UUID, bank_id: str, left: WaitingItems, tx: Transaction) -> bool:
        """Only these are left to retain; False when the items are gone."""
        ...

    def drop(self, operation_id: UUID, tx: Transaction, bank_id: str | None = None) -> bool:
        """Whether there was anything to drop; with a bank only what waits for that bank is."""
        ...

    def drop_bank(self, bank_id: str, tx: Transaction) -> None: ...

    def waiting(self, bank_id: str) -> Sequence[tuple[str, ...]]:
        """The tags of every item of a bank that waits to be retained."""
        ...


@dataclass(frozen=True)
class EmbeddedFact:
    """A fact to store with the vector of its text."""

    fact: ExtractedFact
    vector: Sequence[float]


@dataclass(frozen=True)
class RetainedItem:
    """An item with the facts read out of it. `document_id` is always set: one is minted when the request named none. A
    fact names its chunk by the number in the document, and its causes by their places in `facts`."""

    item: RetainItem
    document_id: str
    facts: Sequence[EmbeddedFact]


@dataclass(frozen=True)
class RetainedChunk:
    """A chunk of a document. `kept`: its facts stay as they are."""

    chunk_id: UUID
    number: int
    text: str
    read_with: str = ""
    kept: bool = False


@dataclass(frozen=True)
class RetainedDocument:
    """A document as a request leaves it: its whole text, the items of the request in their order, and its chunks.

    With `replaces` facts are the same when their tags and contexts are, too, else when they say the same; with `resets`
    its tags and metadata are those of the items, else those are added. `keeps_unplaced`: its facts of no chunk stay."""

    document_id: str
    text: str
    items: Sequence[RetainedItem]
    chunks: Sequence[RetainedChunk] = ()
    parts: Sequence[Part] = ()
    replaces: bool = True
    resets: bool = True
    keeps_unplaced: bool = False
    text_stored: bool = True


@dataclass(frozen=True)
class StoredChunk:
    """A chunk of a document as it stands; `number` counts from 0."""

    chunk_id: str
    document_id: str
    number: int
    text: str
    read_with: str = ""


@dataclass(frozen=True)
class StoredDocument:
    """A document as it stands; `text` is None when it is not stored. `revision` is another one after each write."""

    text: str | None
    revision: int
    parts: Sequence[Part]
    chunks: Sequence[StoredChunk]


@dataclass(frozen=True)
class Spelling:
    """A name that the bank knows, and how near another spelling comes to it, from 0 to 1: 1 is the same in any case."""

    name: str
    nearness: float


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

    def next_order(self) -> int:
        """A number for a retain that is asked for now, greater than that of any asked for before."""
        ...

    def write(self, bank_id: str, documents: Sequence[RetainedDocument], at: datetime, tx: Transaction) -> MemoryWrite:
        """Upserts documents: facts of a document that are said again, or whose chunk is kept, are kept, the others
        closed, new ones added."""
        ...

    def document_text(self, bank_id: str, document_id: str) -> str | None:
        """Stored text of a document."""
        ...

    def stored_documents(self, bank_id: str, document_ids: Sequence[str]) -> Mapping[str, StoredDocument]:
        """Those of the documents that there are, with their chunks in their order."""
        ...

    def revisions(self, bank_id: str, document_ids: Sequence[str], tx: Transaction) -> Mapping[str, int]:
        """Of those documents that there are; the memory of the bank stays as it is until the end of the transaction."""
        ...

    def chunks(self, bank_id: str, chunk_ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        """Chunks by their ids; those that are gone are left out."""
        ...

    def spellings(self, bank_id: str, names: Sequence[str]) -> Mapping[str, Sequence[Spelling]]:
        """For each name the known ones that are spelled nearly so, the nearest first; those with none are left out."""
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
