"""The operations: status, attempts, error and outcome."""

from __future__ import annotations

from typing import Any

import pytest

from domain.event import Event
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
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    RetainDone,
)
from projections import operations
from projections.projection import Json
from tests.support.examples import BANK, MODEL, NOW, OPERATION, call, later, recorded

REFRESH = RefreshAsked(mental_model_id=MODEL)
AUTOMATIC = RefreshAsked(mental_model_id=MODEL, mode="full", automatic=True)
NO_LONGER_WAITS = {"next_retry_at": None, "park_reason": None}
REFUSED = RefreshDone(outcome="refresh_failed_error", failure_reason="no_answer")


def columns(event: Event) -> dict[str, Any]:
    (statement,) = operations.project(recorded(event, 3, at=later(5)))
    values = {name: value.value if isinstance(value, Json) else value for name, value in statement.params.items()}
    key = {"bank_id": BANK, "id": str(OPERATION), "version": 3, "at": later(5)}
    assert {name: values.pop(name) for name in key} == key
    return values


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (REFRESH, {"type": "refresh_mental_model", "mental_model_id": MODEL, "document_id": None, "items_count": 1}),
        (
            RetainAsked(items_count=3, items_sha256="one", document_id="guide"),
            {"type": "retain", "mental_model_id": None, "document_id": "guide", "items_count": 3},
        ),
        (
            BatchRetainAsked(items_count=3, items_sha256="one", parts=()),
            {"type": "batch_retain", "mental_model_id": None, "document_id": None, "items_count": 3, "status": "parts"},
        ),
    ],
)
def test_an_operation_is_listed_with_what_it_is_about(
    work: RefreshAsked | RetainAsked | BatchRetainAsked, expected: dict[str, Any]
) -> None:
    event = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=work, bank_since=later(1))
    told = {"work": work.model_dump(mode="json"), "bank_since": later(1)}
    assert columns(event) == {"status": "pending", **expected, **told}


def test_a_started_attempt_forgets_the_error_of_the_last_one() -> None:
    assert columns(OperationStarted(attempt=2)) == {
        "status": "processing",
        **NO_LONGER_WAITS,
        "error_message": None,
    }


def test_a_failed_attempt_waits_for_the_next() -> None:
    event = OperationRetryScheduled(
        work=REFRESH, error_message="429", retry_count=2, next_retry_at=later(6), result=REFUSED
    )
    assert columns(event) == {
        "status": "pending",
        "error_message": "429",
        "retry_count": 2,
        "next_retry_at": later(6),
        "park_reason": None,
        "result": REFUSED.model_dump(),
    }


@pytest.mark.parametrize("result", [REFUSED, None])
def test_an_operation_that_failed_for_good_has_ended(result: RefreshDone | None) -> None:
    assert columns(OperationFailed(error_message="401", result=result)) == {
        "status": "failed",
        **NO_LONGER_WAITS,
        "error_message": "401",
        "completed_at": later(5),
        "result": result.model_dump() if result else None,
    }


def test_a_completed_operation_has_a_result_and_no_error() -> None:
    assert columns(OperationCompleted(result=RetainDone(facts=2, calls=(call("embed", 2, 0),)))) == {
        "status": "completed",
        **NO_LONGER_WAITS,
        "error_message": None,
        "completed_at": later(5),
        "result": {"type": "retain", "facts": 2, "calls": [call("embed", 2, 0).model_dump()]},
    }


def test_a_request_folded_in_changes_what_is_to_be_done_and_leaves_the_rest() -> None:
    assert columns(OperationFolded(work=AUTOMATIC, released=False)) == {"work": AUTOMATIC.model_dump()}


def test_a_request_that_releases_it_ends_its_waiting() -> None:
    folded = OperationFolded(work=REFRESH, released=True)
    assert columns(folded) == {"work": REFRESH.model_dump(), **NO_LONGER_WAITS}


def test_a_parked_operation_tells_how_long_it_waits_and_why() -> None:
    assert columns(OperationParked(work=AUTOMATIC, reason="token_budget", until=later(9))) == {
        "status": "pending",
        "next_retry_at": later(9),
        "park_reason": "token_budget",
    }


def test_a_cancelled_operation_has_ended() -> None:
    assert columns(OperationCancelled()) == {
        "status": "cancelled",
        **NO_LONGER_WAITS,
        "completed_at": later(5),
    }


def test_a_restarted_operation_has_nothing_of_its_earlier_attempts() -> None:
    assert columns(OperationRestarted(work=REFRESH)) == {
        "status": "pending",
        "work": REFRESH.model_dump(),
        **NO_LONGER_WAITS,
        "error_message": None,
        "retry_count": 0,
        "result": None,
        "completed_at": None,
    }


def test_a_removed_operation_is_gone() -> None:
    (statement,) = operations.project(recorded(OperationRemoved(), 3))
    assert statement.sql.startswith("DELETE FROM operations")
    assert statement.params == {"bank_id": BANK, "id": str(OPERATION), "version": 3}


ROW: dict[str, Any] = {
    "bank_id": BANK,
    "operation_id": str(OPERATION),
    "operation_type": "retain",
    "status": "pending",
    "mental_model_id": None,
    "document_id": None,
    "items_count": 1,
    "work": {},
    "result": None,
    "error_message": None,
    "retry_count": 0,
    "next_retry_at": None,
    "park_reason": None,
    "created_at": NOW,
    "updated_at": NOW,
    "completed_at": None,
    "progress": None,
}


def test_an_operation_is_found_or_not() -> None:
    query = operations.find(BANK, str(OPERATION))
    assert query.read([ROW]) == operations.OperationRow(**ROW)
    assert query.read([]) is None


def test_a_page_tells_how_many_there_are_also_when_it_is_empty() -> None:
    query = operations.page(BANK, status=None, operation_type=None, limit=1, offset=0)
    assert query.read([{**ROW, "total": 7}]) == ([operations.OperationRow(**ROW)], 7)
    assert query.read([{**dict.fromkeys(ROW), "total": 7}]) == ([], 7)
    assert query.read([]) == ([], 0)


def test_operations_are_counted_by_status() -> None:
    assert operations.counts(BANK).read([{"status": "failed", "count": 2}]) == {"failed": 2}
