"""How many current memories there are of each stretch of time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from projections.projection import Query

Stretch = Literal["minute", "hour", "day"]
TimeField = Literal["created_at", "mentioned_at", "occurred_start"]

_CREATED = (
    "CASE WHEN f.version = 1 THEN f.recorded_at ELSE (SELECT v.recorded_at FROM fact_versions v"
    " WHERE v.bank_id = f.bank_id AND v.fact_id = f.fact_id AND v.version = 1) END"
)
_TIMES: dict[TimeField, str] = {
    "created_at": _CREATED,
    "mentioned_at": f"coalesce(f.mentioned_at, {_CREATED})",
    "occurred_start": f"coalesce(f.occurred_start, {_CREATED})",
}


def counts(
    bank_id: str, time_field: TimeField, stretch: Stretch, start: datetime, end: datetime
) -> Query[dict[tuple[datetime, str], int]]:
    """Memories from `start` on and before `end`, by the begin of their stretch (in UTC) and their type. One without
    the time asked for counts where it was taken in."""
    return Query(
        "SELECT date_trunc(%(stretch)s, dated.time, 'UTC') AS at, dated.fact_type, count(*) AS memories"
        f" FROM (SELECT {_TIMES[time_field]} AS time, f.fact_type FROM fact_versions f"
        "   WHERE f.bank_id = %(bank_id)s AND f.to_position IS NULL) dated"
        " WHERE dated.time >= %(start)s AND dated.time < %(end)s GROUP BY 1, 2",
        {"bank_id": bank_id, "stretch": stretch, "start": start, "end": end},
        lambda rows: {(row["at"].astimezone(UTC), row["fact_type"]): row["memories"] for row in rows},
    )
