"""What is answered: facts within tokens, observations in place of their sources, source facts by rank, chunks."""

from __future__ import annotations

from typing import Any

import pytest

from domain.bank_config import BankConfig
from domain.memory import Budget, RecalledFact
from domain.recall.budget import most_facts
from domain.recall.reranking import reranked
from domain.recall.selection import (
    ChunkText,
    SourceFactsLimit,
    chunks_within,
    source_facts,
    with_observations_preferred,
    within_tokens,
)
from tests.support.examples import fact
from tests.support.examples import found as recalled

TEXT = "x" * 40  # ten tokens


def observation(number: int, *sources: int) -> RecalledFact:
    ids = tuple(fact(source).id for source in sources)
    return recalled(number, text=TEXT, fact_type="observation", source_ids=ids)


def raw(number: int, **changes: Any) -> RecalledFact:
    return recalled(number, text=TEXT, **changes)


def test_facts_are_taken_in_order_until_one_does_not_fit() -> None:
    found = [raw(1), raw(2), recalled(3, text="x" * 400), raw(4)]

    assert within_tokens(found, 20) == found[:2]
    assert within_tokens(found, 25) == found[:2]
    assert within_tokens(found, 19) == found[:1]
    assert within_tokens(found, None) == found


def test_an_observation_stands_for_its_sources_and_the_next_facts_take_their_room() -> None:
    found = [raw(1), observation(2, 1, 3), raw(3), raw(4), raw(5)]

    assert with_observations_preferred(found, 30) == [found[1], found[3], found[4]]
    assert with_observations_preferred(found, 10) == [raw(1)]


def test_an_observation_that_comes_in_for_a_source_brings_out_its_own() -> None:
    found = [raw(1), observation(2, 1), observation(3, 4), raw(4)]

    assert with_observations_preferred(found, 20) == [found[1], found[2]]


def test_source_facts_are_taken_by_rank_and_what_has_no_room_is_told() -> None:
    """RC-04: twenty facts, room for five."""
    sources = {each.id: each for each in (fact(number, text=TEXT) for number in range(1, 21))}
    nearness = {each.id: each.position % 7 / 10 for each in sources.values()}
    ranked = sorted(sources.values(), key=lambda each: (-nearness[each.id], -each.position))
    told = observation(50, *range(1, 21)).fact

    assert source_facts([told], sources, nearness, SourceFactsLimit(max_tokens=50)) == (ranked[:5], True)
    assert source_facts([told], sources, nearness, SourceFactsLimit(max_tokens=200)) == (ranked, False)
    assert source_facts([told], sources, nearness, SourceFactsLimit(max_tokens=-1)) == (ranked, False)
    assert source_facts([told], sources, nearness, SourceFactsLimit(max_tokens=0)) == ([], True)


def test_each_observation_has_its_own_room_too() -> None:
    sources = {each.id: each for each in (fact(number, text=TEXT) for number in range(1, 5))}
    limit = SourceFactsLimit(max_tokens=30, max_tokens_per_observation=10)

    chosen, truncated = source_facts([observation(8, 1, 2).fact, observation(9, 2, 3).fact], sources, {}, limit)

    assert [each.position for each in chosen] == [fact(2).position, fact(3).position]
    assert truncated


def test_a_source_that_may_not_be_told_is_left_out_silently() -> None:
    assert source_facts([observation(8, 1).fact], {}, {}, SourceFactsLimit()) == ([], False)


def test_chunks_are_taken_in_order_and_the_last_is_cut() -> None:
    chunks = [ChunkText(chunk_id=str(number), number=number, text=TEXT) for number in range(3)]

    assert chunks_within(chunks, 20) == chunks[:2]
    cut = chunks_within(chunks, 15)
    assert [(each.text, each.truncated) for each in cut] == [(TEXT, False), ("x" * 20, True)]
    assert chunks_within(chunks, -1) == chunks
    assert chunks_within(chunks, 0) == []


@pytest.mark.parametrize(
    ("config", "budget", "max_tokens", "expected"),
    [
        ({}, "low", 4096, 100),
        ({}, "high", 1, 1000),
        ({"recall_budget_fixed_mid": 7}, "mid", 4096, 7),
        ({"recall_budget_function": "adaptive"}, "mid", 4096, 307),
        ({"recall_budget_function": "adaptive"}, "low", 40, 20),
        ({"recall_budget_function": "adaptive"}, "high", 1_000_000, 2000),
    ],
)
def test_a_budget_is_a_number_of_facts(config: dict[str, Any], budget: Budget, max_tokens: int, expected: int) -> None:
    assert most_facts(BankConfig(**config), budget, max_tokens) == expected


def test_what_was_judged_comes_first_by_its_score_the_rest_as_it_was() -> None:
    found = [raw(1), raw(2), raw(3), raw(4)]

    ordered = reranked(found, [0.2, None, 0.9])

    assert [each.fact.position for each in ordered] == [found[place].fact.position for place in (2, 0, 1, 3)]
    assert [each.scores.reranker for each in ordered] == [0.9, 0.2, None, None]
    finals = [each.scores.final for each in ordered]
    assert finals == sorted(finals, reverse=True)
