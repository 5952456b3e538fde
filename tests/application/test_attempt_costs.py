"""Every call that was paid for is told by an event, once: also those of attempts that were cut off or came too late."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from adapters.llm.paid_once import PaidOnce
from adapters.llm.replies import counted
from application.operations import Operations
from application.ports import MindFailed
from domain.bank import BankOpened
from domain.event import Event
from domain.operation import (
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
    RefreshAsked,
)
from domain.reflection import ReflectQuestion, Thought, ToolResult
from domain.usage import ModelCall
from tests.support.examples import BANK, BANK_STREAM, MENTAL_MODEL_STREAM, MODEL, OPERATION, OPERATION_STREAM, created
from tests.support.scripted_minds import RECALL, ScriptedPolicy, answer_from_all, unusable
from tests.support.world import World

ASKED = RefreshAsked(mental_model_id=MODEL)


class WorkerDied(BaseException):
    """Nothing in a worker catches it."""


class PayingPolicy(ScriptedPolicy):
    """A call for each answer, kept as an endpoint keeps it: the number of a call is its count of input tokens, and
    `prompt` what it asks. `then` is what happens after each call."""

    def __init__(self, kept: Callable[[], Any]) -> None:
        super().__init__()
        self.prompt = "the same"
        self.then: list[Callable[[], object]] = []
        self.made = 0
        self._kept = kept
        self._numbers = count(1)

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        del question, must_finish
        if not results:
            return Thought(step=RECALL)
        asked = PaidOnce(self._kept()).of({"prompt": self.prompt})
        paid: list[ModelCall] = []
        if asked.replayed("reflect", "paid", paid) is None:
            self.made = next(self._numbers)
            payload = {"usage": {"prompt_tokens": self.made}}
            paid.append(counted(payload, purpose="reflect", model="paid", seconds=0.0))
            asked.keep(payload, paid[-1])
        try:
            if self.then:
                self.then.pop(0)()
        except MindFailed as failed:
            failed.calls = tuple(paid)
            raise
        return Thought(step=answer_from_all(results), calls=tuple(paid))


def dies() -> None:
    raise WorkerDied


def fails(*, transient: bool = True) -> None:
    raise unusable(transient=transient)


@pytest.fixture
def world() -> World:
    """A model over a fact, whose refresh was asked for."""
    policy = PayingPolicy(lambda: world.kept)
    world = World(policy=policy, at_most=1)
    world.log.record(BANK_STREAM, BankOpened(bank_id=BANK, name=BANK))
    life = world.log.events(BANK_STREAM)[0].occurred_at
    world.log.record(MENTAL_MODEL_STREAM, created())
    requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=ASKED, bank_since=life)
    world.log.record(OPERATION_STREAM, requested)
    world.knows("It was begun in 1357.")
    return world


@pytest.fixture
def policy(world: World) -> PayingPolicy:
    assert isinstance(world.policy, PayingPolicy)
    return world.policy


@pytest.fixture
def operations(world: World) -> Operations:
    return Operations(
        world.handler, world.log, world.inbox, lambda _time, _most: (), world.in_flight, world.kept, world.progress
    )


def told(events: Sequence[Event]) -> Iterator[int]:
    """The numbers of the calls to the mind that events tell."""
    for event in events:
        record = getattr(event, "record", event)
        yield from (call.input_tokens for call in getattr(record, "calls", ()) if call.model == "paid")


def is_cut_off(world: World, policy: PayingPolicy) -> None:
    """An attempt whose worker dies after its call."""
    policy.then = [dies]
    with pytest.raises(WorkerDied):
        world.works()
    assert list(told(world.document() + world.operation())) == []


def test_what_an_attempt_spent_whose_rescue_asked_something_else_is_told_with_the_end(
    world: World, policy: PayingPolicy
) -> None:
    is_cut_off(world, policy)
    policy.prompt = "another"

    world.works()

    spent, completed = world.operation()[-2:]
    assert isinstance(completed, OperationCompleted)
    assert isinstance(spent, OperationSpent)
    assert (spent.mental_model_id, list(told([spent]))) == (MODEL, [1])
    assert list(told(world.document())) == [2]
    assert world.kept.replies == {}


def test_what_the_rescue_was_given_again_is_told_by_it_alone(world: World, policy: PayingPolicy) -> None:
    is_cut_off(world, policy)

    world.works()

    assert (policy.made, list(told(world.document())), list(told(world.operation()))) == (1, [1], [])


def test_what_is_kept_for_a_retry_that_fails_for_good_is_told_with_its_end(world: World, policy: PayingPolicy) -> None:
    is_cut_off(world, policy)
    policy.prompt, policy.then = "another", [fails]
    world.works()
    assert isinstance(world.operation()[-1], OperationRetryScheduled)
    assert list(told(world.operation())) == []
    policy.prompt, policy.then = "a third", [lambda: fails(transient=False)]

    world.works()

    assert isinstance(world.operation()[-1], OperationFailed)
    assert sorted(told(world.document() + world.operation())) == [1, 2, 3]
    assert world.kept.replies == {}


def test_what_a_cancelled_attempt_went_on_to_spend_is_told(
    world: World, policy: PayingPolicy, operations: Operations
) -> None:
    policy.then = [lambda: operations.cancel(world.context, BANK, OPERATION)]

    world.works()

    cancelled, spent = world.operation()[-2:]
    assert cancelled == OperationCancelled()
    assert list(told([spent])) == [1]
    assert list(told(world.document())) == []
    assert world.kept.replies == {}


def test_what_an_attempt_spent_that_ended_after_its_operation_was_removed_is_told(
    world: World, policy: PayingPolicy, operations: Operations
) -> None:
    def cancelled_and_removed() -> None:
        operations.cancel(world.context, BANK, OPERATION)
        operations.delete(world.context, BANK, OPERATION)

    policy.then = [cancelled_and_removed]

    world.works()

    assert list(told(world.operation()[-1:])) == [1]


def test_what_is_kept_for_one_that_waits_is_told_when_it_is_cancelled(
    world: World, policy: PayingPolicy, operations: Operations
) -> None:
    is_cut_off(world, policy)
    policy.prompt, policy.then = "another", [fails]
    world.works()

    operations.cancel(world.context, BANK, OPERATION)

    spent, cancelled = world.operation()[-2:]
    assert cancelled == OperationCancelled()
    assert sorted(told([*world.document(), spent])) == [1, 2]
    assert world.kept.replies == {}


def test_what_attempts_spent_that_were_all_cut_off_is_told_with_the_failure(world: World, policy: PayingPolicy) -> None:
    for attempt in range(1, 7):
        policy.prompt = f"prompt {attempt}"
        is_cut_off(world, policy)

    world.works()

    failed = world.operation()[-1]
    assert isinstance(failed, OperationFailed)
    assert sorted(told([failed])) == [1, 2, 3, 4, 5, 6]
    assert world.kept.replies == {}


def test_what_was_spent_for_a_bank_that_was_deleted_is_told_and_its_replies_are_gone_with_it(
    world: World, policy: PayingPolicy
) -> None:
    is_cut_off(world, policy)

    world.banks.delete(world.context, BANK)

    assert [reply.payload for reply in world.kept.replies.values()] == [None]
    world.works()
    failed = world.operation()[-1]
    assert isinstance(failed, OperationFailed)
    assert list(told([failed])) == [1]
    assert world.kept.replies == {}


def test_what_is_left_of_an_operation_that_nobody_works_on_is_told_in_time(
    world: World, policy: PayingPolicy, operations: Operations
) -> None:
    def cancelled_and_dies() -> None:
        operations.cancel(world.context, BANK, OPERATION)
        dies()

    policy.then = [cancelled_and_dies]
    with pytest.raises(WorkerDied):
        world.works()
    now = world.clock.now()

    assert operations.settle_replies(now, now - timedelta(seconds=1)) == 0
    assert operations.settle_replies(now, now + timedelta(seconds=1)) == 1

    spent = world.operation()[-1]
    assert (isinstance(spent, OperationSpent), list(told([spent]))) == (True, [1])
    assert world.kept.replies == {}


def test_what_an_attempt_that_still_runs_has_spent_is_left_for_it_to_tell(
    world: World, policy: PayingPolicy, operations: Operations
) -> None:
    now = world.clock.now()
    policy.then = [lambda: operations.settle_replies(now, now + timedelta(seconds=1))]

    world.works()

    assert [type(event) for event in world.operation()[1:]] == [OperationStarted, OperationCompleted]
    assert list(told(world.document())) == [1]
