"""Facts go by short names, and citations by these names never stay in a document."""

from __future__ import annotations

import time
from uuid import UUID

import pytest

from adapters.llm.aliases import Aliases
from domain.editing import Grounds, NewFact, RetractedFact
from tests.adapters.llm.edit_requests import edit_request
from tests.adapters.llm.found_facts import fact, fact_id, found

RESULTS = [found(fact(7), fact(3)), found(fact(3), fact(9))]


def taken_out(text: str) -> tuple[str, list[str]]:
    uncited = Aliases.of_found(RESULTS).take_out(text)
    return uncited.text, [name for _, name in uncited.cited]


def test_names_follow_first_appearance_and_stay_as_more_is_found() -> None:
    first, both = Aliases.of_found(RESULTS[:1]), Aliases.of_found(RESULTS)

    assert [first.name(UUID(int=number)) for number in (7, 3)] == ["f1", "f2"]
    assert [both.name(UUID(int=number)) for number in (7, 3, 9)] == ["f1", "f2", "f3"]


def test_names_and_ids_are_resolved_once_and_those_never_shown_dropped() -> None:
    said = ["f3", "[f1]", " F3 ", fact_id(3), fact_id(99), "f4", "", "world"]

    assert Aliases.of_found(RESULTS).ids(said) == (fact_id(9), fact_id(7), fact_id(3))


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
    ("text", "marked"),
    [
        ("It is green [f1].", "It is green@."),
        ("It is green [f1], old [f2; f3] and long.", "It is green@, old@@ and long."),
        ("[f1] It is green.", "@It is green."),
        ("- [f1] green\n  - red [f2]\n  [f3] note", "-@ green\n  - red@\n  @note"),
        ("| green | [f1] |", "| green |@ |"),
        ("- a [f1]\n- b [f2]\n", "- a@\n- b@\n"),
    ],
)
def test_the_place_of_a_citation_is_kept(text: str, marked: str) -> None:
    uncited = Aliases.of_found(RESULTS).take_out(text)

    shown = uncited.text
    for offset, _ in sorted(uncited.cited, reverse=True):
        shown = f"{shown[:offset]}@{shown[offset:]}"
    assert shown == marked


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


def test_the_facts_of_an_edit_are_named_new_ones_first_and_retracted_ones_apart() -> None:
    request = edit_request(
        facts=(NewFact(fact(7)), NewFact(fact(3))),
        retracted=(RetractedFact(UUID(int=9), "old"), RetractedFact(UUID(int=7), "older")),
        grounds=(("b1", Grounds(None, (UUID(int=3), UUID(int=5)))),),
    )

    aliases = Aliases.of_edit(request)

    assert aliases.ids(["f1", "f2", "f3", "r1", "f4"]) == (fact_id(7), fact_id(3), fact_id(5), fact_id(9))
    assert aliases.ids(["r2"]) == (fact_id(7),)
    assert aliases.name(UUID(int=7)) == "f1"
    assert aliases.take_out("It is green [r1, f2].").text == "It is green."


def test_degenerate_text_takes_no_long_time() -> None:
    started = time.perf_counter()
    for text in (" " * 200_000, "`" * 100_000, "` " * 50_000, "[f1" * 50_000, "[f1, " * 50_000, "~~~\n" * 50_000):
        Aliases.of_found(RESULTS).take_out(text)
    assert time.perf_counter() - started < 5
