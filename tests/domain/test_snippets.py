"""The part of a page that a search shows, and what of it was searched for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge_base.snippets import SNIPPET_CHARACTERS, snippet
from domain.terms import terms

LONG = f"{'one two three four. ' * 100}The zebra crosses the bridge. {'five six seven eight. ' * 100}"


def shown(text: str, query: str) -> str:
    """The snippet with what matches in brackets."""
    return "".join(f"[{piece.text}]" if piece.match else piece.text for piece in snippet(text, terms(query)))


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The team talks.", "talking teams", "The [team] [talks]."),
        ("The team talks.", "", "The team talks."),
        ("The team talks.", "zebra", "The team talks."),
        ("", "zebra", ""),
        ("a\n\n  b\tzebra", "zebra", "a b [zebra]"),
        ("Straße, STRASSE", "straße", "[Straße], [STRASSE]"),
        ("see foo_bar.baz now", "foo", "see [foo_bar.baz] now"),
        ("我们住在东京都。", "东京", "我们住在[东京]都。"),
        ("<b>zebra</b>", "zebra", "<b>[zebra]</b>"),
    ],
)
def test_words_are_shown_where_they_stand(text: str, query: str, expected: str) -> None:
    assert shown(text, query) == expected


def test_of_a_long_text_the_part_with_the_words_is_shown() -> None:
    told = shown(LONG, "zebra bridge")
    assert told.startswith("…")
    assert told.endswith("…")
    assert "The [zebra] crosses the [bridge]." in told
    assert len(told) < SNIPPET_CHARACTERS + 10


def test_of_a_long_text_without_the_words_the_beginning_is_shown() -> None:
    told = shown(LONG, "giraffe")
    assert told.startswith("one two three")
    assert told.endswith("…")
    assert len(told) <= SNIPPET_CHARACTERS + 1


def test_where_most_of_the_words_stand_together_is_shown() -> None:
    text = f"zebra. {'filler ' * 100} zebra and giraffe. {'filler ' * 100}"
    assert "[zebra] and [giraffe]" in shown(text, "zebra giraffe")


def test_a_word_that_is_longer_than_a_snippet_is_cut() -> None:
    told = "".join(piece.text for piece in snippet("x" * 1000, terms("zebra")))
    assert told == "x" * SNIPPET_CHARACTERS + "…"


@given(st.text(st.sampled_from("ab c東京.\n_-"), max_size=800), st.text(st.sampled_from("ab東京 "), max_size=10))
def test_the_pieces_joined_are_a_part_of_the_text(text: str, query: str) -> None:
    pieces = snippet(text, terms(query))
    assert all(piece.text for piece in pieces)
    joined = "".join(piece.text for piece in pieces)
    assert joined.strip("…") in " ".join(text.split())
    assert len(joined) <= SNIPPET_CHARACTERS + 2
