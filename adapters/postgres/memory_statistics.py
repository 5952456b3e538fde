"""What a bank's memory holds, and its tags: counts that writes keep, so that nothing is counted when asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from projections.projection import Query, Row


@dataclass(frozen=True, slots=True)
class MemoryStatistics:
    """`document_at` is when a document was last taken in, `written_at` when anything was."""

    facts: int
    facts_by_type: dict[str, int]
    documents: int
    document_at: datetime | None
    written_at: datetime | None


@dataclass(frozen=True, slots=True)
class MemorySize:
    """The short form, for lists of banks."""

    facts: int
    document_at: datetime | None
    written_at: datetime | None


NOTHING = MemorySize(0, None, None)


def of_bank(bank_id: str) -> Query[MemoryStatistics]:
    """Current facts by type and documents of a bank; zeros for one without memory."""

    def read(rows: Sequence[Row]) -> MemoryStatistics:
        by_type = {row["fact_type"]: row["facts"] for row in rows if row["fact_type"] is not None}
        return MemoryStatistics(
            sum(by_type.values()), by_type, rows[0]["documents"], rows[0]["document_at"], rows[0]["written_at"]
        )

    return Query(
        "SELECT s.fact_type, s.facts, c.document_at, c.written_at,"
        "   (SELECT count(*) FROM memory_documents d WHERE d.bank_id = %(bank_id)s) AS documents"
        " FROM (SELECT 1) one LEFT JOIN memory_clock c ON c.bank_id = %(bank_id)s"
        " LEFT JOIN (SELECT fact_type, sum(facts)::bigint AS facts FROM scope_clock"
        "   WHERE bank_id = %(bank_id)s GROUP BY fact_type HAVING sum(facts) > 0) s ON true",
        {"bank_id": bank_id},
        read,
    )


def causal_links(bank_id: str) -> Query[dict[str, int]]:
    """How many current facts come of which others, as a text said, by the type of what came of it."""
    return Query(
        "SELECT f.fact_type, count(*) AS links FROM fact_causes l"
        " JOIN fact_versions f ON f.bank_id = l.bank_id AND f.fact_id = l.fact_id AND f.to_position IS NULL"
        " JOIN fact_versions c ON c.bank_id = l.bank_id AND c.fact_id = l.cause_id AND c.to_position IS NULL"
        " WHERE l.bank_id = %(bank_id)s GROUP BY f.fact_type",
        {"bank_id": bank_id},
        lambda rows: {row["fact_type"]: row["links"] for row in rows},
    )


def of_banks(bank_ids: Sequence[str]) -> Query[dict[str, MemorySize]]:
    """Sizes by bank; banks without memory are not in it."""
    return Query(
        "SELECT bank_id, facts, document_at, written_at FROM memory_clock WHERE bank_id = ANY(%(ids)s)",
        {"ids": list(bank_ids)},
        lambda rows: {row["bank_id"]: MemorySize(row["facts"], row["document_at"], row["written_at"]) for row in rows},
    )


def tags_page(bank_id: str, pattern: str | None, limit: int, offset: int) -> Query[tuple[list[tuple[str, int]], int]]:
    """Tags of current facts with how many bear them, most frequent first. `pattern` is a LIKE pattern, lower case."""

    def read(rows: Sequence[Row]) -> tuple[list[tuple[str, int]], int]:
        return [(row["tag"], row["count"]) for row in rows if row["tag"] is not None], rows[0]["total"] if rows else 0

    return Query(
        "WITH counted AS (SELECT tag, sum(facts)::bigint AS count FROM scope_clock, unnest(tags) AS tag"
        "   WHERE bank_id = %(bank_id)s AND facts > 0 AND (%(pattern)s::text IS NULL OR lower(tag) LIKE %(pattern)s)"
        "   GROUP BY tag),"
        " listed AS (SELECT * FROM counted ORDER BY count DESC, tag LIMIT %(limit)s OFFSET %(offset)s)"
        " SELECT listed.*, (SELECT count(*) FROM counted) AS total FROM (SELECT 1) one LEFT JOIN listed ON true"
        " ORDER BY count DESC, tag",
        {"bank_id": bank_id, "pattern": pattern, "limit": limit, "offset": offset},
        read,
    )
