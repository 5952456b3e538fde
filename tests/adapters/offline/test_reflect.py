from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.offline.reflect import MOST_FACTS, NEAREST_FACTS, OfflineReflectPolicy
from domain.memory import RecalledFact
from domain.reflection import (
    Answer,
    Mention,
    NoAnswer,
    PageFound,
    PageShown,
    ReflectQuestion,
    Step,
    ToolCall,
    ToolName,
    ToolResult,
)
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


def asks(query: str, *results: ToolResult, tools: tuple[ToolName, ...] = ("search_mental_models", "recall")) -> Step:
    """The step after one who asks was searched for."""
    asked = ReflectQuestion(name="", source_query=query, max_tokens=1024, asked_at=SAID, kind="answer", tools=tools)
    return OfflineReflectPolicy().next_step(asked, results, must_finish=False).step


def found_page(content: str, **more: Any) -> ToolResult:
    page = PageFound(mental_model_id="tea", name="Tea", content=content, version=1, updated_at=SAID, **more)
    call = ToolCall(tool="search_mental_models", query="tea")
    return ToolResult(call=call, pages=(PageShown(page=page, form="whole"),))


def test_an_observation_stands_for_the_facts_it_rests_on() -> None:
    ann, bob, eve = (
        stored(number, f"{name} drinks tea.") for number, name in enumerate(("Ann", "Bob", "Eve"), start=1)
    )
    all_do = stored(4, "Ann and Bob drink tea.").model_copy(
        update={"fact_type": "observation", "source_ids": (ann.id, bob.id)}
    )
    answered = answer([recalled(ann), recalled(bob), recalled(all_do), recalled(eve)])
    assert answered.markdown == "# Tea\n\n- Eve drinks tea.\n- Ann and Bob drink tea.\n"
    assert answered.used == (str(eve.id), str(all_do.id))


def test_a_fresh_page_with_all_words_of_the_question_is_the_answer() -> None:
    answered = asks("Who drinks tea?", found_page("- Ann drinks it.\n"))
    assert answered == Answer(markdown="- Ann drinks it.\n", used=(), pages=("tea",))


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("Who drinks coffee?", found_page("- Ann drinks it.\n")),
        ("Who drinks tea?", found_page("- Ann drinks it.\n", stale_because=("new_memories",))),
        ("Who drinks tea?", found_page("- Ann drinks it.\n" + "More of it. " * 1000)),
    ],
    ids=["another question", "a stale page", "a page too long"],
)
def test_other_pages_send_the_question_on_to_the_facts(query: str, result: ToolResult) -> None:
    sent = asks(query, result)
    assert isinstance(sent, ToolCall)
    assert (sent.tool, sent.query) == ("recall", query)


def test_a_page_is_no_source_of_a_document() -> None:
    thought = OfflineReflectPolicy().next_step(question(), [found_page("- Who drinks tea: Ann.\n")], must_finish=False)
    assert isinstance(thought.step, ToolCall)


@pytest.mark.parametrize(
    ("text", "answered"),
    [("Sales in 2025 were 3.", False), ("Sales in 2024 were 2.", True), ("Sales of 20245.", False)],
)
def test_rf_05_one_who_asks_about_a_year_is_told_of_no_other(text: str, answered: bool) -> None:
    """RF-05: nothing is invented for periods without data."""
    found = ToolResult(call=ToolCall(tool="recall", query="sales"), facts=(recalled(stored(1, text)),))
    step = asks("What were the sales in 2024?", found)
    assert isinstance(step, Answer) == answered
    assert answered or step == NoAnswer(reason="the memory says nothing about 2024")


def test_what_is_only_nearest_is_no_answer_to_one_who_asks() -> None:
    found = ToolResult(call=CALL, facts=(recalled(stored(1, "It rained."), semantic=0.1),))
    assert asks("Who drinks tea?", found) == NoAnswer(reason="no memory in scope was found for the question")
