"""What waits to be consolidated, and observations as a consolidation writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from adapters.postgres.database import Database, connection_of
from adapters.postgres.fact_versions import OBSERVATION, Closing, NewVersion, VersionWriter, lock_clock
from adapters.postgres.memory_rows import FACT_COLUMNS, facts_of, tag_set
from adapters.postgres.vectors import Vector
from application.ports import EmbeddedChanges, Identities, MemoryMovedOn, MemoryWrite, Transaction
from domain.consolidation import Tags, WrittenObservation
from domain.memory import Fact

WAITS = "c.bank_id = %(bank_id)s AND c.consolidated_at IS NULL AND c.failed_at IS NULL"
"""The condition on a row `c` of consolidation to be of a fact that waits."""
# The tags of a scope come as JSON: the server takes arrays of arrays only when all are of one length.
_ASKED_FOR = (
    "(%(scopes)s::jsonb IS NULL OR EXISTS (SELECT FROM jsonb_array_elements(%(scopes)s::jsonb) AS s(scope)"
    " WHERE f.tags @> ARRAY(SELECT jsonb_array_elements_text(s.scope))))"
)
_PENDING = f"""
SELECT {{columns}} FROM consolidation c
JOIN fact_versions f ON f.bank_id = c.bank_id AND f.from_position = c.position AND f.to_position IS NULL
WHERE {WAITS} AND {_ASKED_FOR} AND c.fact_id <> ALL(%(leave_out)s::uuid[])
ORDER BY c.position LIMIT %(limit)s"""
_COUNT = f"""
SELECT count(*) AS count FROM consolidation c
JOIN fact_versions f ON f.bank_id = c.bank_id AND f.from_position = c.position AND f.to_position IS NULL
WHERE {WAITS} AND {_ASKED_FOR}"""
_CURRENT = """
SELECT {columns} FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS asked(id, place)
JOIN fact_versions f ON f.bank_id = %(bank_id)s AND f.fact_id = asked.id AND f.to_position IS NULL
ORDER BY asked.place"""
# Vectors of other dimensions cannot be compared at all: CASE keeps the server from trying.
_NEAREST = """
SELECT {columns}, 1 - near.distance AS similarity FROM (
  SELECT v.from_position,
    nullif(CASE WHEN v.space = %(space)s THEN v.embedding <=> %(vector)b::vector::halfvec END, 'NaN') AS distance
  FROM fact_vectors v WHERE v.bank_id = %(bank_id)s AND v.tag_set = %(tag_set)s AND v.fact_type = 'observation'
    AND v.to_position IS NULL ORDER BY distance NULLS LAST, v.from_position LIMIT 1) near
JOIN fact_versions f ON f.bank_id = %(bank_id)s AND f.from_position = near.from_position
WHERE near.distance IS NOT NULL"""


class PostgresObservationStore:
    """ObservationStore. Vectors are of `space`, as those that the memory store writes."""

    def __init__(self, database: Database, identities: Identities, *, space: Callable[[], str]) -> None:
        self._database = database
        self._identities = identities
        self._space = space

    def pending(
        self, bank_id: str, limit: int, scopes: Sequence[Tags] | None = None, leave_out: Sequence[UUID] = ()
    ) -> Sequence[Fact]:
        statement = sql.SQL(_PENDING).format(columns=FACT_COLUMNS)
        parameters = {**_asked_for(bank_id, scopes), "limit": limit, "leave_out": list(leave_out)}
        with self._database.connection() as connection:
            return facts_of(connection.execute(statement, parameters, prepare=False).fetchall())

    def count_pending(self, bank_id: str, scopes: Sequence[Tags] | None = None) -> int:
        with self._database.connection() as connection:
            row = connection.execute(_COUNT, _asked_for(bank_id, scopes), prepare=False).fetchone()
        return int(row["count"]) if row else 0

    def count_waiting(self, bank_id: str, fact_ids: Collection[UUID]) -> int:
        with self._database.connection() as connection:
            row = connection.execute(
                f"SELECT count(*) AS count FROM consolidation c WHERE {WAITS} AND c.fact_id = ANY(%(ids)s::uuid[])",
                {"bank_id": bank_id, "ids": list(fact_ids)},
            ).fetchone()
        return int(row["count"]) if row else 0

    def banks_pending(self) -> Sequence[str]:
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT bank_id FROM memory_clock m WHERE EXISTS (SELECT FROM consolidation c"
                " WHERE c.bank_id = m.bank_id AND c.consolidated_at IS NULL AND c.failed_at IS NULL) ORDER BY bank_id"
            ).fetchall()
        return [row["bank_id"] for row in rows]

    def current(self, bank_id: str, fact_ids: Sequence[UUID]) -> Sequence[Fact]:
        if not fact_ids:
            return []
        statement = sql.SQL(_CURRENT).format(columns=FACT_COLUMNS)
        with self._database.connection() as connection:
            return facts_of(connection.execute(statement, {"bank_id": bank_id, "ids": list(fact_ids)}).fetchall())

    def count_in(self, bank_id: str, scope: Tags) -> int:
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT facts FROM scope_clock WHERE bank_id = %s AND tag_set = %s AND fact_type = 'observation'",
                (bank_id, tag_set(scope)),
            ).fetchone()
        return int(row["facts"]) if row else 0

    def nearest(
        self, bank_id: str, scope: Tags, vectors: Sequence[Sequence[float]]
    ) -> Sequence[tuple[Fact, float] | None]:
        with self._database.connection() as connection:
            return [self._nearest(connection, bank_id, scope, vector) if vector else None for vector in vectors]

    def _nearest(
        self, connection: Connection[DictRow], bank_id: str, scope: Tags, vector: Sequence[float]
    ) -> tuple[Fact, float] | None:
        row = connection.execute(
            sql.SQL(_NEAREST).format(columns=FACT_COLUMNS),
            {"bank_id": bank_id, "tag_set": tag_set(scope), "vector": Vector(vector), "space": self._space()},
            prepare=False,
        ).fetchone()
        if row is None:
            return None
        similarity = row.pop("similarity")
        return facts_of([row])[0], similarity

    def write(
        self, bank_id: str, facts: Sequence[Fact], changes: Sequence[EmbeddedChanges], at: datetime, tx: Transaction
    ) -> MemoryWrite:
        """Under the clock of the bank: nobody else changes its memory until the transaction ends."""
        connection = connection_of(tx)
        before = lock_clock(connection, bank_id)
        self._require_as_read(connection, bank_id, facts, changes)
        closings, additions = self._versions(changes)
        written = VersionWriter(connection, bank_id, at, self._space()).apply(before, closings, additions)
        connection.execute(
            "UPDATE consolidation SET consolidated_at = %s WHERE bank_id = %s AND fact_id = ANY(%s::uuid[])",
            (at, bank_id, [fact.id for fact in facts]),
        )
        connection.execute("UPDATE memory_clock SET consolidated_at = %s WHERE bank_id = %s", (at, bank_id))
        return written

    def _require_as_read(
        self,
        connection: Connection[DictRow],
        bank_id: str,
        facts: Sequence[Fact],
        changes: Sequence[EmbeddedChanges],
    ) -> None:
        """An observation that is current rests on current facts: closing one of those closes it too."""
        waiting = connection.execute(
            f"SELECT c.fact_id, c.position FROM consolidation c WHERE {WAITS} AND c.fact_id = ANY(%(ids)s::uuid[])",
            {"bank_id": bank_id, "ids": [fact.id for fact in facts]},
        ).fetchall()
        if {(row["fact_id"], row["position"]) for row in waiting} != {(fact.id, fact.position) for fact in facts}:
            raise MemoryMovedOn("a fact of the batch")
        shown = {fact.position for each in changes for fact in _replaced(each)}
        found = connection.execute(
            "SELECT count(*) AS count FROM fact_versions WHERE bank_id = %s AND from_position = ANY(%s)"
            " AND to_position IS NULL AND fact_type = 'observation'",
            (bank_id, list(shown)),
        ).fetchone()
        if found is None or found["count"] != len(shown):
            raise MemoryMovedOn("an observation")

    def _versions(self, changes: Sequence[EmbeddedChanges]) -> tuple[list[Closing], list[NewVersion]]:
        closings = [
            Closing(fact.position, fact.id, OBSERVATION, fact.tags) for each in changes for fact in _replaced(each)
        ]
        additions = [
            self._version(written, each.changes.scope, vector)
            for each in changes
            for written, vector in zip(each.changes.written, each.vectors, strict=True)
        ]
        return closings, additions

    def _version(self, written: WrittenObservation, scope: Tags, vector: Sequence[float]) -> NewVersion:
        before = written.before
        return NewVersion(
            fact_id=before.id if before is not None else self._identities.new(),
            version=before.version + 1 if before is not None else 1,
            text=written.text,
            fact_type=OBSERVATION,
            tags=scope,
            occurred_start=written.occurred_start,
            occurred_end=written.occurred_end,
            mentioned_at=written.mentioned_at,
            entities=written.entities,
            source_ids=written.source_ids,
            vector=vector,
        )

    def set_aside(self, bank_id: str, facts: Sequence[Fact], failure: str, at: datetime, tx: Transaction) -> int:
        done = connection_of(tx).execute(
            f"UPDATE consolidation c SET failed_at = %(at)s, failure = %(failure)s"
            f" FROM unnest(%(ids)s::uuid[], %(positions)s::bigint[]) AS f(id, position)"
            f" WHERE {WAITS} AND c.fact_id = f.id AND c.position = f.position",
            {
                "bank_id": bank_id,
                "at": at,
                "failure": failure,
                "ids": [fact.id for fact in facts],
                "positions": [fact.position for fact in facts],
            },
        )
        return done.rowcount

    def recover(self, bank_id: str, tx: Transaction) -> int:
        done = connection_of(tx).execute(
            "UPDATE consolidation SET failed_at = NULL, failure = NULL WHERE bank_id = %s AND failed_at IS NOT NULL",
            (bank_id,),
        )
        return done.rowcount

    def clear(self, bank_id: str, at: datetime, tx: Transaction, of_fact: UUID | None = None) -> MemoryWrite:
        """A fact named waits again also when nothing rests on it."""
        connection = connection_of(tx)
        before = lock_clock(connection, bank_id)
        rows = connection.execute(
            "SELECT from_position, fact_id, tags, source_ids FROM fact_versions WHERE bank_id = %(bank_id)s"
            " AND to_position IS NULL AND fact_type = 'observation'"
            " AND (%(fact)s::uuid IS NULL OR source_ids && ARRAY[%(fact)s::uuid]) ORDER BY from_position",
            {"bank_id": bank_id, "fact": of_fact},
            prepare=False,
        ).fetchall()
        sources = {source for row in rows for source in row["source_ids"]} | ({of_fact} if of_fact else set())
        connection.execute(
            "UPDATE consolidation SET consolidated_at = NULL, failed_at = NULL, failure = NULL"
            " WHERE bank_id = %(bank_id)s AND (%(all)s OR fact_id = ANY(%(sources)s::uuid[]))",
            {"bank_id": bank_id, "all": of_fact is None, "sources": list(sources)},
        )
        closings = [Closing(row["from_position"], row["fact_id"], OBSERVATION, tuple(row["tags"])) for row in rows]
        return VersionWriter(connection, bank_id, at, self._space()).apply(before, closings, [])


def _replaced(changes: EmbeddedChanges) -> list[Fact]:
    """The observations as they were read of which another version is written, or that end."""
    before = [written.before for written in changes.changes.written if written.before is not None]
    return [*before, *changes.changes.dropped]


def _asked_for(bank_id: str, scopes: Sequence[Tags] | None) -> dict[str, Any]:
    return {"bank_id": bank_id, "scopes": None if scopes is None else Jsonb([list(scope) for scope in scopes])}
