"""Asynchronous retains of many items: batches of whole documents, each retained and retried on its own."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import pytest

from application.operations import Operations
from application.ports import Extraction, MindFailed, RetainSteering
from domain.memory import Chunk, RetainItem
from domain.operation import (
    BatchRetainAsked,
    OperationCompleted,
    OperationFailed,
    OperationParked,
    OperationRequested,
    OperationRetryScheduled,
    RetainAsked,
    RetainDone,
    RetainFailed,
)
from domain.refusals import OperationEnded, OperationIdTaken, OperationNotRestartable
from domain.retain_batches import batches_of, part_id
from tests.support.examples import BANK, OPERATION, later
from tests.support.scripted_minds import LineExtractor, unusable
from tests.support.world import World

LONG = "word " * 8000
"""About as many tokens as a batch has."""


def item(content: str, document_id: str | None = None) -> RetainItem:
    return RetainItem(content=content, document_id=document_id)


class PoisonedExtractor(LineExtractor):
    """Fails for texts with these words."""

    def __init__(self, **failures: MindFailed) -> None:
        super().__init__()
        self.failures = failures

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        for word, failure in self.failures.items():
            if word in item.content:
                raise failure
        return super().extract(item, steering=steering, now=now, chunks=chunks)


def known(world: World) -> set[str]:
    return {row.fact.text for row in world.memory.rows if row.to_position is None}


def operations(world: World) -> Operations:
    return Operations(
        world.handler, world.log, world.inbox, lambda _time, _limit: [], world.in_flight, world.kept, world.progress
    )


# --- how they are cut -------------------------------------------------------------------------------------------------


def test_documents_are_never_cut_and_a_large_one_is_alone() -> None:
    items = [item("a", "d1"), item("b " * 60, "big"), item("c", "d2"), item("d", "d1"), item("e", "d3")]
    assert batches_of(items, tokens=10) == [[0, 3], [1], [2, 4]]


def test_the_items_of_a_batch_are_in_the_order_of_the_request() -> None:
    assert batches_of([item("a", "d1"), item("b", "d2"), item("c", "d1")]) == [[0, 1, 2]]


def test_a_few_items_are_one_batch_and_many_without_a_document_several() -> None:
    assert batches_of([item("a"), item("b")]) == [[0, 1]]
    assert batches_of([item("four")] * 7, tokens=3) == [[0, 1, 2], [3, 4, 5], [6]]


# --- how they are asked for -------------------------------------------------------------------------------------------


def asked_for(world: World, *items: RetainItem) -> list[UUID]:
    """The ids of the parts."""
    world.memories.retain_later(world.context, BANK, items, OPERATION)
    (asked,) = world.operation()
    assert isinstance(asked, OperationRequested)
    assert isinstance(asked.work, BatchRetainAsked)
    return [part.operation_id for part in asked.work.parts]


def test_a_small_retain_is_one_operation() -> None:
    world = World()
    world.memories.retain_later(world.context, BANK, [item("A."), item("B.")], OPERATION)
    (asked,) = world.operation()
    assert isinstance(asked, OperationRequested)
    assert isinstance(asked.work, RetainAsked)


def test_a_large_retain_is_an_operation_of_parts_with_an_order() -> None:
    world = World()
    parts = asked_for(world, item(f"A {LONG}", "d1"), item("B.", "d2"), item(f"C {LONG}", "d1"))
    assert parts == [part_id(OPERATION, 0), part_id(OPERATION, 1)]
    assert [[each.content[:2] for each in world.inbox.items[part]] for part in parts] == [["A ", "C "], ["B."]]
    taken = [world.inbox.take(part) for part in parts]
    assert [(each.asked, list(each.places)) for each in taken if each] == [(1, [0, 2]), (2, [1])]
    for part in parts:
        world.works(part)
    assert known(world) == {f"A {LONG}", f"C {LONG}", "B."}
    assert world.memory.document_text(BANK, "d1") == f"A {LONG}\nC {LONG}"
    assert world.inbox.items == {}


def test_the_same_request_again_asks_for_nothing_and_another_is_refused() -> None:
    world = World()
    parts = asked_for(world, item(f"A {LONG}"), item(f"B {LONG}"))
    assert asked_for(world, item(f"A {LONG}"), item(f"B {LONG}")) == parts
    assert [len(world.operation(part)) for part in parts] == [1, 1]
    with pytest.raises(OperationIdTaken):
        world.memories.retain_later(world.context, BANK, [item(f"A {LONG}"), item(f"C {LONG}")], OPERATION)


# --- what cannot be read ----------------------------------------------------------------------------------------------


def test_an_item_that_cannot_be_read_is_named_and_the_others_are_kept() -> None:
    poison = unusable("the endpoint refused the text")
    world = World(extractor=PoisonedExtractor(poison=poison))
    items = [item("A.", "d1"), item("poison", "d2"), item("C.", "d3")]
    world.memories.retain_later(world.context, BANK, items, OPERATION)
    world.works()
    failed = world.operation()[-1]
    assert isinstance(failed, OperationFailed)
    assert isinstance(failed.result, RetainFailed)
    assert failed.result.facts == 2
    assert [(each.index, each.document_id, each.reason) for each in failed.result.failed_items] == [
        (1, "d2", "the endpoint refused the text")
    ]
    assert "1 of 3 items could not be retained: item 1 (document 'd2')" in failed.error_message
    assert known(world) == {"A.", "C."}
    assert [each.purpose for each in failed.calls] == ["extract_facts", "failed", "extract_facts", "embed"]


@pytest.mark.parametrize("asked", ["at once", "in the background", "in batches"])
def test_an_item_that_failed_is_told_by_its_place_in_the_request_also_behind_one_that_is_blocked(asked: str) -> None:
    world = World(extractor=PoisonedExtractor(poison=unusable("refused")))
    block = {"enabled": True, "rules": [{"on": "sensitive_data", "action": "block"}]}
    world.banks.put(world.context, BANK, changes={"memory_defense": block})
    more = LONG if asked == "in batches" else ""
    items = [item("It is sk_test_ABCDEF0123456789abcdef.", "s"), item(f"A.{more}", "d1"), item(f"poison {more}", "d2")]
    if asked == "at once":
        with pytest.raises(MindFailed, match=r"item 2 \(document 'd2'\)"):
            world.memories.retain(world.context, BANK, items)
        return
    world.memories.retain_later(world.context, BANK, items, OPERATION)
    poisoned = part_id(OPERATION, 1) if more else OPERATION
    world.works(poisoned)
    failed = world.operation(poisoned)[-1]
    assert isinstance(failed, OperationFailed)
    if not more:
        assert isinstance(failed.result, RetainFailed)
        assert [each.index for each in failed.result.failed_items] == [2]
        return
    asked_for = world.operation()[0]
    assert isinstance(asked_for, OperationRequested)
    assert isinstance(asked_for.work, BatchRetainAsked)
    assert [each.items for each in asked_for.work.parts] == [(1,), (2,)]


def test_a_retry_reads_only_what_is_left() -> None:
    extractor = PoisonedExtractor(poison=unusable("refused"))
    world = World(extractor=extractor)
    world.memories.retain_later(world.context, BANK, [item("A.", "d1"), item("poison", "d2")], OPERATION)
    world.works()
    extractor.failures, extractor.read = {}, []
    operations(world).retry(world.context, BANK, OPERATION)
    world.works()
    done = world.operation()[-1]
    assert isinstance(done, OperationCompleted)
    assert isinstance(done.result, RetainDone)
    assert (done.result.facts, [content for content, _ in extractor.read]) == (2, ["poison"])
    assert (known(world), world.inbox.items) == ({"A.", "poison"}, {})


def test_a_mind_out_of_reach_is_asked_no_more_and_what_was_read_is_kept() -> None:
    extractor = PoisonedExtractor(down=unusable("503", transient=True))
    world = World(extractor=extractor)
    items = [item("A.", "d1"), item("down", "d2"), item("C.", "d3")]
    world.memories.retain_later(world.context, BANK, items, OPERATION)
    world.works()
    retry = world.operation()[-1]
    assert isinstance(retry, OperationRetryScheduled)
    assert isinstance(retry.result, RetainFailed)
    assert [each.index for each in retry.result.failed_items] == [1, 2]
    assert known(world) == {"A."}
    extractor.failures = {}
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
    assert known(world) == {"A.", "down", "C."}


def test_a_quota_is_waited_for_with_what_was_read_kept() -> None:
    spent = MindFailed("no more today", reason="unexpected_error", transient=True, resume_at=later(90))
    world = World(extractor=PoisonedExtractor(down=spent))
    world.memories.retain_later(world.context, BANK, [item("A.", "d1"), item("down", "d2")], OPERATION)
    world.works()
    parked = world.operation()[-1]
    assert isinstance(parked, OperationParked)
    assert (parked.until, known(world)) == (later(90), {"A."})


def test_items_at_once_are_all_retained_or_none_and_the_error_names_the_one() -> None:
    world = World(extractor=PoisonedExtractor(poison=unusable("refused")))
    with pytest.raises(MindFailed, match=r"item 1 \(document 'd2'\): refused; nothing of the 2 items was retained"):
        world.memories.retain(world.context, BANK, [item("A.", "d1"), item("poison", "d2")])
    assert known(world) == set()


# --- the whole of them ------------------------------------------------------------------------------------------------


@pytest.fixture
def half_done() -> tuple[World, list[UUID]]:
    """Of three parts one is done, one failed and one waits."""
    world = World(extractor=PoisonedExtractor(poison=unusable("refused")))
    parts = asked_for(world, item(f"A {LONG}"), item(f"poison {LONG}"), item(f"C {LONG}"))
    for part in parts[:2]:
        world.works(part)
    return world, parts


def last(world: World, part: UUID) -> str:
    return type(world.operation(part)[-1]).__name__


def test_a_cancel_of_the_whole_cancels_what_has_not_ended(half_done: tuple[World, list[UUID]]) -> None:
    world, parts = half_done
    operations(world).cancel(world.context, BANK, OPERATION)
    assert [last(world, part) for part in parts] == ["OperationCompleted", "OperationFailed", "OperationCancelled"]
    with pytest.raises(OperationEnded):
        operations(world).cancel(world.context, BANK, OPERATION)


def test_a_retry_of_the_whole_retries_what_failed(half_done: tuple[World, list[UUID]]) -> None:
    world, parts = half_done
    world.works(parts[2])
    operations(world).retry(world.context, BANK, OPERATION)
    assert [last(world, part) for part in parts] == ["OperationCompleted", "OperationRestarted", "OperationCompleted"]


def test_a_whole_of_which_nothing_failed_is_not_retried() -> None:
    world = World()
    parts = asked_for(world, item(f"A {LONG}"), item(f"B {LONG}"))
    for part in parts:
        world.works(part)
    with pytest.raises(OperationNotRestartable):
        operations(world).retry(world.context, BANK, OPERATION)


def test_a_whole_goes_with_its_parts(half_done: tuple[World, list[UUID]]) -> None:
    world, parts = half_done
    world.works(parts[2])
    operations(world).delete(world.context, BANK, OPERATION)
    assert [last(world, part) for part in (*parts, OPERATION)] == ["OperationRemoved"] * 4
    assert world.inbox.items == {}
