"""Which documents refresh themselves: by the clock, or after memory was written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from domain.event import Recorded
from domain.mental_model.events import MentalModelCreated, MentalModelDeleted, TriggerChanged
from domain.mental_model.trigger import Trigger
from domain.scheduling import CronSchedule, Failures
from projections.projection import OLDER, Projection, Query, Statement, model_key

DDL = """
CREATE TABLE schedules (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    refresh_cron text,
    full_refresh_cron text,
    after_consolidation bool NOT NULL,
    PRIMARY KEY (bank_id, mental_model_id)
);
CREATE INDEX schedules_by_cron ON schedules (bank_id, mental_model_id)
    WHERE refresh_cron IS NOT NULL OR full_refresh_cron IS NOT NULL;
CREATE INDEX schedules_after_writes ON schedules (bank_id, mental_model_id) WHERE after_consolidation"""

HANDLES = (MentalModelCreated, TriggerChanged, MentalModelDeleted)


def project(recorded: Recorded) -> Iterable[Statement]:
    key = model_key(recorded)
    match recorded.event:
        case MentalModelCreated(trigger=trigger):
            yield Statement(
                "INSERT INTO schedules (bank_id, mental_model_id, version, refresh_cron, full_refresh_cron,"
                " after_consolidation) VALUES (%(bank_id)s, %(id)s, %(version)s, %(refresh_cron)s,"
                " %(full_refresh_cron)s, %(after_consolidation)s) ON CONFLICT DO NOTHING",
                {**key, **_columns(trigger)},
            )
        case TriggerChanged(trigger=trigger):
            yield Statement(
                "UPDATE schedules SET refresh_cron = %(refresh_cron)s, full_refresh_cron = %(full_refresh_cron)s,"
                f" after_consolidation = %(after_consolidation)s, version = %(version)s WHERE {OLDER}",
                {**key, **_columns(trigger)},
            )
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM schedules WHERE {OLDER}", key)


def _columns(trigger: Trigger) -> dict[str, Any]:
    return {
        "refresh_cron": trigger.refresh_cron,
        "full_refresh_cron": trigger.full_refresh_cron,
        "after_consolidation": trigger.refresh_after_consolidation,
    }


PROJECTION = Projection("schedules", 1, "schedules", ("bank_id", "mental_model_id"), DDL, HANDLES, project)


def by_cron() -> Query[list[CronSchedule]]:
    """All documents of all banks that refresh themselves by the clock. Small enough to be asked every second."""
    return Query(
        "SELECT s.bank_id, s.mental_model_id, d.version, coalesce(c.position, 0) AS position FROM schedules s"
        " JOIN documents d USING (bank_id, mental_model_id) LEFT JOIN memory_clock c ON c.bank_id = s.bank_id"
        " WHERE s.refresh_cron IS NOT NULL OR s.full_refresh_cron IS NOT NULL ORDER BY s.bank_id, s.mental_model_id",
        {},
        lambda rows: [CronSchedule(**row) for row in rows],
    )


def after_writes(bank_id: str | None) -> Query[list[tuple[str, str]]]:
    """Bank and id of the documents that refresh themselves after memory was written: of one bank, or of all."""
    return Query(
        "SELECT bank_id, mental_model_id FROM schedules WHERE after_consolidation"
        f"{' AND bank_id = %(bank_id)s' if bank_id is not None else ''} ORDER BY bank_id, mental_model_id",
        {"bank_id": bank_id},
        lambda rows: [(row["bank_id"], row["mental_model_id"]) for row in rows],
    )


def refreshed_at(bank_id: str, mental_model_ids: Sequence[str]) -> Query[dict[str, datetime]]:
    """When each document was last refreshed, or written by hand."""
    return Query(
        "SELECT d.mental_model_id, d.last_refreshed_at FROM unnest(%(ids)s::text[]) AS asked (id)"
        " JOIN documents d ON d.bank_id = %(bank_id)s AND d.mental_model_id = asked.id",
        {"bank_id": bank_id, "ids": list(mental_model_ids)},
        lambda rows: {row["mental_model_id"]: row["last_refreshed_at"] for row in rows},
    )


def waiting(bank_id: str, mental_model_ids: Sequence[str]) -> Query[set[str]]:
    """Documents of which a refresh waits, that has not begun."""
    return Query(
        "SELECT DISTINCT d.mental_model_id FROM unnest(%(ids)s::text[]) AS asked (id)"
        " JOIN documents d ON d.bank_id = %(bank_id)s AND d.mental_model_id = asked.id"
        " JOIN operations o ON o.bank_id = d.bank_id AND o.mental_model_id = d.mental_model_id"
        "   AND o.status = 'pending' AND o.created_at >= d.created_at",
        {"bank_id": bank_id, "ids": list(mental_model_ids)},
        lambda rows: {row["mental_model_id"] for row in rows},
    )


def failures(bank_id: str, mental_model_ids: Sequence[str]) -> Query[dict[str, Failures]]:
    """Operations that failed since the document was last refreshed, by document; those without are left out."""
    return Query(
        "SELECT d.mental_model_id, count(*) AS count, max(o.completed_at) AS last"
        " FROM unnest(%(ids)s::text[]) AS asked (id)"
        " JOIN documents d ON d.bank_id = %(bank_id)s AND d.mental_model_id = asked.id"
        " JOIN operations o ON o.bank_id = d.bank_id AND o.mental_model_id = d.mental_model_id"
        "   AND o.created_at >= d.last_refreshed_at AND o.status = 'failed' AND o.completed_at IS NOT NULL"
        " GROUP BY d.mental_model_id",
        {"bank_id": bank_id, "ids": list(mental_model_ids)},
        lambda rows: {row["mental_model_id"]: Failures(row["count"], row["last"]) for row in rows},
    )
