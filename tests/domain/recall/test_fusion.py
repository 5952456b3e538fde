"""Fusion: each arm on its own scale, lending to neighbours, names; of equal facts the newest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.memory import Fact
from domain.recall.fusion import (
    ABOUT,
    CONTEXT,
    KEYWORD,
    LENDERS,
    LENDERS_BY_NAME,
    MENTIONS,
    ORDINARY_RANK,
    SEMANTIC,
    SHARED_NAME,
    TEMPORAL,
    Candidate,
    Found,
    Link,
    candidates_of,
    pool_of,
    worth_of_names,
)
from domain.terms import name_term
from tests.support.examples import fact

similarities = st.dictionaries(st.integers(1, 400), st.floats(0.3, 1), max_size=300)
word_scores = st.dictionaries(st.integers(1, 400), st.floats(0, 50), max_size=300)


def test_the_best_of_each_arm_has_its_whole_weight_and_the_ordinary_none() -> None:
    pool = pool_of(Found({1: 0.9, 2: 0.6, 3: 0.3}, {3: 8.0, 4: 4.0}), least_semantic=0.3)

    assert pool.scores == pytest.approx({1: SEMANTIC, 2: SEMANTIC / 2, 3: KEYWORD, 4: KEYWORD / 2})
    assert pool.lenders == [3, 1, 4, 2]


def test_how_similar_all_facts_are_to_each_other_does_not_count() -> None:
    """Models differ in it: to some, all texts are alike."""
    spread = {position: 0.3 + position / 1000 for position in range(1, ORDINARY_RANK + 100)}
    alike = {position: 0.8 + position / 10_000 for position in spread}

    one = pool_of(Found(spread, {}), least_semantic=0.3)
    other = pool_of(Found(alike, {}), least_semantic=0.3)

    assert one.scores == pytest.approx(other.scores)
    assert sum(score > 0 for score in one.scores.values()) == ORDINARY_RANK - 1


def test_a_fact_in_the_period_asked_for_is_found_by_that_alone() -> None:
    pool = pool_of(Found({1: 0.9}, {}, [1, 2]), least_semantic=0.3)

    assert pool.scores == pytest.approx({1: SEMANTIC + TEMPORAL, 2: TEMPORAL})


def test_facts_lend_to_their_neighbours_the_nearest_most() -> None:
    pool = pool_of(Found({10: 0.9}, {}), least_semantic=0.3)
    links = [Link(10, 10 + steps, steps) for steps in range(1, len(CONTEXT) + 1)]

    found = candidates_of(pool, links, 10)

    assert found[0] == Candidate(10, SEMANTIC, None)
    assert [each.lent for each in found[1:]] == pytest.approx([SEMANTIC * share for share in CONTEXT])


def test_what_stands_between_two_good_facts_is_lent_by_both_and_may_pass_them() -> None:
    pool = pool_of(Found({}, {1: 5.0, 3: 5.0, 2: 2.5}), least_semantic=0.3)
    links = [Link(1, 2, 1), Link(3, 2, 1), Link(2, 1, 1), Link(2, 3, 1)]

    assert [each.position for each in candidates_of(pool, links, 10)] == [2, 3, 1]


def test_a_rare_name_lends_little_once_and_nothing_to_those_that_lend_it() -> None:
    pool = pool_of(Found({}, {1: 5.0, 2: 4.0}), least_semantic=0.3)
    links = [Link(1, 9, 0), Link(2, 9, 0), Link(1, 2, 0)]

    found = {each.position: each.lent for each in candidates_of(pool, links, 10)}

    assert found == {1: None, 2: None, 9: pytest.approx(SHARED_NAME * KEYWORD)}


@given(similarities, word_scores, st.integers(0, 300))
def test_any_finds_give_one_order(near: dict[int, float], words: dict[int, float], most: int) -> None:
    pool = pool_of(Found(near, words), least_semantic=0.3)
    found = candidates_of(pool, [], most)

    assert len(found) == min(most, len(near | words))
    assert [(each.score, each.position) for each in found] == sorted(
        ((each.score, each.position) for each in found), reverse=True
    )
    assert all(-1e-9 <= score <= KEYWORD + SEMANTIC + 1e-9 for score in pool.scores.values())
    assert len(pool.lenders) <= LENDERS
    assert len(pool.lenders_by_name) <= LENDERS_BY_NAME


@pytest.mark.parametrize(
    ("told", "worth"),
    [
        (fact(1, text="Ada: I moved", entities=("Ada",)), ABOUT),
        (fact(1, text="Bob met Ada", entities=("Bob", "Ada")), MENTIONS),
        (fact(1, text="Bob moved", entities=("Bob",)), 0.0),
        (fact(1, text="Ada moved", entities=()), 0.0),
    ],
)
def test_a_fact_about_whom_the_question_names_is_worth_more(told: Fact, worth: float) -> None:
    assert worth_of_names(told.text, told.entities, {name_term("ada")}) == worth
