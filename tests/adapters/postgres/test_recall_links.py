"""Recall by links: neighbours, causes, shared names, names in the question, time; and what no link may drag in."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from domain.memory import RecalledFact, Window
from domain.period import Period
from domain.recall.fusion import ABOUT, CONTEXT, KEYWORD, MENTIONS, SHARED_NAME, TEMPORAL
from domain.scope import FACT_TYPES, Scope, TagLeaf, TagNot, admits
from tests.support.memories import NOON, BankMemory, document, said

NORTH, EAST = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def by_text(found: list[RecalledFact]) -> dict[str, RecalledFact]:
    return {each.fact.text: each for each in found}


# Neighbours


def test_the_answer_beside_the_question_is_found_with_it(memory: BankMemory) -> None:
    lines = [f"line {number}" for number in range(9)]
    memory.retain(document("chat", *lines[:4], "where did you buy the quince?", *lines[4:]), document("other", "far"))

    found = by_text(list(memory.recall("quince")))

    assert set(found) == {"where did you buy the quince?", *lines[:8]}
    assert found["line 4"].scores.graph == pytest.approx(KEYWORD * CONTEXT[0])
    assert found["line 1"].scores.graph == pytest.approx(KEYWORD * CONTEXT[2])
    assert found["line 4"].scores.keyword is None
    assert memory.texts("quince", by_links=False) == ["where did you buy the quince?"]


def test_a_document_written_in_parts_has_the_neighbours_of_the_whole(memory: BankMemory) -> None:
    memory.retain(document("chat", "one", "two quince"))
    memory.retain(document("other", "between"))
    memory.retain(document("chat", "one", "two quince", "three"))

    assert set(memory.texts("quince")) == {"one", "two quince", "three"}


def test_neighbours_in_the_past_are_those_of_then(memory: BankMemory) -> None:
    memory.retain(document("chat", "one", "quince", "three"))
    memory.retain(document("chat", "quince", "four"))

    assert set(memory.texts("quince")) == {"quince", "four"}
    assert set(memory.texts("quince", window=Window(upto=3))) == {"one", "quince", "three"}


# Causes


def test_what_a_fact_came_of_and_what_came_of_it_is_found_with_it(memory: BankMemory) -> None:
    far = [f"line {number}" for number in range(9)]
    memory.retain(
        document("d", "it rained", *far, said("the picnic moved indoors", caused_by=(0,))),
        document("other", *far),
    )

    found = by_text(list(memory.recall("picnic")))
    assert found["it rained"].scores.graph == pytest.approx(KEYWORD * CONTEXT[0])
    assert by_text(list(memory.recall("rained")))["the picnic moved indoors"].scores.graph == pytest.approx(
        KEYWORD * CONTEXT[0]
    )
    memory.retain(document("d", "it snowed"))
    assert set(memory.texts("snowed")) == {"it snowed"}
    assert "it rained" in memory.texts("picnic", window=Window(upto=11))


# Names


def test_a_fact_that_shares_a_rare_name_is_found(memory: BankMemory) -> None:
    memory.retain(
        document("d1", said("Ada hired the plumber", entities=("Ada", "Zoë"))),
        document("d2", said("she lives in Lisbon", entities=("ZOË",))),
        document("d3", said("it rains", entities=("Ben",))),
    )

    found = by_text(list(memory.recall("plumber")))

    assert set(found) == {"Ada hired the plumber", "she lives in Lisbon"}
    assert found["she lives in Lisbon"].scores.graph == pytest.approx(KEYWORD * SHARED_NAME)


def test_a_name_of_all_facts_links_none(memory: BankMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.postgres.recall_links.MOST_OF_A_NAME", 1)
    memory.retain(document("d1", said("quince", entities=("Ada",))), document("d2", said("tea", entities=("Ada",))))

    assert memory.texts("quince") == ["quince"]


def test_whom_the_question_names_comes_first(memory: BankMemory) -> None:
    memory.retain(
        document("d1", said("Bob: I like tea, Ada", entities=("Bob", "Ada"))),
        document("d2", said("Ada: I like tea, Bob", entities=("Ada", "Bob"))),
    )

    found = list(memory.recall("Does Ada's friend like tea?"))

    assert [each.fact.text for each in found] == ["Ada: I like tea, Bob", "Bob: I like tea, Ada"]
    assert [each.scores.graph for each in found] == [pytest.approx(ABOUT), pytest.approx(MENTIONS)]


def test_a_name_that_is_only_part_of_the_question_does_not_outweigh_its_words(memory: BankMemory) -> None:
    memory.retain(
        document("d1", said("Ada works at Acme", entities=("Ada", "Acme"))),
        document("d2", said("Acme was founded long ago", entities=("Acme",))),
        *(document(f"x{number}", f"it rains {number}") for number in range(8)),
    )

    assert memory.texts("Who works at Acme?")[0] == "Ada works at Acme"


# Time


def test_what_is_in_the_period_asked_for_comes_before_what_is_not(memory: BankMemory) -> None:
    period = Period(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC))
    march = datetime(2026, 3, 5, tzinfo=UTC)
    memory.retain(document("d1", "tea in march"), document("d4", "tea when"))
    memory.retain(document("d2", said("tea happened", occurred_start=march), timestamp=NOON))
    memory.retain(document("d3", "rain", timestamp=march))
    memory.retain(
        document("d5", said("long", occurred_start=march - timedelta(400), occurred_end=march + timedelta(400)))
    )
    memory.retain(document("d6", said("over", occurred_start=march - timedelta(400), occurred_end=march)))

    found = by_text(list(memory.recall("tea", period=period)))

    assert {text for text, each in found.items() if each.scores.temporal == TEMPORAL} == {
        "tea happened",
        "rain",
        "long",
        "over",
    }
    assert next(iter(found)) == "tea happened"
    assert set(memory.texts("tea")) == {"tea in march", "tea when", "tea happened"}


def test_facts_of_the_period_that_are_gone_now_are_found_in_the_past(memory: BankMemory) -> None:
    memory.retain(document("d1", "rain", timestamp=NOON))
    memory.retain(document("d1", "snow", timestamp=NOON))
    period = Period(NOON, NOON)

    assert memory.texts("", period=period) == ["snow"]
    assert memory.texts("", NORTH, period=period, window=Window(upto=1)) == ["rain"]


# What no link may drag in


def random_scope(chance: random.Random) -> Scope:
    tags = tuple(chance.sample(["a", "b", "c"], chance.randint(0, 2)))
    types = tuple(chance.sample(FACT_TYPES, chance.randint(1, 3)))
    if chance.random() < 0.3:
        groups = (TagNot(none_of=TagLeaf(tags=("a",))),)
        return Scope(tag_groups=groups, fact_types=types)
    match = chance.choice(["any", "all", "any_strict", "all_strict", "exact"])
    return Scope.model_validate({"tags": tags, "tags_match": match, "fact_types": types})


@pytest.mark.parametrize("seed", range(12))
def test_no_arm_and_no_link_leaves_the_scope_or_the_window(memory: BankMemory, seed: int) -> None:
    """Random histories of tagged facts with names, neighbours and times; every recall is held against what the one
    matcher of scopes admits, at the position it is asked for. Nothing that is admitted is lost either."""
    chance = random.Random(seed)
    standing: dict[int, set[str]] = {0: set()}
    current: dict[str, set[str]] = {}
    told: dict[str, tuple[tuple[str, ...], str, int]] = {}
    for step in range(12):
        name = f"d{chance.randint(1, 3)}"
        tags = tuple(chance.sample(["a", "b", "c"], chance.randint(0, 2)))
        facts = [
            said(
                f"tea {name} {step} {number}",
                chance.choice((NORTH, EAST)),
                fact_type=chance.choice(("world", "experience")),
                entities=(chance.choice(("Ada", "Ben", "Cleo")),),
            )
            for number in range(chance.randint(0, 6))
        ]
        before = memory.store.position(memory.bank_id)
        write = memory.retain(document(name, *facts, tags=tags, timestamp=NOON))
        first = before + write.closed + 1
        for place, each in enumerate(facts):
            told[each.fact.text] = (tags, each.fact.fact_type, first + place)
        current[name] = {each.fact.text for each in facts}
        standing[write.position] = set().union(*current.values())

    last = memory.store.position(memory.bank_id)
    for _ in range(25):
        scope, upto = random_scope(chance), chance.choice([*standing, last + 5])
        after = chance.choice([0, 0, chance.randint(0, upto)])
        readable = {
            text
            for text in standing[min(upto, last)]
            if admits(scope, *told[text][:2]) and after < told[text][2] <= upto
        }
        asked = {"scope": scope, "window": Window(after=after, upto=upto), "period": Period(NOON, NOON)}

        assert set(memory.texts("tea Ada", NORTH, **asked)) == readable
        one = set(memory.texts(f"{chance.randint(0, 11)}", NORTH, min_semantic=0.99, **asked))
        assert one <= readable
