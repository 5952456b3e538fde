"""Text made to hurt a parser costs time in proportion to its length, and no construct swallows what follows it."""

import time
from collections.abc import Callable

import pytest

from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    Operation,
    ReplaceBlock,
    ReplaceSectionBlocks,
    apply,
    parse,
    plain_text,
)
from tests.domain.document.markdown_texts import blocks_of, titles_of

SIZE = 30_000
DEADLINE_SECONDS = 20.0  # each takes well under one on a small machine; quadratic ones would take minutes


def repeated(unit: str) -> str:
    return unit * (SIZE // len(unit))


def wide_table(columns: int) -> str:
    return "|a" * columns + "\n" + "|-" * columns + "\n" + "|\n" * columns + "\n"


HOSTILE = {
    "quotes": repeated(">"),
    "spaced quotes": repeated("> "),
    "nested items": repeated("- ") + "a",
    "quotes and items": repeated("> - "),
    "deep quotes, then lazy lines": ">" * 90 + "a\n" + repeated("b\n"),
    "growing indentation": "".join(" " * (2 * depth) + "- a\n" for depth in range(170)),
    "brackets": repeated("["),
    "bracket pairs": repeated("[]"),
    "nested links": repeated("[") + "a" + repeated("](b)"),
    "nested images": repeated("![") + "a" + repeated("](b)"),
    "emphasis": repeated("*a _b "),
    "stars": repeated("*"),
    "backticks": "".join("`" * run + " " for run in range(240)),
    "tags": repeated("<a "),
    "tag with attributes": "<a" + repeated(" a='b'"),
    "comments": repeated("<!-- a\n"),
    "CDATA": repeated("<![CDATA["),
    "entities": repeated("&#x"),
    "backslashes": repeated("\\"),
    "definitions without end": repeated('[a]: x "t\n'),
    "labels without end": repeated("[a\n"),
    "references": "[a]: /x\n\n" + repeated("[b][a"),
    "delimiter rows": repeated("a|b\n-|-\n"),
    "tables of empty cells": wide_table(150) * (SIZE // len(wide_table(150))),
    "fences": repeated("```\n"),
    "bullets": repeated("- a\n"),
    "headings": repeated("# a\n"),
    "equal blocks": repeated("a\n\n"),
    "combining marks": "# a" + repeated("\u0301\u0323"),
    "front matter without end": "---\n" + repeated("a: b\n"),
    "blank lines": repeated("\n"),
    "lone CR": repeated("\r"),
}


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_in_time_and_comes_back(text: str) -> None:
    document = parse(text)
    assert document.render() == text
    assert seconds(lambda: parse(text)) < DEADLINE_SECONDS
    assert seconds(lambda: parse(text, previous=document)) < DEADLINE_SECONDS
    assert seconds(lambda: plain_text(document)) < DEADLINE_SECONDS


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_edited_and_inserted_in_time(text: str) -> None:
    document = parse(f"{text}\n\n# End\n\n- x\n\nlast\n")
    section = document.sections[-1].id
    block, last = document.sections[-1].blocks[-2:] if section == "end" else (None, None)
    operations: list[Operation] = [
        AppendBlock(section_id=section, text=text),
        AppendItem(block_id="nowhere" if block is None else block.id, text=text),
        ReplaceBlock(section_id=section, block_id="nowhere" if last is None else last.id, text=text),
        ReplaceSectionBlocks(section_id=section, blocks=(text, text)),
        AddSection(heading=text, blocks=(text,)),
        *(
            ReplaceBlock(section_id=section.id, block_id=block.id, text=f"{block.source}\n\nmore")
            for section in document.sections[:1]
            for block in section.blocks[:1]
        ),
    ]
    assert seconds(lambda: apply(document, operations)) < DEADLINE_SECONDS


@pytest.mark.parametrize("opening", [">" * 5000, "> " * 5000, "- " * 5000, "1. " * 5000, "- > " * 5000])
def test_a_construct_too_deep_to_follow_does_not_swallow_the_next_section(opening: str) -> None:
    document = parse(f"{opening}deep\n\n# Next\n\ntext\n")
    assert titles_of(document) == [None, "Next"]
    assert len(blocks_of(document)) == 2


def test_an_item_after_one_too_deep_to_follow_is_still_an_item() -> None:
    (block,) = blocks_of(parse("- " * 50 + "deep\n- next\n\n  more\n"))
    assert [item.source for item in block.items] == ["- " * 50 + "deep", "- next\n\n  more"]


def test_lists_are_followed_ten_deep() -> None:
    nested = "".join(" " * (2 * depth) + f"- level {depth}\n" for depth in range(12))
    document = parse(f"{nested}- last\n\n# Next\n")
    assert titles_of(document) == [None, "Next"]
    assert [item.source for item in blocks_of(document)[0].items] == [nested.rstrip("\n"), "- last"]
