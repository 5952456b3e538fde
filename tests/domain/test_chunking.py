"""Texts are cut without losing anything, at the best border there is."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.chunking import CHUNK_SIZE, chunks_of


def texts_of(text: str, size: int = CHUNK_SIZE) -> list[str]:
    chunks = chunks_of(text, size)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    return [chunk.text for chunk in chunks]


@given(st.text(st.sampled_from("ab .!\n\r\t。é😀|"), max_size=400), st.integers(1, 60))
def test_the_chunks_joined_are_the_text_and_none_is_too_long_or_empty(text: str, size: int) -> None:
    parts = list(texts_of(text, size))
    assert "".join(parts) == text
    assert all(0 < len(part) <= size for part in parts)


def test_a_short_text_is_one_chunk_and_an_empty_one_none() -> None:
    assert list(texts_of("short")) == ["short"]
    assert list(texts_of("")) == []
    assert list(texts_of("x" * CHUNK_SIZE)) == ["x" * CHUNK_SIZE]


def test_paragraphs_are_preferred_to_lines_lines_to_sentences_sentences_to_words() -> None:
    assert list(texts_of("One. Two\nthree\n\nfour five", 20)) == ["One. Two\nthree\n\n", "four five"]
    assert list(texts_of("One. Two\r\n\r\nfour five", 18)) == ["One. Two\r\n\r\n", "four five"]
    assert list(texts_of("One. Two three\nfour five", 20)) == ["One. Two three\n", "four five"]
    assert list(texts_of('He said "No." Then he left', 20)) == ['He said "No." ', "Then he left"]
    assert list(texts_of("一二三。四五六七八", 6)) == ["一二三。", "四五六七八"]
    assert list(texts_of("words without an end", 10)) == ["words ", "without ", "an end"]
    assert list(texts_of("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_border_near_the_start_of_a_chunk_does_not_make_it_tiny() -> None:
    assert list(texts_of("a\n\nbbbbb ccccc ddddd", 15)) == ["a\n\nbbbbb ccccc ", "ddddd"]


def test_a_long_text_is_cut_quickly() -> None:
    started = time.perf_counter()
    assert "".join(texts_of(" " * 300_000 + "word " * 100_000)) == " " * 300_000 + "word " * 100_000
    assert time.perf_counter() - started < 5


# --- what was read before ---------------------------------------------------------------------------------------------


def parts(text: str, size: int, known: Sequence[str] = (), structured: int | None = None) -> list[str]:
    chunks = chunks_of(text, size, structured, known)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    return [chunk.text for chunk in chunks]


def paragraphs(*names: str) -> str:
    return "\n\n".join(f"Paragraph {name} " + "goes on and on. " * 10 for name in names)


@pytest.mark.parametrize(
    ("changed", "new"),
    [
        (paragraphs("a", "b", "X and more words", "d", "e"), 1),
        (paragraphs("X", "a", "b", "c", "d", "e"), 1),
        (paragraphs("a", "b", "c", "d", "e", "X"), 1),
        (paragraphs("a", "c", "d", "e"), 0),
        (paragraphs("a", "X", "c", "Y", "e"), 2),
        (paragraphs("a", "b", "c", "d", "e"), 0),
    ],
    ids=["in the middle", "before", "after", "taken out", "two", "none"],
)
def test_only_what_changed_is_cut_anew(changed: str, new: int) -> None:
    known = parts(paragraphs("a", "b", "c", "d", "e"), 200)
    assert len(known) == 5
    again = parts(changed, 200, known)
    assert "".join(again) == changed
    assert len([part for part in again if part not in known]) == new + (changed[-1:] == "X")


def test_a_text_that_goes_on_in_its_last_line_is_read_with_that_line() -> None:
    known = parts("One line.\nAnother line", 100)
    assert parts("One line.\nAnother line that goes on.", 100, known) == ["One line.\nAnother line that goes on."]
    assert parts("One line.\nAnother line\nA third.", 100, known) == [*known, "\nA third."]


def test_a_known_chunk_is_not_found_inside_a_word() -> None:
    assert parts("cowboys", 100, ["cow"]) == ["cowboys"]
    assert parts("cowboys", 100, ["boys"]) == ["cowboys"]


@given(st.text(alphabet="ab \n.", max_size=200), st.text(alphabet="ab \n.", max_size=200), st.integers(5, 60))
def test_chunks_joined_are_the_text_whatever_was_known(before: str, text: str, size: int) -> None:
    known = parts(before, size)
    again = parts(text, size, known)
    assert "".join(again) == text
    assert all(len(part) <= size or part in known for part in again)


# --- conversations ----------------------------------------------------------------------------------------------------


def turn(number: int, length: int = 20) -> str:
    return json.dumps({"role": "user", "content": f"{number} " + "x" * length})


def test_a_conversation_is_cut_between_turns_only() -> None:
    turns = [turn(number) for number in range(5)]
    text = "[" + ", ".join(turns) + "]"
    cut = parts(text, 3000, structured=len(turns[0]) * 2 + 5)
    assert "".join(cut) == text
    assert [sum(each in part for each in turns) for part in cut] == [2, 2, 1]


def test_a_turn_that_is_too_large_is_a_chunk_all_the_same() -> None:
    text = "\n".join([turn(0), turn(1, 500), turn(2)]) + "\n"
    assert parts(text, 100) == [f"{turn(0)}\n", f"{turn(1, 500)}\n", turn(2) + "\n"]


@pytest.mark.parametrize(
    "text", ["[1, 2, 3]", "[note] text", '{"a": 1}', '[{"a": 1}', '{"a": 1}\nnot json', "[", "{}", ""]
)
def test_what_is_no_conversation_is_cut_like_any_text(text: str) -> None:
    assert parts(text, 3000, structured=2) == ([text] if text else [])


def test_one_object_in_json_is_no_conversation_and_is_cut_like_any_text() -> None:
    text = '{"role": "user", "content": "' + "many words " * 600 + '"}'
    chunks = chunks_of(text, 3000)
    assert max(len(chunk.text) for chunk in chunks) <= 3000
    assert "".join(chunk.text for chunk in chunks) == text


def test_a_turn_that_nobody_could_read_in_one_go_is_cut_as_any_text() -> None:
    turns = ['{"content": "short"}', '{"content": "' + "word " * 200 + '"}', '{"content": "end"}']
    text = "[" + ", ".join(turns) + "]"

    parts = texts_of(text, 60)

    assert "".join(parts) == text
    assert max(map(len, parts)) <= 60
    assert any(len(part) > 400 for part in texts_of(text, 400)), "a turn is not cut while it can be read"
