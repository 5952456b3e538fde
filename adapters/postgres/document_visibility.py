"""Which documents somebody sees who is held to tags: those of which every item, and every fact, has one of them.

A document may be put together of items with different tags. Which one a piece of its text came with, nobody can tell
from the text, so that it is seen as a whole or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from projections.projection import Query

VISIBLE = """(
    d.tags && %(held_to)s::text[]
    AND NOT EXISTS (SELECT FROM fact_versions own WHERE own.bank_id = d.bank_id
        AND own.document_id = d.document_id AND own.to_position IS NULL
        AND own.fact_type <> 'observation' AND NOT own.tags && %(held_to)s::text[])
    AND CASE WHEN EXISTS (SELECT FROM jsonb_array_elements(d.parts) part
            WHERE coalesce(part->'items', '[]') = '[]')
            OR d.parts = '[]'
        THEN d.tags <@ %(held_to)s::text[]
        ELSE NOT EXISTS (SELECT FROM jsonb_array_elements(d.parts) part, jsonb_array_elements(part->'items') item
            WHERE NOT coalesce(item->'given'->'tags', '[]') ?| %(held_to)s::text[])
    END
)"""
"""Of `memory_documents d`. What the items of old documents had is not known: all tags of those must be among these."""


def visible(bank_id: str, document_id: str, tags: Sequence[str]) -> Query[bool]:
    """Whether there is the document, and it is seen."""
    return Query(
        f"SELECT {VISIBLE} AS visible FROM memory_documents d"
        " WHERE d.bank_id = %(bank_id)s AND d.document_id = %(document_id)s",
        {"bank_id": bank_id, "document_id": document_id, "held_to": list(tags)},
        lambda rows: bool(rows and rows[0]["visible"]),
    )


def not_writable(bank_id: str, document_ids: Sequence[str], tags: Sequence[str]) -> Query[list[str]]:
    """Of these documents those that are there and hold anything that has another tag, or none."""
    return Query(
        "SELECT d.document_id FROM memory_documents d"
        " WHERE d.bank_id = %(bank_id)s AND d.document_id = ANY(%(ids)s)"
        f" AND NOT ({VISIBLE} AND d.tags <@ %(held_to)s::text[]"
        "   AND NOT EXISTS (SELECT FROM fact_versions other WHERE other.bank_id = d.bank_id"
        "     AND other.document_id = d.document_id AND other.to_position IS NULL"
        "     AND other.fact_type <> 'observation' AND NOT other.tags <@ %(held_to)s::text[]))"
        " ORDER BY d.document_id",
        {"bank_id": bank_id, "ids": list(document_ids), "held_to": list(tags)},
        lambda rows: [row["document_id"] for row in rows],
    )
