"""The memory of all banks on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from psycopg import sql

from adapters.postgres import memory_nearness, memory_recall, memory_standings, memory_unread
from adapters.postgres.database import Database, connection_of
from adapters.postgres.memory_recall import SearchVector
from adapters.postgres.memory_write import MemoryWriter, lock_clock
from application.ports import Identities, MemoryWrite, RetainedItem, Transaction
from domain.memory import Fact, RecalledFact, RecallQuery, Standing, UnreadQuery
from domain.mental_model.record import Citation

_TABLES_OF_A_BANK = ("fact_versions", "fact_vectors", "memory_documents", "memory_terms", "scope_clock")


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
    def _space(self) -> str:
        """Vectors of one model and size can be compared with each other."""
        return f"{self._embedding_model}/{self._dimensions()}"

    def position(self, bank_id: str) -> int:
        with self._database.connection() as connection:
            row = connection.execute("SELECT position FROM memory_clock WHERE bank_id = %s", (bank_id,)).fetchone()
        return int(row["position"]) if row else 0

    def write(self, bank_id: str, items: Sequence[RetainedItem], at: datetime, tx: Transaction) -> MemoryWrite:
        """Closings take the first new positions, additions the next ones, both in the order of the items. Other
        writers of the bank wait from here on until the transaction ends. Facts with an empty vector are found by word
        only. Raises ValueError when a vector has not the dimensions of the store."""
        self._check([embedded.vector for retained in items for embedded in retained.facts])
        writer = MemoryWriter(connection_of(tx), bank_id, at, self._identities, self._space)
        return writer.write(items)

    def _check(self, vectors: Sequence[Sequence[float]]) -> None:
        lengths = {len(vector) for vector in vectors} - {0}
        if lengths and (wrong := lengths - {self._dimensions()}):
            raise ValueError(
                f"the embedding model {self._embedding_model} gave vectors of {wrong.pop()} numbers, not"
                f" {self._dimensions()}; set the dimensions that it really has"
            )

    def document_text(self, bank_id: str, document_id: str, tx: Transaction | None = None) -> str | None:
        """With a transaction, the whole memory of the bank is locked: a document that does not exist yet has no row."""
        query = "SELECT text FROM memory_documents WHERE bank_id = %s AND document_id = %s"
        if tx is None:
            with self._database.connection() as connection:
                row = connection.execute(query, (bank_id, document_id)).fetchone()
        else:
            lock_clock(connection_of(tx), bank_id)
            row = connection_of(tx).execute(query, (bank_id, document_id)).fetchone()
        return row["text"] if row else None

    def recall(self, query: RecallQuery, vector: Sequence[float]) -> Sequence[RecalledFact]:
        """Without a vector facts are found by word only."""
        with self._database.connection() as connection:
            return memory_recall.recall(connection, query, SearchVector(vector, self._space))

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
            return memory_nearness.nearness(connection, bank_id, positions, given, self._space)

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
            "UPDATE memory_clock SET position = position + 1, facts = 0, written_at = NULL, document_at = NULL"
            " WHERE bank_id = %s",
            (bank_id,),
        )
        return int(clock["facts"])
