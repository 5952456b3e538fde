"""How much a reflection is told: amounts of a bank, chunks and source facts beside what was found, the room for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from application.recall import RecallRequest
from application.reflection import Amounts, Desk, Readable
from application.reflection.nothing_else import NO_PAGES, NO_TEXTS
from application.reflection.recall import found_facts
from application.reflection.search_observations import search_observations
from domain.bank_config import BankConfig
from domain.memory import Window
from domain.recall.selection import SourceFactsLimit
from domain.reflection import NAME_TOKENS, WRAPPING_TOKENS, ReflectQuestion, ToolCall, ToolResult, tokens_told
from domain.scope import Scope
from tests.application.test_recall import ARCHES, STATUES, TOWERS, Asking, texts
from tests.support.examples import BANK, NOW

OBSERVED = "It is large."


def question(**fields: Any) -> ReflectQuestion:
    told = {"name": "", "source_query": "?", "max_tokens": 100, "asked_at": NOW, "kind": "answer", **fields}
    return ReflectQuestion.model_validate(told)


def test_a_bank_says_how_much_is_read_where_the_question_does_not() -> None:
    config = BankConfig.model_validate(
        {
            "recall_max_tokens": 1500,
            "recall_chunks_max_tokens": 300,
            "reflect_source_facts_max_tokens": 0,
            "reflect_default_options": {"reflect_search_observations_max_tokens": 1600},
        }
    )
    amounts = Amounts.of(config)
    assert amounts == Amounts(1500, 1600, 300, 0)
    asked = amounts.in_place_of_none(question(recall_tokens=9, chunk_tokens=None))
    assert (asked.recall_tokens, asked.observation_tokens, asked.chunk_tokens, asked.source_tokens) == (9, 1600, 300, 0)
    assert amounts.in_place_of_none(question()).chunk_tokens == 0, "a question that wants no chunks gets none"
    assert Amounts.of(BankConfig()) == Amounts(2048, None, 1000, None)


def searched(asking: Asking, scope: Scope, upto: int = 99, **fields: Any) -> ToolResult:
    desk = Desk(
        asking.memory,
        NO_PAGES,
        NO_TEXTS,
        question(**fields),
        Readable(BANK, scope, Window(upto=upto)),
        "mid",
        vectors={"bridge": asking.world.embedder.embed(["bridge"]).vectors[0]},
        recalls=asking.recalls,
    )
    return search_observations(ToolCall(tool="search_observations", query="bridge"), desk)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, [OBSERVED]),
        ({"source_tokens": None}, [OBSERVED]),
        ({"source_tokens": 0}, [OBSERVED, ARCHES, TOWERS]),
        ({"source_tokens": 1}, [OBSERVED]),
    ],
)
def test_facts_under_observations_are_shown_with_them_as_far_as_they_may_be(
    fields: dict[str, Any], told: list[str]
) -> None:
    asking = Asking().knows(ARCHES, tags=("a",)).knows(STATUES, tags=("b",)).knows(TOWERS)
    sources = tuple(asking.facts[text].id for text in (ARCHES, STATUES, TOWERS))
    asking.knows(OBSERVED, fact_type="observation", source_ids=sources)
    result = searched(asking, Scope(tags=("a",)), **fields)
    assert sorted(found.fact.text for found in result.facts) == sorted(told)
    only = searched(asking, Scope(tags=("a",), fact_types=("observation",)), **fields)
    assert [found.fact.text for found in only.facts] == [OBSERVED]


def test_a_source_that_came_after_the_window_is_not_shown() -> None:
    asking = Asking().knows(ARCHES).knows(TOWERS)
    sources = tuple(asking.facts[text].id for text in (ARCHES, TOWERS))
    asking.knows(OBSERVED, fact_type="observation", source_ids=sources)
    asked = RecallRequest(BANK, "?", source_facts=SourceFactsLimit())
    first = asking.facts[ARCHES].position
    assert {each.text for each in asking.recalls.recall(asking.world.context, asked).sources} == {ARCHES, TOWERS}
    for upto in (first, first - 1):
        within = RecallRequest(BANK, "?", window=Window(upto=upto), source_facts=SourceFactsLimit())
        assert texts(asking.recalls.recall(asking.world.context, within)) == [ARCHES][: upto - first + 1]


def test_what_texts_are_wrapped_in_takes_room_and_a_fact_that_is_named_again_little() -> None:
    asking = Asking().knows(ARCHES)
    call = ToolCall(tool="recall", query="bridge")
    desk = Desk(
        asking.memory,
        NO_PAGES,
        NO_TEXTS,
        question(),
        Readable(BANK, Scope(), Window(upto=99)),
        "mid",
        vectors={"bridge": asking.world.embedder.embed(["bridge"]).vectors[0]},
    )
    result = found_facts(call, desk, None)
    assert tokens_told([]) == 0
    once = tokens_told([result])
    assert once == result.tokens + 2 * WRAPPING_TOKENS
    assert tokens_told([result, result]) == once + WRAPPING_TOKENS + NAME_TOKENS


def test_a_search_keeps_to_the_window_and_counts_times_from_when_it_is_asked() -> None:
    asking = Asking().knows(OBSERVED, fact_type="observation")
    position = asking.facts[OBSERVED].position
    then = NOW - timedelta(days=3)
    assert searched(asking, Scope(), upto=position - 1, asked_at=then).facts == ()
    assert len(searched(asking, Scope(), upto=position, asked_at=then).facts) == 1
    assert asking.said_at == [then, then]
