"""The memory of a bank, written as it was: versions at their positions, and all that is known beside them.

What follows from the versions (terms, counts, keys of tag sets) is made here by the rules of this service.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from psycopg import Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from adapters.postgres.memory_rows import LEXEME_MARK_LENGTH, lexeme_mark, tag_set
from adapters.postgres.scope_sql import sorted_tags
from adapters.postgres.vectors import Vector
from domain.digest import sha256_of
from domain.terms import fact_terms
from domain.transfer import (
    CauseRow,
    ChunkRow,
    ClockRow,
    ConsolidationRow,
    DocumentRow,
    EntityRow,
    FactRow,
    MemoryRow,
    ScopeRow,
    SetAsideRow,
)

_CLOCK = (
    "UPDATE memory_clock SET position = greatest(position, %(position)s), written_at = %(written_at)s,"
    " document_at = %(document_at)s, consolidated_at = %(consolidated_at)s WHERE bank_id = %(bank_id)s"
)
_INSERTS = {
    "documents": "INSERT INTO memory_documents (bank_id, document_id, text, text_stored, tags, metadata, parts,"
    " retained_with, created_at, updated_at) VALUES (%(bank_id)s, %(document_id)s, %(text)s, %(text_stored)s,"
    " %(tags)s, %(metadata)s, %(parts)s, %(retained_with)s, %(created_at)s, %(updated_at)s)",
    "chunks": "INSERT INTO memory_chunks (bank_id, document_id, chunk_id, number, text, sha256, read_with, created_at)"
    " VALUES (%(bank_id)s, %(document_id)s, %(chunk_id)s, %(number)s, %(text)s, %(sha256)s, %(read_with)s,"
    " %(created_at)s)",
    "facts": "INSERT INTO fact_versions (bank_id, fact_id, version, from_position, to_position, tag_set, fact_type,"
    " terms, tags, text, context, occurred_start, occurred_end, mentioned_at, document_id, chunk_id, metadata,"
    " entities, source_ids, observation_scopes, recorded_at) VALUES (%(bank_id)s, %(fact_id)s, %(version)s,"
    " %(from_position)s, %(to_position)s, %(tag_set)s, %(fact_type)s, array_to_tsvector(%(lexemes)s::text[]),"
    " %(tags)s, %(text)s, %(context)s, %(occurred_start)s, %(occurred_end)s, %(mentioned_at)s, %(document_id)s,"
    " %(chunk_id)s, %(metadata)s, %(entities)s, %(source_ids)s::uuid[], %(observation_scopes)s, %(recorded_at)s)",
    "vectors": "INSERT INTO fact_vectors (bank_id, from_position, to_position, tag_set, fact_type, space, embedding)"
    " VALUES (%(bank_id)s, %(from_position)s, %(to_position)s, %(tag_set)s, %(fact_type)s, %(space)s,"
    " %(embedding)b::vector::halfvec)",
    "causes": "INSERT INTO fact_causes (bank_id, fact_id, cause_id) VALUES (%(bank_id)s, %(fact_id)s, %(cause_id)s)",
    "set_aside": "INSERT INTO invalidated_facts (bank_id, fact_id, version, position, reason, invalidated_at, tags,"
    " observation_scopes) VALUES (%(bank_id)s, %(fact_id)s, %(version)s, %(position)s, %(reason)s,"
    " %(invalidated_at)s, %(tags)s, %(observation_scopes)s)",
    "consolidation": "INSERT INTO consolidation (bank_id, fact_id, position, tag_set, consolidated_at, failed_at,"
    " failure) SELECT bank_id, fact_id, from_position, tag_set, %(consolidated_at)s, %(failed_at)s, %(failure)s"
    " FROM fact_versions WHERE bank_id = %(bank_id)s AND fact_id = %(fact_id)s AND to_position IS NULL",
    "entities": "INSERT INTO memory_entities (bank_id, folded, name, facts, first_seen, last_seen) VALUES"
    " (%(bank_id)s, left(lower(%(name)s), 300), %(name)s, 0, %(first_seen)s, %(last_seen)s) ON CONFLICT DO NOTHING",
    "scopes": "INSERT INTO scope_clock (bank_id, tag_set, fact_type, tags, position, facts) VALUES (%(bank_id)s,"
    " %(tag_set)s, %(fact_type)s, %(tags)s, %(position)s, 0)",
}
_CONCLUSIONS = (
    "INSERT INTO memory_terms (bank_id, term, facts) SELECT bank_id, substr(lexeme, %(mark)s + 1), count(*)"
    " FROM fact_versions, unnest(tsvector_to_array(terms)) AS lexeme"
    " WHERE bank_id = %(bank_id)s AND to_position IS NULL GROUP BY 1, 2",
    "INSERT INTO scope_clock AS s (bank_id, tag_set, fact_type, tags, position, facts) SELECT bank_id, tag_set,"
    " fact_type, tags, max(from_position), count(*) FILTER (WHERE to_position IS NULL) FROM fact_versions"
    " WHERE bank_id = %(bank_id)s GROUP BY bank_id, tag_set, fact_type, tags ON CONFLICT (bank_id, tag_set, fact_type)"
    " DO UPDATE SET facts = excluded.facts, position = greatest(s.position, excluded.position)",
    "INSERT INTO memory_entities AS e (bank_id, folded, name, facts, first_seen, last_seen) SELECT bank_id,"
    " left(lower(name), 300), (array_agg(name ORDER BY from_position))[1],"
    " count(*) FILTER (WHERE to_position IS NULL), min(recorded_at), max(recorded_at)"
    " FROM fact_versions, unnest(entities) AS name WHERE bank_id = %(bank_id)s GROUP BY 1, 2"
    " ON CONFLICT (bank_id, folded) DO UPDATE SET facts = excluded.facts",
    "UPDATE memory_clock c SET facts = (SELECT count(*) FROM fact_versions f WHERE f.bank_id = c.bank_id"
    " AND f.to_position IS NULL) WHERE c.bank_id = %(bank_id)s",
)


class MemoryArrival:
    """Writes sections in their order, in one transaction, into a bank whose clock is locked and which has no memory.
    Vectors are asked for in the order of the facts."""

    def __init__(
        self,
        connection: Connection[DictRow],
        bank_id: str,
        space: str,
        vector_of: Callable[[FactRow], Sequence[float]],
    ) -> None:
        self._connection = connection
        self._bank_id = bank_id
        self._space = space
        self._vector_of = vector_of
        self._mark = lexeme_mark(bank_id)
        row: Any = connection.execute("SELECT last_value FROM retain_order").fetchone()
        self._last_asked = int(row["last_value"])

    def add(self, section: str, rows: Sequence[MemoryRow]) -> None:
        params = [{"bank_id": self._bank_id, **self._params(row)} for row in rows]
        if section == "clock":
            self._connection.execute(_CLOCK, params[0])
            return
        cursor = self._connection.cursor()
        cursor.executemany(_INSERTS[section], params)
        if section == "facts":
            cursor.executemany(_INSERTS["vectors"], [each for each in params if each["embedding"] is not None])

    def conclude(self) -> None:
        """Counts what was written."""
        for statement in _CONCLUSIONS:
            self._connection.execute(statement, {"bank_id": self._bank_id, "mark": LEXEME_MARK_LENGTH})

    def _params(self, row: MemoryRow) -> dict[str, Any]:
        match row:
            case FactRow():
                return self._fact(row)
            case DocumentRow():
                return self._document(row)
            case ChunkRow():
                return {**_fields(row), "sha256": sha256_of(row.text)}
            case ScopeRow():
                tags = sorted_tags(row.tags)
                return {**_fields(row), "tags": tags, "tag_set": tag_set(tags)}
            case SetAsideRow():
                tags_set = None if row.tags is None else sorted_tags(row.tags)
                return {**_fields(row), "tags": tags_set, "observation_scopes": _json(row.observation_scopes)}
            case ClockRow() | CauseRow() | ConsolidationRow() | EntityRow():
                return _fields(row)

    def _fact(self, row: FactRow) -> dict[str, Any]:
        tags, vector = sorted_tags(row.tags), self._vector_of(row)
        terms = fact_terms(row.text, row.entities, row.occurred_start, row.occurred_end)
        return {
            **_fields(row),
            "tags": tags,
            "tag_set": tag_set(tags),
            "lexemes": [self._mark + term for term in terms],
            "metadata": Jsonb(row.metadata),
            "entities": list(row.entities),
            "source_ids": list(row.source_ids),
            "observation_scopes": _json(row.observation_scopes),
            "space": self._space,
            "embedding": Vector(vector) if vector else None,
        }

    def _document(self, row: DocumentRow) -> dict[str, Any]:
        """Its parts were all asked for before whatever is asked for from now on, in this service's order of retains."""
        parts = [{**part.model_dump(), "asked": min(part.asked, self._last_asked)} for part in row.parts]
        return {
            **_fields(row),
            "tags": list(row.tags),
            "metadata": Jsonb(row.metadata),
            "parts": Jsonb(parts),
            "retained_with": Jsonb(row.retained_with),
        }


def _fields(row: MemoryRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).model_fields}


def _json(value: Any) -> Jsonb | None:
    return None if value is None else Jsonb(value)
