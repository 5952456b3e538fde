from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from adapters.offline.documents import extract_document
from adapters.offline.editor import OfflineDocumentEditor
from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    InsertItem,
    RemoveItem,
    ReplaceBlock,
    ReplaceItem,
    parse,
)
from domain.editing import Correction, NewFact
from tests.adapters.offline.edit_requests import block_id, item_id, operations, proposed, request, uuids
from tests.adapters.offline.facts_of import SAID, stored

EXTRACT = """\
# The team

## Acme

- (2019-01-01) Acme was founded.
- (2024-05-12) Acme moved to Berlin.

## Bob

- Bob likes tea.
- Bob rides a bike.
- Bob sings.

## More

- It rained.
"""
ACME, BOB, MORE = (block_id(EXTRACT, text) for text in ("- (2019", "- Bob", "- It"))


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_the_engine_says_what_it_is() -> None:
    editor = OfflineDocumentEditor()
    assert (editor.engine, editor.deterministic) == ("offline", True)


def test_without_facts_nothing_is_proposed() -> None:
    assert proposed(request(EXTRACT)) == ()


# --- where a fact goes ------------------------------------------------------------------------------------------------


def test_a_fact_is_one_bullet_more_in_the_section_named_as_its_entity() -> None:
    fact = stored(9, "Acme\nhired <b>Eve</b>.", names=["Eve", "ACME"])
    assert operations(EXTRACT, fact) == [AppendItem(block_id=ACME, text="- Acme hired \\<b>Eve\\</b>.")]


def test_it_names_the_fact_it_rests_on() -> None:
    edits = proposed(request(EXTRACT, [stored(9, "Bob left.", names=["Bob"]), stored(8, "It snowed.")]))
    assert {edit.facts: edit.operation for edit in edits} == {
        uuids(9): AppendItem(block_id=BOB, text="- Bob left."),
        uuids(8): AppendItem(block_id=MORE, text="- It snowed."),
    }


@pytest.mark.parametrize(
    ("names", "block_id"), [(["Acme", "Bob"], ACME), (["Bob", "Acme"], BOB), (["Eve", "Acme"], ACME)]
)
def test_of_several_sections_it_goes_to_that_of_the_name_given_first(names: list[str], block_id: str) -> None:
    fact = stored(9, "Acme hired Bob.", names=names)
    assert operations(EXTRACT, fact) == [AppendItem(block_id=block_id, text="- Acme hired Bob.")]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("我们", "我们"),
        ("C \\#", "C #"),
        ("**Acme**", "acme"),
        ("Straße", "STRASSE"),
        ("\\<b>", "<b>"),
        ("Ａｃｍｅ", "acme"),
    ],
)
def test_a_heading_names_an_entity_however_it_is_written(title: str, name: str) -> None:
    markdown = f"# T\n\n## {title}\n\n- a\n\n## More\n\n- b\n"
    fact = stored(9, "New.", names=[name])
    assert operations(markdown, fact) == [AppendItem(block_id=block_id(markdown, "- a"), text="- New.")]


def test_the_title_of_the_document_is_no_topic() -> None:
    markdown = "# Acme\n\n## Berlin\n\n- a\n\n## More\n\n- b\n"
    fact = stored(9, "Acme grew.", names=["Acme"])
    assert operations(markdown, fact) == [AppendItem(block_id=block_id(markdown, "- b"), text="- Acme grew.")]


def test_a_first_heading_beside_others_of_its_level_is_a_topic() -> None:
    markdown = "# Acme\n\n- a\n\n# Bob\n\n- b\n"
    fact = stored(9, "Acme grew.", names=["Acme"])
    assert operations(markdown, fact) == [AppendItem(block_id=block_id(markdown, "- a"), text="- Acme grew.")]


def test_a_document_without_sections_takes_it_in_its_list() -> None:
    markdown = "# Tea\n\n- Ann drinks tea.\n"
    added = [AppendItem(block_id=block_id(markdown, "- Ann"), text="- Bob drinks tea.")]
    assert operations(markdown, stored(9, "Bob drinks tea.", names=["Tea"])) == added


def test_a_list_without_any_heading_takes_it() -> None:
    added = [AppendItem(block_id=block_id("- a\n", "- a"), text="- New.")]
    assert operations("- a\n", stored(9, "New.")) == added


@pytest.mark.parametrize(
    ("markdown", "section_id"),
    [
        ("# Tea\n", "tea"),
        ("# 茶\n\n我们喝茶。\n", "茶"),
        ("Only prose.\n", "preamble"),
        ("---\ntitle: Tea\n---\n", "preamble"),
        ("---\ntitle: Tea\n---\n\n# Tea\n\nProse.\n", "tea"),
        ("# Tea\n\n| who | what |\n| --- | --- |\n| Ann | tea |\n", "tea"),
        ("# Tea\n\n1. Boil water.\n2. Pour it.\n", "tea"),
    ],
)
def test_where_no_list_of_statements_stands_a_list_begins_at_the_end(markdown: str, section_id: str) -> None:
    facts = [stored(9, "Bob drinks tea."), stored(8, "Ann drinks tea.")]
    assert operations(markdown, *facts) == [
        AppendBlock(section_id=section_id, text="- Ann drinks tea."),
        AppendBlock(section_id=section_id, text="- Bob drinks tea."),
    ]


def test_a_section_of_its_own_topic_without_a_list_gets_one_at_its_end() -> None:
    markdown = "# Team\n\n## Acme\n\n| year | what |\n| --- | --- |\n| 2019 | founded |\n\n## Bob\n\nBob sings.\n"
    assert operations(markdown, stored(9, "Acme grew.", names=["Acme"])) == [
        AppendBlock(section_id="acme", text="- Acme grew.")
    ]


def test_the_last_list_of_a_section_takes_it_wherever_it_stands() -> None:
    markdown = "# T\n\n## Acme\n\n- a\n\nand\n\n- b\n\n1. c\n\n> quoted\n"
    fact = stored(9, "Acme grew.", names=["Acme"])
    assert operations(markdown, fact) == [AppendItem(block_id=block_id(markdown, "- b"), text="- Acme grew.")]


def test_where_every_section_is_about_something_else_more_is_added_at_the_end() -> None:
    markdown = "# Team\n\n## People\n\n- Ann\n\n## Sources\n\n- <https://a.example>\n"
    edits = proposed(request(markdown, [stored(9, "It rained."), stored(8, "It snowed.")]))
    assert [(edit.operation, edit.facts) for edit in edits] == [
        (AddSection(heading="More", level=2, blocks=("- It snowed.",), new_id="more"), uuids(8)),
        (AppendBlock(section_id="more", text="- It rained."), uuids(9)),
    ]


def test_the_new_section_has_the_level_of_the_others_and_an_id_of_its_own() -> None:
    markdown = "# More\n\n### More or less\n\n- a\n"
    (added,) = operations(markdown, stored(9, "It rained."))
    assert added == AddSection(heading="More", level=3, blocks=("- It rained.",), new_id="more-2")


def test_a_page_of_one_topic_below_a_preamble_keeps_to_its_topic() -> None:
    (added,) = operations("Intro.\n\n## Acme\n\n- a\n", stored(9, "It rained."))
    assert isinstance(added, AddSection)


@pytest.mark.parametrize("markdown", ["", "\n \n"])
@pytest.mark.parametrize(
    ("name", "added"),
    [
        ("Tea #", AddSection(heading="Tea \\#", level=1, blocks=("- a",), new_id="tea")),
        (" ", AddSection(heading="More", level=2, blocks=("- a",), new_id="more")),
    ],
)
def test_an_empty_document_begins_with_its_title(markdown: str, name: str, added: AddSection) -> None:
    edits = proposed(request(markdown, [stored(1, "a"), stored(2, "b")], name=name))
    assert [edit.operation for edit in edits] == [added, AppendBlock(section_id=added.new_id or "", text="- b")]


# --- in order of time -------------------------------------------------------------------------------------------------


def test_facts_stand_in_order_of_time_as_far_as_the_items_tell() -> None:
    facts = [
        stored(7, "Acme grew.", names=["Acme"], occurred=day("2024-05-01")),
        stored(8, "Acme shrank.", names=["Acme"], occurred=day("2023-01-01")),
        stored(9, "Acme was planned.", names=["Acme"], occurred=day("2018-01-01"), until=day("2018-12-31")),
        stored(10, "Acme closed.", names=["Acme"], occurred=day("2025-01-01")),
        stored(11, "Acme is missed.", names=["Acme"], mentioned=None),
    ]
    founded = item_id(EXTRACT, "- (2019-01-01) Acme was founded.")
    assert operations(EXTRACT, *facts) == [
        InsertItem(block_id=ACME, after_item_id=founded, text="- (2024-05-01) Acme grew."),
        InsertItem(block_id=ACME, after_item_id=founded, text="- (2023-01-01) Acme shrank."),
        InsertItem(block_id=ACME, after_item_id=None, text="- (2018) Acme was planned."),
        AppendItem(block_id=ACME, text="- Acme is missed."),
        AppendItem(block_id=ACME, text="- (2025-01-01) Acme closed."),
    ]


@pytest.mark.parametrize(
    ("items", "inserted"),
    [
        ("- On 2024-05-12 it broke.", True),
        ("- (2024-05) It broke.", True),
        ("- (2024-05-06 to 2024-05-12) It broke.", True),
        ("- (2024) It broke.", False),
        ("- It broke.", False),
        ("- Build 12024-05-120 broke.", False),
        ("- (2024-05-12) new\n- (2019-01-01) old", False),
    ],
)
def test_an_item_tells_its_time_by_a_stamp_or_a_day_written_out(items: str, inserted: bool) -> None:
    (operation,) = operations(f"# T\n\n{items}\n", stored(9, "New.", occurred=day("2024-04-01")))
    assert isinstance(operation, InsertItem if inserted else AppendItem)


# --- what is said already ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        "- Bob drinks tea.",
        "* **Bob** drinks\n  “tea”",
        "1. bob drinks tea",
        "Bob drinks\ntea.",
        "- (2024-05-12) Bob drinks tea.",
        "- Habits\n  - Bob drinks tea.\n",
        "- Bob drinks tea.\n\n  Every day.",
        "- a\n    1. Bob drinks tea.\n    2. c",
    ],
)
def test_what_the_page_says_is_not_added_again(said: str) -> None:
    assert operations(f"# T\n\n{said}\n\n## Acme\n\n- x\n", stored(9, "Bob drinks tea.", names=["Acme"])) == []


@pytest.mark.parametrize(
    "other",
    [
        "Bob drinks tea. Ann does too.",
        "- Bob drinks tea?",
        "> Bob drinks tea.",
        "    Bob drinks tea.",
        "## Bob drinks tea",
    ],
)
def test_what_the_page_says_otherwise_is_added(other: str) -> None:
    assert len(operations(f"# T\n\n{other}\n", stored(9, "Bob drinks tea."))) == 1


def test_the_same_words_about_another_day_are_another_fact() -> None:
    markdown = "# T\n\n- (2024-05-01) We deployed.\n"
    may_1, may_2 = (stored(number, "We deployed.", occurred=day(f"2024-05-0{number}")) for number in (1, 2))
    assert operations(markdown, may_1) == []
    assert operations(markdown, may_2) == [
        AppendItem(block_id=block_id(markdown, "- ("), text="- (2024-05-02) We deployed.")
    ]
    assert len(operations("# T\n\n- We deployed.\n", may_1)) == 1


def test_of_new_facts_that_say_the_same_the_newest_is_added() -> None:
    facts = [stored(7, "Bob drinks tea"), stored(9, "bob drinks **tea**."), stored(8, "Bob drinks tea.")]
    edits = proposed(request("# T\n\n- a\n", facts))
    assert [edit.facts for edit in edits] == [uuids(9)]


def test_of_new_facts_that_say_the_same_one_with_its_time_is_enough() -> None:
    facts = [stored(9, "Bob left."), stored(8, "Bob left.", occurred=day("2024-05-12"))]
    assert [edit.facts for edit in proposed(request("# T\n\n- a\n", facts))] == [uuids(8)]


@pytest.mark.parametrize("text", [" ", "**", "\"'", "."])
def test_a_fact_of_no_words_is_no_bullet(text: str) -> None:
    assert operations("# T\n\n- a\n", stored(9, text)) == []


def test_an_extract_says_all_of_its_facts() -> None:
    texts = [
        "# one",
        "1. two",
        "<b>three</b> `<i>`",
        "(2024-05-12) four",
        "- - -",
        "我们",
        "C \\* D",
        "five * <x",
        "**",
    ]
    facts = [stored(number, text, occurred=SAID if number % 2 else None) for number, text in enumerate(texts, 1)]
    assert operations(extract_document("T", facts, 10_000).markdown, *facts) == []


# --- what a fact said before ------------------------------------------------------------------------------------------


def test_a_fact_that_says_something_else_now_replaces_what_it_said() -> None:
    new = NewFact(stored(9, "Bob likes coffee.", names=["Acme"]), was="Bob likes tea.")
    assert operations(EXTRACT, new) == [
        ReplaceItem(block_id=BOB, item_id=item_id(EXTRACT, "- Bob likes tea."), text="- Bob likes coffee.")
    ]


@pytest.mark.parametrize(
    ("paragraph", "text"),
    [("Bob likes tea.", "\\# coffee"), ("(2024-05-12) Bob likes tea.", "(2024-05-15) # coffee")],
)
def test_a_paragraph_stays_a_paragraph(paragraph: str, text: str) -> None:
    markdown = f"# T\n\n{paragraph}\n\n- a\n"
    new = NewFact(stored(9, "# coffee", occurred=SAID), was="Bob likes tea.")
    assert operations(markdown, new) == [
        ReplaceBlock(section_id="t", block_id=block_id(markdown, paragraph), text=text)
    ]


def test_a_fact_that_only_got_another_date_replaces_its_bullet() -> None:
    markdown = "# T\n\n- Bob left.\n"
    new = NewFact(stored(9, "Bob left.", occurred=SAID), was="Bob left.")
    assert operations(markdown, new) == [
        ReplaceItem(
            block_id=block_id(markdown, "- Bob"),
            item_id=item_id(markdown, "- Bob left."),
            text="- (2024-05-15) Bob left.",
        )
    ]


def test_a_new_version_of_the_same_text_changes_nothing() -> None:
    assert operations(EXTRACT, NewFact(stored(9, "Bob likes tea.", names=["Bob"]), was="Bob likes tea.")) == []


def test_what_is_said_elsewhere_is_not_said_again_but_what_was_goes() -> None:
    new = NewFact(stored(9, "Bob sings."), was="Bob likes tea.")
    assert operations(EXTRACT, new) == [RemoveItem(block_id=BOB, item_id=item_id(EXTRACT, "- Bob likes tea."))]


def test_facts_that_exchange_their_texts_exchange_them_in_the_page() -> None:
    swapped = [
        NewFact(stored(9, "Bob sings."), was="Bob likes tea."),
        NewFact(stored(8, "Bob likes tea."), was="Bob sings."),
    ]
    assert operations(EXTRACT, *swapped) == [
        ReplaceItem(block_id=BOB, item_id=item_id(EXTRACT, "- Bob likes tea."), text="- Bob sings."),
        ReplaceItem(block_id=BOB, item_id=item_id(EXTRACT, "- Bob sings."), text="- Bob likes tea."),
    ]


def test_one_piece_is_replaced_once_and_the_other_fact_is_added() -> None:
    new = [
        NewFact(stored(9, "Bob likes coffee."), was="It rained."),
        NewFact(stored(8, "It snowed."), was="It rained."),
    ]
    assert operations(EXTRACT, *new) == [
        ReplaceItem(block_id=MORE, item_id=item_id(EXTRACT, "- It rained."), text="- Bob likes coffee."),
        AppendItem(block_id=MORE, text="- It snowed."),
    ]


def test_of_days_with_the_same_words_the_day_of_the_fact_is_replaced_or_none() -> None:
    markdown = "# T\n\n- (2024-05-01) We deployed.\n- (2024-05-02) We deployed.\n"
    for number, replaced in ((1, True), (2, True), (3, False)):
        fact = stored(9, "We failed.", occurred=day(f"2024-05-0{number}"))
        (operation,) = operations(markdown, NewFact(fact, was="We deployed."))
        if replaced:
            assert isinstance(operation, ReplaceItem)
            assert operation.item_id == item_id(markdown, f"- (2024-05-0{number}) We deployed.")
        else:
            assert isinstance(operation, AppendItem)


@pytest.mark.parametrize("gone", ["Bob hates tea.", " ", "Bob likes"])
def test_when_nothing_says_what_it_was_it_is_a_new_fact(gone: str) -> None:
    new = NewFact(stored(9, "Bob likes coffee.", names=["Bob"]), was=gone)
    assert operations(EXTRACT, new) == [AppendItem(block_id=BOB, text="- Bob likes coffee.")]


def test_an_item_with_something_nested_is_more_than_the_fact_and_stays() -> None:
    markdown = "# T\n\n- Bob likes tea.\n  - but not in the evening\n"
    new = NewFact(stored(9, "Bob likes coffee."), was="Bob likes tea.")
    (operation,) = operations(markdown, new)
    assert isinstance(operation, AppendItem)


# --- parts, budget, corrections ---------------------------------------------------------------------------------------


def test_over_the_parts_every_fact_is_proposed_once_with_the_part_that_shows_its_place() -> None:
    facts: list[NewFact] = [
        NewFact(stored(7, "Acme grew.", names=["Acme"])),
        NewFact(stored(8, "Bob likes coffee."), was="Bob likes tea."),
        NewFact(stored(9, "It snowed.")),
    ]
    parts = [("the-team", "acme"), ("bob",), ("more",)]
    found = [
        [edit.facts for edit in proposed(request(EXTRACT, facts, shown=shown, last_part=shown == parts[-1]))]
        for shown in parts
    ]
    assert found == [[uuids(7)], [uuids(8)], [uuids(9)]]


def test_a_new_section_comes_with_the_last_part() -> None:
    markdown = "# T\n\n## Acme\n\n- a\n\n## Bob\n\n- b\n"
    facts = [stored(9, "It rained."), stored(8, "It snowed.")]
    assert proposed(request(markdown, facts, shown=["t", "acme"], last_part=False)) == ()
    last = proposed(request(markdown, facts, shown=["bob"], last_part=True))
    assert [edit.facts for edit in last] == [uuids(8), uuids(9)]


def test_over_its_budget_a_document_still_takes_new_facts() -> None:
    assert len(proposed(request(EXTRACT, [stored(9, "It snowed.")], max_tokens=1))) == 1


def test_the_same_request_gets_the_same_proposal_in_whatever_order_the_facts_are() -> None:
    facts = [stored(number, f"Fact {number % 4}.", names=[["Acme"], ["Bob"], []][number % 3]) for number in range(1, 9)]
    first = proposed(request(EXTRACT, facts))
    assert proposed(request(EXTRACT, facts)) == first
    assert proposed(request(EXTRACT, reversed(facts))) == first


def test_a_correction_is_answered_as_before() -> None:
    asked = request(EXTRACT, [stored(9, "It snowed.")])
    corrected = replace(asked, correction=Correction("", ("unknown section_id: x",)))
    assert proposed(corrected) == proposed(asked)


def test_the_document_is_read_as_it_is_identified_not_as_it_would_be() -> None:
    earlier = parse("# T\n\n## Acme\n\n- a\n")
    renamed = parse("# T\n\n## Bob\n\n- a\n", earlier)
    asked = request("", [stored(9, "Bob left.", names=["Bob"])])
    (edit,) = proposed(replace(asked, document=renamed))
    assert edit.operation == AppendItem(block_id=earlier.sections[1].blocks[0].id, text="- Bob left.")
