"""Ids name exactly one thing: whatever else they say is skipped with the reason, and the rest is applied."""

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
)
from tests.domain.document.edits.outcomes import b, i, skipped

TEXT = "intro\n\n# A\n\none\n\n- x\n\n# B\n\n- y\n\n|k|\n|-|\n|v|\n"
ONE, X, Y = b("one"), b("- x"), b("- y")
OTHER_SECTION = f"block_id {Y} belongs to section b, not a"
OTHER_BLOCK = f"item_id {i('- y')} belongs to block {Y}, not {X}"


@pytest.mark.parametrize("section_id", ["nowhere", "", "A", "# A", ONE, i("- x"), "\ud800"])
def test_a_section_id_that_is_none_is_unknown(section_id: str) -> None:
    operations: list[Operation] = [
        AppendBlock.model_construct(section_id=section_id, text="t"),
        InsertBlock.model_construct(section_id=section_id, text="t", after_block_id=None),
        ReplaceBlock.model_construct(section_id=section_id, block_id=ONE, text="t"),
        RemoveBlock.model_construct(section_id=section_id, block_id=ONE),
        RemoveSection.model_construct(section_id=section_id),
        ReplaceSectionBlocks.model_construct(section_id=section_id, blocks=("t",)),
        RenameSection.model_construct(section_id=section_id, new_heading="t"),
        MoveSection.model_construct(section_id=section_id, after_section_id=None),
        AppendBlock.model_construct(section_id=section_id, text=""),
    ]
    for operation in operations:
        assert skipped(TEXT, operation) == (f"unknown section_id: {section_id}", True)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (ReplaceBlock(section_id="a", block_id="nowhere", text="t"), "unknown block_id: nowhere"),
        (ReplaceBlock(section_id="a", block_id="a", text="t"), "unknown block_id: a"),
        (ReplaceBlock(section_id="a", block_id=i("- x"), text="t"), f"unknown block_id: {i('- x')}"),
        (ReplaceBlock(section_id="a", block_id=Y, text="t"), OTHER_SECTION),
        (RemoveBlock(section_id="a", block_id=Y), OTHER_SECTION),
        (RemoveBlock(section_id="preamble", block_id=ONE), f"block_id {ONE} belongs to section a, not preamble"),
        (InsertBlock(section_id="a", after_block_id="nowhere", text="t"), "unknown after_block_id: nowhere"),
        (InsertBlock(section_id="a", after_block_id=Y, text="t"), f"after_{OTHER_SECTION}"),
        (MoveSection(section_id="a", after_section_id="nowhere"), "unknown after_section_id: nowhere"),
        (AddSection(heading="N", after_section_id=ONE), f"unknown after_section_id: {ONE}"),
        (AppendItem(block_id="nowhere", text="t"), "unknown block_id: nowhere"),
        (AppendItem(block_id="a", text="t"), "unknown block_id: a"),
        (AppendItem(block_id=ONE, text="t"), f"block_id {ONE} has no items"),
        (InsertItem(block_id=X, after_item_id="nowhere", text="t"), "unknown after_item_id: nowhere"),
        (InsertItem(block_id=X, after_item_id=i("- y"), text="t"), f"after_{OTHER_BLOCK}"),
        (ReplaceItem(block_id=X, item_id=X, text="t"), f"unknown item_id: {X}"),
        (ReplaceItem(block_id=X, item_id=i("- y"), text="t"), OTHER_BLOCK),
        (RemoveItem(block_id=X, item_id=i("- y")), OTHER_BLOCK),
        (RemoveItem(block_id=ONE, item_id=i("- y")), f"block_id {ONE} has no items"),
    ],
)
def test_an_id_that_names_nothing_there_is_a_bad_reference(operation: Operation, reason: str) -> None:
    assert skipped(TEXT, operation) == (reason, True)


def test_an_empty_text_is_found_before_the_block_is_looked_for() -> None:
    assert skipped(TEXT, ReplaceBlock(section_id="a", block_id="nowhere", text=" "))[0] == "block text is empty"
    assert skipped(TEXT, InsertBlock(section_id="a", after_block_id="nowhere", text=""))[0] == "block text is empty"
    assert skipped(TEXT, ReplaceItem(block_id=X, item_id="nowhere", text=" "))[0] == "item text is empty"
