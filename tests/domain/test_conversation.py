from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chunking import chunks_of
from domain.conversation import readable, transcript, turns_in


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        ({"role": "user", "content": "Hi."}, "User: Hi."),
        ({"role": "user", "name": "ada", "content": "Hi."}, "Ada: Hi."),
        ({"role": "assistant", "name": "Rex", "content": "Hi."}, "Assistant: Hi. (name: Rex)"),
        ({"speaker": "Ada: x [y]", "text": "Hi."}, "Ada x y: Hi."),
        ({"sender": "Ada", "message": "Hi.", "created_at": "2024-03-01 10:00"}, "[2024-03-01 10:00] Ada: Hi."),
        ({"role": "user", "content": "Hi.", "timestamp": 1709251200, "id": 7}, "[2024-03-01T00:00:00+00:00] User: Hi."),
        ({"role": "user", "content": [{"type": "text", "text": "A"}, {"type": "image"}, {"text": "B"}]}, "User: A\nB"),
        ({"role": "user", "content": "Hi.", "city": "Rome", "tags": ["x"]}, "User: Hi. (city: Rome)"),
    ],
)
def test_a_turn_is_a_line_that_says_who_spoke_when_and_what(turn: dict[str, Any], line: str) -> None:
    assert readable(json.dumps([turn, turn])) == f"{line}\n\n{line}"
    assert readable(f"{json.dumps(turn)}\n{json.dumps(turn)}") == f"{line}\n\n{line}"


@pytest.mark.parametrize(
    "text",
    [
        *("Ada: Hi.", "", "[]", "{}", '{"a": 1}', '[{"role": "user"}]', '[{"content": "x"}]', '"{"', "[1, 2]"),
        *('{"role": "", "content": "x"}', '{"role": 1e999, "content": {}}', "{" * 5000, '{"text": ' * 3000),
    ],
)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert readable(text) == text
    assert transcript(text) is None


TURNS = [{"role": "user", "content": f"Turn {number}. " + "word " * 30} for number in range(30)]


def test_a_chunk_of_a_conversation_is_as_readable_as_the_whole() -> None:
    chunks = chunks_of(json.dumps(TURNS), 1000)
    assert len(chunks) > 3
    assert "\n\n".join(readable(chunk.text) for chunk in chunks) == readable(json.dumps(TURNS))


def test_a_part_cut_inside_turns_loses_nothing() -> None:
    whole = json.dumps(TURNS)
    shown = readable(whole[250:3000])
    assert "Turn 5. word" in shown
    assert all(f"Turn {number}." in shown for number in range(2, 14))


def test_each_part_of_a_transcript_knows_where_it_stands_in_the_json() -> None:
    whole = json.dumps({"messages": TURNS})
    written = transcript(whole)
    assert written is not None
    for number in range(30):
        begin = written.origin(written.text.index(f"Turn {number}."))
        assert whole[begin:].startswith(json.dumps(TURNS[number]))


@given(st.text(alphabet=st.sampled_from('{}[]",:\\ab1\n "role":"u","content":"x"'), max_size=200))
def test_no_text_fails(text: str) -> None:
    turns = turns_in(text)
    assert all(turn.begin < turn.end <= len(text) for turn in turns)
    assert bool(turns) == (transcript(text) is not None) or not any(map(str.isalnum, readable(text)))


@pytest.mark.parametrize("piece", ['{"role":"u","content":"x"},', '{"text":"', '{"a":{"text":', "[{", '"text" {'])
def test_a_megabyte_is_read_in_a_second(piece: str) -> None:
    started = time.process_time()
    readable(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 5
