"""What a delta has to read, and what became of each fact."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.document import AppendBlock
from domain.memory import UnreadQuery
from domain.mental_model.record import Edit, Verdict
from domain.refresh.coverage import (
    MOST_SET_ASIDE,
    may_wait,
    pages,
    pending_of,
    prompt_tokens,
    reading,
    readings,
    unread_query,
)
from domain.scope import Scope
from tests.support.examples import BANK, fact, fact_id, mental_model


def edit(*facts: int, skipped: str | None = None) -> Edit:
    return Edit(
        edit_pass="edit",
        operation=AppendBlock(section_id="s", text="t"),
        facts=tuple(map(fact_id, facts)),
        skipped=skipped,
    )


NO_OPERATION = Edit(edit_pass="edit", raw='{"op":"move_block"}', skipped="op: unknown")


def query(**fields: Any) -> UnreadQuery:
    return UnreadQuery(**{"bank_id": BANK, "scope": Scope(), "after": 0, "upto": 9, **fields})


STONE = Scope(tags=("stone",), tags_match="all_strict")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, query()),
        ({"covered": 4, "covered_scope": Scope()}, query(after=4)),
        ({"covered": 4, "covered_scope": Scope(), "pending": (2, 3)}, query(after=4, pending=(2, 3))),
        (
            {"covered": 4, "covered_scope": Scope(), "tags": ("stone",)},
            query(after=4, scope=STONE, covered_scope=Scope()),
        ),
        ({"covered": 4, "covered_scope": STONE}, query(after=4, covered_scope=STONE)),
        ({"covered": 4, "covered_scope": STONE, "tags": ("stone",)}, query(after=4, scope=STONE)),
    ],
    ids=[
        "nothing was read yet",
        "what came since",
        "what is pending too",
        "a scope that became narrower",
        "a scope that became wider: what is newly in it, however old",
        "the same scope",
    ],
)
def test_a_window_is_what_the_document_has_not_been_through(fields: dict[str, Any], expected: UnreadQuery) -> None:
    assert unread_query(mental_model(**fields), 9) == expected


@pytest.mark.parametrize(
    ("edits", "verdict"),
    [
        ([], "irrelevant"),
        ([edit(2)], "irrelevant"),
        ([edit(1)], "integrated"),
        ([edit(2, 1)], "integrated"),
        ([edit(1, skipped="unknown block_id: b1")], "pending"),
        ([edit(1, skipped="unknown block_id: b1"), edit(1)], "integrated"),
        ([edit(1), edit(1, skipped="block text is empty")], "integrated"),
        ([NO_OPERATION], "pending"),
        ([NO_OPERATION, edit(1)], "integrated"),
    ],
    ids=[
        "no edit at all",
        "an edit for another fact",
        "an edit",
        "an edit for several facts",
        "only an edit that was skipped",
        "an edit that was mended",
        "an edit beside one that was skipped",
        "an entry that was no operation: it may have been for any fact",
        "an edit beside an entry that was no operation",
    ],
)
def test_a_fact_is_in_the_text_or_irrelevant_or_pending(edits: list[Edit], verdict: Verdict) -> None:
    (read,) = readings([fact(1)], edits)
    assert read == reading(fact(1), verdict)


def test_what_is_pending_or_set_aside_is_read_again() -> None:
    verdicts: list[Verdict] = ["integrated", "pending", "irrelevant", "set_aside"]
    read = [reading(fact(number, position=number), verdict) for number, verdict in enumerate(verdicts, start=1)]
    assert pending_of(read) == (2, 4)


@for_all(st.lists(st.integers(1, 5000), max_size=30), st.integers(50, 5000))
def test_pages_hold_every_fact_once_and_in_order(sizes: list[int], room: int) -> None:
    facts = [fact(number, "x" * size) for number, size in enumerate(sizes, start=1)]
    divided = pages(facts, room)
    assert [each for page in divided for each in page] == facts
    assert all(page and (len(page) == 1 or sum(map(prompt_tokens, page)) <= room) for page in divided)
    firsts = [page[0] for page in divided[1:]]
    assert all(
        sum(map(prompt_tokens, page)) + prompt_tokens(first) > room
        for page, first in zip(divided, firsts, strict=False)
    )


def test_facts_that_seem_irrelevant_wait_while_they_are_few() -> None:
    one = fact(1, "x" * 304)
    few, rest = divmod(MOST_SET_ASIDE, prompt_tokens(one))
    assert rest == 0
    assert may_wait([one] * few)
    assert not may_wait([one] * (few + 1))
