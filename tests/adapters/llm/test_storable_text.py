"""What a model replied can be stored afterwards."""

from __future__ import annotations

import pytest

from adapters.llm.storable_text import storable_json, storable_payload


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
