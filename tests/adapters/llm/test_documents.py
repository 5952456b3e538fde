"""The document a model delivers becomes markdown, or is refused with all that is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.llm.aliases import Aliases, Cited, Uncited
from adapters.llm.documents import DocumentRefused, is_blank, markdown_of
from domain.document.parsing import parse

SECTION = {"heading": "Colour", "level": 2, "blocks": ["Green.", "- a\n- b"]}
MARKDOWN = "## Colour\n\nGreen.\n\n- a\n- b\n"


def markdown(document: object) -> str:
    return markdown_of(document, Uncited).markdown


def refused(document: object) -> list[str]:
    with pytest.raises(DocumentRefused) as error:
        markdown(document)
    return error.value.errors


@pytest.mark.parametrize(
    "document",
    [
        {"sections": [SECTION]},
        [SECTION],
        SECTION,
        json.dumps({"sections": [SECTION]}),
        json.dumps(json.dumps({"sections": [SECTION]})),
        json.dumps([SECTION]),
        json.dumps({"sections": [SECTION]}) + "}]",
        "```json\n" + json.dumps({"sections": [SECTION]}) + "\n```",
    ],
    ids=["object", "list", "one section", "text", "text in text", "list as text", "brackets too many", "fenced"],
)
def test_accepted_shapes_give_the_same_document(document: object) -> None:
    assert markdown(document) == MARKDOWN


@pytest.mark.parametrize(
    ("heading", "level", "line"),
    [
        ("Colour", 3, "### Colour"),
        ("## Colour", 2, "## Colour"),
        ("Colour of\nthe\r\nbridge\u2028now", 1, "# Colour of the bridge now"),
        ("Colour", 0, "# Colour"),
        ("Colour", 9, "###### Colour"),
        ("Colour", None, "## Colour"),
        ("Colour", "3", "## Colour"),
        ("Colour", True, "## Colour"),
        ("C# and F#", 2, "## C# and F#"),
    ],
)
def test_a_heading_is_one_line_of_a_level_from_one_to_six(heading: str, level: Any, line: str) -> None:
    assert markdown([{"heading": heading, "level": level, "blocks": ["x"]}]) == f"{line}\n\nx\n"


def test_blocks_stand_one_blank_line_apart_and_lose_only_blank_lines_at_their_edges() -> None:
    blocks = ["\n \n    indented code\n\n    more  \n\n", "", " \u200b\n", "hard  \nbreak", "```\n\n\nx\n```"]

    assert markdown([{"blocks": blocks}]) == "    indented code\n\n    more  \n\nhard  \nbreak\n\n```\n\n\nx\n```\n"


def test_sections_without_anything_are_dropped_and_a_heading_alone_is_kept() -> None:
    sections = [{"heading": None, "blocks": None}, {}, {"heading": "#"}, {"heading": "Kept"}, {"heading": " "}]

    assert markdown({"sections": sections}) == "## Kept\n"


@pytest.mark.parametrize(
    "document",
    [
        None,
        "",
        {},
        [],
        {"sections": []},
        {"sections": None},
        "{}",
        [{"heading": "", "blocks": ["\u200b\u2060\ufeff", " \n\t"]}],
    ],
)
def test_what_nobody_could_see_is_an_empty_document(document: object) -> None:
    assert markdown(document) == ""


@pytest.mark.parametrize(
    ("document", "errors"),
    [
        ("# Just markdown", ["document: must be an object with `sections`, not text"]),
        (5, ["document: must be an object with `sections`, not a number"]),
        ({"content": "# x"}, ["document: must have a list `sections`"]),
        ({"sections": "x"}, ["sections: must be a list, not text"]),
        ({"sections": {}}, ["sections: must be a list, not an object"]),
        (
            [
                "text",
                {"heading": 3, "blocks": ["ok", 5, ["x"], None, {"text": "y"}]},
                {"heading": "h", "blocks": "all in one"},
            ],
            [
                "sections[0]: must be an object with heading, level and blocks, not text",
                "sections[1].heading: must be text, not a number",
                "sections[1].blocks[1]: must be text, not a number",
                "sections[1].blocks[2]: must be text, not a list",
                "sections[1].blocks[3]: must be text, not null",
                "sections[1].blocks[4]: must be text, not an object",
                "sections[2].blocks: must be a list of texts, not text",
            ],
        ),
        (
            [{"blocks": ['{"answer": "It is green.", "memory_ids": ["f1"]}']}],
            ["sections[0].blocks[0]: must be markdown, not the JSON of a reply"],
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_all_errors_at_once(document: object, errors: list[str]) -> None:
    assert refused(document) == errors


def test_json_shown_as_code_is_ordinary_text() -> None:
    block = '```json\n{"memory_ids": []}\n```'
    assert markdown([{"blocks": [block, '{"size": 3}']}]) == f'{block}\n\n{{"size": 3}}\n'


def delivered(*blocks: str, heading: str = "") -> tuple[str, list[Cited]]:
    aliases = Aliases({"f1": "one", "f2": "two"})
    document = markdown_of([{"heading": heading, "level": 2, "blocks": list(blocks)}], aliases.take_out)
    return document.markdown, document.cited


def test_headings_and_blocks_are_cleaned_and_what_that_leaves_empty_is_dropped() -> None:
    markdown, cited = delivered("[f1]", "Green [f1].", heading="Colour [f2]")

    assert markdown == "## Colour\n\nGreen.\n"
    assert cited == [Cited(9, "f2"), Cited(9, "f1"), Cited(16, "f1")]


@pytest.mark.parametrize(
    ("blocks", "places"),
    [
        (["Green [f1].", "- a [f1]\n- b [f2]\n- c"], ["Green", "- a", "- b"]),
        (["\n\nGreen [f1]", "| a |\n|---|\n| b [f2] |"], ["Green", "| b"]),
        (["Green.\n[f1]", "Red.", "[f2]"], ["Green.", "Red."]),
        (["[f1]\nGreen.", "[f2] Red."], ["", ""]),
    ],
)
def test_what_is_cited_is_known_by_its_place_in_the_markdown(blocks: list[str], places: list[str]) -> None:
    markdown, cited = delivered(*blocks)

    assert [markdown[:offset].rpartition("\n")[2] for offset, _ in cited] == places


PIECES = st.lists(
    st.tuples(st.sampled_from(["{}", "- {}", "1. {}\n2. other", "> {}", "| a |\n|---|\n| {} |"]), st.booleans()),
    min_size=1,
    max_size=6,
)


@given(PIECES)
def test_each_block_holds_the_places_of_its_citations(pieces: list[tuple[str, bool]]) -> None:
    aliases = Aliases({f"f{number}": str(number) for number in range(len(pieces))})
    blocks = [
        shape.format(f"[f{number}] word{number}" if first else f"word{number} [f{number}]")
        for number, (shape, first) in enumerate(pieces)
    ]
    document = markdown_of([{"heading": "", "blocks": ["apart", block]} for block in blocks], aliases.take_out)

    places: dict[int, str] = {}
    at = 0
    for section in parse(document.markdown).sections:
        for block in section.blocks:
            places |= {at + offset: block.source for offset in range(len(block.source) + 1)}
            at += len(block.source + block.gap)
    assert [f"word{name[1:]}" in places[offset] for offset, name in document.cited] == [True] * len(pieces)


def test_every_citation_lies_in_the_text() -> None:
    markdown, cited = delivered("[f1]", " \n[f1]\n\n", "x\n \n[f2]", "[f2]\n\n")

    assert markdown == "x\n"
    assert [offset for offset, _ in cited] == [0, 0, 1, 1]


def test_blank_is_what_has_no_visible_character() -> None:
    assert is_blank("")
    assert is_blank(" \n\t\u00a0\u200b\u200d\ufeff\u2060")
    assert not is_blank(" . ")
