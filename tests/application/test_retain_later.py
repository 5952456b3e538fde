"""Retains for later: items wait in the inbox until their operation, and are stored once."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from application.command_handler import OPERATION as OPERATION_AGGREGATE
from application.command_handler import Done, Step
from application.ports import Transaction, WaitingItems
from application.retain_reading import Reading
from domain.bank import BankDeleted, BankOpened
from domain.memory import RetainItem
from domain.operation import (
    CompleteOperation,
    OperationCompleted,
    OperationRequested,
    OperationStarted,
    RefreshAsked,
    RetainAsked,
    RetainDone,
)
from domain.refusals import BankNotFound, OperationIdTaken
from tests.support.examples import BANK, BANK_STREAM, MODEL, NOW, OPERATION, OPERATION_STREAM, later
from tests.support.world import World

ARCHES = "It has 16 arches."
STATUES = "It has 30 statues."
OPENED = BankOpened(bank_id=BANK, name=BANK)


def item(content: str, document_id: str | None = None, *, append: bool = False) -> RetainItem:
    return RetainItem(content=content, document_id=document_id, update_mode="append" if append else "replace")


def known(world: World) -> list[str]:
    """The texts of all facts."""
    return [row.fact.text for row in world.memory.rows]


def waiting(world: World) -> dict[UUID, list[str]]:
    """The contents of the items that wait, by operation."""
    return {operation_id: [each.content for each in items] for operation_id, items in world.inbox.items.items()}


def asked_to_retain() -> World:
    world = World()
    world.memories.retain_later(world.context, BANK, [item(ARCHES)], OPERATION)
    return world


def test_a_retain_for_later_keeps_the_items_and_asks_for_the_work_at_once() -> None:
    world = World()
    items = [item(ARCHES, "guide"), item(STATUES, "guide")]
    operation_id = world.memories.retain_later(world.context, BANK, items)
    assert world.log.of(BANK_STREAM) == [OPENED]
    (asked,) = world.operation(operation_id)
    assert isinstance(asked, OperationRequested)
    assert isinstance(asked.work, RetainAsked)
    assert (asked.work.items_count, asked.work.document_id) == (2, "guide")
    assert world.inbox.items == {operation_id: items}
    assert (world.transactions.committed, world.extractor.read) == (1, [])


@pytest.mark.parametrize("ids", [("guide", "leaflet"), ("guide", None), (None, None)])
def test_a_retain_of_several_documents_names_none(ids: tuple[str | None, ...]) -> None:
    world = World()
    operation_id = world.memories.retain_later(world.context, BANK, [item(ARCHES, each) for each in ids])
    (asked,) = world.operation(operation_id)
    assert isinstance(asked, OperationRequested)
    assert isinstance(asked.work, RetainAsked)
    assert (asked.work.items_count, asked.work.document_id) == (2, None)


def test_the_same_operation_id_with_the_same_items_is_one_request() -> None:
    world = World()
    first = world.memories.retain_later(world.context, BANK, [item(ARCHES)], OPERATION)
    again = world.memories.retain_later(world.context, BANK, [item(ARCHES)], OPERATION)
    assert (first, again, len(world.operation())) == (OPERATION, OPERATION, 1)
    assert waiting(world) == {OPERATION: [ARCHES]}


def test_an_item_of_now_is_the_same_item_when_its_request_is_repeated_later() -> None:
    world = World()
    for _ in range(2):
        now = item(ARCHES).model_copy(update={"timestamp": world.clock.now()})
        world.memories.retain_later(world.context, BANK, [now], OPERATION)
        world.clock.move(timedelta(seconds=5))
    assert len(world.operation()) == 1


OTHER_ITEMS: dict[str, list[RetainItem]] = {
    "another text": [item(STATUES)],
    "one more": [item(ARCHES), item(STATUES)],
    "another document": [item(ARCHES, "guide")],
    "another way to update": [item(ARCHES, append=True)],
    "other tags": [RetainItem(content=ARCHES, tags=("stone",))],
    "a time": [RetainItem(content=ARCHES, timestamp=later(-60))],
    "now instead of unset": [RetainItem(content=ARCHES, timestamp=NOW)],
    "other metadata": [RetainItem(content=ARCHES, metadata=(("source", "guide"),))],
}


@pytest.mark.parametrize("others", OTHER_ITEMS.values(), ids=OTHER_ITEMS.keys())
def test_the_same_operation_id_with_other_items_is_refused_and_the_first_are_kept(others: list[RetainItem]) -> None:
    world = asked_to_retain()
    with pytest.raises(OperationIdTaken, match=str(OPERATION)):
        world.memories.retain_later(world.context, BANK, others, OPERATION)
    assert (waiting(world), len(world.operation())) == ({OPERATION: [ARCHES]}, 1)


def test_a_request_repeated_after_its_end_takes_no_items_in() -> None:
    world = asked_to_retain()
    world.works()
    world.memories.retain_later(world.context, BANK, [item(ARCHES)], OPERATION)
    assert (world.inbox.items, len(known(world))) == ({}, 1)
    assert isinstance(world.operation()[-1], OperationCompleted)


def test_an_operation_id_of_other_work_is_refused_and_nothing_is_kept() -> None:
    world = World()
    world.log.record(BANK_STREAM, BankOpened(bank_id=BANK, name=BANK))
    work = RefreshAsked(mental_model_id=MODEL)
    asked = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=work, bank_since=NOW)
    world.log.record(OPERATION_STREAM, asked)
    with pytest.raises(OperationIdTaken):
        world.memories.retain_later(world.context, BANK, [item(ARCHES)], OPERATION)
    assert world.inbox.items == {}


def test_the_work_asked_for_is_done_later() -> None:
    world = World()
    operation_id = world.memories.retain_later(world.context, BANK, [item(ARCHES, "guide")])
    world.works(operation_id)
    assert [type(event) for event in world.operation(operation_id)] == [
        OperationRequested,
        OperationStarted,
        OperationCompleted,
    ]
    assert known(world) == [ARCHES]


# --- the end of it ----------------------------------------------------------------------------------------------------


def finish(read: Reading) -> Step:
    done = CompleteOperation(BANK, OPERATION, RetainDone(facts=read.facts, calls=tuple(read.calls)))
    return Step(OPERATION_AGGREGATE, OPERATION_STREAM, done)


def asked_for(content: str) -> WaitingItems:
    return WaitingItems([item(content, "guide")], asked=1, places=[0])


def nothing(_tx: Transaction, _results: tuple[Done, ...]) -> None:
    """Nothing goes along."""


def test_a_retain_ends_with_a_step_made_of_its_facts_and_calls() -> None:
    world = asked_to_retain()
    world.log.record(OPERATION_STREAM, OperationStarted(attempt=1))
    world.memories.finish_retain(world.context, BANK, asked_for(f"{ARCHES}\n{STATUES}"), finish, nothing, asked_at=NOW)
    end = world.operation()[-1]
    assert isinstance(end, OperationCompleted)
    assert isinstance(end.result, RetainDone)
    assert (end.result.facts, [each.purpose for each in end.result.calls]) == (2, ["extract_facts", "embed"])
    assert world.log.locked[-1] == ((OPERATION_STREAM,), (BANK_STREAM,))


def test_what_goes_along_with_a_retain_fails_with_it() -> None:
    def fail(_tx: Transaction, _results: tuple[Done, ...]) -> None:
        raise OSError("disk full")

    world = asked_to_retain()
    world.log.record(OPERATION_STREAM, OperationStarted(attempt=1))
    with pytest.raises(OSError, match="disk full"):
        world.memories.finish_retain(world.context, BANK, asked_for(ARCHES), finish, fail, asked_at=NOW)
    assert (known(world), world.memory.position(BANK), world.memory.documents) == ([], 0, {})
    assert len(world.operation()) == 2


def test_a_retain_asked_for_earlier_does_not_bring_back_a_bank_deleted_since() -> None:
    world = asked_to_retain()
    world.log.record(BANK_STREAM, BankDeleted())
    with pytest.raises(BankNotFound):
        world.memories.finish_retain(world.context, BANK, asked_for(ARCHES), finish, nothing, asked_at=NOW)
    assert (known(world), world.log.of(BANK_STREAM)) == ([], [OPENED, BankDeleted()])


def test_an_operation_id_of_an_earlier_life_of_the_bank_is_asked_anew() -> None:
    world = asked_to_retain()
    world.works()
    world.banks.delete(world.context, BANK)
    world.clock.move(timedelta(minutes=1))
    world.memories.retain_later(world.context, BANK, [item(ARCHES)], OPERATION)
    assert waiting(world) == {OPERATION: [ARCHES]}
    world.works()
    assert len(known(world)) == 1
