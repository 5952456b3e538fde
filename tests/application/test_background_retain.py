"""Retains in the background: facts are stored once, items are kept until they are read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from application.command_handler import ATTEMPTS
from application.ports import MindFailed
from domain.bank import BankDeleted, BankOpened, Missions, MissionsChanged
from domain.event import Event
from domain.memory import RetainItem
from domain.operation import (
    OperationCompleted,
    OperationFailed,
    OperationParked,
    OperationRequested,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
    RetainAsked,
    RetainDone,
)
from domain.scheduling import delay_before_retry
from tests.support.examples import (
    BANK,
    BANK_STREAM,
    NOW,
    OPERATION,
    OPERATION_STREAM,
    call,
    later,
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
    asked, started, done = world.operation()
    assert isinstance(asked, OperationRequested)
    assert isinstance(asked.work, RetainAsked)
    assert (asked.work.items_count, started) == (2, STARTED)
    assert done == OperationCompleted(
        result=RetainDone(
            facts=3, calls=(call("extract_facts", 41, 2), call("extract_facts", 18, 1), call("embed", 3, 0))
        )
    )
    assert len(world.memory.rows) == 3
    assert world.inbox.items == {}, "what was read is dropped from the inbox"


def test_a_retain_that_failed_keeps_its_items_for_the_retry() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.broken = unusable("the endpoint answered 429", transient=True)
    world.works()
    retry = world.operation()[-1]
    assert isinstance(retry, OperationRetryScheduled)
    assert (retry.error_message, retry.next_retry_at) == (
        "the endpoint answered 429",
        NOW + delay_before_retry(RETRY_DELAY, 0, OPERATION),
    )
    assert (world.memory.rows, list(world.inbox.items)) == ([], [OPERATION])
    world.extractor.broken = None
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
    assert (len(world.memory.rows), world.inbox.items) == (1, {})


def test_a_retain_whose_mind_refuses_for_good_is_not_retried() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.broken = FORBIDDEN
    world.works()
    end = world.operation()[-1]
    assert isinstance(end, OperationFailed)
    assert end.error_message == "the key was refused (401)"
    assert world.memory.rows == []


@pytest.mark.parametrize(("transient", "end"), [(True, OperationRetryScheduled), (False, OperationFailed)])
def test_what_a_failed_attempt_of_a_retain_cost_is_on_record(transient: bool, end: type[Event]) -> None:
    world = retaining("It has 16 arches.")
    world.embedder.broken = unusable("embeddings: 503", transient=transient)
    world.works()
    failed = world.operation()[-1]
    assert isinstance(failed, OperationRetryScheduled | OperationFailed)
    assert type(failed) is end
    assert failed.calls == (call("extract_facts", 17, 1), call("failed", 7, 1))


def test_a_retain_that_loses_every_race_is_tried_again_later() -> None:
    world = World()
    appended = RetainItem(content="It has 16 arches.", document_id="guide", update_mode="append")
    world.memories.retain_later(world.context, BANK, [appended], OPERATION)

    def changed(number: int) -> Callable[[], None]:
        return lambda: world.memory.documents.update({(BANK, "guide"): f"Change {number}."})

    world.extractor.meanwhile = list(map(changed, range(ATTEMPTS)))
    world.works()
    assert isinstance(world.operation()[-1], OperationRetryScheduled)
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
    assert world.memory.documents[BANK, "guide"] == f"Change {ATTEMPTS - 1}.\nIt has 16 arches."


def test_a_message_that_cannot_be_stored_is_made_storable() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.broken = ValueError("a\x00b \ud83d c")
    world.works()
    retry = world.operation()[-1]
    assert isinstance(retry, OperationRetryScheduled)
    assert retry.error_message == "ValueError: ab \ufffd c"


def bank_deleted(world: World) -> None:
    world.banks.delete(world.context, BANK)


def bank_deleted_and_put_anew(world: World) -> None:
    bank_deleted(world)
    world.banks.put(world.context, BANK, "Prague")


def test_a_retain_in_flight_does_not_bring_back_its_deleted_bank() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.meanwhile = [lambda: bank_deleted(world)]
    world.works()
    assert world.log.of(BANK_STREAM) == [BankOpened(bank_id=BANK, name=BANK), BankDeleted()]
    assert world.memory.rows == []
    end = world.operation()[-1]
    assert isinstance(end, OperationFailed)
    assert f"'{BANK}' not found" in end.error_message


def test_a_retain_in_flight_does_not_write_into_a_bank_put_anew() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.meanwhile = [lambda: bank_deleted_and_put_anew(world)]
    world.works()
    assert world.log.of(BANK_STREAM)[-1] == BankOpened(bank_id=BANK, name="Prague")
    assert (world.memory.rows, world.memory.documents) == ([], {})
    assert isinstance(world.operation()[-1], OperationFailed)


def test_of_two_attempts_at_a_retain_one_stores_and_the_other_records_only_what_it_spent() -> None:
    world = retaining("It has 16 arches.")
    world.extractor.meanwhile = [world.works]
    world.works()
    assert [type(event) for event in world.operation()] == [
        OperationRequested,
        OperationStarted,
        OperationStarted,
        OperationCompleted,
        OperationSpent,
    ]
    assert (len(world.memory.rows), len(world.extractor.read)) == (1, 2)


def test_an_attempt_that_fails_after_another_has_ended_records_only_what_it_spent() -> None:
    world = retaining("It has 16 arches.")

    def done_elsewhere_then_broken() -> None:
        world.works()
        world.embedder.broken = unusable(transient=True)

    world.extractor.meanwhile = [done_elsewhere_then_broken]
    world.works()
    completed, spent = world.operation()[-2:]
    assert isinstance(completed, OperationCompleted)
    assert isinstance(spent, OperationSpent)
    assert (spent.mental_model_id, [call.purpose for call in spent.calls]) == (None, ["extract_facts", "failed"])
    assert len(world.memory.rows) == 1


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


def test_a_retain_waits_for_a_quota_that_names_a_time_and_tells_what_it_cost() -> None:
    world = retaining("It has 16 arches.")
    paid = (call("extract_facts"),)
    world.extractor.broken = MindFailed(
        "no more today", reason="unexpected_error", transient=True, calls=paid, resume_at=later(90)
    )
    world.works()
    parked = world.operation()[-1]
    assert isinstance(parked, OperationParked)
    assert (parked.reason, parked.until, parked.calls) == ("quota", later(90), paid)
    world.extractor.broken = None
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
