"""Writing to the memory of a bank: what a retain changes, numbered by the bank's clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from adapters.postgres.document_upsert import Addition, CurrentFact, Document, Statement, changes_of, documents_of
from adapters.postgres.memory_rows import LEXEME_MARK_LENGTH, lexeme_mark, tag_set
from adapters.postgres.vectors import Vector
from application.ports import Identities, MemoryWrite, RetainedItem
from domain.terms import fact_terms


def lock_clock(connection: Connection[DictRow], bank_id: str) -> int:
    """The bank's position; until the transaction ends no other one can change the memory of the bank."""
    row = connection.execute(
        "INSERT INTO memory_clock AS c (bank_id) VALUES (%s)"
        " ON CONFLICT (bank_id) DO UPDATE SET position = c.position RETURNING position",
        (bank_id,),
    ).fetchone()
    assert row is not None  # an upsert always returns its row
    return int(row["position"])


class MemoryWriter:
    """Writes into one bank within one transaction."""

    def __init__(
        self, connection: Connection[DictRow], bank_id: str, at: datetime, identities: Identities, space: str
    ) -> None:
        self._connection = connection
        self._bank_id = bank_id
        self._at = at
        self._identities = identities
        self._space = space

    def write(self, items: Sequence[RetainedItem]) -> MemoryWrite:
        """Upserts the documents of the items. Closings get the first positions, additions the next, in their order."""
        before = lock_clock(self._connection, self._bank_id)
        if not items:
            return MemoryWrite(position=before, written=0, closed=0)
        documents = documents_of(items)
        changes = changes_of(documents, self._current(documents))
        positions = count(before + 1)
        closings = [(current, next(positions)) for current in changes.closed]
        additions = [(addition, next(positions)) for addition in changes.added]
        position = next(positions) - 1
        # One round trip: nothing below depends on the answer to anything else below.
        with self._connection.pipeline():
            self._keep_documents(documents)
            self._close(closings)
            self._add(additions)
            self._count_scopes(closings, additions)
            self._move_clock(position, len(additions) - len(closings))
        return MemoryWrite(position=position, written=len(additions), closed=len(closings))

    def _current(self, documents: Sequence[Document]) -> Mapping[str, list[CurrentFact]]:
        rows = self._connection.execute(
            "SELECT document_id, from_position, text, fact_type, tags, context, occurred_start, occurred_end"
            " FROM fact_versions WHERE bank_id = %s AND document_id = ANY(%s) AND to_position IS NULL"
            " ORDER BY from_position",
            (self._bank_id, [document.document_id for document in documents]),
        ).fetchall()
        found: dict[str, list[CurrentFact]] = {}
        for row in rows:
            statement = Statement(
                row["text"],
                row["fact_type"],
                tuple(row["tags"]),
                row["context"],
                row["occurred_start"],
                row["occurred_end"],
            )
            current = CurrentFact(row["from_position"], statement)
            found.setdefault(row["document_id"], []).append(current)
        return found

    def _keep_documents(self, documents: Sequence[Document]) -> None:
        self._connection.cursor().executemany(
            "INSERT INTO memory_documents AS d (bank_id, document_id, text, tags, metadata, created_at, updated_at)"
            " VALUES (%(bank_id)s, %(document_id)s, %(text)s, %(tags)s, %(metadata)s, %(at)s, %(at)s)"
            " ON CONFLICT (bank_id, document_id) DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at,"
            " tags = CASE WHEN %(replaces)s THEN excluded.tags"
            "   ELSE ARRAY(SELECT DISTINCT unnest(d.tags || excluded.tags) AS tag ORDER BY tag) END,"
            " metadata = CASE WHEN %(replaces)s THEN excluded.metadata ELSE d.metadata || excluded.metadata END",
            [
                {
                    "bank_id": self._bank_id,
                    "document_id": document.document_id,
                    "text": document.text,
                    "tags": document.tags,
                    "metadata": Jsonb(document.metadata),
                    "replaces": document.replaces,
                    "at": self._at,
                }
                for document in documents
            ],
        )

    def _close(self, closings: Sequence[tuple[CurrentFact, int]]) -> None:
        if not closings:
            return
        closed = {
            "bank_id": self._bank_id,
            "starts": [current.position for current, _ in closings],
            "ends": [end for _, end in closings],
            "mark": LEXEME_MARK_LENGTH,
        }
        self._connection.execute(
            "WITH closed AS (UPDATE fact_versions f SET to_position = c.stop"
            "   FROM unnest(%(starts)s::bigint[], %(ends)s::bigint[]) AS c(start, stop)"
            "   WHERE f.bank_id = %(bank_id)s AND f.from_position = c.start RETURNING f.terms),"
            " gone AS (SELECT substr(lexeme, %(mark)s + 1) AS term, count(*) AS facts"
            "   FROM closed, unnest(tsvector_to_array(terms)) AS lexeme GROUP BY 1)"
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

    def _add(self, additions: Sequence[tuple[Addition, int]]) -> None:
        if not additions:
            return
        rows = [self._row(addition, position) for addition, position in additions]
        self._connection.cursor().executemany(
            "INSERT INTO fact_versions (bank_id, fact_id, version, from_position, tag_set, fact_type, terms, tags,"
            " text, context, occurred_start, occurred_end, mentioned_at, document_id, metadata, entities, recorded_at)"
            " VALUES (%(bank_id)s, %(fact_id)s, 1, %(position)s, %(tag_set)s, %(fact_type)s,"
            " array_to_tsvector(%(lexemes)s::text[]), %(tags)s, %(text)s, %(context)s, %(occurred_start)s,"
            " %(occurred_end)s, %(mentioned_at)s, %(document_id)s, %(metadata)s, %(entities)s, %(at)s)",
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

    def _row(self, addition: Addition, position: int) -> dict[str, Any]:
        said, item, embedded = addition.statement, addition.retained.item, addition.embedded
        entities = list(dict.fromkeys((*embedded.fact.entities, *item.entities)))
        terms = fact_terms(said.text, entities, said.occurred_start, said.occurred_end)
        mark = lexeme_mark(self._bank_id)
        return {
            "bank_id": self._bank_id,
            "fact_id": self._identities.new(),
            "position": position,
            "tag_set": tag_set(said.tags),
            "fact_type": said.fact_type,
            "terms": terms,
            "lexemes": [mark + term for term in terms],
            "tags": list(said.tags),
            "text": said.text,
            "context": said.context,
            "occurred_start": said.occurred_start,
            "occurred_end": said.occurred_end,
            "mentioned_at": item.timestamp,
            "document_id": addition.retained.document_id,
            "metadata": Jsonb(dict(item.metadata)),
            "entities": entities,
            "at": self._at,
            "space": self._space,
            "embedding": Vector(embedded.vector) if embedded.vector else None,
        }

    def _count_scopes(
        self, closings: Sequence[tuple[CurrentFact, int]], additions: Sequence[tuple[Addition, int]]
    ) -> None:
        facts, written = Counter[tuple[tuple[str, ...], str]](), dict[tuple[tuple[str, ...], str], int]()
        for current, _ in closings:
            facts[_scope_of(current.statement)] -= 1
        for addition, position in additions:
            facts[_scope_of(addition.statement)] += 1
            written[_scope_of(addition.statement)] = position
        self._connection.cursor().executemany(
            "INSERT INTO scope_clock AS s (bank_id, tag_set, fact_type, tags, position, facts)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (bank_id, tag_set, fact_type)"
            " DO UPDATE SET position = greatest(s.position, excluded.position), facts = s.facts + excluded.facts",
            [
                (self._bank_id, tag_set(tags), fact_type, list(tags), written.get((tags, fact_type), 0), change)
                for (tags, fact_type), change in facts.items()
            ],
        )

    def _move_clock(self, position: int, more_facts: int) -> None:
        self._connection.execute(
            "UPDATE memory_clock SET position = %(position)s, facts = facts + %(more)s,"
            " written_at = CASE WHEN position < %(position)s THEN %(at)s ELSE written_at END, document_at = %(at)s"
            " WHERE bank_id = %(bank_id)s",
            {"bank_id": self._bank_id, "position": position, "more": more_facts, "at": self._at},
        )


def _scope_of(statement: Statement) -> tuple[tuple[str, ...], str]:
    return statement.tags, statement.fact_type
