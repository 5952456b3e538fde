"""What a document said before each change, and the refreshes that failed: newest first, capped when read only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
)
from domain.refresh import failure_of, outcome_name
from projections.citations import entries_of, grounds_sql
from projections.projection import OLDER, Json, Projection, Query, Statement, model_key
from projections.reflect_response import based_on
from projections.refresh_trace import trace_of

DDL = """
CREATE TABLE history (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    kind text NOT NULL,
    changed_at timestamptz NOT NULL,
    content text,
    trace jsonb,
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
    ContentEdited,
    ContentReverted,
    ContentCleared,
    RefreshFailedEmptyCandidate,
    RefreshFailedDeltaNotApplied,
    RefreshFailedStructuredOutput,
    RefreshFailedError,
    MentalModelDeleted,
)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A change (what the document said before it) or a refresh that failed.

    `kind` is version (a refresh wrote it), edited, reverted, cleared or refresh_failed. `previous_reflect_response` has
    what that text rested on, and the trace of the refresh that wrote it if it was kept; None for an empty document."""

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
        case ContentWritten(text=text, record=record) as event:
            trace = Json(trace_of(event, recorded.occurred_at)) if record.keep_trace else None
            yield _insert(recorded, "version", content=text, trace=trace, outcome=outcome_name(event))
        case ContentEdited(text=text):
            yield _insert(recorded, "edited", content=text)
        case ContentReverted(text=text):
            yield _insert(recorded, "reverted", content=text)
        case ContentCleared():
            yield _insert(recorded, "cleared", content="")
        case (
            RefreshFailedEmptyCandidate()
            | RefreshFailedDeltaNotApplied()
            | RefreshFailedStructuredOutput()
            | RefreshFailedError()
        ) as event:
            reason, message, _ = failure_of(event) or ("unexpected_error", "", False)
            yield _insert(
                recorded,
                "refresh_failed",
                outcome=outcome_name(event),
                failure_reason=reason,
                error_message=message,
            )
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM history WHERE {OLDER}", model_key(recorded))


def _insert(
    recorded: Recorded,
    kind: str,
    *,
    content: str | None = None,
    trace: Json | None = None,
    outcome: str | None = None,
    failure_reason: str | None = None,
    error_message: str | None = None,
) -> Statement:
    return Statement(
        "INSERT INTO history (bank_id, mental_model_id, version, kind, changed_at, content, trace, outcome,"
        " failure_reason, error_message, operation_id, actor) VALUES (%(bank_id)s, %(id)s, %(version)s, %(kind)s,"
        " %(at)s, %(content)s, %(trace)s, %(outcome)s, %(failure_reason)s, %(error_message)s, %(operation_id)s,"
        " %(actor)s) ON CONFLICT DO NOTHING",
        {
            **model_key(recorded),
            "kind": kind,
            "at": recorded.occurred_at,
            "content": content,
            "trace": trace,
            "outcome": outcome,
            "failure_reason": failure_reason,
            "error_message": error_message,
            "operation_id": recorded.operation_id,
            "actor": recorded.actor,
        },
    )


PROJECTION = Projection("history", 2, "history", ("bank_id", "mental_model_id", "version"), DDL, HANDLES, project)

_TOLD = (
    "bank_id, mental_model_id, version, kind, changed_at, outcome, failure_reason, error_message, operation_id, actor"
)


def entries(bank_id: str, mental_model_id: str, *, per_kind: int) -> Query[list[HistoryEntry]]:
    """Newest first, `per_kind` changes and as many failures at most (the first row, an empty document, is no entry of
    its own)."""
    return Query(
        f"WITH texts AS (SELECT {_TOLD}, lag(version) OVER w AS before, lag(kind) OVER w AS kind_before,"
        "   lag(content) OVER w AS previous_content, lag(trace) OVER w AS trace"
        "   FROM history WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND kind <> 'refresh_failed'"
        "   WINDOW w AS (ORDER BY version)),"
        f" failures AS (SELECT {_TOLD}, NULL::bigint AS before, NULL::text AS kind_before,"
        "   NULL::text AS previous_content, NULL::jsonb AS trace"
        "   FROM history WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND kind = 'refresh_failed'),"
        " capped AS ((SELECT * FROM texts WHERE kind <> 'created' ORDER BY version DESC LIMIT %(per_kind)s)"
        "   UNION ALL (SELECT * FROM failures ORDER BY version DESC LIMIT %(per_kind)s))"
        " SELECT version, kind, changed_at, previous_content, outcome, failure_reason, error_message,"
        "   operation_id::text AS operation_id, actor, trace,"
        "   CASE WHEN kind_before IN ('version', 'edited', 'reverted')"
        f"   THEN {grounds_sql('capped', 'capped.before')} END AS grounds FROM capped ORDER BY version DESC",
        {"bank_id": bank_id, "id": mental_model_id, "per_kind": per_kind},
        lambda rows: [_entry(**row) for row in rows],
    )


def _entry(
    grounds: Sequence[Sequence[Any] | None] | None, trace: Mapping[str, Any] | None, **columns: Any
) -> HistoryEntry:
    """`grounds` are what the text before rested on; None when it was empty."""
    slim = None
    if grounds is not None:
        slim = {"based_on": based_on(entries_of(grounds))} | ({"trace": trace} if trace is not None else {})
    return HistoryEntry(previous_reflect_response=slim, **columns)
