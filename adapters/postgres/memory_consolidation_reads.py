"""What readers are told of consolidation: what waits and failed, which scopes there are, how an observation changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from projections.projection import Query, Row


@dataclass(frozen=True, slots=True)
class ConsolidationStatistics:
    """Facts that wait, and that were set aside because they failed; when a consolidation last wrote."""

    pending: int
    failed: int
    last_at: datetime | None


def of_bank(bank_id: str) -> Query[ConsolidationStatistics]:
    return Query(
        "SELECT (SELECT count(*) FROM consolidation c WHERE c.bank_id = %(bank_id)s AND c.consolidated_at IS NULL"
        "   AND c.failed_at IS NULL) AS pending,"
        " (SELECT count(*) FROM consolidation c WHERE c.bank_id = %(bank_id)s AND c.failed_at IS NOT NULL) AS failed,"
        " (SELECT consolidated_at FROM memory_clock m WHERE m.bank_id = %(bank_id)s) AS last_at",
        {"bank_id": bank_id},
        lambda rows: ConsolidationStatistics(**rows[0]),
    )


def scopes_page(bank_id: str, limit: int, offset: int) -> Query[tuple[list[tuple[list[str], int]], int]]:
    """The scopes of observations with how many are in each, the fullest first; and how many scopes there are."""

    def read(rows: Sequence[Row]) -> tuple[list[tuple[list[str], int]], int]:
        return [(row["tags"], row["facts"]) for row in rows if row["tags"] is not None], rows[0]["total"]

    return Query(
        "WITH scopes AS (SELECT tags, facts FROM scope_clock"
        "   WHERE bank_id = %(bank_id)s AND fact_type = 'observation' AND facts > 0),"
        " listed AS (SELECT * FROM scopes ORDER BY facts DESC, tags LIMIT %(limit)s OFFSET %(offset)s)"
        " SELECT listed.*, (SELECT count(*) FROM scopes) AS total FROM (SELECT 1) one LEFT JOIN listed ON true"
        " ORDER BY facts DESC, tags",
        {"bank_id": bank_id, "limit": limit, "offset": offset},
        read,
    )


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as it was last told; `current`: it still is."""

    id: str
    text: str
    fact_type: str
    current: bool
    tags: list[str]


@dataclass(frozen=True, slots=True)
class ObservationVersion:
    version: int
    text: str
    tags: list[str]
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    source_ids: list[str]
    recorded_at: datetime
    current: bool


def versions(bank_id: str, fact_id: UUID, most: int) -> Query[list[ObservationVersion]]:
    """The newest versions of an observation, oldest first; none for anything else."""
    return Query(
        "SELECT version, text, tags, occurred_start, occurred_end, mentioned_at, source_ids::text[] AS source_ids,"
        " recorded_at, to_position IS NULL AS current FROM fact_versions"
        " WHERE bank_id = %(bank_id)s AND fact_id = %(id)s AND fact_type = 'observation'"
        " ORDER BY version DESC LIMIT %(most)s",
        {"bank_id": bank_id, "id": fact_id, "most": most},
        lambda rows: [ObservationVersion(**row) for row in reversed(rows)],
    )


def told(bank_id: str, fact_ids: Sequence[str]) -> Query[dict[str, Told]]:
    """Facts as they were last told, by id; also those that are gone."""
    return Query(
        "SELECT DISTINCT ON (fact_id) fact_id::text AS id, text, fact_type, to_position IS NULL AS current, tags"
        " FROM fact_versions WHERE bank_id = %(bank_id)s AND fact_id = ANY(%(ids)s::uuid[])"
        " ORDER BY fact_id, version DESC",
        {"bank_id": bank_id, "ids": list(fact_ids)},
        lambda rows: {row["id"]: Told(**row) for row in rows},
    )
