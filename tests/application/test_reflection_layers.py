"""The layers of a memory: which are read, in which order, and when pages may answer alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import pytest

from application.reflection import Amounts, Readable, Reflection, Reflector, Toolbox
from domain.directives import Directive
from domain.memory import Budget, Window
from domain.mental_model.record import PageEvidence
from domain.persona import Persona
from domain.reflection import (
    Answer,
    NoAnswer,
    PageFound,
    ReflectQuestion,
    ToolCall,
    ToolCalls,
    ToolName,
)
from domain.refresh import Candidate, RunFailed
from domain.scope import Scope, admits
from tests.support.examples import BANK, NOW, QUESTION
from tests.support.in_memory import InMemoryMemoryStore
from tests.support.scripted_minds import RECALL, CountingEmbedder, Scripted, ScriptedPolicy

STALE = ("new_memories",)
ANSWER = Answer(markdown="1402.", used=())


def page(mental_model_id: str, content: str = "Finished in 1402.", **more: Any) -> PageFound:
    fields: dict[str, Any] = {"name": mental_model_id.title(), "version": 3, "updated_at": NOW, **more}
    return PageFound(mental_model_id=mental_model_id, content=content, **fields)


class ListedPages:
    """Pages: every one is found by any query, in the order listed."""

    def __init__(self, *pages: PageFound) -> None:
        self.pages = pages
        self.broken: Exception | None = None

    def _visible(self, scope: Scope, excluded: Collection[str]) -> list[PageFound]:
        return [
            each
            for each in self.pages
            if each.mental_model_id not in excluded
            and admits(scope.model_copy(update={"fact_types": None}), each.tags, "world")
        ]

    def any_visible(self, bank_id: str, scope: Scope, excluded: Collection[str]) -> bool:
        assert bank_id == BANK
        return bool(self._visible(scope, excluded))

    def search(
        self, bank_id: str, query: str, vector: Sequence[float], scope: Scope, excluded: Collection[str], limit: int
    ) -> Sequence[PageFound]:
        assert (bank_id, bool(query), bool(vector)) == (BANK, True, True)
        if self.broken:
            raise self.broken
        return self._visible(scope, excluded)[:limit]

    def read(
        self, bank_id: str, mental_model_ids: Sequence[str], scope: Scope, excluded: Collection[str]
    ) -> Sequence[PageFound]:
        assert bank_id == BANK
        by_id = {each.mental_model_id: each for each in self._visible(scope, excluded)}
        return [by_id[each] for each in mental_model_ids if each in by_id]


class Layered:
    """A reflector over pages, an observation and two facts, with a script for its mind."""

    def __init__(self, *script: Scripted, pages: Sequence[PageFound] = (), observed: bool = True) -> None:
        self.policy = ScriptedPolicy(*script)
        self.memory = InMemoryMemoryStore()
        self.embedder = CountingEmbedder()
        self.pages = ListedPages(*pages)
        self.memory.add(BANK, "The bridge was begun in 1357.")
        self.memory.add(BANK, "The bridge was finished in 1402.", fact_type="experience")
        if observed:
            self.memory.add(BANK, "Building it took 45 years.", fact_type="observation")
        self.persona = Persona()

    def reflect(
        self,
        kind: str = "document",
        *,
        scope: Scope | None = None,
        budget: Budget = "mid",
        excluded: Collection[str] = (),
        exclude_pages: bool = False,
        waiting: int = 0,
    ) -> Reflection:
        question = ReflectQuestion.model_validate(
            {"name": "Bridge", "source_query": QUESTION, "max_tokens": 2048, "asked_at": NOW, "kind": kind}
        )
        toolbox = Toolbox(self.memory, self.embedder, self.pages, waiting=lambda _bank_id: waiting)
        reflector = Reflector(
            self.memory,
            self.embedder,
            self.policy,
            toolbox=toolbox,
            persona_of=lambda _bank_id: self.persona,
            amounts_of=lambda _bank_id: Amounts(1500, 1600),
        )
        readable = Readable(BANK, scope or Scope(), Window(upto=3), exclude_pages, frozenset(excluded))
        return reflector.reflect(question, readable, budget)


def called(reflection: Reflection) -> list[tuple[str, str, int]]:
    return [(each.tool, each.query, each.iteration) for each in reflection.tool_calls]


def used_tools(reflection: Reflection) -> list[str]:
    return [each.tool for each in reflection.tool_calls]


def test_the_first_search_of_a_document_goes_to_all_layers_in_one_turn() -> None:
    reflection = Layered(RECALL, ANSWER, pages=[page("prague")]).reflect()
    assert called(reflection) == [
        ("search_mental_models", "Charles Bridge", 1),
        ("search_observations", "Charles Bridge", 1),
        ("recall", "Charles Bridge", 1),
    ]
    assert [call.purpose for call in reflection.calls].count("embed") == 1
    assert [len(result.facts) for result in reflection.tool_results] == [0, 1, 2]


def test_one_who_asks_needs_no_turn_of_the_mind_before_the_layers_are_read() -> None:
    layered = Layered(ANSWER, pages=[page("prague", stale_because=STALE)])
    reflection = layered.reflect("answer")
    assert [tool for tool, _, _ in called(reflection)] == ["search_mental_models", "search_observations", "recall"]
    assert {query for _, query, _ in called(reflection)} == {QUESTION}
    assert [(results, finish) for _, results, finish in layered.policy.asked] == [(3, False)]


def test_fresh_pages_may_answer_one_who_asks_alone() -> None:
    reflection = Layered(Answer(markdown="1402.", used=(), pages=("prague",)), pages=[page("prague")]).reflect("answer")
    assert used_tools(reflection) == ["search_mental_models"]
    assert reflection.pages == (
        PageEvidence(mental_model_id="prague", name="Prague", version=3, text="Finished in 1402."),
    )
    assert reflection.warnings == []


@pytest.mark.parametrize(
    ("pages", "budget"),
    [
        ([page("prague"), page("old", stale_because=STALE)], "mid"),
        ([page("prague"), page("empty", " ")], "mid"),
        ([page("prague")], "high"),
    ],
    ids=["one is stale", "one says nothing", "a high budget"],
)
def test_pages_do_not_answer_alone(pages: list[PageFound], budget: Budget) -> None:
    assert used_tools(Layered(ANSWER, pages=pages).reflect("answer", budget=budget)) == [
        "search_mental_models",
        "search_observations",
        "recall",
    ]


def test_rf_02_before_no_answer_is_taken_the_layers_below_are_read() -> None:
    """RF-02: fresh pages that do not answer."""
    reflection = Layered(NoAnswer(reason="not there"), ANSWER, pages=[page("prague")]).reflect("answer")
    assert used_tools(reflection) == ["search_mental_models", "search_observations", "recall"]
    assert isinstance(reflection.result, Candidate)


def test_no_answer_after_all_layers_is_one() -> None:
    reflection = Layered(NoAnswer(reason="not there"), NoAnswer(reason="still not"), pages=[page("prague")]).reflect(
        "answer"
    )
    assert reflection.result == RunFailed("no_answer", "still not")
    assert reflection.unanswered == NoAnswer(reason="still not")


def test_before_the_last_turn_the_layers_that_were_not_searched_are_read() -> None:
    read = ToolCall(tool="read_mental_models", ids=("prague",))
    layered = Layered(read, read, read, NoAnswer(reason="not there"), pages=[page("prague")])
    reflection = layered.reflect("answer", budget="low")
    assert used_tools(reflection)[-2:] == ["search_observations", "recall"]
    assert [(results, finish) for _, results, finish in layered.policy.asked][-1] == (6, True)
    assert reflection.unanswered == NoAnswer(reason="not there")


def test_where_there_is_no_room_left_nothing_more_is_read() -> None:
    long = page("long", "word " * 74_500)
    layered = Layered(ToolCall(tool="read_mental_models", ids=("long",)), NoAnswer(reason="not there"), pages=[long])
    reflection = layered.reflect("answer")
    assert used_tools(reflection) == ["search_mental_models", "read_mental_models"]
    assert reflection.unanswered == NoAnswer(reason="not there")


def test_only_tools_with_something_behind_them_are_there() -> None:
    def tools(layered: Layered, **more: Any) -> tuple[ToolName, ...]:
        return layered.reflect(**more).tools

    assert tools(Layered(ANSWER, observed=False)) == ("recall",)
    assert tools(Layered(ANSWER)) == ("search_observations", "recall")
    prague = [page("prague", tags=("stone",))]
    both = ("search_mental_models", "read_mental_models", "search_observations", "recall")
    assert tools(Layered(ANSWER, pages=prague)) == both
    assert tools(Layered(ANSWER, pages=prague), exclude_pages=True) == both[2:]
    assert tools(Layered(ANSWER, pages=prague), excluded=["prague"]) == both[2:]
    wooden = Scope(tags=("wood",), tags_match="any_strict")
    assert tools(Layered(ANSWER, pages=prague), scope=wooden) == ("recall",)
    assert tools(Layered(ANSWER), scope=Scope(fact_types=("observation",))) == ("search_observations",)
    assert tools(Layered(ANSWER), scope=Scope(fact_types=("world",))) == ("recall",)


def test_observations_come_by_their_own_tool_only() -> None:
    layered = Layered(RECALL, ANSWER)
    layered.reflect()
    assert [query.scope.fact_types for query in layered.memory.queries] == [("observation",), ("world", "experience")]


@pytest.mark.parametrize(("waiting", "freshness"), [(0, "up_to_date"), (9, "slightly_stale"), (10, "stale")])
def test_observations_say_how_much_they_have_not_seen(waiting: int, freshness: str) -> None:
    reflection = Layered(RECALL, ANSWER).reflect(waiting=waiting)
    assert reflection.tool_results[0].freshness == freshness


def test_calls_of_one_turn_give_their_results_in_their_order() -> None:
    several = ToolCalls(calls=tuple(ToolCall(tool="recall", query=f"{number}") for number in range(5)))
    reflection = Layered(RECALL, several, ANSWER, observed=False).reflect()
    assert [(query, turn) for _, query, turn in called(reflection)[1:]] == [(f"{number}", 2) for number in range(5)]


def test_a_tool_that_is_not_there_is_told_to_the_mind_and_ends_nothing() -> None:
    reflection = Layered(RECALL, ToolCall(tool="expand", ids=("f1",)), ANSWER, observed=False).reflect()
    assert reflection.tool_results[1].problem == "there is no tool `expand` here; there are: recall"
    assert reflection.tool_calls[1].problem
    assert isinstance(reflection.result, Candidate)


def test_a_layer_that_fails_ends_the_run_as_a_failed_retrieval() -> None:
    layered = Layered(RECALL, ANSWER, pages=[page("prague")])
    layered.pages.broken = ConnectionError("gone")
    assert layered.reflect().result == RunFailed(
        "retrieval_failed", "search_mental_models failed: ConnectionError: gone"
    )


def test_tk_06_long_pages_are_shown_by_their_beginning_and_whole_ones_once() -> None:
    """TK-06: five pages of 8,000 tokens, searched three times."""
    long = [page(f"page-{number}", f"{number}" + "word " * 6_400) for number in range(5)]
    search = ToolCall(tool="search_mental_models", query="bridge")
    read = ToolCall(tool="read_mental_models", ids=tuple(each.mental_model_id for each in long), max_tokens=10_000)
    reflection = Layered(search, search, search, read, search, ANSWER, pages=long, observed=False).reflect()
    forms = [[shown.form for shown in result.pages] for result in reflection.tool_results if result.pages]
    assert forms == [["snippet"] * 5] * 3 + [["whole"], ["stub", *["snippet"] * 4]]
    assert (
        sum(result.tokens for result in reflection.tool_results if result.call.tool == "search_mental_models") < 2_000
    )
    (reading,) = [result for result in reflection.tool_results if result.call == read]
    assert reading.not_read == ("page-1", "page-2", "page-3", "page-4")


def test_calls_share_the_room_that_is_left_and_the_mind_finishes_when_there_is_none() -> None:
    long = page("long", "word " * 70_000)
    wants = ToolCall(tool="recall", query="more", max_tokens=16_000)
    read = ToolCall(tool="read_mental_models", ids=("long",))
    layered = Layered(read, wants, ANSWER, pages=[long], observed=False)
    reflection = layered.reflect()
    assert reflection.tool_calls[1].max_tokens < 4_000
    tight = Layered(read, ANSWER, pages=[page("long", "word " * 74_500)], observed=False)
    tight.reflect()
    assert [finish for _, _, finish in tight.policy.asked] == [False, True]


def test_amounts_are_those_of_the_bank_where_the_question_names_none() -> None:
    reflection = Layered(ANSWER).reflect("answer")
    assert [each.max_tokens for each in reflection.tool_calls] == [1600, 1500]


def test_directives_that_apply_go_with_the_question_and_are_kept() -> None:
    def directive(name: str, *tags: str, priority: int = 0) -> Directive:
        return Directive(directive_id=uuid5(NAMESPACE_DNS, name), name=name, content=name, tags=tags, priority=priority)

    layered = Layered(ANSWER)
    layered.persona = Persona(
        directives=(directive("all"), directive("stone", "stone", priority=1), directive("wood", "wood"))
    )
    reflection = layered.reflect("answer", scope=Scope(tags=("stone",), tags_match="any"))
    assert [each.name for each in reflection.directives] == ["stone", "all"]
    assert layered.policy.asked[0][0].persona.directives == reflection.persona.directives
