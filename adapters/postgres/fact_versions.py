"""Versions of facts: the one place that adds and closes them, numbered by the bank's clock.

Everything that a bank knows of its facts beside them (vectors, words, names, scopes, what waits for consolidation) is
kept in step here. Closing a fact closes the observations that rest on it, and has their other sources consolidated
again (the system of reference, "Deleting a source").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from adapters.postgres.memory_rows import LEXEME_MARK_LENGTH, lexeme_mark, tag_set
from adapters.postgres.vectors import Vector
from application.ports import MemoryWrite
from domain.memory import ObservationScopes
from domain.terms import fact_terms

OBSERVATION = "observation"


@dataclass(frozen=True)
class Closing:
    """A current version to close, known by the position that it became valid at. `keeps_observations`: what is said is
    still true for all that rests on it."""

    position: int
    fact_id: UUID
    fact_type: str
    tags: tuple[str, ...]
    keeps_observations: bool = False


@dataclass(frozen=True)
class NewVersion:
    """A version to add: the first of a fact or, beside the closing of the one before, a later one. `tags` are sorted;
    an empty `vector` is none. `consolidated`: it needs no consolidation (again)."""

    fact_id: UUID
    text: str
    fact_type: str
    tags: tuple[str, ...]
    version: int = 1
    context: str | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    source_ids: tuple[UUID, ...] = ()
    observation_scopes: ObservationScopes | None = None
    vector: Sequence[float] = ()
    consolidated: bool = False


def lock_clock(connection: Connection[DictRow], bank_id: str) -> int:
    """The bank's position; until the transaction ends no other one can change the memory of the bank."""
    return position_of(locking_clock(connection, bank_id))


def locking_clock(connection: Connection[DictRow], bank_id: str) -> Cursor[DictRow]:
    """The same in a pipeline, for `position_of` at its end: statements after it already see what it waited for."""
    return connection.execute(
        "INSERT INTO memory_clock AS c (bank_id) VALUES (%s)"
        " ON CONFLICT (bank_id) DO UPDATE SET position = c.position RETURNING position",
        (bank_id,),
    )


def position_of(locked: Cursor[DictRow]) -> int:
    row = locked.fetchone()
    assert row is not None  # an upsert always returns its row
    return int(row["position"])


class VersionWriter:
    """Changes the facts of one bank within one transaction, whose clock is locked (`lock_clock`)."""

    def __init__(self, connection: Connection[DictRow], bank_id: str, at: datetime, space: str) -> None:
        self._connection = connection
        self._bank_id = bank_id
        self._at = at
        self._space = space

    def apply(self, before: int, closings: Sequence[Closing], additions: Sequence[NewVersion]) -> MemoryWrite:
        """Closings get the first positions after `before`, those of observations that go with them the next, additions
        the last, each in their order."""
        closed = [*closings, *self._dependent_observations(closings)]
        ended = [(closing, before + number) for number, closing in enumerate(closed, start=1)]
        added = [(new, before + len(ended) + number) for number, new in enumerate(additions, start=1)]
        # One round trip: nothing below depends on the answer to anything else below.
        with self._connection.pipeline():
            self._close(ended)
            self._add(added)
            self._keep_names(added)
            self._count_scopes(ended, added)
            self._queue(ended, added)
        return MemoryWrite(position=before + len(ended) + len(added), written=len(added), closed=len(ended))

    def _dependent_observations(self, closings: Sequence[Closing]) -> list[Closing]:
        """The observations that rest on what is closed; their other sources wait for consolidation again."""
        gone = [each.fact_id for each in closings if each.fact_type != OBSERVATION and not each.keeps_observations]
        if not gone:
            return []
        rows = self._connection.execute(
            "SELECT from_position, fact_id, tags, source_ids FROM fact_versions WHERE bank_id = %s"
            " AND to_position IS NULL AND fact_type = 'observation' AND source_ids && %s::uuid[]"
            " ORDER BY from_position",
            (self._bank_id, gone),
        ).fetchall()
        already = {each.position for each in closings}
        sources = {source for row in rows for source in row["source_ids"]} - set(gone)
        if sources:
            self._connection.execute(
                "UPDATE consolidation SET consolidated_at = NULL, failed_at = NULL, failure = NULL"
                " WHERE bank_id = %s AND fact_id = ANY(%s::uuid[])",
                (self._bank_id, list(sources)),
            )
        return [
            Closing(row["from_position"], row["fact_id"], OBSERVATION, tuple(row["tags"]))
            for row in rows
            if row["from_position"] not in already
        ]

    def _close(self, closings: Sequence[tuple[Closing, int]]) -> None:
        if not closings:
            return
        closed = {
            "bank_id": self._bank_id,
            "starts": [closing.position for closing, _ in closings],
            "ends": [end for _, end in closings],
            "mark": LEXEME_MARK_LENGTH,
        }
        self._connection.execute(
            "WITH closed AS (UPDATE fact_versions f SET to_position = c.stop"
            "   FROM unnest(%(starts)s::bigint[], %(ends)s::bigint[]) AS c(start, stop)"
            "   WHERE f.bank_id = %(bank_id)s AND f.from_position = c.start RETURNING f.terms, f.entities),"
            " gone AS (SELECT substr(lexeme, %(mark)s + 1) AS term, count(*) AS facts"
            "   FROM closed, unnest(tsvector_to_array(terms)) AS lexeme GROUP BY 1),"
            " unnamed AS (SELECT left(lower(name), 300) AS folded, count(*) AS facts"
            "   FROM closed, unnest(entities) AS name GROUP BY 1),"
            " fewer_names AS (UPDATE memory_entities e SET facts = e.facts - unnamed.facts FROM unnamed"
            "   WHERE e.bank_id = %(bank_id)s AND e.folded = unnamed.folded)"
            " UPDATE memory_terms t SET facts = t.facts - gone.facts FROM gone"
            " WHERE t.bank_id = %(bank_id)s AND t.term = gone.term",
            closed,
        )
        self._connection.execute(
            "UPDATE fact_vectors v SET to_position = c.stop"
            " FROM unnest(%(starts)s::bigint[], %(ends)s::bigint[]) AS c(start, stop)"
            " WHERE v.bank_id = %(bank_id)s AND v.from_position = c.start",
            closed,
        )

    def _add(self, additions: Sequence[tuple[NewVersion, int]]) -> None:
        if not additions:
            return
        rows = [self._row(new, position) for new, position in additions]
        self._connection.cursor().executemany(
            "INSERT INTO fact_versions (bank_id, fact_id, version, from_position, tag_set, fact_type, terms, tags,"
            " text, context, occurred_start, occurred_end, mentioned_at, document_id, chunk_id, metadata, entities,"
            " source_ids, observation_scopes, recorded_at)"
            " VALUES (%(bank_id)s, %(fact_id)s, %(version)s, %(position)s, %(tag_set)s, %(fact_type)s,"
            " array_to_tsvector(%(lexemes)s::text[]), %(tags)s, %(text)s, %(context)s, %(occurred_start)s,"
            " %(occurred_end)s, %(mentioned_at)s, %(document_id)s, %(chunk_id)s, %(metadata)s, %(entities)s,"
            " %(source_ids)s::uuid[], %(observation_scopes)s, %(at)s)",
            rows,
        )
        self._connection.cursor().executemany(
            "INSERT INTO fact_vectors (bank_id, from_position, tag_set, fact_type, space, embedding) VALUES"
            " (%(bank_id)s, %(position)s, %(tag_set)s, %(fact_type)s, %(space)s, %(embedding)b::vector::halfvec)",
            [row for row in rows if row["embedding"] is not None],
        )
        counts = Counter(term for row in rows for term in row["terms"])
        self._connection.execute(
            "INSERT INTO memory_terms AS t (bank_id, term, facts)"
            " SELECT %s, term, facts FROM unnest(%s::text[], %s::bigint[]) AS n(term, facts)"
            " ON CONFLICT (bank_id, term) DO UPDATE SET facts = t.facts + excluded.facts",
            (self._bank_id, list(counts), list(counts.values())),
        )

    def _row(self, new: NewVersion, position: int) -> dict[str, Any]:
        terms = fact_terms(new.text, new.entities, new.occurred_start, new.occurred_end)
        mark = lexeme_mark(self._bank_id)
        scopes = new.observation_scopes
        return {
            "bank_id": self._bank_id,
            "fact_id": new.fact_id,
            "version": new.version,
            "position": position,
            "tag_set": tag_set(new.tags),
            "fact_type": new.fact_type,
            "terms": terms,
            "lexemes": [mark + term for term in terms],
            "tags": list(new.tags),
            "text": new.text,
            "context": new.context,
            "occurred_start": new.occurred_start,
            "occurred_end": new.occurred_end,
            "mentioned_at": new.mentioned_at,
            "document_id": new.document_id,
            "chunk_id": new.chunk_id,
            "metadata": Jsonb(new.metadata),
            "entities": list(new.entities),
            "source_ids": list(new.source_ids),
            "observation_scopes": None if scopes is None else Jsonb(scopes),
            "at": self._at,
            "space": self._space,
            "embedding": Vector(new.vector) if new.vector else None,
        }

    def _keep_names(self, additions: Sequence[tuple[NewVersion, int]]) -> None:
        """The first spelling of a name stays; `facts` counts the current ones that bear it. Spellings are folded by the
        server alone, here as where versions are closed: two rules would drift apart."""
        names = [name for new, _ in additions for name in new.entities]
        if not names:
            return
        self._connection.execute(
            "INSERT INTO memory_entities AS e (bank_id, folded, name, facts, first_seen, last_seen)"
            " SELECT %(bank_id)s, left(lower(name), 300), (array_agg(name ORDER BY place))[1], count(*), %(at)s, %(at)s"
            " FROM unnest(%(names)s::text[]) WITH ORDINALITY AS n(name, place) GROUP BY left(lower(name), 300)"
            " ON CONFLICT (bank_id, folded) DO UPDATE SET facts = e.facts + excluded.facts, last_seen = %(at)s",
            {"bank_id": self._bank_id, "names": names, "at": self._at},
        )

    def _count_scopes(
        self, closings: Sequence[tuple[Closing, int]], additions: Sequence[tuple[NewVersion, int]]
    ) -> None:
        facts, written = Counter[tuple[tuple[str, ...], str]](), dict[tuple[tuple[str, ...], str], int]()
        for closing, _ in closings:
            facts[closing.tags, closing.fact_type] -= 1
        for new, position in additions:
            facts[new.tags, new.fact_type] += 1
            written[new.tags, new.fact_type] = position
        self._connection.cursor().executemany(
            "INSERT INTO scope_clock AS s (bank_id, tag_set, fact_type, tags, position, facts)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (bank_id, tag_set, fact_type)"
            " DO UPDATE SET position = greatest(s.position, excluded.position), facts = s.facts + excluded.facts",
            [
                (self._bank_id, tag_set(tags), fact_type, list(tags), written.get((tags, fact_type), 0), change)
                for (tags, fact_type), change in facts.items()
            ],
        )
        ends = [end for _, end in (*closings, *additions)]
        if ends:
            self._connection.execute(
                "UPDATE memory_clock SET position = %s, facts = facts + %s, written_at = %s WHERE bank_id = %s",
                (max(ends), len(additions) - len(closings), self._at, self._bank_id),
            )

    def _queue(self, closings: Sequence[tuple[Closing, int]], additions: Sequence[tuple[NewVersion, int]]) -> None:
        """Facts wait for consolidation from their first version, and again from each one that says something else. One
        that waits already waits on, whatever its next version is."""
        kept = {new.fact_id for new, _ in additions}
        gone = [each.fact_id for each, _ in closings if each.fact_type != OBSERVATION and each.fact_id not in kept]
        if gone:
            self._connection.execute(
                "DELETE FROM consolidation WHERE bank_id = %s AND fact_id = ANY(%s::uuid[])", (self._bank_id, gone)
            )
        waiting = [(new, position) for new, position in additions if new.fact_type != OBSERVATION]
        self._connection.cursor().executemany(
            "INSERT INTO consolidation AS c (bank_id, fact_id, position, tag_set, consolidated_at)"
            " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (bank_id, fact_id) DO UPDATE SET position = excluded.position,"
            " tag_set = excluded.tag_set,"
            " consolidated_at = CASE WHEN excluded.consolidated_at IS NOT NULL THEN c.consolidated_at END,"
            " failed_at = CASE WHEN excluded.consolidated_at IS NULL THEN NULL ELSE c.failed_at END,"
            " failure = CASE WHEN excluded.consolidated_at IS NULL THEN NULL ELSE c.failure END",
            [
                (self._bank_id, new.fact_id, position, tag_set(new.tags), self._at if new.consolidated else None)
                for new, position in waiting
            ],
        )
