"""What a document said before, and the refreshes that failed: newest first, two kinds, capped when read only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
)
from domain.refresh import failure_of, outcome_name
from projections.projection import Json, Projection, Query, Row, Statement
from projections.reflect_response import based_on

DDL = """
CREATE TABLE history (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL,
    changed_at timestamptz NOT NULL,
    content text,
    reflect_response jsonb,
    outcome text,
    failure_reason text,
    error_message text,
    operation_id uuid,
    actor text NOT NULL,
    PRIMARY KEY (bank_id, mental_model_id, version)
)"""

HANDLES = (
    MentalModelCreated,
    ContentWritten,
    ContentCleared,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    MentalModelDeleted,
)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change (what the document said before it) or a refresh that failed."""

    version: int
    kind: str
    changed_at: datetime
    previous_content: str | None
    previous_reflect_response: dict[str, Any] | None
    outcome: str | None
    failure_reason: str | None
    error_message: str | None
    operation_id: str | None
    actor: str


def project(recorded: Recorded) -> Iterable[Statement]:
    match recorded.event:
        case MentalModelCreated():
            yield _insert(recorded, "created", content="")
        case ContentWritten(text=text) as event:
            slim = {"based_on": based_on(event.record.evidence)}
            yield _insert(recorded, "version", content=text, reflect_response=Json(slim), outcome=outcome_name(event))
        case ContentCleared():
            yield _insert(recorded, "cleared", content="")
        case RefreshFailedEmptyCandidate() | RefreshFailedError() as event:
            reason, message, _ = failure_of(event) or ("unexpected_error", "", False)
            yield _insert(
                recorded,
                "refresh_failed",
                outcome=outcome_name(event),
                failure_reason=reason,
                error_message=message,
            )
        case MentalModelDeleted():
            yield Statement(
                "DELETE FROM history"
                " WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND version < %(version)s",
                {"bank_id": recorded.stream.bank_id, "id": recorded.stream.name, "version": recorded.version},
            )


def _insert(
    recorded: Recorded,
    kind: str,
    *,
    content: str | None = None,
    reflect_response: Json | None = None,
    outcome: str | None = None,
    failure_reason: str | None = None,
    error_message: str | None = None,
) -> Statement:
    return Statement(
        "INSERT INTO history (bank_id, mental_model_id, version, kind, changed_at, content, reflect_response, outcome,"
        " failure_reason, error_message, operation_id, actor) VALUES (%(bank_id)s, %(id)s, %(version)s, %(kind)s,"
        " %(at)s, %(content)s, %(reflect_response)s, %(outcome)s, %(failure_reason)s, %(error_message)s,"
        " %(operation_id)s, %(actor)s) ON CONFLICT DO NOTHING",
        {
            "bank_id": recorded.stream.bank_id,
            "id": recorded.stream.name,
            "version": recorded.version,
            "kind": kind,
            "at": recorded.occurred_at,
            "content": content,
            "reflect_response": reflect_response,
            "outcome": outcome,
            "failure_reason": failure_reason,
            "error_message": error_message,
            "operation_id": recorded.operation_id,
            "actor": recorded.actor,
        },
    )


PROJECTION = Projection("history", 1, "history", ("bank_id", "mental_model_id", "version"), DDL, HANDLES, project)


def entries(bank_id: str, mental_model_id: str, *, per_kind: int) -> Query[list[HistoryEntry]]:
    """Newest first, `per_kind` of each kind at most (the first row, an empty document, is no entry of its own)."""

    def read(rows: Sequence[Row]) -> list[HistoryEntry]:
        return [HistoryEntry(**row) for row in rows]

    return Query(
        "WITH texts AS (SELECT version, kind, changed_at, outcome, failure_reason, error_message, operation_id, actor,"
        "   lag(content) OVER w AS previous_content, lag(reflect_response) OVER w AS previous_reflect_response"
        "   FROM history WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND kind <> 'refresh_failed'"
        "   WINDOW w AS (ORDER BY version)),"
        " failures AS (SELECT version, kind, changed_at, outcome, failure_reason, error_message, operation_id, actor,"
        "   NULL::text AS previous_content, NULL::jsonb AS previous_reflect_response"
        "   FROM history WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND kind = 'refresh_failed'),"
        " capped AS ((SELECT * FROM texts WHERE kind <> 'created' ORDER BY version DESC LIMIT %(per_kind)s)"
        "   UNION ALL (SELECT * FROM failures ORDER BY version DESC LIMIT %(per_kind)s))"
        " SELECT version, kind, changed_at, previous_content, previous_reflect_response, outcome, failure_reason,"
        "   error_message, operation_id::text AS operation_id, actor FROM capped ORDER BY version DESC",
        {"bank_id": bank_id, "id": mental_model_id, "per_kind": per_kind},
        read,
    )
