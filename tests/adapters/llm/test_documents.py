"""The document a model delivers becomes markdown, or is refused with all that is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.llm.documents import DocumentRefused, is_blank, markdown_of

SECTION = {"heading": "Colour", "level": 2, "blocks": ["Green.", "- a\n- b"]}
MARKDOWN = "## Colour\n\nGreen.\n\n- a\n- b\n"


def markdown(document: object) -> str:
    return markdown_of(document, str)


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


def test_headings_and_blocks_are_cleaned_and_what_that_leaves_empty_is_dropped() -> None:
    def clean(text: str) -> str:
        return text.replace("[f1]", "")

    sections = [{"heading": "Colour[f1]", "level": 2, "blocks": ["[f1]", "Green[f1]."]}]

    assert markdown_of(sections, clean) == "## Colour\n\nGreen.\n"


def test_blank_is_what_has_no_visible_character() -> None:
    assert is_blank("")
    assert is_blank(" \n\t\u00a0\u200b\u200d\ufeff\u2060")
    assert not is_blank(" . ")
