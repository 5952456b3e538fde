from __future__ import annotations

from datetime import timedelta

import pytest

from domain.document import Operation, RemoveBlock, RemoveItem
from domain.editing import RetractedFact
from domain.memory import Fact
from tests.adapters.offline.edit_requests import block_id, item_id, proposed, request, uuids
from tests.adapters.offline.facts_of import SAID, stored

PAGE = """\
# Team

Bob drinks tea.

- Bob drinks tea.
- Ann drinks coffee.

## 习惯

1. (2024-05-12) **Bob** drinks
   tea
2. 我们使用 \\<b>。

| who | what |
| --- | --- |
| Bob | Bob drinks tea. |
"""


def removed(markdown: str, *texts: str, standing: tuple[Fact, ...] = ()) -> list[Operation]:
    retracted = [RetractedFact(identity, text) for identity, text in zip(uuids(1, 2, 3), texts, strict=False)]
    edits = proposed(request(markdown, standing, task="retraction", retracted=retracted))
    return [edit.operation for edit in edits]


def test_everything_that_says_the_fact_and_nothing_more_goes() -> None:
    numbered = block_id(PAGE, "1.")
    assert removed(PAGE, "Bob drinks tea") == [
        RemoveBlock(section_id="team", block_id=block_id(PAGE, "Bob")),
        RemoveItem(block_id=block_id(PAGE, "- Bob"), item_id=item_id(PAGE, "- Bob drinks tea.")),
        RemoveItem(block_id=numbered, item_id=item_id(PAGE, "1. (2024-05-12) **Bob** drinks\n   tea")),
    ]


def test_a_text_that_was_escaped_is_found() -> None:
    assert removed(PAGE, "我们使用 <b>。") == [
        RemoveItem(block_id=block_id(PAGE, "1."), item_id=item_id(PAGE, "2. 我们使用 \\<b>。"))
    ]


def test_every_removal_names_the_facts_it_takes_out() -> None:
    retracted = [RetractedFact(identity, "Ann drinks coffee.") for identity in uuids(1, 2)]
    (edit,) = proposed(request(PAGE, task="retraction", retracted=retracted))
    assert edit.facts == uuids(1, 2)


@pytest.mark.parametrize("text", ["Bob drinks", "Bob drinks tea. Ann drinks coffee.", "Team", "", " ", "**", "Carl"])
def test_what_says_something_else_or_more_stays(text: str) -> None:
    assert removed(PAGE, text) == []


def test_an_item_with_something_nested_says_more() -> None:
    assert removed("- Bob drinks tea.\n  - and likes it\n\nBob drinks tea.\nHe likes it.\n", "Bob drinks tea.") == []


def test_what_a_standing_fact_says_in_the_same_way_stays() -> None:
    markdown = "- Bob drinks tea.\n- (2024-05-15) We deployed.\n- (2024-05-16) We deployed.\n"
    standing = (stored(8, "bob drinks tea"), stored(9, "We deployed.", occurred=SAID))
    deployed = RemoveItem(
        block_id=block_id(markdown, "- Bob"), item_id=item_id(markdown, "- (2024-05-16) We deployed.")
    )
    assert removed(markdown, "Bob drinks tea.", "We deployed.", standing=standing) == [deployed]


def test_when_it_is_not_known_which_time_is_meant_all_stay() -> None:
    markdown = "- (2024-05-15) We deployed.\n- (2024-05-16) We deployed.\n"
    assert removed(markdown, "We deployed.") == []
    assert len(removed(markdown, "We deployed.", "We deployed.")) == 2
    standing = (stored(9, "We deployed.", occurred=SAID + timedelta(1)),)
    assert len(removed(markdown, "We deployed.", standing=standing)) == 1


def test_only_what_is_shown_is_taken_out() -> None:
    retracted = [RetractedFact(uuids(1)[0], "Bob drinks tea.")]
    edits = proposed(request(PAGE, task="retraction", retracted=retracted, shown=["习惯"], last_part=False))
    assert [type(edit.operation) for edit in edits] == [RemoveItem]
