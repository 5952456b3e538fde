"""Documents and answers of what people say to each other."""

from __future__ import annotations

from typing import Literal

from adapters.offline.reflect import OfflineReflectPolicy
from domain.memory import Fact, RecalledFact
from domain.reflection import Answer, NoAnswer, ReflectQuestion, Step, ToolCall, ToolResult
from tests.adapters.offline.facts_of import SAID, recalled, stored

CAMPING = stored(1, "Ann: I took the kids camping last week.", names=["Ann"], occurred=SAID)
PAINTING = stored(2, "Ben: I painted a lake in Norway.", names=["Ben"])
ASKING = stored(3, "Ann: Which lake in Norway did you paint?", names=["Ann"])


def spoken(question: str, *facts: Fact, kind: Literal["answer", "document"] = "answer") -> Answer | NoAnswer:
    asked = ReflectQuestion(name="", source_query=question, max_tokens=500, asked_at=SAID, kind=kind)
    result = ToolResult(call=ToolCall(tool="recall"), facts=tuple(recalled(fact) for fact in facts))
    step = OfflineReflectPolicy().next_step(asked, [result], must_finish=True).step
    assert isinstance(step, (Answer, NoAnswer))
    return step


def test_an_answer_has_the_words_asked_for_and_no_questions() -> None:
    answer = spoken("What did Ben paint in Norway?", CAMPING, ASKING, PAINTING)
    assert isinstance(answer, Answer)
    assert answer.used == (str(PAINTING.id),)


def test_what_is_known_of_others_answers_nothing_about_one() -> None:
    answer = spoken("What did Zoe paint?", CAMPING, PAINTING)
    assert isinstance(answer, NoAnswer)
    assert "Zoe" in answer.reason
    assert isinstance(spoken("What did Zoe paint?", stored(4, "A lake was painted.")), Answer)


def test_a_document_about_one_holds_what_that_one_tells() -> None:
    page = spoken("What is known about Ann?", PAINTING, ASKING, CAMPING, kind="document")
    assert isinstance(page, Answer)
    assert page.used == (str(CAMPING.id),)


def test_what_happened_in_order_is_one_list_by_time() -> None:
    moved = stored(5, "Ben: I moved.", names=["Ben"], occurred=SAID.replace(year=2025))
    sold = stored(6, "Ben: I sold it.", names=["Ben"], occurred=SAID.replace(year=2023))
    swam = stored(7, "Ann: I swam.", names=["Ann"], occurred=SAID.replace(year=2026))
    page = spoken("What happened, in order?", swam, moved, CAMPING, sold, kind="document")
    assert isinstance(page, Answer)
    assert page.used == tuple(str(fact.id) for fact in (sold, CAMPING, moved, swam))
    assert page.markdown.startswith("- (2023-05-15) Ben: I sold it.\n- (2024-05-15) Ann: I took the kids")


def test_who_is_named_in_it_is_no_answer_to_something_else() -> None:
    far = recalled(PAINTING, semantic=0.31, keyword=0.5)
    asked = ReflectQuestion(name="", source_query="Is Ben ill?", max_tokens=500, asked_at=SAID, kind="answer")
    call = ToolCall(tool="recall")

    def answer_to(found: RecalledFact) -> Step:
        result = ToolResult(call=call, facts=(found,))
        return OfflineReflectPolicy().next_step(asked, [result], must_finish=True).step

    assert isinstance(answer_to(far), NoAnswer)
    assert isinstance(answer_to(recalled(PAINTING, semantic=0.6, keyword=0.5)), Answer)
    assert isinstance(answer_to(recalled(stored(9, "Ben has the flu.", names=["Ben"]), semantic=0.31)), Answer)


def test_of_facts_without_a_word_that_was_asked_for_a_few_are_told() -> None:
    facts = [stored(n, f"Ben painted lake number {n}.", names=["Ben"]) for n in range(1, 9)]
    answer = spoken("Is Ben ill?", *facts)
    assert isinstance(answer, Answer)
    assert answer.used == tuple(str(fact.id) for fact in facts[:3])
