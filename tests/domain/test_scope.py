"""Scopes: both truth tables of the specification, composition, parsing, and what makes a document stale."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from domain.scope import (
    DEEPEST_GROUP,
    EVERYTHING,
    FACT_TYPES,
    Scope,
    TagAnd,
    TagGroup,
    TagLeaf,
    TagNot,
    TagOr,
    TagsMatch,
    admits,
    refresh_scope,
    same,
    staleness_scope,
)

MODES: tuple[TagsMatch, ...] = get_args(TagsMatch)
GROUP: TypeAdapter[TagGroup] = TypeAdapter(TagGroup)
ROWS = [(), ("a",), ("b",), ("a", "b"), ("a", "b", "c"), ("c",)]

tag_lists = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
leaves = st.builds(TagLeaf, tags=tag_lists, match=st.sampled_from(MODES))
groups = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(TagAnd, all_of=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(TagOr, any_of=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(TagNot, none_of=inner),
    ),
    max_leaves=6,
)
scopes = st.builds(
    Scope,
    tags=tag_lists,
    tags_match=st.sampled_from(MODES),
    tag_groups=st.none() | st.lists(groups, max_size=2).map(tuple),
    fact_types=st.none() | st.lists(st.sampled_from(FACT_TYPES), max_size=2).map(tuple),
)


def admitted(scope: Scope, *memory_tags: str) -> bool:
    return admits(scope, memory_tags, "world")


@pytest.mark.parametrize(
    ("mode", "untagged", "disjoint", "overlapping", "contained", "equal"),
    [
        ("any", True, False, True, True, True),
        ("any_strict", False, False, True, True, True),
        ("all", True, False, False, True, True),
        ("all_strict", False, False, False, True, True),
        ("exact", False, False, False, False, True),
    ],
)
def test_a_flat_filter_admits_by_the_truth_table(
    mode: TagsMatch, untagged: bool, disjoint: bool, overlapping: bool, contained: bool, equal: bool
) -> None:
    scope = Scope(tags=("a", "b"), tags_match=mode)

    assert admitted(scope) is untagged
    assert admitted(scope, "c") is disjoint
    assert admitted(scope, "a", "c") is overlapping
    assert admitted(scope, "a", "b", "c") is contained
    assert admitted(scope, "b", "a") is equal


@pytest.mark.parametrize("mode", ["any", "any_strict", "all", "all_strict"])
@pytest.mark.parametrize("tags", ROWS)
def test_an_empty_flat_filter_admits_all(mode: TagsMatch, tags: tuple[str, ...]) -> None:
    assert admitted(Scope(tags_match=mode), *tags)


def test_an_empty_exact_filter_admits_what_is_untagged() -> None:
    assert [tags for tags in ROWS if admitted(Scope(tags_match="exact"), *tags)] == [()]


@pytest.mark.parametrize(
    ("mode", "untagged", "tagged"),
    [
        ("any", True, False),
        ("any_strict", False, False),
        ("all", True, True),
        ("all_strict", False, True),
        ("exact", True, False),
    ],
)
def test_an_empty_leaf_is_read_literally(mode: TagsMatch, untagged: bool, tagged: bool) -> None:
    scope = Scope(tag_groups=(TagLeaf(tags=(), match=mode),))

    assert admitted(scope) is untagged
    assert admitted(scope, "a") is tagged


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tags", ROWS)
def test_a_leaf_with_tags_admits_as_the_flat_filter_does(mode: TagsMatch, tags: tuple[str, ...]) -> None:
    leaf = Scope(tag_groups=(TagLeaf(tags=("a", "b"), match=mode),))

    assert admitted(leaf, *tags) is admitted(Scope(tags=("a", "b"), tags_match=mode), *tags)


def test_and_takes_all_or_takes_some_and_not_takes_the_rest() -> None:
    alice, work, home = TagLeaf(tags=("alice",)), TagLeaf(tags=("work",)), TagLeaf(tags=("home",))
    scope = Scope(
        tag_groups=(
            TagAnd(all_of=(alice, TagOr(any_of=(work, home)))),
            TagNot(none_of=TagLeaf(tags=("archived",))),
        )
    )

    assert admitted(scope, "alice", "home")
    assert not admitted(scope, "alice")
    assert not admitted(scope, "home", "work")
    assert not admitted(scope, "alice", "work", "archived")


def test_not_any_strict_admits_untagged_memories() -> None:
    scope = Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=("a",))),))

    assert admitted(scope)
    assert admitted(scope, "b")
    assert not admitted(scope, "a", "b")


@pytest.mark.parametrize("tag_groups", [None, ()])
@pytest.mark.parametrize("tags", ROWS)
def test_no_groups_are_no_filter(tag_groups: tuple[TagGroup, ...] | None, tags: tuple[str, ...]) -> None:
    assert admitted(Scope(tag_groups=tag_groups), *tags)


def test_the_flat_filter_and_every_group_are_required() -> None:
    scope = Scope(tags=("a",), tags_match="any_strict", tag_groups=(TagLeaf(tags=("b",)), TagLeaf(tags=("c",))))

    assert [tags for tags in ROWS if admitted(scope, *tags)] == [("a", "b", "c")]


def test_an_untagged_only_filter_is_required_beside_groups() -> None:
    scope = Scope(tags_match="exact", tag_groups=(TagNot(none_of=TagLeaf(tags=("a",))),))

    assert [tags for tags in ROWS if admitted(scope, *tags)] == [()]


def test_fact_types_restrict_and_none_of_them_is_all_of_them() -> None:
    assert [kind for kind in FACT_TYPES if admits(EVERYTHING, (), kind)] == list(FACT_TYPES)
    assert [kind for kind in FACT_TYPES if admits(Scope(fact_types=("world",)), (), kind)] == ["world"]
    assert not any(admits(Scope(fact_types=()), (), kind) for kind in FACT_TYPES)


@given(scopes, tag_lists)
def test_order_and_repetition_of_tags_do_not_count(scope: Scope, tags: tuple[str, ...]) -> None:
    twice = scope.model_copy(update={"tags": (*reversed(scope.tags), *scope.tags)})

    assert admitted(twice, *reversed(tags), *tags) is admitted(scope, *tags)


@given(groups, tag_lists)
def test_a_memory_is_in_a_group_or_in_its_negation(group: TagGroup, tags: tuple[str, ...]) -> None:
    assert admitted(Scope(tag_groups=(group,)), *tags) is not admitted(
        Scope(tag_groups=(TagNot(none_of=group),)), *tags
    )


@given(scopes)
def test_a_scope_is_the_same_after_it_was_stored(scope: Scope) -> None:
    assert Scope.model_validate_json(scope.model_dump_json(by_alias=True)) == scope
    assert Scope.model_validate(scope.model_dump()) == scope


def test_groups_are_read_from_their_wire_form() -> None:
    wire = {"and": [{"tags": ["a"]}, {"or": [{"tags": [], "match": "exact"}, {"not": {"tags": ["b"]}}]}]}

    assert GROUP.validate_python(wire) == TagAnd(
        all_of=(
            TagLeaf(tags=("a",), match="any_strict"),
            TagOr(any_of=(TagLeaf(tags=(), match="exact"), TagNot(none_of=TagLeaf(tags=("b",))))),
        )
    )


@pytest.mark.parametrize(
    ("wire", "message"),
    [
        ({"tags": ["a"], "match": "some"}, "'any', 'all', 'any_strict', 'all_strict' or 'exact'"),
        ({"tags": ["a"], "resolve": "near"}, "'exact' or 'fuzzy'"),
        ({"tags": ["a"], "and": [{"tags": ["b"]}]}, "Extra inputs"),
        ({"and": []}, "at least 1 item"),
        ({"or": []}, "at least 1 item"),
        ({"nor": [{"tags": ["a"]}]}, "a tag group is"),
        ([], "a tag group is"),
        (None, "a tag group is"),
        ({"tags": "a"}, "valid tuple"),
    ],
)
def test_anything_else_is_refused_as_a_group(wire: Any, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        GROUP.validate_python(wire)


def test_an_unknown_mode_is_refused_and_never_taken_for_any() -> None:
    with pytest.raises(ValidationError, match="tags_match"):
        Scope.model_validate({"tags": ["a"], "tags_match": "some"})


def nested(levels: int) -> dict[str, Any]:
    wire: dict[str, Any] = {"tags": ["a"]}
    for _ in range(levels - 1):
        wire = {"not": wire}
    return wire


def test_groups_as_deep_as_allowed_can_be_stored_and_read_again() -> None:
    scope = Scope(tag_groups=(GROUP.validate_python(nested(DEEPEST_GROUP)),))

    assert Scope.model_validate_json(scope.model_dump_json(by_alias=True)) == scope


@pytest.mark.parametrize("levels", [DEEPEST_GROUP + 1, 150, 10_000])
def test_deeper_groups_are_refused(levels: int) -> None:
    with pytest.raises(ValidationError):
        GROUP.validate_python(nested(levels))


@pytest.mark.parametrize(
    ("tags", "match", "tag_groups", "expected"),
    [
        (("a",), "all", (TagLeaf(tags=("b",)),), Scope(tag_groups=(TagLeaf(tags=("b",)),))),
        (("a",), None, (), Scope(tag_groups=())),
        (("a",), "any", None, Scope(tags=("a",), tags_match="any")),
        ((), "exact", None, Scope(tags_match="exact")),
        (("a",), None, None, Scope(tags=("a",), tags_match="all_strict")),
        ((), None, None, Scope(tags_match="any")),
    ],
)
def test_what_a_mental_model_reads(
    tags: tuple[str, ...], match: TagsMatch | None, tag_groups: tuple[TagGroup, ...] | None, expected: Scope
) -> None:
    assert refresh_scope(tags, match, tag_groups, None) == expected


def test_a_tagged_mental_model_reads_nothing_of_others_unless_it_says_so() -> None:
    scope = refresh_scope(("user:alice",), None, None, ("world",))

    assert admitted(scope, "user:alice", "work")
    assert not admitted(scope, "user:bob")
    assert not admitted(scope)
    assert scope.fact_types == ("world",)


@pytest.mark.parametrize("mode", MODES)
def test_an_untagged_write_leaves_a_tagged_document_fresh(mode: TagsMatch) -> None:
    assert not admitted(staleness_scope(Scope(tags=("a",), tags_match=mode)))


@pytest.mark.parametrize("mode", ["any", "any_strict", "all", "all_strict"])
@pytest.mark.parametrize("tags", ROWS)
def test_any_write_makes_an_untagged_document_stale(mode: TagsMatch, tags: tuple[str, ...]) -> None:
    assert admitted(staleness_scope(Scope(tags_match=mode)), *tags)


def test_only_untagged_writes_make_a_document_of_untagged_memories_stale() -> None:
    assert [tags for tags in ROWS if admitted(staleness_scope(Scope(tags_match="exact")), *tags)] == [()]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tags", ROWS[1:])
def test_a_tagged_write_counts_as_it_is_read(mode: TagsMatch, tags: tuple[str, ...]) -> None:
    flat = Scope(tags=("a", "b"), tags_match=mode)
    grouped = Scope(tag_groups=(TagLeaf(tags=("a", "b"), match=mode),))

    assert admitted(staleness_scope(flat), *tags) is admitted(flat, *tags)
    assert admitted(staleness_scope(grouped), *tags) is admitted(grouped, *tags)


def test_leaves_of_groups_become_strict_wherever_they_are() -> None:
    lenient = TagLeaf(tags=("a",), match="any")
    scope = Scope(
        tags=("t",), tags_match="all", tag_groups=(TagAnd(all_of=(TagOr(any_of=(lenient,)), TagNot(none_of=lenient))),)
    )

    strict = TagLeaf(tags=("a",), match="any_strict")
    assert staleness_scope(scope) == Scope(
        tags=("t",),
        tags_match="all_strict",
        tag_groups=(TagAnd(all_of=(TagOr(any_of=(strict,)), TagNot(none_of=strict))),),
    )


def test_not_and_empty_exact_leaves_still_count_untagged_writes() -> None:
    assert admitted(staleness_scope(Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=("a",), match="any")),))))
    assert admitted(staleness_scope(Scope(tag_groups=(TagLeaf(tags=(), match="exact"),))))


def test_scopes_that_differ_in_order_only_are_the_same() -> None:
    one = Scope(tags=("a", "b"), tags_match="all", fact_types=("world", "experience"))
    other = Scope(tags=("b", "a", "b"), tags_match="all", fact_types=("experience", "world"))

    assert same(one, other)
    assert same(Scope(fact_types=FACT_TYPES), EVERYTHING)
    assert not same(one, one.model_copy(update={"tags_match": "any"}))
    assert not same(Scope(fact_types=()), EVERYTHING)


@given(scopes, scopes, tag_lists, st.sampled_from(FACT_TYPES))
def test_scopes_that_are_the_same_admit_the_same(
    one: Scope, other: Scope, tags: tuple[str, ...], fact_type: str
) -> None:
    shuffled = one.model_copy(update={"tags": (*reversed(one.tags), *one.tags)})

    assert same(one, shuffled)
    if same(one, other):
        assert admits(one, tags, fact_type) is admits(other, tags, fact_type)
