"""Single tools of a reflection: what they show, and what they keep to."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from application.reflection import Desk, Readable, Toolbox
from application.reflection.expand import NO_ROOM, NO_TEXT, NOT_SHOWN, expand
from application.reflection.nothing_else import NO_PAGES, NO_TEXTS
from application.reflection.toolbox import SEARCH_FIRST
from domain.memory import Fact, RecalledFact, RecallScores, Window
from domain.reflection import Answer, Mention, ReflectQuestion, ToolCall, ToolResult
from domain.refresh import Candidate
from domain.scope import Scope
from tests.application.test_reflection_layers import ANSWER, Layered, page
from tests.support.examples import BANK, NOW
from tests.support.in_memory import InMemoryMemoryStore
from tests.support.scripted_minds import RECALL, CountingEmbedder, ScriptedPolicy


def test_expanding_needs_facts_that_were_shown() -> None:
    question = ReflectQuestion(name="", source_query="?", max_tokens=100, asked_at=NOW, tools=("recall", "expand"))
    desk = Desk(
        InMemoryMemoryStore(),
        NO_PAGES,
        NO_TEXTS,
        question,
        Readable(BANK, Scope(), Window(upto=1)),
        "mid",
        (ToolResult(call=RECALL),),
    )
    result = expand(ToolCall(tool="expand", ids=("nothing",)), desk)
    assert [passage.problem for passage in result.passages] == [NOT_SHOWN]


def test_a_page_that_is_kept_out_is_read_by_no_tool() -> None:
    read = ToolCall(tool="read_mental_models", ids=("secret", "prague"))
    pages = [page("secret", "Hidden."), page("prague")]
    reflection = Layered(RECALL, read, ANSWER, pages=pages).reflect(excluded=["secret"])
    shown = [each.page.mental_model_id for result in reflection.tool_results for each in result.pages]
    assert set(shown) == {"prague"}
    assert reflection.tool_results[-1].not_read == ("secret",)


def test_nothing_is_expanded_before_a_search() -> None:
    question = ReflectQuestion(name="", source_query="?", max_tokens=100, asked_at=NOW, tools=("recall", "expand"))
    toolbox = Toolbox(InMemoryMemoryStore(), CountingEmbedder())
    desk = toolbox.desk(question=question, readable=Readable(BANK, Scope(), Window(upto=1)), budget="mid")
    (result,) = toolbox.run([ToolCall(tool="expand", ids=("f1",))], desk, [])
    assert result.problem == SEARCH_FIRST


class TextsUpTo:
    """SourceTexts: the same text for every fact, up to a position."""

    def __init__(self, text: str, upto: int) -> None:
        self.text = text
        self.upto = upto

    def chunks(self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None) -> dict[UUID, str]:
        assert (bank_id, scope) == (BANK, Scope())
        return {fact.id: self.text for fact in facts} if upto == self.upto else {}

    documents = chunks


def test_texts_are_expanded_within_the_window_and_the_room_of_the_call() -> None:
    layered = Layered(observed=False)
    ids = tuple(str(row.fact.id) for row in layered.memory.rows)
    facts = tuple(RecalledFact(fact=row.fact, scores=RecallScores(final=1)) for row in layered.memory.rows)

    def problems(window: Window) -> list[tuple[bool, bool, str]]:
        question = ReflectQuestion(name="", source_query="?", max_tokens=100, asked_at=NOW)
        desk = Desk(
            layered.memory,
            NO_PAGES,
            TextsUpTo("word " * 1000, 3),
            question,
            Readable(BANK, Scope(), window),
            "mid",
            (ToolResult(call=RECALL, facts=facts),),
        )
        result = expand(ToolCall(tool="expand", ids=ids, max_tokens=1000), desk)
        return [(bool(each.text), each.cut, each.problem) for each in result.passages]

    assert problems(Window(upto=3)) == [(True, True, ""), (False, False, NO_ROOM)]
    assert problems(Window(upto=2)) == [(False, False, NO_TEXT), (False, False, NO_TEXT)]


def test_a_place_speaks_only_for_facts_that_were_shown() -> None:
    layered = Layered(observed=False)
    known = str(layered.memory.rows[0].fact.id)
    mentions = tuple(Mention(offset=2, fact_id=each) for each in (known, "never shown"))
    answer = Answer(markdown="1402.", used=(known, "never shown"), mentions=mentions)
    result = _scripted(layered, answer).reflect().result
    assert isinstance(result, Candidate)
    assert result.mentions == mentions[:1]


def _scripted(layered: Layered, answer: Answer) -> Layered:
    layered.policy = ScriptedPolicy(RECALL, answer)
    return layered
