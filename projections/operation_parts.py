"""Operations that are made of parts: how one stands is how its parts do, read whenever somebody asks.

Its own row has the status `parts`, which nobody is shown: what would be kept there could contradict the rows of the
parts. A part that is no longer listed has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from projections.projection import Query

IN_PARTS = "batch_retain"
STATUS = "parts"

WITH_PARTS = """(
    SELECT o.bank_id, o.operation_id, o.operation_type, o.mental_model_id, o.document_id, o.items_count, o.work,
        o.bank_since, o.result, o.retry_count, o.next_retry_at, o.park_reason, o.created_at,
        CASE WHEN o.status = 'parts' THEN p.status ELSE o.status END AS status,
        CASE WHEN o.status = 'parts' THEN p.error_message ELSE o.error_message END AS error_message,
        CASE WHEN o.status = 'parts' THEN coalesce(p.updated_at, o.updated_at) ELSE o.updated_at END AS updated_at,
        CASE WHEN o.status <> 'parts' THEN o.completed_at
            WHEN p.status NOT IN ('pending', 'processing') THEN coalesce(p.updated_at, o.updated_at)
        END AS completed_at
    FROM operations o LEFT JOIN LATERAL (
        SELECT CASE
                WHEN bool_or(c.status = 'processing') THEN 'processing'
                WHEN bool_and(c.status = 'pending') AND count(*) = jsonb_array_length(o.work->'parts') THEN 'pending'
                WHEN bool_or(c.status = 'pending') THEN 'processing'
                WHEN bool_or(c.status = 'failed') THEN 'failed'
                WHEN bool_or(c.status = 'cancelled') THEN 'cancelled'
                ELSE 'completed'
            END AS status,
            max(c.updated_at) AS updated_at,
            CASE WHEN bool_or(c.status = 'failed') THEN
                count(*) FILTER (WHERE c.status = 'failed') || ' of ' || jsonb_array_length(o.work->'parts')
                || ' parts failed: '
                || (array_agg(c.error_message ORDER BY c.operation_id) FILTER (WHERE c.status = 'failed'))[1]
            END AS error_message
        FROM operations c WHERE o.status = 'parts' AND c.bank_id = o.bank_id AND c.operation_id = ANY(ARRAY(
            SELECT (part->>'operation_id')::uuid FROM jsonb_array_elements(o.work->'parts') AS part))
    ) p ON true
)"""
"""To be read from in place of `operations`."""

LEFT_BEHIND = (
    f"(SELECT bank_id, operation_id, updated_at FROM operations o WHERE status = '{STATUS}' AND created_at < %(time)s"
    "   AND NOT EXISTS (SELECT FROM jsonb_array_elements(o.work->'parts') AS part JOIN operations c"
    "     ON c.bank_id = o.bank_id AND c.operation_id = (part->>'operation_id')::uuid) LIMIT %(limit)s)"
)
"""Those none of whose parts is listed any more."""


@dataclass(frozen=True, slots=True)
class PartRow:
    """An operation that is a part of another; `places` are those of its items in the request."""

    operation_id: str
    number: int
    places: list[int]
    status: str
    items_count: int
    error_message: str | None
    result: dict[str, Any] | None


def parts(bank_id: str, operation_id: str) -> Query[list[PartRow]]:
    """The parts of an operation that are still listed, in their order; none for one without."""
    return Query(
        "SELECT c.operation_id::text AS operation_id, part.number - 1 AS number, part.part->'items' AS places,"
        " c.status, c.items_count, c.error_message, c.result FROM operations o"
        " CROSS JOIN LATERAL jsonb_array_elements(o.work->'parts') WITH ORDINALITY AS part(part, number)"
        " JOIN operations c ON c.bank_id = o.bank_id AND c.operation_id = (part.part->>'operation_id')::uuid"
        " WHERE o.bank_id = %(bank_id)s AND o.operation_id = %(id)s::uuid AND o.status = 'parts'"
        " ORDER BY part.number",
        {"bank_id": bank_id, "id": operation_id},
        lambda rows: [PartRow(**row) for row in rows],
    )
