"""Memory to test with: facts said without an extractor, vectors given without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from adapters.clock import RandomIdentities
from adapters.postgres.database import Database
from adapters.postgres.memory_store import PostgresMemoryStore
from application.ports import EmbeddedFact, MemoryWrite, RetainedDocument, RetainedItem
from domain.memory import ExtractedFact, RecalledFact, RecallQuery, RetainItem, Window
from domain.scope import Scope

MODEL = "toy"
DIMENSIONS = 3
SOME_VECTOR = (1.0, 0.0, 0.0)
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def hours_later(hours: int) -> datetime:
    return NOON + timedelta(hours=hours)


def said(text: str, vector: Sequence[float] = SOME_VECTOR, **more: Any) -> EmbeddedFact:
    return EmbeddedFact(ExtractedFact(text=text, **more), vector)


def document(document_id: str, *facts: EmbeddedFact | str, text: str | None = None, **item: Any) -> RetainedItem:
    """An item of which these facts were read; its text are theirs, line by line, unless it is given."""
    embedded = [said(fact) if isinstance(fact, str) else fact for fact in facts]
    content = text if text is not None else "\n".join(each.fact.text for each in embedded)
    return RetainedItem(RetainItem(content=content, document_id=document_id, **item), document_id, embedded)


def documents_of(*items: RetainedItem) -> list[RetainedDocument]:
    """The documents that the items are of; the text of each is that of its last item."""
    by_document: dict[str, list[RetainedItem]] = {}
    for item in items:
        by_document.setdefault(item.document_id, []).append(item)
    return [
        RetainedDocument(document_id, together[-1].item.content, together, replaces=replaced, resets=replaced)
        for document_id, together in by_document.items()
        for replaced in [any(each.item.update_mode == "replace" for each in together)]
    ]


@dataclass
class BankMemory:
    """One bank in a store, which no other test uses."""

    database: Database
    bank_id: str = field(default_factory=lambda: f"bank-{uuid4()}")
    model: str = MODEL
    dimensions: int = DIMENSIONS

    @property
    def store(self) -> PostgresMemoryStore:
        return PostgresMemoryStore(
            self.database, RandomIdentities(), embedding_model=self.model, dimensions=lambda: self.dimensions
        )

    def neighbour(self) -> BankMemory:
        """Another bank in the same store."""
        return BankMemory(self.database, model=self.model, dimensions=self.dimensions)

    def retain(self, *items: RetainedItem, at: datetime = NOON) -> MemoryWrite:
        with self.database.begin() as tx:
            return self.store.write(self.bank_id, documents_of(*items), at, tx)

    def recall(self, text: str = "", vector: Sequence[float] = (), **query: Any) -> Sequence[RecalledFact]:
        return self.store.recall(RecallQuery(bank_id=self.bank_id, text=text, **query), vector)

    def texts(self, text: str = "", vector: Sequence[float] = (), **query: Any) -> list[str]:
        """Texts of the facts recalled, best first."""
        return [found.fact.text for found in self.recall(text, vector, **query)]

    def newest(self, window: Window | None = None, **scope: Any) -> str | None:
        """The text of the newest fact."""
        query = RecallQuery(bank_id=self.bank_id, text="", scope=Scope(**scope), window=window)
        fact = self.store.newest_in_scope(query)
        return fact.text if fact else None

    def rows(self, query: str) -> list[dict[str, Any]]:
        """Rows of a query in which %s, once, is the bank."""
        with self.database.connection() as connection:
            return connection.execute(query.encode(), (self.bank_id,)).fetchall()

    def current(self) -> dict[str, dict[str, Any]]:
        """Rows of the current facts by text."""
        rows = self.rows("SELECT * FROM fact_versions WHERE bank_id = %s AND to_position IS NULL")
        return {row["text"]: row for row in rows}
