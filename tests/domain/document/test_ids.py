"""Ids at birth: short, deterministic, from content, unique in the document."""

import hashlib

import pytest
from hypothesis import given

from domain.document import parse
from tests.domain.document.markdown_texts import any_text, blocks_of, ids_of, markdown_text, unhurried


def section_ids(text: str) -> list[str]:
    return [section.id for section in parse(text).sections]


@unhurried
@given(any_text)
def test_ids_are_unique_in_any_text(text: str) -> None:
    ids = ids_of(parse(text))
    assert len(set(ids)) == len(ids)


@unhurried
@given(markdown_text)
def test_the_same_markdown_gives_the_same_document(text: str) -> None:
    first = parse(text)
    assert parse(text) == first
    assert len(set(ids_of(first))) == len(ids_of(first))


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Getting started", "getting-started"),
        ("  What's new -- in v2.0?  ", "what-s-new-in-v2-0"),
        ("snake_case & `code`", "snake-case-code"),
        ("C#", "c"),
        ("Été Ça", "été-ça"),
        ("E\u0301te\u0301 C\u0327a", "été-ça"),
        ("概要", "概要"),
        ("設計 v2", "設計-v2"),
        ("ＡＰＩ", "api"),
        ("हिन्दी में", "हिन्दी-में"),
        ("مقدمة", "مقدمة"),
        ("Straße", "straße"),
        ("🚀", "section"),
        ("❤️", "section"),
        ("🚀 Launch", "launch"),
        ("***", "section"),
        ("\ud800", "section"),
    ],
)
def test_a_section_id_is_made_of_the_words_of_its_title(title: str, expected: str) -> None:
    assert section_ids(f"# {title} #\n") == [expected]


def test_a_long_title_is_cut_at_a_word() -> None:
    assert section_ids("# " + "nine char " * 12 + "\n") == [
        "nine-char-nine-char-nine-char-nine-char-nine-char-nine-char-nine"
    ]
    assert section_ids("# " + "x" * 200 + "\n") == ["x" * 64]
    assert section_ids("# " + "x" * 64 + " y\n") == ["x" * 64]


def test_a_taken_section_id_gets_the_first_free_number() -> None:
    assert section_ids("# A\n# A\n# A-2\n# A\n") == ["a", "a-2", "a-2-2", "a-3"]
    assert section_ids("# A-2\n# A\n# A\n") == ["a-2", "a", "a-3"]
    assert section_ids("# 🚀\n# 🎉\n") == ["section", "section-2"]


def test_a_heading_named_preamble_yields_to_the_preamble() -> None:
    assert section_ids("intro\n\n# Preamble\n") == ["preamble", "preamble-2"]


def test_block_and_item_ids_are_the_start_of_the_sha1_of_their_source() -> None:
    (block,) = blocks_of(parse("- é\n- x\n"))
    assert block.id == "b" + hashlib.sha1("- é\n- x".encode()).hexdigest()[:8]
    assert block.items[0].id == "i" + hashlib.sha1("- é".encode()).hexdigest()[:8]


def test_equal_blocks_and_items_anywhere_get_numbers() -> None:
    blocks = blocks_of(parse("same\n\n- x\n- x\n\n# H\n\nsame\n\n* y\n\n- x\n"))
    same = [block.id for block in blocks if block.source == "same"]
    assert same == [same[0], same[0] + "-2"]
    items = [item.id for block in blocks for item in block.items if item.source == "- x"]
    assert items == [items[0], items[0] + "-2", items[0] + "-3"]
