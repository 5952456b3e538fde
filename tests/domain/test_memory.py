"""Tokens of a text, and what a mind may ask for."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from pydantic import ValidationError

from domain.memory import estimated_tokens
from domain.reflection import ToolCall


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("Karlův most", 4), ("橋", 1), ("ab橋橋cd", 3), ("🌉", 1)],
)
def test_four_plain_characters_or_one_of_another_script_are_a_token(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == tokens


@for_all(st.text(), st.text())
def test_a_longer_text_never_has_fewer_tokens(text: str, more: str) -> None:
    assert estimated_tokens(text) <= estimated_tokens(text + more) <= estimated_tokens(text) + estimated_tokens(more)


@pytest.mark.parametrize("max_tokens", [999, 16001])
def test_a_mind_asks_for_1000_to_16000_tokens(max_tokens: int) -> None:
    with pytest.raises(ValidationError):
        ToolCall(tool="recall", query="bridge", max_tokens=max_tokens)
