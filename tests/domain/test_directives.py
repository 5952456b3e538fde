"""Which directives an answer keeps to, and by which names they are told."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.directives import Directive, applicable, by_told_name
from domain.scope import EVERYTHING, Scope, TagLeaf, TagNot


def rule(name: str, number: int = 0, **fields: Any) -> Directive:
    return Directive(directive_id=UUID(int=number), name=name, content="Be kind.", **fields)


FOR_ALL = rule("for all")
FOR_A = rule("for a", tags=("a",))
FOR_A_AND_B = rule("for a and b", tags=("a", "b"))
OFF = rule("off", is_active=False)
GIVEN = [FOR_ALL, FOR_A, FOR_A_AND_B, OFF]


def names(scope: Scope, **options: bool) -> list[str]:
    return [each.name for each in applicable(GIVEN, scope, **options)]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        (EVERYTHING, ["for all"]),
        (Scope(tags=("a",)), ["for all", "for a", "for a and b"]),
        (Scope(tags=("c",)), ["for all"]),
        (Scope(tags=("a", "b"), tags_match="all"), ["for all", "for a and b"]),
        (Scope(tags=("a",), tags_match="exact"), ["for all", "for a"]),
        (Scope(tags=("a",), tags_match="all_strict"), ["for all", "for a", "for a and b"]),
        (Scope(tags_match="exact"), ["for all"]),
        (Scope(tag_groups=(TagLeaf(tags=("b",)),)), ["for all", "for a and b"]),
        (Scope(tag_groups=(TagNot.model_validate({"not": {"tags": ["b"]}}),)), ["for all", "for a"]),
        (Scope(tag_groups=()), ["for all"]),
        (Scope(tags=("a",), fact_types=("observation",)), ["for all", "for a", "for a and b"]),
    ],
    ids=str,
)
def test_untagged_ones_are_for_all_answers_and_tagged_ones_for_those_whose_tags_match(
    scope: Scope, expected: list[str]
) -> None:
    assert names(scope) == expected


def test_all_active_ones_apply_when_that_is_asked_for() -> None:
    assert names(EVERYTHING, apply_all=True) == names(Scope(tags=("c",)), apply_all=True) == [
        "for all",
        "for a",
        "for a and b",
    ]  # fmt: skip


def test_the_higher_priority_is_told_first_and_else_the_older_one() -> None:
    given = [rule("a"), rule("b", priority=-1), rule("c", priority=9), rule("d")]
    assert [each.name for each in applicable(given, EVERYTHING)] == ["c", "a", "d", "b"]


def test_several_of_one_name_are_told_with_numbers_that_are_free() -> None:
    given = [rule("x", 1), rule("x", 2), rule("x (2)", 3), rule("x", 4), rule("y", 5)]
    told = {name: each.directive_id.int for name, each in by_told_name(given).items()}
    assert told == {"x": 1, "x (3)": 2, "x (2)": 3, "x (4)": 4, "y": 5}


@for_all(st.lists(st.sampled_from(["x", "x (2)", "x (2) (2)", "y"])))
def test_every_directive_has_a_name_of_its_own_that_it_keeps_when_it_bears_it(names: list[str]) -> None:
    given = [rule(name, number) for number, name in enumerate(names)]
    told = by_told_name(given)
    assert list(told.values()) == given
    taken = [rule(name, number) for number, name in enumerate(told)]
    assert list(by_told_name(taken)) == list(told)
