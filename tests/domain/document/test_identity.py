"""Ids kept apart from the text find their pieces again, or give way to new ones."""

import pytest
from hypothesis import given

from domain.document import identified, ids_of, parse
from tests.domain.document.markdown_texts import any_text, blocks_of, markdown_text, unhurried

TEXT = "intro\n\n# A\n\n- x\n- y\n\n# B\n"
IDS = ("preamble", "b1", "a", "b2", "i1", "i2", "b")


def test_ids_are_given_by_position() -> None:
    document = identified(TEXT, IDS)
    assert ids_of(document) == IDS
    assert document.render() == TEXT
    assert [item.id for item in blocks_of(document)[1].items] == ["i1", "i2"]


@pytest.mark.parametrize(
    "ids",
    [
        (),
        IDS[:-1],
        (*IDS, "c"),
        ("preamble", "b1", "a", "b2", "i1", "b3", "b"),  # an item cannot have the id of a block
        ("preamble", "x", "a", "b2", "i1", "i2", "b"),
        ("preamble", "b1", "a", "b1", "i1", "i2", "b"),  # twice the same
    ],
)
def test_ids_that_cannot_be_those_of_the_text_are_derived_from_it(ids: tuple[str, ...]) -> None:
    assert identified(TEXT, ids) == parse(TEXT)


@unhurried
@given(any_text)
def test_any_document_is_found_again(text: str) -> None:
    document = parse(text)
    assert identified(text, ids_of(document)) == document


@unhurried
@given(markdown_text, markdown_text)
def test_so_is_one_that_continues_another(before: str, text: str) -> None:
    document = parse(text, previous=parse(before))
    assert identified(document.render(), ids_of(document)) == document
