"""The memory of all banks on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from psycopg import sql

from adapters.postgres import (
    memory_chunks,
    memory_entities,
    memory_nearness,
    memory_recall,
    memory_standings,
    memory_unread,
)
from adapters.postgres.database import Database, connection_of
from adapters.postgres.memory_write import MemoryWriter
from adapters.postgres.recall_arms import SearchVector
from application.ports import (
    Identities,
    MemoryWrite,
    RetainedDocument,
    Spelling,
    StoredChunk,
    StoredDocument,
    Transaction,
)
from domain.memory import Fact, RecalledFact, RecallQuery, Standing, UnreadQuery
from domain.mental_model.record import Citation

_TABLES_OF_A_BANK = (
    "fact_versions",
    "fact_vectors",
    "fact_causes",
    "consolidation",
    "invalidated_facts",
    "memory_documents",
    "memory_chunks",
    "memory_terms",
    "memory_entities",
    "scope_clock",
    "page_vectors",
    "transfer_files",
)


class PostgresMemoryStore:
    """MemoryStore. `embedding_model` made the vectors it is given: those of other models are never compared with them,
    their facts are found by word only."""

    def __init__(
        self, database: Database, identities: Identities, *, embedding_model: str, dimensions: Callable[[], int]
    ) -> None:
        self._database = database
        self._identities = identities
        self._embedding_model = embedding_model
        self._dimensions = dimensions

    @property
    def space(self) -> str:
        """Vectors of one model and size can be compared with each other."""
        return f"{self._embedding_model}/{self._dimensions()}"

    def position(self, bank_id: str) -> int:
        with self._database.connection() as connection:
            row = connection.execute("SELECT position FROM memory_clock WHERE bank_id = %s", (bank_id,)).fetchone()
        return int(row["position"]) if row else 0

    def next_order(self) -> int:
        with self._database.connection() as connection:
            row = connection.execute("SELECT nextval('retain_order') AS next").fetchone()
        assert row is not None  # a sequence always has a next value
        return int(row["next"])

    def write(self, bank_id: str, documents: Sequence[RetainedDocument], at: datetime, tx: Transaction) -> MemoryWrite:
        """Closings take the first new positions, additions the next ones, both in the order of the items. Other
        writers of the bank wait from here on until the transaction ends. Facts with an empty vector are found by word
        only. Raises ValueError when a vector has not the dimensions of the store."""
        items = [item for document in documents for item in document.items]
        self._check([embedded.vector for retained in items for embedded in retained.facts])
        writer = MemoryWriter(connection_of(tx), bank_id, at, self._identities, self.space)
        return writer.write(documents)

    def _check(self, vectors: Sequence[Sequence[float]]) -> None:
        lengths = {len(vector) for vector in vectors} - {0}
        if lengths and (wrong := lengths - {self._dimensions()}):
            raise ValueError(
                f"the embedding model {self._embedding_model} gave vectors of {wrong.pop()} numbers, not"
                f" {self._dimensions()}; set the dimensions that it really has"
            )

    def document_text(self, bank_id: str, document_id: str) -> str | None:
        with self._database.connection() as connection:
            return memory_chunks.document_text(connection, bank_id, document_id)

    def stored_documents(self, bank_id: str, document_ids: Sequence[str]) -> Mapping[str, StoredDocument]:
        with self._database.connection() as connection:
            return memory_chunks.stored_documents(connection, bank_id, document_ids)

    def revisions(self, bank_id: str, document_ids: Sequence[str], tx: Transaction) -> Mapping[str, int]:
        return memory_chunks.locked_revisions(connection_of(tx), bank_id, document_ids)

    def chunks(self, bank_id: str, chunk_ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        with self._database.connection() as connection:
            return memory_chunks.chunks(connection, bank_id, chunk_ids)

    def spellings(self, bank_id: str, names: Sequence[str]) -> Mapping[str, Sequence[Spelling]]:
        """Only names that are not known are compared with all there are."""
        if not names:
            return {}
        with self._database.connection() as connection:
            found = memory_entities.same(connection, bank_id, names)
        others = [name for name in names if name not in found]
        if others:
            with self._database.begin() as tx:
                found |= memory_entities.near(tx.connection, bank_id, others)
        return found

    def recall(self, query: RecallQuery, vector: Sequence[float]) -> Sequence[RecalledFact]:
        """Without a vector facts are found by word only."""
        with self._database.connection() as connection:
            return memory_recall.recall(connection, query, SearchVector(vector, self.space))

    def newest_in_scope(self, query: RecallQuery) -> Fact | None:
        with self._database.connection() as connection:
            return memory_recall.newest_in_scope(connection, query)

    def unread(self, query: UnreadQuery) -> Sequence[Fact]:
        with self._database.connection() as connection:
            return memory_unread.unread(connection, query)

    def standings(self, bank_id: str, cited: Sequence[Citation], upto: int) -> Sequence[Standing]:
        """A fact of the same text is the newest one, if several say it."""
        with self._database.connection() as connection:
            return memory_standings.standings(connection, bank_id, cited, upto)

    def nearness(self, bank_id: str, positions: Sequence[int], vectors: Sequence[Sequence[float]]) -> dict[int, float]:
        """Facts whose vectors another model made, or none, are left out; so are empty vectors. Raises ValueError when
        a vector has not the dimensions of the store."""
        given = [vector for vector in vectors if vector]
        if not given or not positions:
            return {}
        self._check(given)
        with self._database.connection() as connection:
            return memory_nearness.nearness(connection, bank_id, positions, given, self.space)

    def forget_bank(self, bank_id: str, tx: Transaction) -> int:
        """Returns how many current facts there were; versions closed before are erased with them."""
        connection = connection_of(tx)
        clock = connection.execute(
            "SELECT facts FROM memory_clock WHERE bank_id = %s FOR UPDATE", (bank_id,)
        ).fetchone()
        if clock is None:
            return 0
        for table in _TABLES_OF_A_BANK:
            connection.execute(sql.SQL("DELETE FROM {} WHERE bank_id = %s").format(sql.Identifier(table)), (bank_id,))
        connection.execute(
            "UPDATE memory_clock SET position = position + 1, facts = 0, written_at = NULL, document_at = NULL,"
            " consolidated_at = NULL WHERE bank_id = %s",
            (bank_id,),
        )
        return int(clock["facts"])
