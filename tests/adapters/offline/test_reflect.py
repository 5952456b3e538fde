from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from adapters.offline.reflect import MOST_FACTS, NEAREST_FACTS, OfflineReflectPolicy
from domain.memory import RecalledFact
from domain.reflection import Answer, Mention, NoAnswer, ReflectQuestion, Step, ToolCall, ToolResult
from tests.adapters.offline.facts_of import SAID, recalled, stored

CALL = ToolCall(tool="recall", query="Who drinks tea?")


def question(max_tokens: int = 1024, name: str = "Tea") -> ReflectQuestion:
    return ReflectQuestion(name=name, source_query="Who drinks tea?", max_tokens=max_tokens, asked_at=SAID)


def step(*results: list[RecalledFact], must_finish: bool = False, max_tokens: int = 1024) -> Step:
    given = [ToolResult(call=CALL, facts=tuple(facts)) for facts in results]
    thought = OfflineReflectPolicy().next_step(question(max_tokens), given, must_finish=must_finish)
    assert thought.calls == ()
    return thought.step


def answer(*results: list[RecalledFact]) -> Answer:
    answered = step(*results)
    assert isinstance(answered, Answer)
    return answered


def test_the_engine_says_what_it_is() -> None:
    assert OfflineReflectPolicy().engine == "offline"


@pytest.mark.parametrize(("max_tokens", "asked"), [(256, 1000), (1024, 2048), (8192, 16000), (100_000, 16000)])
def test_the_first_step_recalls_the_question_with_room_for_the_document(max_tokens: int, asked: int) -> None:
    first = step(max_tokens=max_tokens)
    assert isinstance(first, ToolCall)
    assert (first.tool, first.query, first.max_tokens) == ("recall", "Who drinks tea?", asked)


def test_without_results_there_is_no_answer_when_it_is_due() -> None:
    assert isinstance(step(must_finish=True), NoAnswer)


@pytest.mark.parametrize("must_finish", [False, True])
def test_what_was_found_is_the_answer_with_the_facts_in_it_as_used(must_finish: bool) -> None:
    found = [recalled(stored(2, "Bob drinks tea.")), recalled(stored(1, "Ann drinks tea."))]
    answered = step(found, must_finish=must_finish)
    assert answered == Answer(
        markdown="# Tea\n\n- Ann drinks tea.\n- Bob drinks tea.\n",
        used=(str(found[1].fact.id), str(found[0].fact.id)),
        mentions=(
            Mention(offset=len("# Tea\n\n- Ann drinks tea."), fact_id=str(found[1].fact.id)),
            Mention(offset=len("# Tea\n\n- Ann drinks tea.\n- Bob drinks tea."), fact_id=str(found[0].fact.id)),
        ),
    )


NEAREST = ToolCall(tool="recall", query="Who drinks tea?", nearest=True)


def test_a_question_near_to_nothing_is_asked_again_for_the_nearest() -> None:
    for found in (
        [],
        [recalled(stored(1, "It rained."), semantic=0.29), recalled(stored(2, "It snowed."), semantic=None)],
    ):
        again = step(found)
        assert isinstance(again, ToolCall)
        assert (again.query, again.nearest) == ("Who drinks tea?", True)


def test_a_question_near_to_nothing_is_answered_with_the_nearest() -> None:
    found = [recalled(stored(number, f"Fact {number}."), semantic=0.2) for number in range(1, 31)]
    results = [ToolResult(call=CALL, facts=()), ToolResult(call=NEAREST, facts=tuple(found))]
    answered = OfflineReflectPolicy().next_step(question(2048), results, must_finish=False).step
    assert isinstance(answered, Answer)
    assert len(answered.used) == NEAREST_FACTS


def test_nothing_in_scope_is_no_answer() -> None:
    results = [ToolResult(call=CALL, facts=()), ToolResult(call=NEAREST, facts=())]
    answered = OfflineReflectPolicy().next_step(question(2048), results, must_finish=False).step
    assert isinstance(answered, NoAnswer)
    assert answered.reason == "no memory in scope was found for the question"


def test_a_fact_is_relevant_by_a_word_or_by_meaning() -> None:
    answered = answer(
        [
            recalled(stored(1, "by word"), semantic=None, keyword=0.01),
            recalled(stored(2, "by meaning"), semantic=0.3),
            recalled(stored(3, "by neither"), semantic=0.2),
        ]
    )
    assert answered.markdown == "# Tea\n\n- by word\n- by meaning\n"


def test_a_fact_found_twice_stands_once_in_its_newest_version() -> None:
    old = stored(1, "Bob drinks tea.")
    new = old.model_copy(update={"version": 2, "position": 7, "text": "Bob drinks coffee."})
    assert answer([recalled(new)], [recalled(old)]).markdown == "# Tea\n\n- Bob drinks coffee.\n"


def test_near_identical_facts_stand_once_and_the_newest_stays() -> None:
    found = [
        recalled(stored(1, "Bob drinks tea.")),
        recalled(stored(3, "**bob** drinks  “tea”")),
        recalled(stored(2, "Bob drinks tea")),
        recalled(stored(4, "Bob drinks tea?")),
    ]
    answered = answer(found)
    assert answered.used == (str(found[1].fact.id), str(found[3].fact.id))
    assert tuple(mention.fact_id for mention in answered.mentions) == answered.used


def test_every_fact_is_mentioned_where_its_bullet_ends_in_characters() -> None:
    found = [
        recalled(stored(1, "我们使用 <b>.", names=["Acme"], occurred=SAID)),
        recalled(stored(2, "Two\nlines 🎉.", names=["Acme"])),
        recalled(stored(3, "It rained.")),
    ]
    answered = answer(found)
    bullets = {
        str(found[0].fact.id): "- (2024-05-15) 我们使用 \\<b>.",
        str(found[1].fact.id): "- Two lines 🎉.",
        str(found[2].fact.id): "- It rained.",
    }
    assert [mention.fact_id for mention in answered.mentions] == list(answered.used)
    for mention in answered.mentions:
        assert answered.markdown[: mention.offset].endswith(f"\n{bullets[mention.fact_id]}")
        assert answered.markdown[mention.offset] == "\n"


@pytest.mark.parametrize(
    ("one", "other"), [("Uses C.", "Uses C++."), ("Port 8080", "Port 8081"), ("v1.2", "v12"), ("-5", "5")]
)
def test_facts_that_differ_in_what_they_say_both_stay(one: str, other: str) -> None:
    assert len(answer([recalled(stored(1, one)), recalled(stored(2, other))]).used) == 2


def test_the_same_words_about_different_days_are_different_facts() -> None:
    days = [datetime(2024, 5, day, tzinfo=UTC) for day in (1, 2)]
    found = [recalled(stored(number, "We deployed.", occurred=day)) for number, day in enumerate(days, 1)]
    assert answer(found).markdown == "# Tea\n\n- (2024-05-01) We deployed.\n- (2024-05-02) We deployed.\n"


def test_only_the_best_facts_are_kept_and_they_stand_in_order_of_time() -> None:
    found = [recalled(stored(number, f"Fact {number}."), final=float(number)) for number in range(1, 101)]
    lines = answer(found).markdown.splitlines()[2:]
    assert lines == [f"- Fact {number}." for number in range(101 - MOST_FACTS, 101)]


def test_scores_and_order_of_results_do_not_change_the_document() -> None:
    shuffler = random.Random(7)
    facts = [
        stored(
            number,
            f"Fact {number}.",
            names=["Acme", "Bob", "Eve"][number % 3 :][:2],
            mentioned=SAID + timedelta(number),
        )
        for number in range(1, 31)
    ]
    first = answer([recalled(fact) for fact in facts])
    for _ in range(5):
        shuffler.shuffle(facts)
        assert answer([recalled(fact, final=shuffler.random()) for fact in facts]) == first
