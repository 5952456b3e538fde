"""For which sets of tags observations are made of a fact, and which facts are asked about together."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.consolidation import (
    BATCH_TOKENS,
    MOST_COMBINED_TAGS,
    batches_of,
    is_asked_for,
    resolved_scopes,
)
from domain.memory import Fact, ObservationScopes

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def fact(position: int, *tags: str, scopes: ObservationScopes | None = None) -> Fact:
    return Fact(
        id=UUID(int=position),
        version=1,
        position=position,
        text=f"fact {position}",
        fact_type="world",
        tags=tags,
        recorded_at=NOON,
        observation_scopes=scopes,
    )


@pytest.mark.parametrize(
    ("tags", "own", "scopes"),
    [
        (("b", "a"), None, {("a", "b")}),
        (("b", "a"), "combined", {("a", "b")}),
        ((), None, {()}),
        (("a", "b"), "per_tag", {("a",), ("b",)}),
        ((), "per_tag", {()}),
        (("a", "b"), "all_combinations", {("a",), ("b",), ("a", "b")}),
        ((), "all_combinations", {()}),
        (("a", "b"), "shared", {()}),
        (("a", "b"), (("a",), ("b", "a")), {("a",), ("a", "b")}),
        (("user:1", "user:2", "x"), (("user:*",),), {("user:1", "user:2")}),
        (("user:1", "x"), (("user:*", "x"), ("x",)), {("user:1", "x"), ("x",)}),
        (("user:1",), (("user:*", "team"),), {("team", "user:1")}),
        (("x",), (("user:*",), ("x",)), {("x",)}),
        (("x", "y"), (("user:*",),), {("x", "y")}),
        (("x", "y"), (), {("x", "y")}),
        (("x",), ((),), {()}),
        (("a+b", "aab"), (("a+*",),), {("a+b",)}),
        (("[a]", "a"), (("[a]*",),), {("[a]",)}),
        (("user:?", "user:1"), (("user:?*",),), {("user:?",)}),
    ],
)
def test_scopes_are_those_of_the_reference(
    tags: tuple[str, ...], own: ObservationScopes | None, scopes: set[tuple[str, ...]]
) -> None:
    """Only `*` is a glob; of an entry of which nothing is left nothing is observed; nothing at all is as combined."""
    assert resolved_scopes(tags, own) == scopes


def test_what_the_fact_says_wins_over_its_bank() -> None:
    assert resolved_scopes(("a", "b"), None, "per_tag") == {("a",), ("b",)}
    assert resolved_scopes(("a", "b"), "combined", "per_tag") == {("a", "b")}


def test_too_many_tags_do_not_make_thousands_of_scopes() -> None:
    """Twelve tags have 4,095 combinations: of so many, each alone and all together are taken."""
    tags = tuple(f"t{number:02}" for number in range(12))
    assert resolved_scopes(tags, "all_combinations") == {*((tag,) for tag in tags), tags}
    few = tags[:MOST_COMBINED_TAGS]
    assert len(resolved_scopes(few, "all_combinations")) == 2**MOST_COMBINED_TAGS - 1


@given(
    st.sets(st.sampled_from("abcdefgh")),
    st.sampled_from(["combined", "per_tag", "all_combinations", "shared", (("a*",), ("*",)), None]),
)
def test_a_scope_that_names_no_tag_has_only_tags_of_its_fact(tags: set[str], own: ObservationScopes | None) -> None:
    for scope in resolved_scopes(tags, own):
        assert set(scope) <= tags
        assert list(scope) == sorted(set(scope))


def test_facts_are_asked_about_together_only_when_all_their_scopes_are_the_same() -> None:
    facts = [fact(1, "a"), fact(2, "a", "b"), fact(3, "b"), fact(4, "a"), fact(5, "b", "a"), fact(6, "a")]
    batches = batches_of(facts, lambda each: resolved_scopes(each.tags, "per_tag"), size=2)
    assert [(batch.scopes, [each.position for each in batch.facts]) for batch in batches] == [
        ((("a",),), [1, 4]),
        ((("a",), ("b",)), [2, 5]),
        ((("b",),), [3]),
        ((("a",),), [6]),
    ]


def test_halves_have_all_facts_of_a_batch_between_them() -> None:
    (batch,) = batches_of([fact(1), fact(2), fact(3)], lambda _fact: frozenset({()}), size=8)
    first, second = batch.halves()
    assert ([each.position for each in first.facts], [each.position for each in second.facts]) == ([1], [2, 3])


def test_a_consolidation_of_scopes_is_of_facts_with_all_tags_of_one() -> None:
    assert is_asked_for(("a",), None)
    assert is_asked_for(("a", "b"), [("b",)])
    assert not is_asked_for(("a",), [("a", "b"), ("c",)])
    assert is_asked_for((), [()])


def test_long_facts_are_asked_about_in_batches_that_fit() -> None:
    """One of 100 kB is asked about alone, whole; short ones beside it are not held up by it."""
    long, middle = "x" * 100_000, "y" * (4 * BATCH_TOKENS // 2)
    texts = ["short", long, middle, middle, "short"]
    facts = [fact(number).model_copy(update={"text": text}) for number, text in enumerate(texts, start=1)]
    batches = batches_of(facts, lambda _fact: frozenset({()}), 8)
    assert [[each.position for each in batch.facts] for batch in batches] == [[1], [2], [3, 4], [5]]


def test_a_pattern_of_many_stars_is_matched_in_no_time() -> None:
    """Tried in all ways it can be matched, it would take longer than anybody lives."""
    tag = "a" * 100
    assert resolved_scopes((tag,), (("*a" * 30 + "*b",),)) == {(tag,)}, "nothing of the scope is left"
    assert resolved_scopes((tag + "b",), (("*a" * 30 + "*b",),)) == {(tag + "b",)}
