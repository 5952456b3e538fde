"""Documents of a bank's memory and their chunks, as a person browses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from adapters.postgres.document_visibility import VISIBLE
from adapters.postgres.scope_sql import ScopeCondition
from domain.scope import EVERYTHING, Scope
from projections.projection import Query, Row, page_reader

TimeField = Literal["created_at", "updated_at"]

_COLUMNS = (
    "d.document_id, CASE WHEN d.text_stored THEN encode(sha256(convert_to(d.text, 'UTF8')), 'hex') END AS sha256,"
    " d.created_at, d.updated_at, length(d.text) AS length, d.tags, d.metadata, d.retained_with,"
    " (SELECT count(*) FROM fact_versions f WHERE f.bank_id = d.bank_id AND f.document_id = d.document_id"
    "   AND f.to_position IS NULL) AS facts"
)


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """`sha256` is of its text, None where that is not stored; `length` counts characters, `facts` current ones. Which
    of its id and its text have the words looked for is told by `in_id` and `in_text`."""

    document_id: str
    sha256: str | None
    created_at: datetime
    updated_at: datetime
    length: int
    tags: list[str]
    metadata: dict[str, Any]
    retained_with: dict[str, Any]
    facts: int
    in_id: bool = False
    in_text: bool = False


@dataclass(frozen=True, slots=True)
class WholeDocument:
    """A document with its text (None: not stored) and its current facts by type."""

    listed: ListedDocument
    text: str | None
    facts_by_type: dict[str, int]


@dataclass(frozen=True, slots=True)
class ChunkRow:
    bank_id: str
    document_id: str
    chunk_id: str
    number: int
    text: str
    created_at: datetime


def page(
    bank_id: str,
    scope: Scope,
    text: str | None,
    time_field: TimeField,
    start: datetime | None,
    end: datetime | None,
    limit: int,
    offset: int,
    held_to: Sequence[str] | None = None,
) -> Query[tuple[list[ListedDocument], int]]:
    """A page and the total, the newest by the time field first. `text` is part of the id or the text, in any case;
    with `held_to` those that are visible to whom these tags are."""
    condition = ScopeCondition(scope)
    conditions = ["d.bank_id = %(bank_id)s"]
    if scope != EVERYTHING:
        conditions.append(condition.on("d").as_string())
    if held_to is not None:
        conditions.append(VISIBLE)
        condition.parameters["held_to"] = list(held_to)
    if text:
        conditions.append("(strpos(lower(d.document_id), lower(%(q)s)) > 0 OR strpos(lower(d.text), lower(%(q)s)) > 0)")
    if start is not None:
        conditions.append(f"d.{time_field} >= %(start)s")
    if end is not None:
        conditions.append(f"d.{time_field} < %(end)s")
    where = " AND ".join(conditions)
    statement = (
        f"WITH listed AS (SELECT {_COLUMNS}, strpos(lower(d.document_id), lower(%(q)s)) > 0 AS in_id,"
        f" strpos(lower(d.text), lower(%(q)s)) > 0 AS in_text,"
        f" row_number() OVER (ORDER BY d.{time_field} DESC, d.document_id) AS place FROM memory_documents d"
        f" WHERE {where} ORDER BY place LIMIT %(limit)s OFFSET %(offset)s)"
        " SELECT listed.document_id, sha256, created_at, updated_at, length, tags, metadata, retained_with, facts,"
        " coalesce(in_id, false) AS in_id, coalesce(in_text, false) AS in_text, counted.total"
        f" FROM (SELECT count(*) AS total FROM memory_documents d WHERE {where}) counted"
        " LEFT JOIN listed ON true ORDER BY place"
    )
    parameters = {"bank_id": bank_id, "q": text or None, "start": start, "end": end, "limit": limit, "offset": offset}
    return Query(statement, {**parameters, **condition.parameters}, page_reader(ListedDocument, "document_id"))


def find(bank_id: str, document_id: str) -> Query[WholeDocument | None]:
    def read(rows: Sequence[Row]) -> WholeDocument | None:
        if not rows:
            return None
        columns = dict(rows[0])
        text, by_type = columns.pop("text"), columns.pop("by_type")
        return WholeDocument(ListedDocument(**columns), text, by_type or {})

    return Query(
        f"SELECT {_COLUMNS}, CASE WHEN d.text_stored THEN d.text END AS text,"
        " (SELECT jsonb_object_agg(t.fact_type, t.facts) FROM (SELECT f.fact_type, count(*) AS facts"
        "   FROM fact_versions f WHERE f.bank_id = d.bank_id AND f.document_id = d.document_id"
        "   AND f.to_position IS NULL GROUP BY f.fact_type) t) AS by_type"
        " FROM memory_documents d WHERE d.bank_id = %(bank_id)s AND d.document_id = %(document_id)s",
        {"bank_id": bank_id, "document_id": document_id},
        read,
    )


def chunks(bank_id: str, document_id: str, limit: int, offset: int) -> Query[tuple[list[ChunkRow], int]]:
    """Chunks in their order, and how many there are."""
    return Query(
        "WITH listed AS (SELECT bank_id, document_id, chunk_id::text AS chunk_id, number, text, created_at"
        "   FROM memory_chunks WHERE bank_id = %(bank_id)s AND document_id = %(document_id)s"
        "   ORDER BY number LIMIT %(limit)s OFFSET %(offset)s)"
        " SELECT listed.*, counted.total FROM (SELECT count(*) AS total FROM memory_chunks"
        "   WHERE bank_id = %(bank_id)s AND document_id = %(document_id)s) counted LEFT JOIN listed ON true"
        " ORDER BY listed.number",
        {"bank_id": bank_id, "document_id": document_id, "limit": limit, "offset": offset},
        page_reader(ChunkRow, "chunk_id"),
    )


def chunk(chunk_id: UUID) -> Query[ChunkRow | None]:
    """A chunk of any bank."""
    return Query(
        "SELECT bank_id, document_id, chunk_id::text AS chunk_id, number, text, created_at FROM memory_chunks"
        " WHERE chunk_id = %(chunk_id)s",
        {"chunk_id": chunk_id},
        lambda rows: ChunkRow(**rows[0]) if rows else None,
    )
