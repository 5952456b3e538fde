"""Tags asked for by likeness become exact ones, and the modes keep their meaning."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.fuzzy_tags import LEAST_ALIKE, MOST_KNOWN_TAGS, alike, is_fuzzy, resolved
from domain.mental_model.trigger import Trigger
from domain.refusals import InvalidInput
from domain.scope import Scope, TagAnd, TagLeaf, TagNot, TagOr, TagsMatch, admits

KNOWN = ("user:alice", "user:alices", "team:alice", "project", "projects", "user:bob")


def fuzzy(*tags: str, match: TagsMatch = "any_strict") -> Scope:
    return Scope(tag_groups=(TagLeaf(tags=tags, match=match, resolve="fuzzy"),))


def admitted(scope: Scope, *memories: tuple[str, ...]) -> list[tuple[str, ...]]:
    exact = resolved(scope, KNOWN)
    return [tags for tags in memories if admits(exact, tags, "world")]


@pytest.mark.parametrize(
    ("asked", "tag", "expected"),
    [
        ("word", "two words", 4 / 11),  # as PostgreSQL documents it
        ("project", "projects", 7 / 10),
        ("Project", "project", 1.0),
        ("alice", "user:alice", 1.0),
        ("user:alice", "team:alice", 0.0),
        ("USER:Alice", "user:alice", 1.0),
        ("", "user", 0.0),
        ("::", "::", 1.0),
        ("東京", "東京都", 2 / 5),
    ],
)
def test_likeness_is_that_of_trigrams_within_a_namespace(asked: str, tag: str, expected: float) -> None:
    assert alike(asked, tag) == pytest.approx(expected)


@given(st.text(max_size=12), st.text(max_size=12))
def test_likeness_is_between_none_and_all_and_every_tag_is_like_itself(one: str, other: str) -> None:
    assert 0 <= alike(one, other) <= 1
    assert alike(one, one) == 1


def test_any_of_the_tags_that_are_like_one_asked_for_is_enough() -> None:
    memories = [("user:alice",), ("user:alices",), ("team:alice",), ("user:bob",), ()]

    assert admitted(fuzzy("user:alice"), *memories) == [("user:alice",), ("user:alices",)]
    assert admitted(fuzzy("alice"), *memories) == [("user:alice",), ("user:alices",), ("team:alice",)]
    assert admitted(fuzzy("user:alice", match="any"), *memories)[-1] == ()


def test_all_wants_one_tag_like_each() -> None:
    memories = [("projects", "user:alices"), ("user:alice",), ("project",), ()]

    assert admitted(fuzzy("project", "user:alice", match="all_strict"), *memories) == [("projects", "user:alices")]
    assert admitted(fuzzy("project", "user:alice", match="all"), *memories) == [("projects", "user:alices"), ()]


def test_exact_wants_some_choice_of_them_and_nothing_else() -> None:
    memories = [("projects", "user:alice"), ("projects",), ("projects", "user:alice", "user:bob")]

    assert admitted(fuzzy("project", "user:alice", match="exact"), *memories) == [("projects", "user:alice")]


@pytest.mark.parametrize("match", ["any_strict", "all_strict", "exact", "any", "all"])
def test_what_nothing_is_like_admits_nothing_that_is_tagged(match: TagsMatch) -> None:
    assert not any(tags for tags in admitted(fuzzy("zzzz", match=match), *((each,) for each in KNOWN), ()))


@pytest.mark.parametrize("match", ["any_strict", "all_strict", "exact", "any", "all"])
@pytest.mark.parametrize("tags", [(), ("a",), ("a", "b")])
def test_an_empty_leaf_is_as_literal_as_an_exact_one(match: TagsMatch, tags: tuple[str, ...]) -> None:
    exact = Scope(tag_groups=(TagLeaf(tags=(), match=match),))

    assert admits(resolved(fuzzy(match=match), KNOWN), tags, "world") == admits(exact, tags, "world")


def test_leaves_inside_of_groups_are_resolved_and_exact_ones_left_alone() -> None:
    leaf, named = TagLeaf(tags=("project",), resolve="fuzzy"), TagLeaf(tags=("user:bob",))
    scope = Scope(tag_groups=(TagOr(any_of=(TagAnd(all_of=(named, leaf)), TagNot(none_of=leaf))),))

    assert is_fuzzy(scope)
    assert not is_fuzzy(Scope(tag_groups=(TagOr(any_of=(named, TagNot(none_of=named))),)))
    assert not is_fuzzy(resolved(scope, KNOWN))
    assert admitted(scope, ("user:bob", "projects"), ("project",), ("user:alice",)) == [
        ("user:bob", "projects"), ("user:alice",)
    ]  # fmt: skip


def test_too_many_tags_or_sets_of_them_are_refused() -> None:
    with pytest.raises(InvalidInput, match="5000"):
        resolved(fuzzy("a"), [f"tag{number}" for number in range(MOST_KNOWN_TAGS + 1)])
    alikes = [f"project {letter}" for letter in "abcdefghijkl"]
    assert all(alike("project", each) >= LEAST_ALIKE for each in alikes)
    with pytest.raises(InvalidInput, match="1728 sets"):
        resolved(fuzzy("project", "project", "project", match="exact"), alikes)


def test_a_scope_that_is_not_resolved_decides_nothing() -> None:
    with pytest.raises(InvalidInput, match="fuzzy"):
        admits(fuzzy("project"), ("project",), "world")


@pytest.mark.parametrize("group", [
    {"tags": ["a"], "resolve": "fuzzy"}, {"not": {"or": [{"tags": ["a"]}, {"tags": ["a"], "resolve": "fuzzy"}]}}
])  # fmt: skip
def test_what_a_document_reads_is_named_exactly(group: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="named exactly"):
        Trigger.model_validate({"tag_groups": [group]})
