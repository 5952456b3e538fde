"""Text from anywhere can be stored afterwards."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.llm.storable_text import storable_json, storable_payload
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


@given(ANY_TEXT)
def test_every_text_becomes_valid_utf_8_without_nul_and_stays_so(text: str) -> None:
    stored = storable(text)
    assert b"\x00" not in stored.encode()
    assert storable(stored) == stored


@given(st.text())
def test_text_that_can_be_stored_is_left_alone(text: str) -> None:
    assert storable(text) == text.replace("\x00", "")


def test_json_is_cleaned_all_the_way_down() -> None:
    value = {"a\x00": ["\ud83d", {"b": ("x\x00", 1, None, True)}]}
    assert storable_json(value) == {"a": ["\ufffd", {"b": ["x", 1, None, True]}]}


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (rb'{"a": "x\u0000y \uD83D z"}', {"a": "xy \ufffd z"}),
        (b'\xef\xbb\xbf{"a": "bom"}', {"a": "bom"}),
        (b'{"a": "broken \xff utf-8"}', {"a": "broken \ufffd utf-8"}),
        (rb'{"a": "\ud83d\ude00"}', {"a": "😀"}),
        (b"[1.5, 2]", [1.5, 2]),
    ],
)
def test_a_body_is_read_and_cleaned(raw: bytes, value: object) -> None:
    assert storable_payload(raw) == value
