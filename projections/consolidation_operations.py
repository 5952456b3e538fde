"""Consolidations among the operations of a bank: those under way, and how the last ones ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from domain.scheduling import Failures
from projections.operations import THIS_LIFE
from projections.projection import Query


@dataclass(frozen=True, slots=True)
class ConsolidationInFlight:
    """A consolidation that waits or runs: of some scopes, or (None) of all. `due` is when one that waits is to run."""

    operation_id: str
    status: Literal["pending", "processing"]
    due: datetime | None
    scopes: list[list[str]] | None


def in_flight(bank_id: str) -> Query[list[ConsolidationInFlight]]:
    """The consolidations of a bank that wait or run, oldest first."""
    return Query(
        "SELECT operation_id::text AS operation_id, status, next_retry_at AS due, work->'observation_scopes' AS scopes"
        " FROM operations WHERE bank_id = %(bank_id)s AND mental_model_id IS NULL AND operation_type = 'consolidation'"
        f" AND status IN ('pending', 'processing') AND {THIS_LIFE} ORDER BY created_at, operation_id",
        {"bank_id": bank_id},
        lambda rows: [ConsolidationInFlight(**row) for row in rows],
    )


def failures(bank_id: str) -> Query[Failures | None]:
    """Consolidations of a bank that failed since the last one that did not."""
    return Query(
        "SELECT count(*) AS count, max(completed_at) AS last FROM operations"
        " WHERE bank_id = %(bank_id)s AND operation_type = 'consolidation' AND status = 'failed'"
        f" AND {THIS_LIFE} AND completed_at > coalesce((SELECT max(o.completed_at) FROM operations o"
        "   WHERE o.bank_id = %(bank_id)s AND o.operation_type = 'consolidation' AND o.status = 'completed'),"
        " '-infinity')",
        {"bank_id": bank_id},
        lambda rows: Failures(rows[0]["count"], rows[0]["last"]) if rows[0]["count"] else None,
    )
