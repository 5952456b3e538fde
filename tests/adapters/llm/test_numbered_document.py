"""The document an editor sees: ids before what they name, and nothing cut in the middle."""

from __future__ import annotations

import pytest

from adapters.llm.numbered_document import LARGEST_BLOCK, numbered
from domain.document import (
    AppendItem,
    InsertBlock,
    Operation,
    RemoveBlock,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
    ReplaceItem,
    ReplaceSectionBlocks,
    parse,
)
from domain.memory import estimated_tokens
from tests.adapters.llm.edit_requests import PAGE, ids_by_text

IDS = ids_by_text()


def test_every_section_block_item_and_row_stands_behind_its_id() -> None:
    assert numbered(parse(PAGE)).text == "\n".join(
        [
            "[preamble] (no heading)",
            f"[{IDS['It was built long ago.']}]",
            "It was built long ago.",
            "[colour] ## Colour",
            f"[{IDS['The bridge is red.']}]",
            "The bridge is red.",
            f"[{IDS['list of colour']}]",
            f"[{IDS['- north arch: red']}] - north arch: red",
            f"[{IDS['- south arch: rusty']}] - south arch: rusty",
            "[visits] ## Visits",
            f"[{IDS['table of visits']}]",
            "| year | visitors |",
            "|---|---|",
            f"[{IDS['| 2022 | 10 |']}] | 2022 | 10 |",
            f"[{IDS['| 2023 | 20 |']}] | 2023 | 20 |",
        ]
    )


def test_of_sections_that_are_not_shown_only_the_heading_is() -> None:
    text = numbered(parse(PAGE), shown=frozenset({"colour"})).text

    assert "[preamble] (no heading) (heading only)\n[colour] ## Colour\n" in text
    assert text.endswith("[visits] ## Visits (heading only)")
    assert "The bridge is red." in text
    assert "long ago" not in text


def test_notes_stand_in_the_brackets() -> None:
    text = numbered(parse(PAGE), notes={"colour": "2024-01-02", IDS["- north arch: red"]: "2024-03-04 f1 f2"}).text

    assert "[colour 2024-01-02] ## Colour" in text
    assert f"[{IDS['- north arch: red']} 2024-03-04 f1 f2] - north arch: red" in text


def test_marks_that_were_copied_with_a_text_are_taken_off_and_nothing_else() -> None:
    item = IDS["- north arch: red"]
    document = numbered(parse(PAGE), notes={"colour": "2024-01-02"})

    assert document.without_marks(f"[{item}] - north\n[{IDS['It was built long ago.']}]\nx") == "- north\n\nx"
    assert document.without_marks("[colour 2024-01-02] x") == "x"
    assert document.without_marks("[link](url)\n- [ ] task\n  [b1] x") == "[link](url)\n- [ ] task\n  [b1] x"


# Blocks too large for a prompt


def rows(count: int) -> str:
    return "| name | text |\n|---|---|\n" + "".join(f"| row {number} | {'word ' * 20}|\n" for number in range(count))


@pytest.mark.parametrize(
    ("large", "left_out"),
    [
        (rows(400), "items not shown"),
        ("".join(f"- item {number} {'word ' * 20}\n" for number in range(400)), "items not shown"),
        ("```\n" + "".join(f"line {number} {'word ' * 20}\n" for number in range(400)) + "```\n", "lines not shown"),
        ("- a\n" + "".join(f"  line {number} {'word ' * 20}\n" for number in range(400)), "lines not shown"),
        ("word " * 8000, "characters not shown"),
        ("| a |\n|---|\n| " + "word " * 8000 + "|\n| last |\n", "characters not shown"),
    ],
    ids=["table", "list", "code", "one item", "one line", "one row"],
)
def test_of_a_block_that_is_too_large_both_ends_are_shown(large: str, left_out: str) -> None:
    (block,) = parse(large).sections[0].blocks
    document = numbered(parse(f"# Small\n\nShort.\n\n# Large\n\n{large}"))

    assert estimated_tokens(block.source) > LARGEST_BLOCK
    assert estimated_tokens(document.text) < 3000
    assert left_out in document.text
    assert f"[{block.id}] (too large to show in whole" in document.text
    lines = large.strip().split("\n")
    assert lines[0][:200].strip() in document.text
    assert lines[-1][-200:].strip() in document.text
    assert {block.id, "large"} <= document.abridged
    assert "small" not in document.abridged


def test_items_that_are_shown_are_shown_whole_and_can_be_changed() -> None:
    document = parse(rows(400))
    (block,) = document.sections[0].blocks
    shown = numbered(document)

    ids = [item.id for item in block.items if f"[{item.id}]" in shown.text]
    assert block.items[0].id in ids
    assert block.items[-1].id in ids
    assert f"(... {len(block.items) - len(ids)} items not shown ...)" in shown.text
    assert all(f"[{item.id}] {item.source}" in shown.text for item in block.items if item.id in ids)
    assert shown.objection(ReplaceItem(block_id=block.id, item_id=ids[0], text="| x |")) is None
    assert shown.objection(AppendItem(block_id=block.id, text="| x |")) is None


# What would overwrite text that was not shown


def test_what_is_not_shown_is_never_overwritten() -> None:
    page = f"# Small\n\nShort.\n\n# Large\n\n{rows(400)}\n# Elsewhere\n\nHidden.\n"
    document = parse(page)
    large = document.sections[1].blocks[0].id
    shown = numbered(document, shown=frozenset({"small", "large"}))

    def objection(operation: Operation) -> str:
        return (shown.objection(operation) or "").partition(":")[0]

    assert objection(ReplaceBlock(section_id="large", block_id=large, text="x")) == "block_id"
    assert objection(ReplaceSectionBlocks(section_id="large", blocks=("x",))) == "section_id"
    assert objection(ReplaceSectionBlocks(section_id="elsewhere", blocks=("x",))) == "section_id"
    assert objection(RemoveSection(section_id="elsewhere")) == "section_id"
    for allowed in (
        RemoveBlock(section_id="large", block_id=large),
        RemoveSection(section_id="large"),
        ReplaceSectionBlocks(section_id="small", blocks=("x",)),
        ReplaceBlock(section_id="small", block_id=document.sections[0].blocks[0].id, text="x"),
        InsertBlock(section_id="elsewhere", text="x"),
        RenameSection(section_id="elsewhere", new_heading="x"),
    ):
        assert objection(allowed) == ""


def test_an_item_that_is_shown_in_part_is_not_replaced() -> None:
    document = parse("- short\n- a\n" + "".join(f"  line {number} {'word ' * 20}\n" for number in range(400)))
    (block,) = document.sections[0].blocks
    shown = numbered(document)

    assert shown.objection(ReplaceItem(block_id=block.id, item_id=block.items[0].id, text="- x")) is None
    assert "item_id" in (shown.objection(ReplaceItem(block_id=block.id, item_id=block.items[1].id, text="- x")) or "")
