"""Retains of one document come to what they come to in the order they were asked for, whichever is done first."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from domain.bank_config import RetainStrategy
from domain.memory import RetainItem
from domain.operation import OperationCompleted
from domain.refusals import DocumentTextNotStored, InvalidInput
from tests.support.examples import BANK, OPERATION
from tests.support.world import World

DOCUMENT = "diary"
OTHER = UUID(int=77)


def item(content: str, *, append: bool = False, **more: object) -> RetainItem:
    mode = "append" if append else "replace"
    return RetainItem.model_validate({"content": content, "document_id": DOCUMENT, "update_mode": mode, **more})


def later(world: World, *items: RetainItem, operation_id: UUID = OPERATION) -> None:
    world.memories.retain_later(world.context, BANK, items, operation_id)


def now(world: World, *items: RetainItem) -> None:
    world.memories.retain(world.context, BANK, items)


def text(world: World) -> str | None:
    return world.memory.document_text(BANK, DOCUMENT)


def known(world: World) -> list[str]:
    return sorted(row.fact.text for row in world.memory.rows if row.to_position is None)


def test_re_01_a_retain_that_waited_does_not_overwrite_a_later_one() -> None:
    """RE-01: what was asked for first is not the last word for having been done last."""
    world = World()
    later(world, item("Old."))
    now(world, item("New."))
    world.works()
    assert (text(world), known(world)) == ("New.", ["New."])
    assert isinstance(world.operation()[-1], OperationCompleted)


def test_re_01_a_retain_that_waited_comes_before_what_was_appended_since() -> None:
    """RE-01: neither loses anything."""
    world = World()
    now(world, item("First."))
    later(world, item("Whole."))
    now(world, item("Appended.", append=True))
    world.works()
    assert (text(world), known(world)) == ("Whole.\nAppended.", ["Appended.", "Whole."])


def test_re_01_an_append_that_waited_comes_before_one_that_was_asked_for_later() -> None:
    """RE-01: the order of turns is that of their requests."""
    world = World()
    now(world, item("T1."))
    later(world, item("T2.", append=True))
    now(world, item("T3.", append=True))
    world.works()
    assert (text(world), known(world)) == ("T1.\nT2.\nT3.", ["T1.", "T2.", "T3."])


def test_re_01_an_append_that_waited_is_no_part_of_a_document_replaced_since() -> None:
    world = World()
    later(world, item("Turn.", append=True))
    now(world, item("Whole."))
    world.works()
    assert (text(world), known(world)) == ("Whole.", ["Whole."])


def test_two_retains_that_wait_are_done_in_any_order() -> None:
    world = World()
    later(world, item("One."))
    later(world, item("Two.", append=True), operation_id=OTHER)
    world.works(OTHER)
    world.works(OPERATION)
    assert text(world) == "One.\nTwo."


def test_re_02_items_of_one_document_are_one_document_whatever_their_modes() -> None:
    """RE-02: a request that replaces with any item replaces."""
    world = World()
    now(world, item("Before."))
    now(world, item("A.", append=True), item("B."))
    assert (text(world), known(world)) == ("A.\nB.", ["A.", "B."])


@pytest.mark.parametrize("asked", [False, True])
def test_an_unknown_strategy_is_refused_with_those_there_are(asked: bool) -> None:
    world = World()
    world.banks.put(world.context, BANK, changes={"retain_strategies": strategies(quick={})})
    with pytest.raises(InvalidInput, match="no retain strategy 'slow'; it has quick"):
        (later if asked else now)(world, item("A.", strategy="quick"), item("B.", strategy="slow"))
    assert (text(world), world.inbox.items) == (None, {})


def strategies(**each: dict[str, object]) -> dict[str, object]:
    return {name: RetainStrategy.model_validate(values) for name, values in each.items()}


def test_a_strategy_steers_its_items_only() -> None:
    world = World()
    quick = strategies(quick={"retain_mission": "Numbers only."})
    world.banks.put(world.context, BANK, changes={"retain_mission": "All of it.", "retain_strategies": quick})
    now(world, item("A.", strategy="quick"), RetainItem(content="B.", document_id="other"))
    assert world.extractor.read == [("A.", "Numbers only."), ("B.", "All of it.")]


def test_chunks_that_are_the_facts_are_read_by_nobody() -> None:
    world = World()
    world.banks.put(world.context, BANK, changes={"retain_extraction_mode": "chunks", "retain_chunk_size": 14})
    now(world, item("First line.\nSecond line.\n"))
    assert (known(world), world.extractor.read) == (["First line.", "Second line."], [])
    assert all(row.fact.chunk_id for row in world.memory.rows)


def test_verbatim_keeps_the_text_and_takes_what_was_found() -> None:
    world = World()
    world.banks.put(world.context, BANK, changes={"retain_extraction_mode": "verbatim"})
    now(world, item("One line.\nAnother line."))
    assert known(world) == ["One line.\nAnother line."]


def test_a_text_that_is_not_kept_has_no_chunks_and_takes_no_append() -> None:
    world = World()
    world.banks.put(world.context, BANK, changes={"store_document_text": False})
    now(world, item("Secret."))
    (stored,) = world.memory.stored_documents(BANK, [DOCUMENT]).values()
    assert (stored.text, list(stored.chunks), known(world)) == (None, [], ["Secret."])
    with pytest.raises(DocumentTextNotStored, match="'diary' is not stored"):
        now(world, item("More.", append=True))
    world.banks.put(world.context, BANK, changes={"store_document_text": True})
    with pytest.raises(DocumentTextNotStored, match="'diary' is not stored"):
        now(world, item("More.", append=True))
    assert known(world) == ["Secret."]


def test_an_append_that_waited_while_the_bank_ceased_to_keep_texts_takes_nothing_away() -> None:
    """The text and the facts that it was to be appended to were lost with it."""
    world = World()
    now(world, item("First."))
    later(world, item("Second.", append=True))
    world.banks.put(world.context, BANK, changes={"store_document_text": False})
    with pytest.raises(DocumentTextNotStored):
        world.memories.finish_retain(
            world.context, BANK, world.inbox.take(OPERATION), never, never, asked_at=world.context.now
        )
    assert (text(world), known(world)) == ("First.", ["First."])


def never(*_: object) -> Any:
    raise AssertionError("nothing is stored")


def test_a_text_appended_since_stays_behind_one_that_is_not_kept() -> None:
    world = World()
    now(world, item("First."))
    world.banks.put(
        world.context, BANK, changes={"retain_strategies": strategies(secret={"store_document_text": False})}
    )
    later(world, item("Whole.", strategy="secret"))
    now(world, item("Appended.", append=True))
    world.works()
    assert (text(world), known(world)) == ("Whole.\nAppended.", ["Appended.", "Whole."])
