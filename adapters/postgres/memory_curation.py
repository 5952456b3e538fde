"""Curation on PostgreSQL: facts replaced, set aside, restored and erased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from psycopg import Connection, sql
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from pydantic import TypeAdapter

from adapters.postgres.database import Database, connection_of
from adapters.postgres.fact_versions import Closing, NewVersion, VersionWriter, lock_clock
from adapters.postgres.memory_chunks import chunks
from adapters.postgres.memory_rows import FACT_COLUMNS, fact_fields, facts_of
from adapters.postgres.scope_sql import ScopeCondition, sorted_tags
from application.ports import MemoryWrite, Transaction
from application.ports.curation import DocumentFacts, DocumentSettings, Replacement
from domain.curation import CuratedFact, ErasedFacts
from domain.memory import Fact, ObservationScopes
from domain.retain import Part
from domain.scope import Scope

_SCOPES = TypeAdapter[ObservationScopes | None](ObservationScopes | None)

_CURRENT = "f.bank_id = %(bank_id)s AND f.to_position IS NULL"
_FACT = sql.SQL(
    "SELECT {columns}, NULL::timestamptz AS invalidated_at, NULL::text AS reason FROM fact_versions f"
    " WHERE " + _CURRENT + " AND f.fact_id = %(fact_id)s"
    " UNION ALL SELECT {columns}, f.invalidated_at, f.reason FROM facts_set_aside f"
    " WHERE f.bank_id = %(bank_id)s AND f.fact_id = %(fact_id)s"
).format(columns=FACT_COLUMNS)
_OF_DOCUMENT = "f.document_id = %(document_id)s AND f.fact_type <> 'observation' ORDER BY f.from_position"
_CURRENT_OF_DOCUMENT = sql.SQL("SELECT {} FROM fact_versions f WHERE " + _CURRENT + " AND " + _OF_DOCUMENT).format(
    FACT_COLUMNS
)
_ASIDE_OF_DOCUMENT = sql.SQL(
    "SELECT {} FROM facts_set_aside f WHERE f.bank_id = %(bank_id)s AND " + _OF_DOCUMENT
).format(FACT_COLUMNS)
_WITHOUT_FACTS = (
    "NOT EXISTS (SELECT FROM fact_versions f"
    "   WHERE f.bank_id = d.bank_id AND f.document_id = d.document_id AND f.to_position IS NULL)"
    " AND NOT EXISTS (SELECT FROM facts_set_aside f WHERE f.bank_id = d.bank_id AND f.document_id = d.document_id)"
)


class PostgresFactCuration:
    """FactCuration. `space` tells which model's vectors new versions have."""

    def __init__(self, database: Database, space: Callable[[], str]) -> None:
        self._database = database
        self._space = space

    def hold(self, bank_id: str, tx: Transaction) -> None:
        lock_clock(connection_of(tx), bank_id)

    def fact(self, bank_id: str, fact_id: UUID, tx: Transaction | None = None) -> CuratedFact | None:
        if tx is not None:
            return _fact(connection_of(tx), bank_id, fact_id)
        with self._database.connection() as connection:
            return _fact(connection, bank_id, fact_id)

    def replace(self, bank_id: str, replacements: Sequence[Replacement], at: datetime, tx: Transaction) -> MemoryWrite:
        connection = connection_of(tx)
        before = lock_clock(connection, bank_id)
        kept = self._vectors(connection, bank_id, [each.fact for each in replacements if each.vector is None])
        current = _current(connection, bank_id, [each.fact.id for each in replacements])
        closings = [replace(current[each.fact.id], keeps_observations=each.keeps_observations) for each in replacements]
        additions = [
            _next_version(
                each.fact,
                kept.get(each.fact.position, ()) if each.vector is None else each.vector,
                consolidated=each.keeps_observations,
            )
            for each in replacements
        ]
        return self._writer(connection, bank_id, at).apply(before, closings, additions)

    def invalidate(self, bank_id: str, fact: Fact, reason: str | None, at: datetime, tx: Transaction) -> MemoryWrite:
        connection = connection_of(tx)
        before = lock_clock(connection, bank_id)
        written = self._writer(connection, bank_id, at).apply(before, [_closing(fact)], [])
        connection.execute(
            "INSERT INTO invalidated_facts (bank_id, fact_id, version, position, reason, invalidated_at)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            (bank_id, fact.id, fact.version, before + 1, reason, at),
        )
        return written

    def restore(self, bank_id: str, restored: Replacement, at: datetime, tx: Transaction) -> MemoryWrite:
        connection, fact = connection_of(tx), restored.fact
        before = lock_clock(connection, bank_id)
        vector = restored.vector
        if vector is None:
            vector = self._vectors(connection, bank_id, [fact]).get(fact.position, ())
        connection.execute("DELETE FROM invalidated_facts WHERE bank_id = %s AND fact_id = %s", (bank_id, fact.id))
        if fact.chunk_id is not None and not chunks(connection, bank_id, [fact.chunk_id]):
            fact = fact.model_copy(update={"chunk_id": None})
        return self._writer(connection, bank_id, at).apply(before, [], [_next_version(fact, vector)])

    def document(self, bank_id: str, document_id: str, tx: Transaction) -> DocumentFacts | None:
        connection, key = connection_of(tx), {"bank_id": bank_id, "document_id": document_id}
        row = connection.execute(
            "SELECT tags, parts, retained_with -> 'observation_scopes' AS scopes FROM memory_documents"
            " WHERE bank_id = %(bank_id)s AND document_id = %(document_id)s",
            key,
        ).fetchone()
        if row is None:
            return None
        return DocumentFacts(
            tags=tuple(row["tags"]),
            parts=tuple(Part.model_validate(part) for part in row["parts"]),
            observation_scopes=_SCOPES.validate_python(row["scopes"]),
            facts=facts_of(connection.execute(_CURRENT_OF_DOCUMENT, key).fetchall()),
            set_aside=facts_of(connection.execute(_ASIDE_OF_DOCUMENT, key).fetchall()),
        )

    def keep_settings(
        self, bank_id: str, document_id: str, settings: DocumentSettings, at: datetime, tx: Transaction
    ) -> None:
        connection, key = connection_of(tx), {"bank_id": bank_id, "document_id": document_id}
        connection.execute(
            "UPDATE memory_documents SET tags = %(tags)s, parts = %(parts)s, updated_at = %(at)s,"
            " retained_with = retained_with || %(with)s, revision = nextval('retain_order')"
            " WHERE bank_id = %(bank_id)s AND document_id = %(document_id)s",
            {
                **key,
                "tags": sorted_tags(settings.tags),
                "parts": Jsonb([part.model_dump() for part in settings.parts]),
                "with": Jsonb({"observation_scopes": settings.observation_scopes}),
                "at": at,
            },
        )
        connection.execute(
            "UPDATE memory_chunks c SET read_with = now.digest || substr(c.read_with, length(now.old) + 1)"
            " FROM unnest(%(before)s::text[], %(after)s::text[]) AS now(old, digest)"
            " WHERE c.bank_id = %(bank_id)s AND c.document_id = %(document_id)s"
            " AND split_part(c.read_with, ' ', 1) = now.old",
            {**key, "before": list(settings.read_with), "after": list(settings.read_with.values())},
        )

    def retag_set_aside(self, bank_id: str, facts: Sequence[Fact], tx: Transaction) -> None:
        connection_of(tx).cursor().executemany(
            "UPDATE invalidated_facts SET tags = %s, observation_scopes = %s WHERE bank_id = %s AND fact_id = %s",
            [(list(fact.tags), _jsonb_or_none(fact.observation_scopes), bank_id, fact.id) for fact in facts],
        )

    def erase(
        self, bank_id: str, scope: Scope, at: datetime, tx: Transaction, fact_ids: Sequence[UUID] | None = None
    ) -> ErasedFacts:
        condition = ScopeCondition(scope)
        chosen = sql.SQL("{} AND (%(fact_ids)s::uuid[] IS NULL OR f.fact_id = ANY(%(fact_ids)s))").format(
            condition.on("f")
        )
        parameters = {"fact_ids": None if fact_ids is None else list(fact_ids), **condition.parameters}
        connection = connection_of(tx)
        return self._erase(connection, bank_id, chosen, parameters, at)

    def erase_document(self, bank_id: str, document_id: str, at: datetime, tx: Transaction) -> ErasedFacts | None:
        connection, key = connection_of(tx), {"bank_id": bank_id, "document_id": document_id}
        lock_clock(connection, bank_id)
        gone = connection.execute(
            "DELETE FROM memory_documents WHERE bank_id = %(bank_id)s AND document_id = %(document_id)s", key
        ).rowcount
        if not gone:
            return None
        connection.execute(
            "DELETE FROM memory_chunks WHERE bank_id = %(bank_id)s AND document_id = %(document_id)s", key
        )
        of_document = sql.SQL("f.document_id = %(document_id)s")
        return self._erase(connection, bank_id, of_document, {"document_id": document_id}, at)

    def erase_documents(self, bank_id: str, scope: Scope, document_ids: Sequence[str], tx: Transaction) -> int:
        connection, condition = connection_of(tx), ScopeCondition(scope)
        in_scope = sql.SQL("FALSE") if scope.fact_types is not None else condition.on("d")
        statement = sql.SQL(
            "WITH gone AS (DELETE FROM memory_documents d WHERE d.bank_id = %(bank_id)s"
            "   AND (d.document_id = ANY(%(ids)s) OR {}) AND " + _WITHOUT_FACTS + " RETURNING document_id),"
            " chunks AS (DELETE FROM memory_chunks c USING gone"
            "   WHERE c.bank_id = %(bank_id)s AND c.document_id = gone.document_id)"
            " SELECT count(*) AS gone FROM gone"
        ).format(in_scope)
        key = {"bank_id": bank_id, "ids": list(document_ids), **condition.parameters}
        row = connection.execute(statement, key, prepare=False).fetchone()
        return int(row["gone"]) if row else 0

    def _erase(
        self,
        connection: Connection[DictRow],
        bank_id: str,
        chosen: sql.Composable,
        parameters: dict[str, object],
        at: datetime,
    ) -> ErasedFacts:
        before = lock_clock(connection, bank_id)
        rows = connection.execute(
            sql.SQL(
                "SELECT f.from_position, f.fact_id, f.fact_type, f.tags, f.source_ids, f.document_id"
                " FROM fact_versions f WHERE " + _CURRENT + " AND {} ORDER BY f.from_position"
            ).format(chosen),
            {"bank_id": bank_id, **parameters},
            prepare=False,
        ).fetchall()
        closings = [Closing(row["from_position"], row["fact_id"], row["fact_type"], tuple(row["tags"])) for row in rows]
        written = self._writer(connection, bank_id, at).apply(before, closings, [])
        _consolidate_again(connection, bank_id, {source for row in rows for source in row["source_ids"]})
        aside = connection.execute(
            sql.SQL(
                "DELETE FROM invalidated_facts i USING facts_set_aside f WHERE i.bank_id = %(bank_id)s"
                " AND f.bank_id = i.bank_id AND f.fact_id = i.fact_id AND {} RETURNING f.document_id"
            ).format(chosen),
            {"bank_id": bank_id, **parameters},
            prepare=False,
        ).fetchall()
        return ErasedFacts(
            facts=len(closings) + len(aside),
            observations=written.closed - len(closings),
            document_ids=tuple({row["document_id"] for row in (*rows, *aside)} - {None}),
        )

    def _vectors(
        self, connection: Connection[DictRow], bank_id: str, facts: Iterable[Fact]
    ) -> dict[int, Sequence[float]]:
        """Vectors of versions by their position, those that can still be compared."""
        rows = connection.execute(
            "SELECT from_position, embedding::real[] AS numbers FROM fact_vectors"
            " WHERE bank_id = %s AND from_position = ANY(%s) AND space = %s",
            (bank_id, [fact.position for fact in facts], self._space()),
        ).fetchall()
        return {row["from_position"]: row["numbers"] for row in rows}

    def _writer(self, connection: Connection[DictRow], bank_id: str, at: datetime) -> VersionWriter:
        return VersionWriter(connection, bank_id, at, self._space())


def _fact(connection: Connection[DictRow], bank_id: str, fact_id: UUID) -> CuratedFact | None:
    row = connection.execute(_FACT, {"bank_id": bank_id, "fact_id": fact_id}).fetchone()
    if row is None:
        return None
    state = {name: row.pop(name) for name in ("invalidated_at", "reason")}
    return CuratedFact(fact=Fact.model_validate(fact_fields(row)), **state)


def _current(connection: Connection[DictRow], bank_id: str, fact_ids: Sequence[UUID]) -> dict[UUID, Closing]:
    rows = connection.execute(
        "SELECT f.from_position, f.fact_id, f.fact_type, f.tags FROM fact_versions f WHERE "
        + _CURRENT
        + " AND f.fact_id = ANY(%(ids)s::uuid[])",
        {"bank_id": bank_id, "ids": list(fact_ids)},
    ).fetchall()
    return {
        row["fact_id"]: Closing(row["from_position"], row["fact_id"], row["fact_type"], tuple(row["tags"]))
        for row in rows
    }


def _closing(fact: Fact) -> Closing:
    return Closing(fact.position, fact.id, fact.fact_type, fact.tags)


def _jsonb_or_none(scopes: ObservationScopes | None) -> Jsonb | None:
    return None if scopes is None else Jsonb(scopes)


def _next_version(fact: Fact, vector: Sequence[float], *, consolidated: bool = False) -> NewVersion:
    return NewVersion(
        fact_id=fact.id,
        version=fact.version + 1,
        text=fact.text,
        fact_type=fact.fact_type,
        tags=fact.tags,
        context=fact.context,
        occurred_start=fact.occurred_start,
        occurred_end=fact.occurred_end,
        mentioned_at=fact.mentioned_at,
        document_id=fact.document_id,
        chunk_id=fact.chunk_id,
        metadata=dict(fact.metadata),
        entities=fact.entities,
        observation_scopes=fact.observation_scopes,
        vector=vector,
        consolidated=consolidated,
    )


def _consolidate_again(connection: Connection[DictRow], bank_id: str, sources: Iterable[UUID]) -> None:
    """Sources of observations that were erased themselves."""
    if again := list(sources):
        connection.execute(
            "UPDATE consolidation SET consolidated_at = NULL, failed_at = NULL, failure = NULL"
            " WHERE bank_id = %s AND fact_id = ANY(%s::uuid[])",
            (bank_id, again),
        )
