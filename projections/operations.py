"""The operations asked for over REST: status, attempts, error and outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from domain.event import Recorded
from domain.operation import (
    BatchRetainAsked,
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationFolded,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    OperationStarted,
    ParkReason,
    RefreshAsked,
    RetainAsked,
)
from projections.operation_parts import IN_PARTS, LEFT_BEHIND, STATUS, WITH_PARTS
from projections.operation_requesters import Seen
from projections.projection import Json, Projection, Query, Statement, page_reader, page_sql

DDL = """
CREATE TABLE operations (
    bank_id text NOT NULL,
    operation_id uuid NOT NULL,
    version bigint NOT NULL,
    operation_type text NOT NULL,
    status text NOT NULL,
    mental_model_id text,
    document_id text,
    items_count int NOT NULL,
    work jsonb NOT NULL,
    bank_since timestamptz,
    result jsonb,
    error_message text,
    retry_count int NOT NULL DEFAULT 0,
    next_retry_at timestamptz,
    park_reason text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (bank_id, operation_id)
);
CREATE INDEX operations_newest ON operations (bank_id, created_at DESC, operation_id DESC);
CREATE INDEX operations_in_flight ON operations (bank_id, mental_model_id, created_at, operation_id)
    WHERE status IN ('pending', 'processing');
CREATE INDEX operations_ended ON operations (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX operations_in_parts ON operations (created_at) WHERE status = 'parts'"""

HANDLES = (
    OperationRequested,
    OperationStarted,
    OperationFolded,
    OperationParked,
    OperationRetryScheduled,
    OperationCompleted,
    OperationFailed,
    OperationCancelled,
    OperationRestarted,
    OperationRemoved,
)

Status = Literal["pending", "processing", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class OperationRow:
    bank_id: str
    operation_id: str
    operation_type: str
    status: Status
    mental_model_id: str | None
    document_id: str | None
    items_count: int
    work: dict[str, Any]
    result: dict[str, Any] | None
    error_message: str | None
    retry_count: int
    next_retry_at: datetime | None
    park_reason: ParkReason | None
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    progress: dict[str, Any] | None
    """What the attempt that runs shows of itself, `at` an ISO time; None for one that does not run."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """A refresh that waits or runs; `due` is when one that waits is to run, None for now."""

    operation_id: str
    status: Literal["pending", "processing"]
    due: datetime | None


@dataclass(frozen=True, slots=True)
class Ended:
    bank_id: str
    operation_id: UUID


def project(recorded: Recorded) -> Iterable[Statement]:
    match recorded.event:
        case OperationRequested() as event:
            yield _insert(recorded, event)
        case OperationStarted():
            yield _set(recorded, status="processing", **_NO_LONGER_WAITS, error_message=None)
        case OperationFolded(work=work, released=released):
            yield _set(recorded, work=_json(work), **(_NO_LONGER_WAITS if released else {}))
        case OperationParked(reason=reason, until=until):
            yield _set(recorded, status="pending", next_retry_at=until, park_reason=reason)
        case OperationRetryScheduled() as event:
            yield _set(
                recorded,
                status="pending",
                error_message=event.error_message,
                retry_count=event.retry_count,
                next_retry_at=event.next_retry_at,
                park_reason=None,
                result=_json(event.result),
            )
        case OperationCompleted(result=result):
            yield _ended(recorded, status="completed", error_message=None, result=_json(result))
        case OperationFailed(error_message=message, result=result):
            yield _ended(recorded, status="failed", error_message=message, result=_json(result))
        case OperationCancelled():
            yield _ended(recorded, status="cancelled")
        case OperationRestarted(work=work):
            yield _set(recorded, status="pending", work=_json(work), **_AS_NEW)
        case OperationRemoved():
            yield Statement(
                "DELETE FROM operations WHERE bank_id = %(bank_id)s AND operation_id = %(id)s"
                " AND version < %(version)s",
                _key(recorded),
            )


_NO_LONGER_WAITS: Mapping[str, Any] = {"next_retry_at": None, "park_reason": None}
_AS_NEW: Mapping[str, Any] = {
    **_NO_LONGER_WAITS,
    "error_message": None,
    "retry_count": 0,
    "result": None,
    "completed_at": None,
}


def _json(result: Any) -> Json | None:
    return Json(result.model_dump(mode="json")) if result is not None else None


def _insert(recorded: Recorded, event: OperationRequested) -> Statement:
    work = event.work
    return Statement(
        "INSERT INTO operations (bank_id, operation_id, version, operation_type, status, mental_model_id, document_id,"
        " items_count, work, bank_since, created_at, updated_at) VALUES (%(bank_id)s, %(id)s, %(version)s, %(type)s,"
        " %(status)s, %(mental_model_id)s, %(document_id)s, %(items_count)s, %(work)s, %(bank_since)s, %(at)s, %(at)s)"
        " ON CONFLICT (bank_id, operation_id) DO UPDATE SET version = excluded.version,"
        " operation_type = excluded.operation_type, status = excluded.status,"
        " mental_model_id = excluded.mental_model_id, document_id = excluded.document_id,"
        " items_count = excluded.items_count, work = excluded.work, bank_since = excluded.bank_since, result = NULL,"
        " error_message = NULL, retry_count = 0, next_retry_at = NULL, park_reason = NULL,"
        " created_at = excluded.created_at, updated_at = excluded.updated_at, completed_at = NULL"
        " WHERE operations.version < excluded.version",
        {
            **_key(recorded),
            "type": work.type,
            "status": STATUS if isinstance(work, BatchRetainAsked) else "pending",
            "mental_model_id": work.mental_model_id if isinstance(work, RefreshAsked) else None,
            "document_id": work.document_id if isinstance(work, RetainAsked) else None,
            "items_count": work.items_count if isinstance(work, RetainAsked | BatchRetainAsked) else 1,
            "work": Json(work.model_dump(mode="json")),
            "bank_since": event.bank_since,
            "at": recorded.occurred_at,
        },
    )


def _ended(recorded: Recorded, **columns: Any) -> Statement:
    return _set(recorded, **_NO_LONGER_WAITS, completed_at=recorded.occurred_at, **columns)


def _set(recorded: Recorded, **columns: Any) -> Statement:
    assignments = ", ".join(f"{column} = %({column})s" for column in columns)
    return Statement(
        f"UPDATE operations SET {assignments}, version = %(version)s, updated_at = %(at)s"
        " WHERE bank_id = %(bank_id)s AND operation_id = %(id)s AND version < %(version)s",
        {**columns, **_key(recorded), "at": recorded.occurred_at},
    )


def _key(recorded: Recorded) -> dict[str, Any]:
    return {"bank_id": recorded.stream.bank_id, "id": recorded.stream.name, "version": recorded.version}


PROJECTION = Projection("operations", 4, "operations", ("bank_id", "operation_id"), DDL, HANDLES, project)

_COLUMNS = (
    "bank_id, operation_id::text AS operation_id, operation_type, status, mental_model_id, document_id, items_count,"
    " work, result, error_message, retry_count, next_retry_at, park_reason, created_at, updated_at,"
    " completed_at,"
    " (SELECT jsonb_build_object('stage', p.stage, 'at', p.at, 'processed', p.processed, 'total', p.total,"
    " 'detail', p.detail) FROM operation_progress p WHERE t.status = 'processing' AND p.bank_id = t.bank_id"
    " AND p.operation_id = t.operation_id) AS progress"
)
_NEWEST_FIRST = ("created_at DESC", "operation_id DESC")
_SEEN = "(mental_model_id = ANY(%(models)s) OR operation_id = ANY(%(own)s::uuid[]))"
THIS_LIFE = "bank_since IS NOT DISTINCT FROM (SELECT b.created_at FROM banks b WHERE b.bank_id = %(bank_id)s)"
"""A bank deleted and created anew starts without operations."""
_AFTER = (
    "(t.created_at, t.operation_id) < (SELECT o.created_at, o.operation_id FROM operations o"
    " WHERE o.bank_id = %(bank_id)s AND o.operation_id = %(after)s::uuid)"
)


def find(bank_id: str, operation_id: str) -> Query[OperationRow | None]:
    return Query(
        f"SELECT {_COLUMNS} FROM {WITH_PARTS} t"
        f" WHERE bank_id = %(bank_id)s AND operation_id = %(id)s::uuid AND {THIS_LIFE}",
        {"bank_id": bank_id, "id": operation_id},
        lambda rows: OperationRow(**rows[0]) if rows else None,
    )


def page(
    bank_id: str,
    *,
    status: str | None,
    operation_type: str | None,
    limit: int,
    offset: int,
    after: str | None = None,
    exclude_parents: bool = False,
    seen: Seen | None = None,
) -> Query[tuple[list[OperationRow], int]]:
    """Newest first, id as the tie-break, and how many match in all; with `after`, an operation's id, only those that
    come after it, whatever was asked for since. With `exclude_parents` those made of parts are left out."""
    where = (
        "bank_id = %(bank_id)s AND (%(status)s::text IS NULL OR status = %(status)s)"
        f" AND (%(type)s::text IS NULL OR operation_type = %(type)s) AND {THIS_LIFE}"
        + (f" AND operation_type <> '{IN_PARTS}'" if exclude_parents else "")
        + (f" AND {_SEEN}" if seen is not None else "")
    )
    return Query(
        page_sql(WITH_PARTS, _COLUMNS, where, _NEWEST_FIRST, beyond=_AFTER if after else None),
        {
            "bank_id": bank_id,
            "status": status,
            "type": operation_type,
            "limit": limit,
            "offset": offset,
            "after": after,
            **({} if seen is None else {"models": list(seen.models), "own": list(seen.own)}),
        },
        page_reader(OperationRow, "operation_id"),
    )


def in_flight(bank_id: str, mental_model_id: str) -> Query[list[InFlight]]:
    """The refreshes of a mental model that wait or run, oldest first."""
    return Query(
        "SELECT operation_id::text AS operation_id, status, next_retry_at AS due FROM operations"
        " WHERE bank_id = %(bank_id)s AND mental_model_id = %(mental_model_id)s"
        f" AND status IN ('pending', 'processing') AND {THIS_LIFE} ORDER BY created_at, operation_id",
        {"bank_id": bank_id, "mental_model_id": mental_model_id},
        lambda rows: [InFlight(**row) for row in rows],
    )


def ended_before(time: datetime, limit: int) -> Query[list[Ended]]:
    """Operations of all banks, and of their earlier lives, that ended before a time: the first `limit` that did. Those
    made of parts, when none of these is listed any more."""
    return Query(
        "SELECT bank_id, operation_id FROM ((SELECT bank_id, operation_id, completed_at FROM operations"
        "   WHERE completed_at < %(time)s ORDER BY completed_at LIMIT %(limit)s)"
        f" UNION ALL {LEFT_BEHIND}) ended ORDER BY completed_at LIMIT %(limit)s",
        {"time": time, "limit": limit},
        lambda rows: [Ended(**row) for row in rows],
    )


def counts(bank_id: str) -> Query[dict[str, int]]:
    """How many operations of a bank have each status."""
    return Query(
        f"SELECT status, count(*) AS count FROM {WITH_PARTS} t"
        f" WHERE bank_id = %(bank_id)s AND {THIS_LIFE} GROUP BY status",
        {"bank_id": bank_id},
        lambda rows: {row["status"]: row["count"] for row in rows},
    )
