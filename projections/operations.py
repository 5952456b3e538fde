"""The operations asked for over REST: status, attempts, error and outcome."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from domain.event import Recorded
from domain.operation import (
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationRetryScheduled,
    OperationStarted,
    RefreshAsked,
    RetainAsked,
)
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
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    completed_at timestamptz,
    PRIMARY KEY (bank_id, operation_id)
);
CREATE INDEX operations_newest ON operations (bank_id, created_at DESC, operation_id DESC)"""

HANDLES = (OperationRequested, OperationStarted, OperationRetryScheduled, OperationCompleted, OperationFailed)

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
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None


def project(recorded: Recorded) -> Iterable[Statement]:
    at = recorded.occurred_at
    match recorded.event:
        case OperationRequested() as event:
            yield _insert(recorded, event)
        case OperationStarted():
            yield _set(recorded, status="processing", next_retry_at=None, error_message=None)
        case OperationRetryScheduled() as event:
            yield _set(
                recorded,
                status="pending",
                error_message=event.error_message,
                retry_count=event.retry_count,
                next_retry_at=event.next_retry_at,
                result=_json(event.result),
            )
        case OperationCompleted(result=result):
            yield _set(recorded, status="completed", error_message=None, completed_at=at, result=_json(result))
        case OperationFailed(error_message=message, result=result):
            yield _set(recorded, status="failed", error_message=message, completed_at=at, result=_json(result))


def _json(result: Any) -> Json | None:
    return Json(result.model_dump(mode="json")) if result is not None else None


def _insert(recorded: Recorded, event: OperationRequested) -> Statement:
    work = event.work
    return Statement(
        "INSERT INTO operations (bank_id, operation_id, version, operation_type, status, mental_model_id, document_id,"
        " items_count, work, bank_since, created_at, updated_at) VALUES (%(bank_id)s, %(id)s, %(version)s, %(type)s,"
        " 'pending', %(mental_model_id)s, %(document_id)s, %(items_count)s, %(work)s, %(bank_since)s, %(at)s, %(at)s)"
        " ON CONFLICT (bank_id, operation_id) DO UPDATE SET version = excluded.version,"
        " operation_type = excluded.operation_type, status = excluded.status,"
        " mental_model_id = excluded.mental_model_id, document_id = excluded.document_id,"
        " items_count = excluded.items_count, work = excluded.work, bank_since = excluded.bank_since, result = NULL,"
        " error_message = NULL, retry_count = 0, next_retry_at = NULL, created_at = excluded.created_at,"
        " updated_at = excluded.updated_at, completed_at = NULL WHERE operations.version < excluded.version",
        {
            "bank_id": recorded.stream.bank_id,
            "id": recorded.stream.name,
            "version": recorded.version,
            "type": work.type,
            "mental_model_id": work.mental_model_id if isinstance(work, RefreshAsked) else None,
            "document_id": work.document_id if isinstance(work, RetainAsked) else None,
            "items_count": work.items_count if isinstance(work, RetainAsked) else 1,
            "work": Json(work.model_dump(mode="json")),
            "bank_since": event.bank_since,
            "at": recorded.occurred_at,
        },
    )


def _set(recorded: Recorded, **columns: Any) -> Statement:
    assignments = ", ".join(f"{column} = %({column})s" for column in columns)
    return Statement(
        f"UPDATE operations SET {assignments}, version = %(version)s, updated_at = %(at)s"
        " WHERE bank_id = %(bank_id)s AND operation_id = %(id)s AND version < %(version)s",
        {
            **columns,
            "bank_id": recorded.stream.bank_id,
            "id": recorded.stream.name,
            "version": recorded.version,
            "at": recorded.occurred_at,
        },
    )


PROJECTION = Projection("operations", 2, "operations", ("bank_id", "operation_id"), DDL, HANDLES, project)

_COLUMNS = (
    "bank_id, operation_id::text AS operation_id, operation_type, status, mental_model_id, document_id, items_count,"
    " work, result, error_message, retry_count, next_retry_at, created_at, updated_at, completed_at"
)


_THIS_LIFE = "bank_since IS NOT DISTINCT FROM (SELECT b.created_at FROM banks b WHERE b.bank_id = %(bank_id)s)"
"""A bank deleted and created anew starts without operations."""


def find(bank_id: str, operation_id: str) -> Query[OperationRow | None]:
    return Query(
        f"SELECT {_COLUMNS} FROM operations"
        f" WHERE bank_id = %(bank_id)s AND operation_id = %(id)s::uuid AND {_THIS_LIFE}",
        {"bank_id": bank_id, "id": operation_id},
        lambda rows: OperationRow(**rows[0]) if rows else None,
    )


def page(
    bank_id: str, *, status: str | None, operation_type: str | None, limit: int, offset: int
) -> Query[tuple[list[OperationRow], int]]:
    """Newest first, id as the tie-break, and how many match in all."""
    where = (
        "bank_id = %(bank_id)s AND (%(status)s::text IS NULL OR status = %(status)s)"
        f" AND (%(type)s::text IS NULL OR operation_type = %(type)s) AND {_THIS_LIFE}"
    )

    return Query(
        page_sql("operations", _COLUMNS, where, ("created_at DESC", "operation_id DESC")),
        {"bank_id": bank_id, "status": status, "type": operation_type, "limit": limit, "offset": offset},
        page_reader(OperationRow, "operation_id"),
    )


def counts(bank_id: str) -> Query[dict[str, int]]:
    """How many operations of a bank have each status."""
    return Query(
        "SELECT status, count(*) AS count FROM operations"
        f" WHERE bank_id = %(bank_id)s AND {_THIS_LIFE} GROUP BY status",
        {"bank_id": bank_id},
        lambda rows: {row["status"]: row["count"] for row in rows},
    )
