"""Refreshes in the background: every attempt ends in the log, and is repeated when that may help."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

import pytest

from application.background import RetryPolicy
from application.ports import MindFailed
from domain.event import Event
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
)
from domain.operation import (
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationRetryScheduled,
    OperationStarted,
    RefreshAsked,
    RefreshDone,
)
from domain.reflection import Answer, NoAnswer, Step
from domain.scheduling import delay_before_retry
from tests.support.examples import (
    BANK,
    MENTAL_MODEL_STREAM,
    MODEL,
    NOW,
    OPERATION,
    OPERATION_STREAM,
    created,
    written,
)
from tests.support.scripted_minds import RECALL, Scripted, answer_from_all, unusable
from tests.support.world import RETRY_DELAY, World

BEGUN = "The bridge was begun in 1357."
TEXT = f"- {BEGUN}\n"
REFRESH = RefreshAsked(mental_model_id=MODEL)
STARTED = OperationStarted(attempt=1)
NOTHING = NoAnswer(reason="nothing about it")
BLANK = Answer(markdown=" \u200b\n", used=())
FORBIDDEN = MindFailed("the key was refused (401)", reason="unexpected_error", transient=False)


def refreshing(*mind: Scripted, deterministic: bool = False, at_most: int = 3) -> World:
    """A model over one fact, whose refresh was asked for."""
    return World(*mind, deterministic=deterministic, at_most=at_most).has_a_model().knows(BEGUN).is_asked_to_refresh()


def kinds(events: Sequence[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_a_refresh_is_completed_with_its_outcome() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.works()
    _, outcome = world.document()
    assert isinstance(outcome, ContentWritten)
    assert outcome.text == TEXT
    assert world.operation()[1:] == [
        STARTED,
        OperationCompleted(result=RefreshDone(outcome="content_written", content_length=len(TEXT))),
    ]


def test_the_outcome_and_the_end_of_the_operation_are_recorded_together() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.works()
    start_and_end = 2
    assert (world.transactions.begun, world.transactions.committed) == (start_and_end, start_and_end)
    assert world.log.locked[-1] == ((MENTAL_MODEL_STREAM, OPERATION_STREAM), ())


def test_the_outcome_is_recorded_as_the_work_of_the_operation() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.works()
    recorded = world.log.events(MENTAL_MODEL_STREAM)[-1]
    assert (recorded.actor, recorded.operation_id, recorded.occurred_at) == ("worker", OPERATION, NOW)


def test_a_refresh_that_comes_to_the_same_text_is_completed() -> None:
    world = World(RECALL, answer_from_all).has_a_model(written(TEXT)).knows(BEGUN).is_asked_to_refresh()
    world.works()
    assert isinstance(world.document()[-1], ContentUnchanged)
    assert world.operation()[-1] == OperationCompleted(
        result=RefreshDone(outcome="content_unchanged", content_length=len(TEXT))
    )


def test_a_refresh_with_nothing_to_read_is_completed_and_asks_no_mind() -> None:
    world = World().has_a_model(written(TEXT)).is_asked_to_refresh()
    world.works()
    assert isinstance(world.document()[-1], ContentPreservedNoNewFacts)
    assert world.operation()[-1] == OperationCompleted(
        result=RefreshDone(outcome="content_preserved_no_new_facts", content_length=len(TEXT))
    )


def test_a_transient_failure_is_on_record_and_retried_later() -> None:
    world = refreshing(unusable(transient=True))
    world.works()
    _, outcome = world.document()
    assert isinstance(outcome, RefreshFailedError)
    assert outcome.transient
    assert world.operation()[1:] == [
        STARTED,
        OperationRetryScheduled(
            work=REFRESH,
            error_message="the endpoint answered 500",
            retry_count=1,
            next_retry_at=NOW + delay_before_retry(RETRY_DELAY, 0, OPERATION),
            result=RefreshDone(outcome="refresh_failed_error", failure_reason="unexpected_error"),
        ),
    ]


def test_a_retry_that_succeeds_completes_the_operation() -> None:
    world = refreshing(unusable(transient=True), RECALL, answer_from_all)
    world.works()
    world.works()
    assert kinds(world.operation()) == [
        OperationRequested,
        OperationStarted,
        OperationRetryScheduled,
        OperationStarted,
        OperationCompleted,
    ]
    assert kinds(world.document()) == [type(created()), RefreshFailedError, ContentWritten]


def test_after_the_last_retry_the_operation_fails_for_good() -> None:
    world = refreshing(*[unusable(transient=True)] * 3, at_most=2)
    for _ in range(5):
        world.works()
    assert kinds(world.operation()).count(OperationStarted) == 3
    assert isinstance(world.operation()[-1], OperationFailed)
    assert kinds(world.document()).count(RefreshFailedError) == 3


@pytest.mark.parametrize("step", [NOTHING, BLANK], ids=["no answer", "a blank answer"])
def test_rs_02_a_mind_without_an_answer_is_asked_again_when_it_may_answer_otherwise(step: Step) -> None:
    world = refreshing(step, RECALL, answer_from_all)
    world.works()
    assert isinstance(world.operation()[-1], OperationRetryScheduled)
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)


@pytest.mark.parametrize(
    ("step", "reason"), [(NOTHING, "no_answer"), (BLANK, "empty_candidate")], ids=["no answer", "a blank answer"]
)
def test_rs_02_a_deterministic_mind_without_an_answer_is_not_asked_again(step: Step, reason: str) -> None:
    world = World(step, deterministic=True).has_a_model(written(TEXT)).knows(BEGUN).is_asked_to_refresh()
    world.works()
    end = world.operation()[-1]
    assert isinstance(end, OperationFailed)
    assert isinstance(end.result, RefreshDone)
    assert end.result.failure_reason == reason
    assert end.result.content_length == len(TEXT), "the document that was kept"
    assert ContentWritten not in kinds(world.document())[2:]


def test_an_empty_candidate_is_on_record_as_such() -> None:
    world = refreshing(BLANK, deterministic=True)
    world.works()
    assert kinds(world.document()) == [type(created()), RefreshFailedEmptyCandidate]


def test_a_refused_key_is_not_tried_again() -> None:
    world = refreshing(FORBIDDEN)
    world.works()
    assert world.operation()[2:] == [
        OperationFailed(
            error_message="the key was refused (401)",
            result=RefreshDone(outcome="refresh_failed_error", failure_reason="unexpected_error"),
        )
    ]


@pytest.mark.parametrize("deterministic", [False, True])
def test_rs_03_a_failed_retrieval_keeps_the_document_and_is_retried_whatever_the_mind(deterministic: bool) -> None:
    world = World(RECALL, deterministic=deterministic).has_a_model(written(TEXT)).knows(BEGUN).is_asked_to_refresh()
    world.memory.broken = ConnectionError("the server closed the connection")
    world.works()
    outcome = world.document()[-1]
    assert isinstance(outcome, RefreshFailedError)
    assert outcome.failure_reason == "retrieval_failed"
    assert isinstance(world.operation()[-1], OperationRetryScheduled)


def test_an_unexpected_error_of_a_mind_is_an_outcome_that_pauses_the_document(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = refreshing(ZeroDivisionError("bug"))
    with caplog.at_level(logging.ERROR):
        world.works()
    outcome = world.document()[-1]
    assert isinstance(outcome, RefreshFailedError)
    assert (outcome.failure_reason, outcome.error_message) == ("unexpected_error", "ZeroDivisionError: bug")
    assert world.mental_models.load(BANK, MODEL).model.last_refresh_failed_at == NOW
    end = world.operation()[-1]
    assert isinstance(end, OperationFailed)
    assert end.result == RefreshDone(outcome="refresh_failed_error", failure_reason="unexpected_error")
    assert "ZeroDivisionError: bug" in caplog.text


def test_an_unexpected_error_beside_the_run_fails_the_attempt_on_record_and_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def unplugged() -> None:
        raise OSError("disk full")

    world = refreshing(RECALL, answer_from_all)
    world.log.meanwhile.extend([lambda: None, unplugged])
    with caplog.at_level(logging.ERROR):
        world.works()
    assert world.document() == [created()]
    retry = world.operation()[-1]
    assert isinstance(retry, OperationRetryScheduled)
    assert retry.error_message == "OSError: disk full"
    assert str(OPERATION) in caplog.text


def test_by_default_an_attempt_is_repeated_three_times_after_a_minute() -> None:
    assert RetryPolicy() == RetryPolicy(3, timedelta(seconds=60))
