"""The reflect policy that needs no model: one recall, then an extract of what it found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adapters.offline.documents import extract_document
from adapters.offline.sameness import said_once
from domain.memory import LEAST_SEMANTIC, Fact, RecalledFact
from domain.reflection import Answer, Mention, NoAnswer, ReflectQuestion, Thought, ToolCall, ToolResult

MOST_FACTS = 60
"""Facts in a document at most: about what a person reads in one go."""
NEAREST_FACTS = 20
"""Facts in a document whose question is near to none of them."""
SMALLEST_RECALL, LARGEST_RECALL = 1000, 16000
"""Tokens that a recall can be asked for."""


class OfflineReflectPolicy:
    """Asks memory for the question; the answer is the relevant facts as they were said, nothing added. A question that
    is near to no fact ("What is known?") is answered with the facts nearest to it."""

    engine = "offline"
    deterministic = True

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        """Never fails and costs nothing."""
        if not results:
            if must_finish:
                return Thought(step=NoAnswer(reason="no memories were read before the answer was due"))
            return Thought(step=_recall(question, nearest=False))
        relevant = _relevant(results)
        if not relevant and not must_finish and not any(result.call.nearest for result in results):
            return Thought(step=_recall(question, nearest=True))
        return Thought(step=_answer(question, relevant or _nearest(results)))


def _recall(question: ReflectQuestion, *, nearest: bool) -> ToolCall:
    """Asks for twice as much as the document holds, as some of it will be irrelevant or said twice."""
    return ToolCall(
        tool="recall",
        query=question.source_query,
        max_tokens=min(max(2 * question.max_tokens, SMALLEST_RECALL), LARGEST_RECALL),
        reason="the facts nearest to the question" if nearest else "facts that answer the question",
        nearest=nearest,
    )


def _answer(question: ReflectQuestion, facts: Sequence[Fact]) -> Answer | NoAnswer:
    if not facts:
        return NoAnswer(reason="no memory in scope was found for the question")
    document = extract_document(question.name, said_once(facts)[:MOST_FACTS], question.max_tokens)
    used = tuple(str(fact.id) for fact in document.facts)
    mentions = tuple(Mention(offset=end, fact_id=fact_id) for end, fact_id in zip(document.ends, used, strict=True))
    return Answer(markdown=document.markdown, used=used, mentions=mentions)


def _relevant(results: Sequence[ToolResult]) -> list[Fact]:
    return [each.fact for each in _found(results) if _is_relevant(each)]


def _nearest(results: Sequence[ToolResult]) -> list[Fact]:
    return [each.fact for each in _found(results)[:NEAREST_FACTS]]


def _found(results: Sequence[ToolResult]) -> list[RecalledFact]:
    found = _best_of_each(recalled for result in results for recalled in result.facts)
    return [each for each in found if each.fact.text.strip()]


def _best_of_each(recalled: Iterable[RecalledFact]) -> list[RecalledFact]:
    """Every fact once, in its newest version and with its best score, best first."""
    best: dict[str, RecalledFact] = {}
    for each in recalled:
        key = str(each.fact.id)
        other = best.get(key)
        if other is None or (each.fact.version, each.scores.final) > (other.fact.version, other.scores.final):
            best[key] = each
    return sorted(best.values(), key=lambda each: (-each.scores.final, each.fact.position, each.fact.id))


def _is_relevant(recalled: RecalledFact) -> bool:
    scores = recalled.scores
    return scores.keyword is not None or (scores.semantic is not None and scores.semantic >= LEAST_SEMANTIC)
