"""Facts go by short names, and citations by these names never stay in a document."""

from __future__ import annotations

import time

import pytest

from adapters.llm.aliases import Aliases
from tests.adapters.llm.found_facts import fact, fact_id, found

RESULTS = [found(fact(7), fact(3)), found(fact(3), fact(9))]


def taken_out(text: str) -> tuple[str, list[str]]:
    cited: list[str] = []
    return Aliases(RESULTS).take_out(text, cited), cited


def test_names_follow_first_appearance_and_stay_as_more_is_found() -> None:
    first, both = Aliases(RESULTS[:1]), Aliases(RESULTS)

    assert [first.name(fact(7)), first.name(fact(3))] == ["f1", "f2"]
    assert [both.name(fact(7)), both.name(fact(3)), both.name(fact(9))] == ["f1", "f2", "f3"]


def test_names_and_ids_are_resolved_once_and_those_never_shown_dropped() -> None:
    said = ["f3", "[f1]", " F3 ", fact_id(3), fact_id(99), "f4", "", "world"]

    assert Aliases(RESULTS).ids(said) == (fact_id(9), fact_id(7), fact_id(3))


@pytest.mark.parametrize(
    ("text", "clean", "cited"),
    [
        ("It is green [f1].", "It is green.", ["f1"]),
        ("It is green[f1], and old [f2; f3].", "It is green, and old.", ["f1", "f2", "f3"]),
        ("It is green [f1] [f2][f3].", "It is green.", ["f1", "f2", "f3"]),
        ("It is green【f2】.", "It is green.", ["f2"]),
        ("Colour [f1]: green", "Colour: green", ["f1"]),
        ("[f1] It is green.", "It is green.", ["f1"]),
        ("- [f1] green\n  - red [f2]\n  [f3] note", "- green\n  - red\n  note", ["f1", "f2", "f3"]),
        ("| green | [f1] |", "| green | |", ["f1"]),
        ("[f1]", "", ["f1"]),
    ],
)
def test_citations_are_taken_out_with_the_blank_beside_them(text: str, clean: str, cited: list[str]) -> None:
    assert taken_out(text) == (clean, cited)


@pytest.mark.parametrize(
    "text",
    [
        "See [f4], which was never shown.",
        "Mixed [f1, f9] names.",
        "A [f1](https://example.org) link.",
        "[f1]: https://example.org",
        "Press (f1) or F1, or f1.",
        "A list index: `row[f1]` and ``a ` b[f1]``.",
        "```python\nx = row[f1]\n```",
        "~~~\n[f1]\n~~~",
        "```\nnever closed [f1]",
        "Brackets [like this] and [F1].",
    ],
)
def test_what_only_looks_like_a_citation_is_left_alone(text: str) -> None:
    assert taken_out(text) == (text, [])


def test_degenerate_text_takes_no_long_time() -> None:
    started = time.perf_counter()
    for text in (" " * 200_000, "`" * 100_000, "` " * 50_000, "[f1" * 50_000, "[f1, " * 50_000, "~~~\n" * 50_000):
        Aliases(RESULTS).take_out(text, [])
    assert time.perf_counter() - started < 5
