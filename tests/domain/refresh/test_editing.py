"""Carrying out proposed edits, and telling what to mend."""

from __future__ import annotations

import pytest

from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    InsertBlock,
    InsertItem,
    MoveSection,
    Operation,
    RemoveBlock,
    RemoveItem,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
    ReplaceItem,
    ReplaceSectionBlocks,
    parse,
)
from domain.editing import ProposedEdit, RefusedEdit
from domain.refresh.editing import ADDS, ALL_SKIPPED, JUST_WRITTEN, again, all_skipped, carry_out, not_done
from tests.support.examples import fact_id

TEXT = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n- Sixteen arches.\n"
DOCUMENT = parse(TEXT)
(SECTION,) = DOCUMENT.sections
PROSE, LIST = SECTION.blocks
STONE, ARCHES = LIST.items
ONE = fact_id(1)

GOOD = AppendItem(block_id=LIST.id, text="Statues.")
WRONG_PLACE = AppendBlock(section_id="nowhere", text="Lost.")
EMPTY = ReplaceBlock(section_id=SECTION.id, block_id=PROSE.id, text=" ")


def proposed(*operations: Operation) -> list[ProposedEdit]:
    return [ProposedEdit(operation, (ONE,)) for operation in operations]


def test_every_edit_is_recorded_in_order_with_its_facts() -> None:
    carried = carry_out(DOCUMENT, proposed(WRONG_PLACE, GOOD), "edit")
    wrong, good = carried.edits
    assert (wrong.operation, wrong.facts, wrong.skipped) == (WRONG_PLACE, (ONE,), "unknown section_id: nowhere")
    assert (good.operation, good.facts, good.skipped) == (GOOD, (ONE,), None)
    assert "- Statues." in good.after
    assert good.wrote
    assert carried.applied == (good,)
    assert carried.document.render() == TEXT + "- Statues.\n"


def test_do_04_an_entry_that_is_no_operation_is_recorded_beside_those_that_are() -> None:
    refused = RefusedEdit('{"op":"move_block"}', "op: unknown")
    carried = carry_out(DOCUMENT, proposed(GOOD), "edit", refused=[refused])
    assert [(edit.operation, edit.raw, edit.skipped) for edit in carried.edits] == [
        (GOOD, "", None),
        (None, '{"op":"move_block"}', "op: unknown"),
    ]
    assert carried.problems == ('{"op":"move_block"}: op: unknown',)


@pytest.mark.parametrize(
    ("operations", "told"),
    [
        ([], 0),
        ([GOOD], 0),
        ([GOOD, WRONG_PLACE], 1),
        ([GOOD, EMPTY], 0),
        ([EMPTY], 1),
        ([EMPTY, WRONG_PLACE], 2),
    ],
    ids=[
        "no edits",
        "a good one",
        "a bad reference beside a good one",
        "an empty text beside a good one",
        "nothing applied",
        "nothing applied for several reasons",
    ],
)
def test_mending_is_asked_for_bad_references_and_when_nothing_could_be_applied(
    operations: list[Operation], told: int
) -> None:
    assert len(carry_out(DOCUMENT, proposed(*operations), "edit").problems) == told


def test_do_02_what_could_not_be_applied_is_told_with_every_reason_once() -> None:
    carried = carry_out(DOCUMENT, proposed(WRONG_PLACE, WRONG_PLACE, EMPTY), "edit")
    reasons = "unknown section_id: nowhere; block text is empty"
    assert all_skipped(carried.edits) == ALL_SKIPPED.format(count=3, reasons=reasons)


def test_what_an_operation_gave_an_id_or_continued_is_recorded() -> None:
    more = [AddSection(heading="Tower"), AppendBlock(section_id=SECTION.id, text="- Statues.")]
    added, continued = carry_out(DOCUMENT, proposed(*more), "edit").edits
    assert (added.assigned_id, added.wrote) == ("tower", ("tower",))
    assert continued.merged_into_block_id == LIST.id


def test_new_pieces_get_no_id_that_is_reserved() -> None:
    (usual,) = carry_out(DOCUMENT, proposed(GOOD), "edit").edits[0].wrote
    (other,) = carry_out(DOCUMENT, proposed(GOOD), "edit", reserved=[usual]).edits[0].wrote
    assert other != usual


# --- shortening -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "operation",
    [
        GOOD,
        AppendBlock(section_id=SECTION.id, text="More."),
        InsertBlock(section_id=SECTION.id, text="More."),
        InsertItem(block_id=LIST.id, text="More."),
        AddSection(heading="More"),
    ],
)
def test_shortening_adds_nothing(operation: Operation) -> None:
    carried = carry_out(DOCUMENT, proposed(operation), "compaction")
    assert [edit.skipped for edit in carried.edits] == [ADDS]
    assert carried.document == DOCUMENT


@pytest.mark.parametrize(
    "operation",
    [
        RemoveItem(block_id=LIST.id, item_id=STONE.id),
        ReplaceItem(block_id=LIST.id, item_id=STONE.id, text="Rock."),
        RemoveBlock(section_id=SECTION.id, block_id=LIST.id),
        ReplaceBlock(section_id=SECTION.id, block_id=LIST.id, text="Gone."),
        RemoveSection(section_id=SECTION.id),
        ReplaceSectionBlocks(section_id=SECTION.id),
    ],
)
def test_tk_02_shortening_never_loses_what_this_refresh_wrote(operation: Operation) -> None:
    carried = carry_out(DOCUMENT, proposed(operation), "compaction", protected={STONE.id})
    assert [edit.skipped for edit in carried.edits] == [JUST_WRITTEN]
    assert carried.document == DOCUMENT


def test_shortening_never_loses_it_by_an_edit_that_only_another_was_in_the_way_of() -> None:
    operations = [
        ReplaceBlock(section_id=SECTION.id, block_id=LIST.id, text="Gone."),
        RemoveItem(block_id=LIST.id, item_id=STONE.id),
    ]
    carried = carry_out(DOCUMENT, proposed(*operations), "compaction", protected={STONE.id})
    assert [edit.skipped for edit in carried.edits] == [JUST_WRITTEN, JUST_WRITTEN]
    assert carried.document == DOCUMENT


def test_shortening_may_touch_all_else() -> None:
    operations = [
        RemoveItem(block_id=LIST.id, item_id=ARCHES.id),
        RemoveBlock(section_id=SECTION.id, block_id=PROSE.id),
        RenameSection(section_id=SECTION.id, new_heading="The bridge"),
        MoveSection(section_id=SECTION.id),
    ]
    carried = carry_out(DOCUMENT, proposed(*operations), "compaction", protected={STONE.id})
    assert carried.document.render() == "# The bridge\n\n- Stone.\n"


def test_what_is_protected_from_shortening_is_no_obstacle_to_an_edit() -> None:
    carried = carry_out(
        DOCUMENT, proposed(RemoveItem(block_id=LIST.id, item_id=STONE.id)), "edit", protected={STONE.id}
    )
    assert carried.applied


@pytest.mark.parametrize(
    ("edits", "done"),
    [
        ([], True),
        ([ProposedEdit(GOOD, (ONE,))], True),
        ([ProposedEdit(WRONG_PLACE, (ONE,)), ProposedEdit(GOOD, (ONE,))], True),
        ([ProposedEdit(WRONG_PLACE), ProposedEdit(GOOD, (ONE,))], True),
        ([ProposedEdit(WRONG_PLACE, (ONE, fact_id(2))), ProposedEdit(GOOD, (ONE,))], False),
        ([ProposedEdit(WRONG_PLACE, (ONE,))], False),
        ([ProposedEdit(WRONG_PLACE)], False),
    ],
    ids=[
        "no edits",
        "one that was applied",
        "one that was skipped beside one for the same fact",
        "one for no fact beside one that was applied",
        "one that was skipped beside one for another fact",
        "one that was skipped",
        "one for no fact that was skipped",
    ],
)
def test_what_is_done_is_what_some_edit_did(edits: list[ProposedEdit], done: bool) -> None:
    told = not_done(carry_out(DOCUMENT, edits, "retraction").edits)
    assert told == (None if done else ALL_SKIPPED.format(count=1, reasons="unknown section_id: nowhere"))


# --- on another text --------------------------------------------------------------------------------------------------


def test_edits_are_carried_out_again_on_another_document_by_id() -> None:
    recorded = carry_out(DOCUMENT, proposed(GOOD, EMPTY), "edit", refused=[RefusedEdit("{}", "op: missing")]).edits
    longer = parse(TEXT + "\nWritten meanwhile.\n", DOCUMENT)
    document, edits = again(longer, recorded)
    assert document.render() == TEXT + "- Statues.\n\nWritten meanwhile.\n"
    assert [edit.skipped for edit in edits] == [None, "block text is empty", "op: missing"]
    assert again(parse("Something else.\n"), recorded)[1][0].skipped == f"unknown block_id: {LIST.id}"


def test_what_was_not_done_before_is_not_done_on_another_document_either() -> None:
    shortening = proposed(
        RemoveItem(block_id=LIST.id, item_id=STONE.id), RemoveItem(block_id=LIST.id, item_id=ARCHES.id)
    )
    recorded = carry_out(DOCUMENT, shortening, "compaction", protected={STONE.id}).edits
    longer = parse(TEXT + "\nWritten meanwhile.\n", DOCUMENT)
    document, edits = again(longer, recorded)
    assert document.render() == "# Bridge\n\nBegun in 1357.\n\n- Stone.\n\nWritten meanwhile.\n"
    assert [edit.skipped for edit in edits] == [JUST_WRITTEN, None]
