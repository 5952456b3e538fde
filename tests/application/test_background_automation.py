"""When a refresh waits instead of running, and when it is not tried again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from application.ports import MindFailed
from domain.event import Event
from domain.mental_model.trigger import Trigger
from domain.operation import (
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationParked,
    OperationRequested,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
    RefreshAsked,
)
from domain.scheduling import JITTER, ParkReason
from tests.support.examples import BANK, MODEL, NOW, OPERATION, later, written
from tests.support.scripted_minds import RECALL, answer_from_all, unusable
from tests.support.world import RETRY_DELAY, World

AUTOMATIC = RefreshAsked(mental_model_id=MODEL, automatic=True)
ASKED = RefreshAsked(mental_model_id=MODEL)
ANOTHER = OPERATION.__class__(int=7)


def refreshing(*mind: Any, work: RefreshAsked = AUTOMATIC, trigger: Trigger | None = None) -> World:
    """A model refreshed at NOW that knows a fact, and whose refresh was asked for."""
    world = World(*mind).has_a_model(written(), trigger=trigger or Trigger()).knows("New.")
    requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=work)
    world.log.record(world.stream_of(OPERATION), requested)
    return world


def bounded(world: World, **bounds: Any) -> World:
    world.background._automation = replace(world.automation, **bounds)
    return world


def kinds(world: World) -> list[type[Event]]:
    return [type(event) for event in world.operation()[1:]]


RAN = [OperationStarted, OperationCompleted]


def test_sc_03_an_automatic_refresh_too_soon_after_the_last_is_parked_until_it_is_due() -> None:
    world = bounded(refreshing(), min_interval_of=lambda _bank: 600)
    world.works()
    parked = OperationParked(work=AUTOMATIC, reason="min_interval", until=NOW + timedelta(seconds=600))
    assert world.operation()[1:] == [parked]
    assert world.policy.asked == []
    world.policy.script = [RECALL, answer_from_all]
    world.works()
    assert kinds(world) == [OperationParked, *RAN]


@pytest.mark.parametrize(
    ("work", "own"), [(ASKED, None), (AUTOMATIC, 0)], ids=["an explicit one", "a model that is exempt"]
)
def test_sc_03_others_run_at_once(work: RefreshAsked, own: int | None) -> None:
    trigger = Trigger(min_refresh_interval_seconds=own)
    world = bounded(refreshing(RECALL, answer_from_all, work=work, trigger=trigger), min_interval_of=lambda _bank: 600)
    world.works()
    assert kinds(world) == RAN


def test_a_model_may_keep_a_longer_interval_than_the_default() -> None:
    world = bounded(refreshing(trigger=Trigger(min_refresh_interval_seconds=7200)), min_interval_of=lambda _bank: 600)
    world.works()
    parked = world.operation()[-1]
    assert isinstance(parked, OperationParked)
    assert parked.until == NOW + timedelta(hours=2)


@pytest.mark.parametrize(("spent", "reason"), [(999, None), (1000, "token_budget")])
def test_over_the_budget_of_its_bank_an_automatic_refresh_waits_for_the_next_day(
    spent: int, reason: ParkReason | None
) -> None:
    world = bounded(refreshing(RECALL, answer_from_all), tokens_a_day=1000)
    world.tokens_today = spent
    world.works()
    if reason is None:
        assert kinds(world) == RAN
    else:
        until = NOW.replace(hour=0, minute=0) + timedelta(days=1)
        assert world.operation()[1:] == [OperationParked(work=AUTOMATIC, reason=reason, until=until)]


def test_somebody_who_asks_is_not_bound_by_the_budget() -> None:
    world = bounded(refreshing(RECALL, answer_from_all, work=ASKED), tokens_a_day=1000)
    world.tokens_today = 5000
    world.works()
    assert kinds(world) == RAN


def test_a_job_left_from_before_does_nothing_until_its_operation_is_due() -> None:
    world = bounded(refreshing(), min_interval_of=lambda _bank: 600)
    world.works()
    world.background.run(BANK, OPERATION)
    assert kinds(world) == [OperationParked]


# --- failures ---------------------------------------------------------------------------------------------------------


def test_retries_are_further_and_further_apart() -> None:
    world = refreshing(*[unusable(transient=True)] * 4, work=ASKED)
    waits = []
    for _ in range(3):
        before = world.clock.now()
        world.works()
        retry = world.operation()[-1]
        assert isinstance(retry, OperationRetryScheduled)
        waits.append(retry.next_retry_at - max(before, world.clock.now()))
    for number, wait in enumerate(waits):
        doubled = RETRY_DELAY * 2**number
        assert doubled * (1 - JITTER) <= wait <= doubled * (1 + JITTER)
    world.works()
    assert isinstance(world.operation()[-1], OperationFailed)


def test_a_refresh_asked_for_while_the_end_of_another_is_recorded_is_the_only_one_that_waits() -> None:
    world = refreshing(RECALL, answer_from_all, work=ASKED)

    def goes_on() -> None:
        """Nothing happens."""

    def breaks() -> None:
        raise RuntimeError("the disk is full")

    def another() -> None:
        requested = OperationRequested(bank_id=BANK, operation_id=ANOTHER, work=ASKED)
        world.log.record(world.stream_of(ANOTHER), requested)

    world.log.meanwhile.extend([goes_on, breaks])  # the outcome cannot be recorded
    world.log.before_lock.extend([goes_on, goes_on, another])  # before the failure is

    world.works()

    failed = world.operation()[-1]
    assert isinstance(failed, OperationFailed)
    assert "the disk is full" in failed.error_message
    assert [each.operation_id for each in world.in_flight(BANK, MODEL)] == [str(ANOTHER)]


def test_a_failed_refresh_behind_which_another_waits_is_not_tried_again() -> None:
    world = refreshing(unusable(transient=True), work=ASKED)

    def another() -> None:
        requested = OperationRequested(bank_id=BANK, operation_id=ANOTHER, work=ASKED)
        world.log.record(world.stream_of(ANOTHER), requested)

    world.memory.meanwhile.append(another)
    world.works()
    assert kinds(world) == [OperationStarted, OperationFailed]


def test_a_quota_that_names_a_time_is_waited_for() -> None:
    spent = MindFailed("no more today", reason="unexpected_error", transient=True, resume_at=later(90))
    world = refreshing(spent, work=ASKED)
    world.works()
    assert world.operation()[2:] == [OperationParked(work=ASKED, reason="quota", until=later(90))]


def test_op_01_an_operation_whose_worker_dies_again_and_again_ends() -> None:
    world = refreshing(work=ASKED)
    for attempt in range(1, 7):
        world.log.record(world.stream_of(OPERATION), OperationStarted(attempt=attempt))
    world.works()
    ended = world.operation()[-1]
    assert isinstance(ended, OperationFailed)
    assert "its worker died 6 times" in ended.error_message
    assert world.policy.asked == []


def test_what_a_cancelled_operation_still_comes_to_is_not_recorded_but_what_it_spent_is() -> None:
    world = refreshing(RECALL, answer_from_all, work=ASKED)
    world.memory.meanwhile.append(lambda: world.log.record(world.stream_of(OPERATION), OperationCancelled()))
    before = world.document()
    world.works()
    assert kinds(world) == [OperationStarted, OperationCancelled, OperationSpent]
    spent = world.operation()[-1]
    assert isinstance(spent, OperationSpent)
    assert spent.mental_model_id == MODEL
    assert [call.purpose for call in spent.calls] == ["reflect_1", "embed", "reflect_2"]
    assert world.document() == before


def test_whoever_looks_for_stale_documents_is_told_of_the_end_of_a_refresh() -> None:
    world = refreshing(RECALL, answer_from_all, work=ASKED)
    told: list[tuple[str, type[Event]]] = []
    world.background._refreshed = lambda bank_id: told.append((bank_id, kinds(world)[-1]))
    world.works()
    assert told == [(BANK, OperationCompleted)]
