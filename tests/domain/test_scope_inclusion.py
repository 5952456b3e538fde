"""Whether one scope lies inside another: sound for any two, and not blind for those that people write."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings

from domain.scope import EVERYTHING, FACT_TYPES, Scope, TagAnd, TagLeaf, TagNot, TagOr, admits
from domain.scope_inclusion import within
from tests.domain.test_scope import scopes

NAMED = ("a", "b", "c", "named by neither")
SETS = [tags for size in range(len(NAMED) + 1) for tags in combinations(NAMED, size)]


@settings(max_examples=1000)
@given(scopes, scopes)
def test_what_lies_inside_is_what_admits_nothing_else(inner: Scope, outer: Scope) -> None:
    """The scopes name three tags, so that all memories there could be are tried."""
    read = [(tags, kind) for tags in SETS for kind in FACT_TYPES if admits(inner, tags, kind)]
    leaks = not all(admits(outer, tags, kind) for tags, kind in read)

    if within(inner, outer):
        assert not leaks
    elif read:  # of a scope that admits nothing a no is right as well
        assert leaks


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        (Scope(tags=("ada",), tags_match="all_strict"), Scope(tags=("ada",), tags_match="any_strict"), True),
        (Scope(tags=("ada",), tags_match="all_strict"), Scope(tags=("ada",), tags_match="exact"), False),
        (Scope(tags=("ada",), tags_match="any"), Scope(tags=("ada",), tags_match="any_strict"), False),
        (EVERYTHING, Scope(tags=("ada",), tags_match="any"), False),
        (Scope(tags=("ada",), tags_match="exact"), EVERYTHING, True),
        (
            Scope(tags=("ada",), tags_match="all_strict"),
            Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=("archived",))),)),
            False,
        ),
        (
            Scope(tag_groups=(TagAnd(all_of=(TagLeaf(tags=("ada",)), TagNot(none_of=TagLeaf(tags=("archived",))))),)),
            Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=("archived",))),)),
            True,
        ),
        (
            Scope(tags=("ada", "work"), tags_match="all_strict"),
            Scope(
                tag_groups=(TagLeaf(tags=("ada",)), TagOr(any_of=(TagLeaf(tags=("work",)), TagLeaf(tags=("home",)))))
            ),
            True,
        ),
        (Scope(fact_types=("world",)), Scope(fact_types=("world", "experience")), True),
        (Scope(fact_types=("world", "observation")), Scope(fact_types=("world",)), False),
    ],
)
def test_scopes_that_people_write(inner: Scope, outer: Scope, expected: bool) -> None:
    assert within(inner, outer) is expected


def test_many_tags_are_no_reason_for_a_no() -> None:
    many = tuple(f"team:{number}" for number in range(200))
    one, some = Scope(tags=many[150:151], tags_match="all_strict"), Scope(tags=many, tags_match="any_strict")

    assert within(one, some)
    assert within(some, some)
    assert not within(some, one)


def test_what_takes_too_long_is_taken_for_outside() -> None:
    pairs = [TagOr(any_of=(TagLeaf(tags=(f"a{n}",)), TagLeaf(tags=(f"b{n}",)))) for n in range(40)]
    hard = Scope(tag_groups=tuple(pairs))
    swapped = Scope(tag_groups=(TagOr(any_of=(TagAnd(all_of=tuple(pairs)), TagLeaf(tags=("z",)))),))

    assert not within(hard, swapped)
