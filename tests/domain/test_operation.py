"""What an operation answers to each command: attempts, retries, requests folded in, waiting, and an end that stays the
end until somebody restarts it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from application.command_handler import OPERATION as OPERATION_AGGREGATE
from domain.event import Event
from domain.operation import (
    CancelOperation,
    CompleteOperation,
    FailOperation,
    FoldRequest,
    NoOperation,
    Operation,
    OperationCancelled,
    OperationCommand,
    OperationCompleted,
    OperationFailed,
    OperationFolded,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    OperationStarted,
    ParkOperation,
    RefreshAsked,
    RefreshDone,
    RemoveOperation,
    RequestOperation,
    RestartOperation,
    RetainAsked,
    RetainDone,
    StartOperation,
)
from domain.refusals import (
    OperationEnded,
    OperationIdTaken,
    OperationNotFound,
    OperationNotRestartable,
    OperationNotWaiting,
    OperationStillOpen,
    Refusal,
)
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
CANCEL = CancelOperation(BANK, OPERATION)
CANCELLED = OperationCancelled()
RESTART = RestartOperation(BANK, OPERATION)
RESTARTED = OperationRestarted(work=REFRESH)
REMOVE = RemoveOperation(BANK, OPERATION)
REMOVED = OperationRemoved()
PARK = ParkOperation(BANK, OPERATION, later(30), "min_interval")
AUTOMATIC = RefreshAsked(mental_model_id=MODEL, automatic=True)
REQUESTED_BY_ITSELF = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=AUTOMATIC)
REQUESTED_RETAIN = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=RETAIN)
PARKED = OperationParked(work=AUTOMATIC, reason="min_interval", until=later(30))


def fail(
    retry_at: datetime | None = None, message: str = "no answer", at_most: int = 3, calls: tuple[ModelCall, ...] = ()
) -> FailOperation:
    return FailOperation(BANK, OPERATION, message, at_most, retry_at, REFUSED, calls)


def retry(count: int, message: str = "no answer", calls: tuple[ModelCall, ...] = ()) -> OperationRetryScheduled:
    return OperationRetryScheduled(
        work=REFRESH, error_message=message, retry_count=count, next_retry_at=later(1), result=REFUSED, calls=calls
    )


def refresh(mode: Literal["full"] | None = None, *, automatic: bool = False) -> RefreshAsked:
    return RefreshAsked(mental_model_id=MODEL, mode=mode, automatic=automatic)


def another(mode: Literal["full"] | None = None, *, automatic: bool = False) -> FoldRequest:
    """Another request for the same refresh."""
    return FoldRequest(BANK, OPERATION, automatic, mode)


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


@pytest.mark.parametrize(
    "command",
    [START, COMPLETE, fail(), another(), PARK, CANCEL, RESTART, REMOVE],
    ids=lambda each: type(each).__name__,
)
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


@pytest.mark.parametrize("end", [COMPLETED, FAILED, CANCELLED], ids=lambda each: each.TOPIC)
@pytest.mark.parametrize(
    "command",
    [START, COMPLETE, fail(), fail(later(1)), PARK, another(), CANCEL],
    ids=["start", "complete", "fail", "fail and retry", "park", "fold", "cancel"],
)
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
        ((PARKED,), "pending", 0, 0),
        ((STARTED, CANCELLED), "cancelled", 1, 0),
        ((STARTED, retry(1), OperationStarted(attempt=2), FAILED, RESTARTED), "pending", 2, 0),
    ],
)
def test_the_state_holds_what_the_events_say(
    events: tuple[Event, ...], status: str, attempts: int, retries: int
) -> None:
    state = fold(OPERATION_AGGREGATE, REQUESTED, *events)
    assert (state.work, state.status, state.attempts, state.retries) == (REFRESH, status, attempts, retries)
    assert state.ended is (status in ("completed", "failed", "cancelled"))


# --- a worker that dies -----------------------------------------------------------------------------------------------


def test_op_01_an_attempt_that_always_kills_its_worker_is_repeated_so_often_and_then_fails() -> None:
    died = [OperationStarted(attempt=attempt) for attempt in range(1, 4)]
    start = StartOperation(BANK, OPERATION, at_most=2)
    given(REQUESTED, *died[:2]).when(start).then(OperationStarted(attempt=3))
    (failed,) = decided(start, REQUESTED, *died)
    assert isinstance(failed, OperationFailed)
    assert "its worker died 3 times" in failed.error_message
    assert "Retry it when that is mended" in failed.error_message


@pytest.mark.parametrize(
    "known_end",
    [(retry(1),), (PARKED,), (FAILED, RESTARTED), (CANCELLED, RESTARTED)],
    ids=["failed", "parked", "failed for good and restarted", "cancelled and restarted"],
)
def test_an_attempt_whose_end_is_known_killed_nobody(known_end: tuple[Event, ...]) -> None:
    died = (STARTED, OperationStarted(attempt=2))
    begun = (REQUESTED, *died, *known_end, OperationStarted(attempt=3))
    given(*begun).when(StartOperation(BANK, OPERATION, at_most=1)).then(OperationStarted(attempt=4))


# --- other requests for the same --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waits", "asked", "work"),
    [
        (refresh(automatic=True), another(), refresh()),
        (refresh(automatic=True), another("full", automatic=True), refresh("full", automatic=True)),
        (refresh("full", automatic=True), another(), refresh("full")),
        (refresh(), another("full", automatic=True), refresh("full")),
    ],
)
def test_a_waiting_refresh_becomes_what_both_requests_ask_for(
    waits: RefreshAsked, asked: FoldRequest, work: RefreshAsked
) -> None:
    requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=waits)
    given(requested).when(asked).then(OperationFolded(work=work, released=False))


@pytest.mark.parametrize("waits", [refresh(), refresh("full")])
@pytest.mark.parametrize("automatic", [True, False])
def test_a_request_for_what_waits_already_is_nothing(waits: RefreshAsked, automatic: bool) -> None:
    requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=waits)
    given(requested).when(another(automatic=automatic)).then_nothing()


def test_an_explicit_request_releases_a_parked_refresh_from_its_park_and_from_being_parked_again() -> None:
    given(REQUESTED_BY_ITSELF, PARKED).when(another()).then(OperationFolded(work=REFRESH, released=True))


def test_an_explicit_request_releases_a_refresh_that_waits_for_its_retry() -> None:
    given(REQUESTED, STARTED, retry(1)).when(another()).then(OperationFolded(work=REFRESH, released=True))


def test_an_automatic_request_leaves_the_park_as_it_is() -> None:
    given(REQUESTED_BY_ITSELF, PARKED).when(another(automatic=True)).then_nothing()
    full = refresh("full", automatic=True)
    folded = OperationFolded(work=full, released=False)
    given(REQUESTED_BY_ITSELF, PARKED).when(another("full", automatic=True)).then(folded)
    state = fold(OPERATION_AGGREGATE, REQUESTED_BY_ITSELF, PARKED, folded)
    assert (state.work, state.due) == (full, later(30))


def test_a_released_refresh_waits_for_nothing_and_is_released_once() -> None:
    released = (REQUESTED_BY_ITSELF, PARKED, OperationFolded(work=REFRESH, released=True))
    assert fold(OPERATION_AGGREGATE, *released).due is None
    given(*released).when(another()).then_nothing()


@pytest.mark.parametrize("events", [(REQUESTED, STARTED), (REQUESTED_RETAIN,)], ids=["runs", "is a retain"])
def test_nothing_is_folded_into_what_runs_or_is_no_refresh(events: tuple[Event, ...]) -> None:
    given(*events).when(another()).then_refused(OperationNotWaiting, "does not wait any more")


# --- waiting ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("since", [(), (STARTED,)], ids=["before an attempt", "instead of its end"])
def test_is_parked_until_a_time_without_a_retry(since: tuple[Event, ...]) -> None:
    given(REQUESTED_BY_ITSELF, *since).when(PARK).then(PARKED)
    state = fold(OPERATION_AGGREGATE, REQUESTED_BY_ITSELF, *since, PARKED)
    assert (state.status, state.due, state.retries) == ("pending", later(30), 0)


def test_a_parked_attempt_tells_what_it_cost() -> None:
    park = ParkOperation(BANK, OPERATION, later(30), "quota", (call(),))
    parked = OperationParked(work=RETAIN, reason="quota", until=later(30), calls=(call(),))
    given(REQUESTED_RETAIN, STARTED).when(park).then(parked)


@pytest.mark.parametrize("event", [STARTED, CANCELLED, RESTARTED, COMPLETED, FAILED], ids=lambda each: each.TOPIC)
@pytest.mark.parametrize("waits", [PARKED, retry(1)], ids=lambda each: each.TOPIC)
def test_waits_for_nothing_once_it_runs_has_ended_or_is_restarted(waits: Event, event: Event) -> None:
    assert fold(OPERATION_AGGREGATE, REQUESTED, STARTED, waits).due is not None
    assert fold(OPERATION_AGGREGATE, REQUESTED, STARTED, waits, event).due is None


# --- cancelled, restarted, removed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("since", [(), (STARTED,), (STARTED, retry(1)), (PARKED,)])
def test_what_waits_or_runs_can_be_cancelled(since: tuple[Event, ...]) -> None:
    given(REQUESTED, *since).when(CANCEL).then(CANCELLED)


@pytest.mark.parametrize("end", [FAILED, CANCELLED], ids=lambda each: each.TOPIC)
def test_a_failed_or_cancelled_one_begins_anew_with_all_its_retries(end: Event) -> None:
    tried = (REQUESTED, STARTED, retry(3), OperationStarted(attempt=2), end)
    given(*tried).when(RESTART).then(RESTARTED)
    given(*tried, RESTARTED, OperationStarted(attempt=3)).when(fail(later(1))).then(retry(1))


@pytest.mark.parametrize("waits", [PARKED, retry(1)], ids=lambda each: each.TOPIC)
def test_one_that_waits_for_a_time_runs_at_once(waits: Event) -> None:
    given(REQUESTED, STARTED, waits).when(RESTART).then(RESTARTED)


@pytest.mark.parametrize(
    "since", [(), (PARKED,), (STARTED, FAILED), (CANCELLED,)], ids=["waits", "parked", "failed", "cancelled"]
)
def test_an_automatic_one_that_is_restarted_was_asked_for_and_is_not_parked_again(since: tuple[Event, ...]) -> None:
    given(REQUESTED_BY_ITSELF, *since).when(RESTART).then(RESTARTED)
    assert not fold(OPERATION_AGGREGATE, REQUESTED_BY_ITSELF, *since, RESTARTED).work.automatic


def test_a_retain_is_restarted_as_it_is() -> None:
    given(REQUESTED_RETAIN, STARTED, FAILED).when(RESTART).then(OperationRestarted(work=RETAIN))


def test_one_that_is_to_run_now_is_not_restarted() -> None:
    given(REQUESTED).when(RESTART).then_nothing()
    given(REQUESTED, CANCELLED, RESTARTED).when(RESTART).then_nothing()


@pytest.mark.parametrize(
    ("since", "saying"),
    [
        ((STARTED,), "is processing: only a failed, cancelled or waiting one can be retried; cancel it first"),
        (
            (STARTED, COMPLETED),
            "is completed: only a failed, cancelled or waiting one can be retried; ask for a new one",
        ),
    ],
    ids=["runs", "is done"],
)
def test_one_that_runs_or_is_done_is_not_restarted(since: tuple[Event, ...], saying: str) -> None:
    given(REQUESTED, *since).when(RESTART).then_refused(OperationNotRestartable, saying)


def test_what_a_cancelled_attempt_did_is_not_the_end_of_the_restarted_one() -> None:
    given(REQUESTED, STARTED, CANCELLED, RESTARTED).when(COMPLETE).then_refused(OperationEnded)
    given(REQUESTED, STARTED, CANCELLED, RESTARTED, OperationStarted(attempt=2)).when(COMPLETE).then(COMPLETED)


def test_what_a_slow_attempt_did_after_another_failed_saves_the_retry() -> None:
    given(REQUESTED, STARTED, OperationStarted(attempt=2), retry(1)).when(COMPLETE).then(COMPLETED)


def test_what_a_slow_attempt_did_before_an_explicit_request_does_not_answer_it() -> None:
    released = OperationFolded(work=REFRESH, released=True)
    given(REQUESTED, STARTED, OperationStarted(attempt=2), retry(1), released).when(COMPLETE).then_refused(
        OperationEnded
    )


@pytest.mark.parametrize("end", [COMPLETED, FAILED, CANCELLED], ids=lambda each: each.TOPIC)
def test_one_that_has_ended_can_be_removed_and_is_then_not_found(end: Event) -> None:
    given(REQUESTED, STARTED, end).when(REMOVE).then(REMOVED)
    for command in (REMOVE, RESTART, CANCEL, START):
        given(REQUESTED, STARTED, end, REMOVED).when(command).then_refused(OperationNotFound)


def test_the_id_of_a_removed_one_is_free_for_any_work() -> None:
    given(REQUESTED, CANCELLED, REMOVED).when(request(RETAIN)).then(REQUESTED_RETAIN)
    assert fold(OPERATION_AGGREGATE, REQUESTED, STARTED, CANCELLED, REMOVED, REQUESTED_RETAIN).attempts == 0


@pytest.mark.parametrize(("since", "status"), [((), "pending"), ((PARKED,), "pending"), ((STARTED,), "processing")])
def test_one_that_waits_or_runs_cannot_be_removed(since: tuple[Event, ...], status: str) -> None:
    given(REQUESTED, *since).when(REMOVE).then_refused(OperationStillOpen, f"is {status}: only one that has ended")


# --- any history ------------------------------------------------------------------------------------------------------


def decided(command: OperationCommand, *history: Event) -> Sequence[Event]:
    answer = OPERATION_AGGREGATE.decide(command, fold(OPERATION_AGGREGATE, *history))
    assert not isinstance(answer, Refusal)
    return answer


HISTORIES = st.lists(
    st.sampled_from(
        [
            REQUESTED,
            REQUESTED_RETAIN,
            STARTED,
            retry(1),
            retry(3),
            COMPLETED,
            FAILED,
            PARKED,
            CANCELLED,
            RESTARTED,
            REMOVED,
        ]
    )
    | st.builds(OperationFolded, work=st.sampled_from([REFRESH, AUTOMATIC]), released=st.booleans())
    | st.builds(OperationStarted, attempt=st.integers()),
    max_size=8,
)
COMMANDS = st.one_of(
    st.sampled_from([request(REFRESH), request(RETAIN), START, COMPLETE, PARK, CANCEL, RESTART, REMOVE]),
    st.builds(another, st.sampled_from([None, "full"]), automatic=st.booleans()),
    st.just(CompleteOperation(BANK, OPERATION, RetainDone(facts=1, calls=(call(),)))),
    st.builds(fail, st.sampled_from([None, later(1)]), st.text(), st.integers(0, 3)),
)


@for_all(HISTORIES, COMMANDS)
def test_any_sequence_of_events_folds_and_every_command_is_answered(
    history: list[Event], command: OperationCommand
) -> None:
    state = fold(OPERATION_AGGREGATE, *history)
    answer = OPERATION_AGGREGATE.decide(command, state)
    if isinstance(answer, Refusal):
        return
    after = fold(OPERATION_AGGREGATE, *history, *answer)
    assert isinstance(after, NoOperation if command == REMOVE else Operation)
    if isinstance(state, Operation) and state.ended and command not in (RESTART, REMOVE):
        assert answer == (), "only the request it came from may be repeated"
    if isinstance(after, Operation) and command == RESTART:
        assert (after.status, after.due) == ("pending", None)


@for_all(st.integers(0, 5))
def test_an_operation_that_always_fails_is_attempted_once_more_than_it_may_be_retried(at_most: int) -> None:
    history: list[Event] = [REQUESTED]
    while not fold(OPERATION_AGGREGATE, *history).ended:
        for command in (START, fail(later(1), at_most=at_most)):
            history.extend(decided(command, *history))
    assert sum(isinstance(event, OperationStarted) for event in history) == at_most + 1
