"""Refreshes in the background while others are at work: another attempt, a changed or deleted document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from application.command_handler import ATTEMPTS
from domain.event import Event
from domain.mental_model.events import (
    ContentUnchanged,
    ContentWritten,
    MentalModelDeleted,
    MentalModelRenamed,
)
from domain.operation import (
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
    RefreshDone,
)
from domain.reflection import Answer, Step, ToolResult
from tests.support.examples import (
    MENTAL_MODEL_STREAM,
    MODEL,
    OPERATION_STREAM,
    created,
    written,
)
from tests.support.scripted_minds import RECALL, Scripted, answer_from_all
from tests.support.world import World

BEGUN = "The bridge was begun in 1357."
TEXT = f"- {BEGUN}\n"
STARTED = OperationStarted(attempt=1)


def refreshing(*mind: Scripted) -> World:
    """A model over one fact, whose refresh was asked for."""
    return World(*mind).has_a_model().knows(BEGUN).is_asked_to_refresh()


def kinds(events: Sequence[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_an_operation_that_has_ended_is_left_alone() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.works()
    streams = {stream: list(events) for stream, events in world.log.streams.items()}
    world.works()
    assert world.log.streams == streams
    assert len(world.policy.asked) == 2


def test_an_operation_nobody_asked_for_is_left_alone() -> None:
    world = World().has_a_model()
    world.works()
    assert world.operation() == []


def test_an_attempt_that_was_killed_is_made_again() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.log.record(OPERATION_STREAM, STARTED)
    world.works()
    assert world.operation()[2:] == [
        OperationStarted(attempt=2),
        OperationCompleted(result=RefreshDone(outcome="content_written", content_length=len(TEXT))),
    ]


def test_a_model_that_is_gone_fails_the_operation_for_good() -> None:
    world = World().has_a_model(MentalModelDeleted()).knows(BEGUN).is_asked_to_refresh()
    world.works()
    end = world.operation()[-1]
    assert isinstance(end, OperationFailed)
    assert f"'{MODEL}' not found" in end.error_message


def test_a_model_deleted_during_the_run_stays_deleted_and_the_operation_fails_for_good() -> None:
    def deleted_meanwhile(results: Sequence[ToolResult]) -> Step:
        world.log.record(MENTAL_MODEL_STREAM, MentalModelDeleted())
        return answer_from_all(results)

    world = refreshing(RECALL, deleted_meanwhile)
    world.works()
    assert world.document() == [created(), MentalModelDeleted()]
    assert isinstance(world.operation()[-1], OperationFailed)


def test_a_model_deleted_at_the_last_moment_is_not_written_to() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.log.meanwhile.extend([lambda: None, lambda: world.log.record(MENTAL_MODEL_STREAM, MentalModelDeleted())])
    world.works()
    assert world.document() == [created(), MentalModelDeleted()]
    assert isinstance(world.operation()[-1], OperationFailed)


def test_a_model_deleted_and_created_anew_during_the_run_is_not_written_to() -> None:
    def anew_meanwhile(results: Sequence[ToolResult]) -> Step:
        world.clock.move(timedelta(seconds=1))
        world.log.record(MENTAL_MODEL_STREAM, MentalModelDeleted(), created(name="Another"), context=world.context)
        return answer_from_all(results)

    world = refreshing(RECALL, anew_meanwhile)
    world.works()
    assert world.document() == [created(), MentalModelDeleted(), created(name="Another")]
    end = world.operation()[-1]
    assert isinstance(end, OperationFailed)
    assert f"'{MODEL}' not found" in end.error_message


def test_a_conflict_decides_the_outcome_again_but_does_not_ask_the_mind_again() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.log.meanwhile.extend(
        [lambda: None, lambda: world.log.record(MENTAL_MODEL_STREAM, MentalModelRenamed(name="Most"))]
    )
    world.works()
    assert kinds(world.document()) == [type(created()), MentalModelRenamed, ContentWritten]
    assert kinds(world.operation()) == [OperationRequested, OperationStarted, OperationCompleted]
    assert len(world.policy.asked) == 2


def test_a_conflict_with_the_same_text_ends_as_unchanged() -> None:
    world = refreshing(RECALL, answer_from_all)
    world.log.meanwhile.extend([lambda: None, lambda: world.log.record(MENTAL_MODEL_STREAM, written(TEXT))])
    world.works()
    assert kinds(world.document()) == [type(created()), ContentWritten, ContentUnchanged]


def test_a_document_that_never_stands_still_is_refreshed_again_later() -> None:
    world = refreshing(RECALL, answer_from_all, RECALL, answer_from_all)

    def renamed(number: int) -> Callable[[], None]:
        return lambda: world.log.record(MENTAL_MODEL_STREAM, MentalModelRenamed(name=f"Most {number}"))

    world.log.meanwhile.extend([lambda: None, *map(renamed, range(ATTEMPTS))])
    world.works()
    retry = world.operation()[-1]
    assert isinstance(retry, OperationRetryScheduled)
    assert "was changed by someone else" in retry.error_message
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
    assert kinds(world.document()).count(ContentWritten) == 1


def test_of_two_attempts_at_once_the_second_records_neither_an_outcome_nor_an_end_but_what_it_spent() -> None:
    def another_worker_is_faster(results: Sequence[ToolResult]) -> Step:
        assert not results
        world.works()
        return Answer(markdown="Too late.", used=())

    world = refreshing(another_worker_is_faster, RECALL, answer_from_all)
    world.works()
    _, outcome = world.document()
    assert isinstance(outcome, ContentWritten)
    assert outcome.text == TEXT
    *rest, spent = world.operation()
    assert kinds(rest) == [OperationRequested, OperationStarted, OperationStarted, OperationCompleted]
    assert isinstance(spent, OperationSpent)
    assert (spent.mental_model_id, len(spent.calls)) == (MODEL, 1)


def test_an_attempt_whose_operation_ends_before_it_starts_asks_no_mind() -> None:
    world = refreshing()
    world.log.before_lock.append(
        lambda: world.log.record(OPERATION_STREAM, OperationFailed(error_message="the key was refused (401)"))
    )
    world.works()
    assert (kinds(world.operation()), world.policy.asked) == ([OperationRequested, OperationFailed], [])
