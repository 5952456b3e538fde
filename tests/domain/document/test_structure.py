"""The shape on the wire."""

import json

from domain.document import parse, to_structure


def test_the_structure_has_schema_version_2_of_the_reference() -> None:
    document = parse("intro\n\n### Title ###\n\n- a\n- b\n\n\n```\nc\n```\n")
    intro, items, code = (block.id for section in document.sections for block in section.blocks)
    assert to_structure(document) == {
        "version": 2,
        "sections": [
            {"id": "preamble", "heading": "", "level": 2, "blocks": [{"id": intro, "text": "intro"}]},
            {
                "id": "title",
                "heading": "Title",
                "level": 3,
                "blocks": [{"id": items, "text": "- a\n- b"}, {"id": code, "text": "```\nc\n```"}],
            },
        ],
    }


def test_a_blank_document_has_the_empty_structure() -> None:
    assert to_structure(parse("\n \n")) == {"version": 2, "sections": []}


def test_the_structure_is_json() -> None:
    structure = to_structure(parse("# 概要\n\n\x00 text\n"))
    assert json.loads(json.dumps(structure)) == structure
