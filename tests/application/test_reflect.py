"""The reflect loop: it asks until there is an answer, none, or its steps are used up. Failures are results."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest

from application.current_operation import answering_within
from application.deadline import Deadline
from application.reflection import ITERATIONS, RETRIEVAL_EMPTY, Readable, Reflection, Reflector
from domain.memory import FACTS_OF_BUDGET, RecallQuery, Window
from domain.mental_model.record import FactCount
from domain.mental_model.trigger import Budget
from domain.reflection import Answer, NoAnswer, ReflectQuestion, Thought, ToolCall, ToolResult
from domain.refresh import Candidate, RunFailed
from domain.scope import Scope
from tests.support.examples import BANK, NOW, QUESTION, call
from tests.support.in_memory import InMemoryMemoryStore, numbered_fact
from tests.support.scripted_minds import RECALL, CountingEmbedder, Scripted, ScriptedPolicy, answer_from_all, unusable

ASKED = ReflectQuestion(name="Charles Bridge", source_query=QUESTION, max_tokens=2048, asked_at=NOW)


class Reflecting:
    """A reflector over two facts, with a script for its mind and a stopwatch that gains 5 ms at each reading."""

    def __init__(self, *script: Scripted) -> None:
        self.policy = ScriptedPolicy(*script)
        self.embedder = CountingEmbedder()
        self.memory = InMemoryMemoryStore()
        self.memory.add(BANK, "The bridge was begun in 1357.")
        self.memory.add(BANK, "The bridge was finished in 1402.", fact_type="experience", context="city guide")
        self._elapsed = 0.0

    def _stopwatch(self) -> float:
        self._elapsed += 0.005
        return self._elapsed

    def reflect(self, *, scope: Scope | None = None, upto: int = 2, budget: Budget = "mid") -> Reflection:
        reflector = Reflector(self.memory, self.embedder, self.policy, self._stopwatch)
        return reflector.reflect(ASKED, Readable(BANK, scope or Scope(), Window(upto=upto)), budget)


def used(number: int) -> str:
    """The id of a fact of the store, in the order they were added."""
    return str(numbered_fact(number))


def test_an_answer_after_a_recall_rests_on_what_was_shown() -> None:
    reflecting = Reflecting(RECALL, answer_from_all)
    reflection = reflecting.reflect()
    assert reflection.result == Candidate("- The bridge was finished in 1402.\n- The bridge was begun in 1357.\n")
    assert [each.text for each in reflection.evidence] == [
        "The bridge was finished in 1402.",
        "The bridge was begun in 1357.",
    ]
    assert (reflection.evidence[0].position, reflection.evidence[0].version) == (2, 1)
    assert (reflection.evidence[0].fact_type, reflection.evidence[0].context) == ("experience", "city guide")
    assert (reflection.raw_reply, reflection.warnings) == ("{...}", [])


def test_the_mind_sees_the_question_and_all_results_so_far() -> None:
    reflecting = Reflecting(RECALL, RECALL, answer_from_all)
    reflecting.reflect()
    assert reflecting.policy.asked == [(ASKED, 0, False), (ASKED, 1, False), (ASKED, 2, False)]


def test_a_recall_reads_the_scope_and_window_and_no_more_than_asked() -> None:
    narrow = Scope(tags=("stone",), tags_match="any")
    reflecting = Reflecting(ToolCall(tool="recall", query="dates", max_tokens=1500), Answer(markdown="1402.", used=()))
    reflecting.reflect(scope=narrow, upto=1, budget="low")
    assert reflecting.memory.queries == [
        RecallQuery(
            bank_id=BANK,
            text="dates",
            scope=narrow,
            window=Window(upto=1),
            limit=FACTS_OF_BUDGET["low"],
            max_tokens=1500,
        )
    ]


def test_every_recall_is_on_record() -> None:
    look = ToolCall(tool="recall", query="dates", max_tokens=1500, reason="when was it built")
    reflection = Reflecting(RECALL, look, answer_from_all).reflect()
    assert [(each.query, each.reason, each.max_tokens, each.result_count) for each in reflection.tool_calls] == [
        ("Charles Bridge", "", 2048, 2),
        ("dates", "when was it built", 1500, 2),
    ]
    assert [(each.iteration, each.duration_ms) for each in reflection.tool_calls] == [(1, 5), (2, 5)]


def test_a_fact_shown_twice_is_counted_and_cited_once() -> None:
    reflection = Reflecting(RECALL, RECALL, answer_from_all).reflect()
    assert reflection.retrieved == (FactCount(fact_type="experience", count=1), FactCount(fact_type="world", count=1))
    assert len(reflection.evidence) == 2


def test_a_fact_that_was_not_shown_is_no_evidence() -> None:
    reflection = Reflecting(RECALL, Answer(markdown="1402.", used=(used(2), used(2), used(9), "no id"))).reflect(upto=2)
    assert [each.text for each in reflection.evidence] == ["The bridge was finished in 1402."]


def test_a_fact_after_the_window_is_not_shown_and_so_no_evidence() -> None:
    reflection = Reflecting(RECALL, Answer(markdown="1402.", used=(used(1), used(2)))).reflect(upto=1)
    assert [each.text for each in reflection.evidence] == ["The bridge was begun in 1357."]


def test_an_answer_that_used_none_of_what_was_found_is_taken_with_a_warning() -> None:
    reflection = Reflecting(RECALL, Answer(markdown="1402.", used=())).reflect()
    assert reflection.warnings == ["retrieval found 2 facts but the answer used none of them"]
    assert reflection.result == Candidate("1402.")


@pytest.mark.parametrize("script", [(RECALL, answer_from_all), (answer_from_all,)], ids=["nothing found", "not looked"])
def test_an_answer_without_any_fact_shown_is_taken_with_a_warning(script: tuple[Scripted, ...]) -> None:
    reflection = Reflecting(*script).reflect(scope=Scope(tags=("stone",), tags_match="all_strict"))
    assert (reflection.warnings, reflection.evidence) == ([RETRIEVAL_EMPTY], ())


def test_rs_02_no_answer_is_a_failure_that_keeps_the_reply() -> None:
    reflection = Reflecting(RECALL, NoAnswer(reason="nothing about it", raw="No answer provided.")).reflect()
    assert reflection.result == RunFailed("no_answer", "nothing about it")
    assert (reflection.raw_reply, reflection.evidence) == ("No answer provided.", ())


@pytest.mark.parametrize("budget", ["low", "mid", "high"])
def test_rs_02_a_mind_that_never_answers_is_stopped_by_its_budget(budget: Budget) -> None:
    steps = ITERATIONS[budget]
    reflecting = Reflecting(*[RECALL] * steps)
    reflection = reflecting.reflect(budget=budget)
    assert reflection.result == RunFailed("no_answer", f"no answer after {steps} steps")
    assert [must_finish for _, _, must_finish in reflecting.policy.asked] == [False] * (steps - 1) + [True]
    assert len(reflection.tool_calls) == steps - 1


def test_an_answer_at_the_last_step_is_taken() -> None:
    reflection = Reflecting(*[RECALL] * 4, answer_from_all).reflect(budget="low")
    assert isinstance(reflection.result, Candidate)


def test_rs_03_a_recall_that_raises_is_a_failed_retrieval_and_never_an_empty_one() -> None:
    reflecting = Reflecting(RECALL)
    reflecting.memory.broken = ConnectionError("the server closed the connection")
    reflection = reflecting.reflect()
    assert reflection.result == RunFailed(
        "retrieval_failed", "recall failed: ConnectionError: the server closed the connection"
    )
    assert (reflection.tool_results, reflection.tool_calls) == ([], [])


@pytest.mark.parametrize("transient", [True, False])
def test_rs_03_an_embedder_that_fails_is_a_failed_retrieval(transient: bool) -> None:
    reflecting = Reflecting(RECALL)
    reflecting.embedder.broken = unusable("embeddings: 503", transient=transient)
    reflection = reflecting.reflect()
    assert reflection.result == RunFailed("retrieval_failed", "recall failed: embeddings: 503", transient)
    assert [each.purpose for each in reflection.calls] == ["reflect_1", "failed"]


def test_a_mind_that_fails_is_a_result_with_its_reason_and_reply() -> None:
    reflection = Reflecting(RECALL, unusable("the endpoint answered 500", transient=True)).reflect()
    assert reflection.result == RunFailed("unexpected_error", "the endpoint answered 500", transient=True)
    assert (reflection.raw_reply, len(reflection.tool_calls)) == ("<html>", 1)


def test_every_call_is_counted_also_those_of_a_failed_run() -> None:
    answered = Reflecting(RECALL, answer_from_all).reflect()
    assert [each.purpose for each in answered.calls] == ["reflect_1", "embed", "reflect_2"]
    failed = Reflecting(RECALL, RECALL, unusable()).reflect()
    assert [each.purpose for each in failed.calls] == ["reflect_1", "embed", "reflect_2", "embed", "failed"]


def test_a_step_may_cost_several_calls() -> None:
    again = Thought(step=Answer(markdown="1402.", used=()), calls=(call("reflect_1"), call("reflect_1_again")))
    assert [each.purpose for each in Reflecting(again).reflect().calls] == ["reflect_1", "reflect_1_again"]


def test_a_mistake_in_our_own_code_is_a_result_and_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        reflection = Reflecting(RECALL, ZeroDivisionError("bug")).reflect()
    assert reflection.result == RunFailed("unexpected_error", "ZeroDivisionError: bug")
    assert [each.purpose for each in reflection.calls] == ["reflect_1", "embed"]
    assert "Traceback" in caplog.text


UNSTORABLE, STORABLE = "a\x00b \ud83d c", "ab \ufffd c"


def test_what_a_mind_says_can_be_stored() -> None:
    answered = Reflecting(Answer(markdown=UNSTORABLE, used=())).reflect()
    assert answered.result == Candidate(STORABLE)
    unanswered = Reflecting(NoAnswer(reason=UNSTORABLE)).reflect()
    assert unanswered.result == RunFailed("no_answer", STORABLE)


def test_what_a_failure_says_can_be_stored() -> None:
    assert Reflecting(unusable(UNSTORABLE)).reflect().result == RunFailed("unexpected_error", STORABLE)
    assert Reflecting(ValueError(UNSTORABLE)).reflect().result == RunFailed(
        "unexpected_error", f"ValueError: {STORABLE}"
    )
    broken = Reflecting(RECALL)
    broken.memory.broken = ConnectionError(UNSTORABLE)
    assert broken.reflect().result == RunFailed("retrieval_failed", f"recall failed: ConnectionError: {STORABLE}")
    broken = Reflecting(RECALL)
    broken.embedder.broken = unusable(UNSTORABLE)
    assert broken.reflect().result == RunFailed("retrieval_failed", f"recall failed: {STORABLE}")


def test_when_nobody_waits_any_more_what_the_mind_asks_for_is_not_looked_up() -> None:
    deadline = Deadline(60)

    def asks_while_the_caller_goes(_results: Sequence[ToolResult]) -> ToolCall:
        deadline.pass_now()
        return RECALL

    reflecting = Reflecting(asks_while_the_caller_goes)
    with answering_within(deadline):
        reflection = reflecting.reflect()
    assert isinstance(reflection.result, RunFailed)
    assert "took longer than 60 s" in reflection.result.message
    assert reflecting.embedder.texts == []
