"""Texts are cut without losing anything, at the best border there is."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from adapters.llm.chunks import CHUNK_SIZE, chunks


@given(st.text(st.sampled_from("ab .!\n\r\t。é😀|"), max_size=400), st.integers(1, 60))
def test_the_chunks_joined_are_the_text_and_none_is_too_long_or_empty(text: str, size: int) -> None:
    parts = list(chunks(text, size))
    assert "".join(parts) == text
    assert all(0 < len(part) <= size for part in parts)


def test_a_short_text_is_one_chunk_and_an_empty_one_none() -> None:
    assert list(chunks("short")) == ["short"]
    assert list(chunks("")) == []
    assert list(chunks("x" * CHUNK_SIZE)) == ["x" * CHUNK_SIZE]


def test_paragraphs_are_preferred_to_lines_lines_to_sentences_sentences_to_words() -> None:
    assert list(chunks("One. Two\nthree\n\nfour five", 20)) == ["One. Two\nthree\n\n", "four five"]
    assert list(chunks("One. Two\r\n\r\nfour five", 18)) == ["One. Two\r\n\r\n", "four five"]
    assert list(chunks("One. Two three\nfour five", 20)) == ["One. Two three\n", "four five"]
    assert list(chunks('He said "No." Then he left', 20)) == ['He said "No." ', "Then he left"]
    assert list(chunks("一二三。四五六七八", 6)) == ["一二三。", "四五六七八"]
    assert list(chunks("words without an end", 10)) == ["words ", "without ", "an end"]
    assert list(chunks("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]


def test_a_border_near_the_start_of_a_chunk_does_not_make_it_tiny() -> None:
    assert list(chunks("a\n\nbbbbb ccccc ddddd", 15)) == ["a\n\nbbbbb ccccc ", "ddddd"]


def test_a_long_text_is_cut_quickly() -> None:
    started = time.perf_counter()
    assert "".join(chunks(" " * 300_000 + "word " * 100_000)) == " " * 300_000 + "word " * 100_000
    assert time.perf_counter() - started < 5
