"""Counts over the memory of banks, for lists and statistics. None of them reads the facts: their counts are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from projections.projection import Query, Row


@dataclass(frozen=True, slots=True)
class TagCount:
    tag: str
    count: int


@dataclass(frozen=True, slots=True)
class TagPage:
    """Some of the tags, the most used first, and how many match in all."""

    items: tuple[TagCount, ...]
    total: int


@dataclass(frozen=True, slots=True)
class BankMemory:
    """`facts` are the current ones. Times are those of the last change of a fact and of the last retained document."""

    facts: int
    last_write_at: datetime | None
    last_document_at: datetime | None


@dataclass(frozen=True, slots=True)
class MemoryStats:
    facts_by_type: dict[str, int]
    documents: int
    last_write_at: datetime | None


def tags(bank_id: str, *, pattern: str | None = None, limit: int = 100, offset: int = 0) -> Query[TagPage]:
    """Tags of current facts. In a pattern `*` stands for anything; case does not count."""
    return Query(
        "WITH counted AS (SELECT tag, sum(facts)::bigint AS count FROM scope_clock, unnest(tags) AS tag"
        "   WHERE bank_id = %(bank_id)s AND facts > 0 AND tag ILIKE %(pattern)s GROUP BY tag)"
        " SELECT NULL AS tag, count(*) AS count FROM counted"
        ' UNION ALL (SELECT tag, count FROM counted ORDER BY count DESC, tag COLLATE "C"'
        "   LIMIT %(limit)s OFFSET %(offset)s)",
        {"bank_id": bank_id, "pattern": _like(pattern or "*"), "limit": limit, "offset": offset},
        _read_tags,
    )


def memory_stats(bank_id: str) -> Query[MemoryStats]:
    return Query(
        "SELECT NULL AS fact_type, (SELECT count(*) FROM memory_documents WHERE bank_id = %(bank_id)s) AS count,"
        "   (SELECT written_at FROM memory_clock WHERE bank_id = %(bank_id)s) AS written_at"
        " UNION ALL SELECT fact_type, sum(facts)::bigint, NULL FROM scope_clock"
        "   WHERE bank_id = %(bank_id)s AND facts > 0 GROUP BY fact_type",
        {"bank_id": bank_id},
        _read_stats,
    )


def memory_of_banks(bank_ids: Sequence[str]) -> Query[dict[str, BankMemory]]:
    """Of each bank that has ever had memory."""
    return Query(
        "SELECT bank_id, facts, written_at, document_at FROM memory_clock WHERE bank_id = ANY(%(bank_ids)s)",
        {"bank_ids": list(bank_ids)},
        lambda rows: {
            row["bank_id"]: BankMemory(row["facts"], _utc(row["written_at"]), _utc(row["document_at"])) for row in rows
        },
    )


def _like(pattern: str) -> str:
    escaped = pattern.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped.replace("*", "%")


def _read_tags(rows: Sequence[Row]) -> TagPage:
    found = [TagCount(row["tag"], row["count"]) for row in rows if row["tag"] is not None]
    total = next(row["count"] for row in rows if row["tag"] is None)
    return TagPage(tuple(sorted(found, key=lambda tag: (-tag.count, tag.tag))), total)


def _read_stats(rows: Sequence[Row]) -> MemoryStats:
    bank = next(row for row in rows if row["fact_type"] is None)
    by_type = {row["fact_type"]: row["count"] for row in rows if row["fact_type"] is not None}
    return MemoryStats(by_type, bank["count"], _utc(bank["written_at"]))


def _utc(time: datetime | None) -> datetime | None:
    return None if time is None else time.astimezone(UTC)
