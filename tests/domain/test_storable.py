"""Text from anywhere can be stored afterwards, and what could be stored stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.storable import storable

ANY_TEXT = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain", "plain"),
        ("Příliš žluťoučký 😀", "Příliš žluťoučký 😀"),
        ("a\x00b", "ab"),
        ("\ud83d tail", "\ufffd tail"),
        ("tail \ude00", "tail \ufffd"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d\x00\ude00", "😀"),
        ("<|endoftext|>", "<|endoftext|>"),
        ("", ""),
    ],
)
def test_nul_goes_pairs_are_joined_and_lone_surrogates_replaced(text: str, stored: str) -> None:
    assert storable(text) == stored


@for_all(ANY_TEXT)
def test_every_text_becomes_valid_utf_8_without_nul_and_stays_so(text: str) -> None:
    stored = storable(text)
    assert b"\x00" not in stored.encode()
    assert storable(stored) == stored


@for_all(st.text())
def test_text_that_can_be_stored_is_left_alone(text: str) -> None:
    assert storable(text) == text.replace("\x00", "")
