"""The memory of banks: the store of facts, and what waits to be read into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from application.ports.log import Transaction
from domain.memory import ExtractedFact, Fact, RecalledFact, RecallQuery, RetainItem, Standing, UnreadQuery
from domain.mental_model.record import Citation


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
