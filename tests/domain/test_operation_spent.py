"""What an operation cost that no end of an attempt tells: told beside an end, or after it, and never twice."""

from __future__ import annotations

from application.command_handler import OPERATION as OPERATION_AGGREGATE
from domain.operation import (
    CancelOperation,
    CompleteOperation,
    FailOperation,
    Operation,
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationRemoved,
    OperationRequested,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    SpendOperation,
    StartOperation,
)
from domain.operation.decider import CUT_OFF
from tests.dsl import fold, given
from tests.support.examples import BANK, MODEL, OPERATION, call, later

REFRESH = RefreshAsked(mental_model_id=MODEL)
REQUESTED = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=REFRESH)
STARTED = OperationStarted(attempt=1)
COMPLETED = OperationCompleted(result=RefreshDone(outcome="content_written"))
OWN, LEFT = call("reflect_1"), call("reflect_2")
SPENT = OperationSpent(mental_model_id=MODEL, calls=(LEFT,))
SPEND = SpendOperation(BANK, OPERATION, MODEL, (LEFT,))


def fail(retry: bool) -> FailOperation:
    return FailOperation(BANK, OPERATION, "no", 3, later(1) if retry else None, calls=(OWN,), untold=(LEFT,))


def test_one_that_completes_tells_before_it_what_attempts_before_spent() -> None:
    complete = CompleteOperation(BANK, OPERATION, COMPLETED.result, untold=(LEFT,))
    given(REQUESTED, STARTED).when(complete).then(SPENT, COMPLETED)


def test_a_retain_that_completes_has_spent_for_no_model() -> None:
    retain = RetainAsked(items_count=1, items_sha256="one")
    requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=retain)
    complete = CompleteOperation(BANK, OPERATION, COMPLETED.result, untold=(LEFT,))
    spent = OperationSpent(mental_model_id=None, calls=(LEFT,))
    given(requested, STARTED).when(complete).then(spent, COMPLETED)


def test_one_that_fails_for_good_tells_it_with_its_own() -> None:
    given(REQUESTED, STARTED).when(fail(retry=False)).then(OperationFailed(error_message="no", calls=(OWN, LEFT)))


def test_one_that_is_tried_again_tells_only_its_own() -> None:
    retry = OperationRetryScheduled(
        work=REFRESH, error_message="no", retry_count=1, next_retry_at=later(1), calls=(OWN,)
    )
    given(REQUESTED, STARTED).when(fail(retry=True)).then(retry)


def test_one_that_was_cut_off_too_often_tells_what_that_cost() -> None:
    message = CUT_OFF.format(count=1)
    start = StartOperation(BANK, OPERATION, 0, (LEFT,))
    given(REQUESTED, STARTED).when(start).then(OperationFailed(error_message=message, calls=(LEFT,)))


def test_a_cancel_of_one_that_waits_tells_what_was_spent() -> None:
    given(REQUESTED).when(CancelOperation(BANK, OPERATION, (LEFT,))).then(SPENT, OperationCancelled())


def test_a_cancel_of_one_that_runs_leaves_that_to_the_attempt() -> None:
    given(REQUESTED, STARTED).when(CancelOperation(BANK, OPERATION, (LEFT,))).then(OperationCancelled())


def test_what_is_spent_after_the_end_is_told_also_of_one_that_is_no_longer_listed() -> None:
    given(REQUESTED, STARTED, OperationCancelled()).when(SPEND).then(SPENT)
    given(REQUESTED, OperationCancelled(), OperationRemoved()).when(SPEND).then(SPENT)


def test_nothing_spent_is_no_event_and_what_is_spent_changes_nothing() -> None:
    given(REQUESTED).when(SpendOperation(BANK, OPERATION, MODEL, ())).then_nothing()
    assert isinstance(fold(OPERATION_AGGREGATE, REQUESTED, STARTED), Operation)
    assert fold(OPERATION_AGGREGATE, REQUESTED, STARTED, SPENT) == fold(OPERATION_AGGREGATE, REQUESTED, STARTED)
