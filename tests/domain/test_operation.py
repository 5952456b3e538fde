"""What an operation answers to each command: attempts, retries, and an end that stays the end."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from application.command_handler import OPERATION as OPERATION_AGGREGATE
from domain.event import Event
from domain.operation import (
    CompleteOperation,
    FailOperation,
    Operation,
    OperationCommand,
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationRetryScheduled,
    OperationStarted,
    RefreshAsked,
    RefreshDone,
    RequestOperation,
    RetainAsked,
    RetainDone,
    StartOperation,
)
from domain.refusals import OperationEnded, OperationIdTaken, OperationNotFound, Refusal
from domain.usage import ModelCall
from tests.dsl import fold, given
from tests.support.examples import BANK, MODEL, OPERATION, call, later

REFRESH = RefreshAsked(mental_model_id=MODEL)
RETAIN = RetainAsked(items_count=2, items_sha256="one", document_id="guide")
REQUESTED = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=REFRESH)
STARTED = OperationStarted(attempt=1)
DONE = RefreshDone(outcome="content_written", content_length=12)
REFUSED = RefreshDone(outcome="refresh_failed_error", failure_reason="no_answer")
COMPLETED = OperationCompleted(result=DONE)
FAILED = OperationFailed(error_message="no answer")
START = StartOperation(BANK, OPERATION)
COMPLETE = CompleteOperation(BANK, OPERATION, DONE)


def fail(
    retry_at: datetime | None = None, message: str = "no answer", at_most: int = 3, calls: tuple[ModelCall, ...] = ()
) -> FailOperation:
    return FailOperation(BANK, OPERATION, message, at_most, retry_at, REFUSED, calls)


def retry(count: int, message: str = "no answer", calls: tuple[ModelCall, ...] = ()) -> OperationRetryScheduled:
    return OperationRetryScheduled(
        work=REFRESH, error_message=message, retry_count=count, next_retry_at=later(1), result=REFUSED, calls=calls
    )


def request(work: RefreshAsked | RetainAsked) -> RequestOperation:
    return RequestOperation(BANK, OPERATION, work)


def test_is_requested() -> None:
    given().when(request(REFRESH)).then(REQUESTED)


@pytest.mark.parametrize("since", [(), (STARTED,), (STARTED, COMPLETED), (STARTED, FAILED)])
def test_the_same_request_again_is_nothing_even_after_its_end(since: tuple[Event, ...]) -> None:
    given(REQUESTED, *since).when(request(REFRESH)).then_nothing()


@pytest.mark.parametrize(
    ("work", "other"),
    [
        (REFRESH, RETAIN),
        (REFRESH, RefreshAsked(mental_model_id="old-town")),
        (REFRESH, RefreshAsked(mental_model_id=MODEL, mode="full")),
        (RETAIN, RetainAsked(items_count=2, items_sha256="other", document_id="guide")),
        (RETAIN, RetainAsked(items_count=2, items_sha256="one", document_id="leaflet")),
    ],
    ids=["another kind", "another model", "another mode", "other items", "another document"],
)
@pytest.mark.parametrize("since", [(), (STARTED, FAILED)], ids=["waiting", "ended"])
def test_its_id_is_not_given_to_other_work(
    work: RefreshAsked | RetainAsked, other: RefreshAsked | RetainAsked, since: tuple[Event, ...]
) -> None:
    requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=work)
    given(requested, *since).when(request(other)).then_refused(OperationIdTaken, str(OPERATION))


@pytest.mark.parametrize("command", [START, COMPLETE, fail()], ids=lambda each: type(each).__name__)
def test_no_command_finds_an_operation_that_was_never_requested(command: OperationCommand) -> None:
    given().when(command).then_refused(OperationNotFound, f"'{OPERATION}' not found in bank '{BANK}'")


def test_attempts_count_from_1() -> None:
    given(REQUESTED).when(START).then(STARTED)
    given(REQUESTED, STARTED, retry(1)).when(START).then(OperationStarted(attempt=2))


def test_an_attempt_that_was_killed_is_followed_by_another() -> None:
    given(REQUESTED, STARTED).when(START).then(OperationStarted(attempt=2))


def test_is_completed_with_its_result() -> None:
    given(REQUESTED, STARTED).when(COMPLETE).then(COMPLETED)


def test_a_failed_attempt_is_retried_at_the_time_given() -> None:
    given(REQUESTED, STARTED).when(fail(later(1))).then(retry(1))
    given(REQUESTED, STARTED, retry(1), OperationStarted(attempt=2)).when(fail(later(1))).then(retry(2))


def test_a_failed_attempt_without_a_retry_time_is_the_end() -> None:
    given(REQUESTED, STARTED).when(fail()).then(OperationFailed(error_message="no answer", result=REFUSED))


def test_after_the_last_retry_it_fails_for_good() -> None:
    tried = (REQUESTED, STARTED, retry(1), OperationStarted(attempt=2), retry(2), OperationStarted(attempt=3), retry(3))
    given(*tried, OperationStarted(attempt=4)).when(fail(later(1))).then(
        OperationFailed(error_message="no answer", result=REFUSED)
    )


def test_without_any_retry_allowed_the_first_failure_is_the_end() -> None:
    given(REQUESTED, STARTED).when(fail(later(1), at_most=0)).then(
        OperationFailed(error_message="no answer", result=REFUSED)
    )


def test_a_failed_attempt_tells_what_it_cost() -> None:
    given(REQUESTED, STARTED).when(fail(later(1), calls=(call(),))).then(retry(1, calls=(call(),)))
    given(REQUESTED, STARTED).when(fail(calls=(call(),))).then(
        OperationFailed(error_message="no answer", result=REFUSED, calls=(call(),))
    )


def test_a_long_error_message_is_cut_at_5000_characters() -> None:
    given(REQUESTED, STARTED).when(fail(later(1), "é" * 5001)).then(retry(1, "é" * 5000))
    given(REQUESTED, STARTED).when(fail(None, "é" * 5001)).then(
        OperationFailed(error_message="é" * 5000, result=REFUSED)
    )


@pytest.mark.parametrize("end", [COMPLETED, FAILED], ids=lambda each: each.TOPIC)
@pytest.mark.parametrize("command", [START, COMPLETE, fail(), fail(later(1))])
def test_what_another_attempt_came_to_is_refused_after_the_end(end: Event, command: OperationCommand) -> None:
    given(REQUESTED, STARTED, end).when(command).then_refused(OperationEnded, f"'{OPERATION}' has ended")


@pytest.mark.parametrize(
    ("events", "status", "attempts", "retries"),
    [
        ((), "pending", 0, 0),
        ((STARTED,), "processing", 1, 0),
        ((STARTED, retry(1)), "pending", 1, 1),
        ((STARTED, retry(1), OperationStarted(attempt=2)), "processing", 2, 1),
        ((STARTED, COMPLETED), "completed", 1, 0),
        ((STARTED, FAILED), "failed", 1, 0),
    ],
)
def test_the_state_holds_what_the_events_say(
    events: tuple[Event, ...], status: str, attempts: int, retries: int
) -> None:
    state = fold(OPERATION_AGGREGATE, REQUESTED, *events)
    assert (state.work, state.status, state.attempts, state.retries) == (REFRESH, status, attempts, retries)
    assert state.ended is (status in ("completed", "failed"))


HISTORIES = st.lists(
    st.sampled_from([REQUESTED, STARTED, retry(1), retry(3), COMPLETED, FAILED])
    | st.builds(OperationStarted, attempt=st.integers()),
    max_size=8,
)
COMMANDS = st.one_of(
    st.sampled_from([request(REFRESH), request(RETAIN), START, COMPLETE]),
    st.just(CompleteOperation(BANK, OPERATION, RetainDone(facts=1, calls=(call(),)))),
    st.builds(fail, st.sampled_from([None, later(1)]), st.text(), st.integers(0, 3)),
)


@for_all(HISTORIES, COMMANDS)
def test_any_sequence_of_events_folds_and_every_command_is_answered(
    history: list[Event], command: OperationCommand
) -> None:
    state = fold(OPERATION_AGGREGATE, *history)
    decided = OPERATION_AGGREGATE.decide(command, state)
    if isinstance(decided, Refusal):
        return
    assert isinstance(fold(OPERATION_AGGREGATE, *history, *decided), Operation)
    if isinstance(state, Operation) and state.ended:
        assert decided == (), "only the request it came from may be repeated"


@for_all(st.integers(0, 5))
def test_an_operation_that_always_fails_is_attempted_once_more_than_it_may_be_retried(at_most: int) -> None:
    history: list[Event] = [REQUESTED]
    while not fold(OPERATION_AGGREGATE, *history).ended:
        for command in (START, fail(later(1), at_most=at_most)):
            decided = OPERATION_AGGREGATE.decide(command, fold(OPERATION_AGGREGATE, *history))
            assert not isinstance(decided, Refusal)
            history.extend(decided)
    assert sum(isinstance(event, OperationStarted) for event in history) == at_most + 1
