"""What is planned for a document: which chunks are kept, what is read with what, and what becomes of tags and texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from application.ports import StoredChunk, StoredDocument
from application.retain_asked import AskedItem, asked_item
from application.retain_plan import DocumentPlan, plan_of
from domain.bank_config import BankConfig
from domain.memory import RetainItem
from domain.refusals import DocumentTextNotStored
from domain.retain import leaning

SMALL = BankConfig(retain_chunk_size=20)


def asked(content: str, *, config: BankConfig = SMALL, **more: Any) -> AskedItem:
    item = RetainItem.model_validate({"content": content, "document_id": "d", **more})
    return asked_item(0, item, "d", config, said_now=False, rereads=True)


def append(content: str, **more: Any) -> AskedItem:
    return asked(content, update_mode="append", **more)


def planned(*items: AskedItem, stored: StoredDocument | None = None, at: int = 5, rereads: bool = True) -> DocumentPlan:
    plan = plan_of("bank", items, stored, at, rereads=rereads)
    assert plan is not None
    return plan


def stored_as(plan: DocumentPlan) -> StoredDocument:
    chunks = [StoredChunk(str(each.chunk_id), "d", each.number, each.text, each.read_with) for each in plan.chunks]
    return StoredDocument(plan.text if plan.text_stored else None, 1, plan.parts, chunks)


def kept(plan: DocumentPlan) -> list[bool]:
    return [each.kept for each in plan.chunks]


def leans(stored: StoredDocument, number: int, *on: int) -> StoredDocument:
    ids = [stored.chunks[each].chunk_id for each in on]
    chunks = list(stored.chunks)
    chunks[number] = replace(chunks[number], read_with=leaning(chunks[number].read_with, ids))
    return replace(stored, chunks=chunks)


TEXT = "First of them all. \nSecond of the lot. \nThird and the last."


def test_a_chunk_is_kept_as_long_as_all_that_it_leans_on_is() -> None:
    before = leans(leans(stored_as(planned(asked(TEXT))), 1, 0), 2, 1)
    same = planned(asked(TEXT), stored=before, at=6)
    assert (kept(same), stored_as(same).chunks) == ([True] * 3, before.chunks)
    changed = planned(asked(TEXT.replace("First", "Other")), stored=before, at=6)
    assert kept(changed) == [False] * 3
    assert all(" " not in each.read_with for each in changed.chunks)
    last = planned(asked(TEXT.replace("Third", "Other")), stored=before, at=6)
    assert kept(last) == [True, True, False]


def test_a_chunk_that_was_read_with_other_settings_is_not_kept() -> None:
    before = stored_as(planned(asked(TEXT)))
    assert kept(planned(asked(TEXT, tags=("a",)), stored=before)) == [False] * 3


def test_an_append_keeps_what_stands_before_it_with_all_that_it_leans_on() -> None:
    before = leans(stored_as(planned(asked(TEXT))), 2, 0)
    plan = planned(append("More."), stored=before, at=6)
    assert kept(plan) == [True, True, True, False]
    assert [each.read_with for each in plan.chunks[:3]] == [each.read_with for each in before.chunks]
    assert plan.text == f"{TEXT}\nMore."


def test_appends_that_are_given_with_the_same_are_read_at_once_and_others_by_themselves() -> None:
    items = [
        append("One."),
        append("Two."),
        append("Three.", tags=("a",)),
        append("Four.", tags=("a",), metadata=(("k", "v"),)),
    ]
    plan = planned(asked("Zero."), stored=None)
    plan = planned(*items, append("Five.", tags=("a",), metadata=(("k", "v"),)), stored=stored_as(plan), at=6)
    read = [(each.asked.item.content, [chunk.text for chunk in each.to_read], each.content) for each in plan.items]
    assert read == [
        ("One.", ["One.", "Two."], "Zero.\nOne.\nTwo."),
        ("Three.", ["Three."], "Zero.\nOne.\nTwo.\nThree."),
        ("Four.", ["Four.", "Five."], "Zero.\nOne.\nTwo.\nThree.\nFour.\nFive."),
    ]


@pytest.mark.parametrize("items", [[asked("One."), asked("Two.")], [append("One."), append("Two.")]])
def test_items_that_are_understood_by_themselves_are_read_by_themselves(items: list[AskedItem]) -> None:
    plan = planned(*items, rereads=False)
    assert [(each.content, len(each.to_read)) for each in plan.items] == [("One.", 1), ("Two.", 1)]


def test_a_document_keeps_its_tags_when_it_is_replaced_below_what_was_appended_since() -> None:
    whole = stored_as(planned(asked("Whole."), at=1))
    longer = stored_as(planned(append("Appended."), stored=whole, at=9))
    assert planned(asked("New."), stored=whole, at=5).resets
    late = planned(asked("New."), stored=longer, at=5)
    assert (late.replaces, late.resets, late.text) == (True, False, "New.\nAppended.")
    assert not planned(append("More."), stored=longer, at=10).resets


def test_only_a_replacement_closes_facts_that_stand_in_no_chunk() -> None:
    whole = stored_as(planned(asked("Whole."), at=1))
    assert planned(append("More."), stored=whole).keeps_unplaced
    assert not planned(asked("New."), stored=whole).keeps_unplaced


def test_nothing_is_appended_where_no_text_is_kept() -> None:
    silent = BankConfig(store_document_text=False)
    whole = stored_as(planned(asked("Whole."), at=1))
    unkept = planned(asked("Whole.", config=silent), at=1)
    assert (unkept.text_stored, unkept.chunks) == (False, ())
    for item, stored in [
        (append("More.", config=silent), whole),
        (append("More.", config=silent), None),
        (append("More."), stored_as(unkept)),
    ]:
        with pytest.raises(DocumentTextNotStored):
            planned(item, stored=stored)
