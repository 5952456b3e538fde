"""Retains in the background: facts are stored once, items are kept until they are read."""

from __future__ import annotations

from application.ports import MindFailed
from domain.bank import BankOpened, Missions, MissionsChanged
from domain.memory import RetainItem
from domain.operation import (
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationRetryScheduled,
    OperationStarted,
    RetainAsked,
    RetainDone,
)
from tests.support.examples import (
    BANK,
    BANK_STREAM,
    NOW,
    OPERATION,
    OPERATION_STREAM,
)
from tests.support.scripted_minds import unusable
from tests.support.world import RETRY_DELAY, World

STARTED = OperationStarted(attempt=1)
FORBIDDEN = MindFailed("the key was refused (401)", reason="unexpected_error", transient=False)


def retaining(*contents: str, at_most: int = 3) -> World:
    world = World(at_most=at_most)
    world.memories.retain_later(world.context, BANK, [RetainItem(content=each) for each in contents], OPERATION)
    return world


def test_a_retain_is_completed_with_the_number_of_its_facts() -> None:
    world = retaining("The bridge is of stone.\nIt has 16 arches.", "It has 30 statues.")
    world.works()
    assert world.operation() == [
        OperationRequested(bank_id=BANK, operation_id=OPERATION, work=RetainAsked(items_count=2)),
        STARTED,
        OperationCompleted(result=RetainDone(facts_written=3)),
    ]
    assert len(world.memory.rows) == 3
    assert world.inbox.items == {}, "what was read is dropped from the inbox"


def test_a_retain_that_failed_keeps_its_items_for_the_retry() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.broken = unusable("the endpoint answered 429", transient=True)
    world.works()
    retry = world.operation()[-1]
    assert isinstance(retry, OperationRetryScheduled)
    assert (retry.error_message, retry.next_retry_at) == ("the endpoint answered 429", NOW + RETRY_DELAY)
    assert (world.memory.rows, list(world.inbox.items)) == ([], [OPERATION])
    world.extractor.broken = None
    world.works()
    assert world.operation()[-1] == OperationCompleted(result=RetainDone(facts_written=1))


def test_a_retain_whose_mind_refuses_for_good_is_not_retried() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.broken = FORBIDDEN
    world.works()
    assert world.operation()[-1] == OperationFailed(error_message="the key was refused (401)")
    assert world.memory.rows == []


def test_a_retain_that_has_ended_is_not_done_again() -> None:
    world = retaining("It has 16 arches.")
    world.works()
    world.works()
    assert len(world.extractor.read) == 1


def test_a_conflict_stores_the_facts_of_a_retain_once() -> None:
    world = retaining("It has 16 arches.")
    world.log.meanwhile.extend([lambda: None, lambda: world.log.record(OPERATION_STREAM, OperationStarted(attempt=2))])
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
    assert (len(world.memory.rows), len(world.extractor.read)) == (1, 1)


def test_a_retain_is_read_with_the_mission_of_its_bank() -> None:
    world = retaining("It has 16 arches.")
    world.log.record(BANK_STREAM, MissionsChanged(missions=Missions(retain="Keep numbers.")))
    world.works()
    assert world.extractor.read == [("It has 16 arches.", "Keep numbers.")]


def test_the_bank_is_opened_when_the_retain_is_asked_for() -> None:
    world = retaining("It has 16 arches.")
    assert world.log.of(BANK_STREAM) == [BankOpened(bank_id=BANK, name=BANK)]
