"""The reflect policy that needs no model: one recall, then an extract of what it found."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from adapters.offline.documents import extract_document
from domain.memory import Fact, RecalledFact
from domain.reflection import Answer, NoAnswer, ReflectQuestion, Thought, ToolCall, ToolResult

LEAST_SEMANTIC = 0.3
"""Similarity from which a fact without a word of the question counts as relevant: the floor of the semantic arm of
recall. Below it static embeddings find something in common between any two sentences."""
MOST_FACTS = 60
"""Facts in a document at most: about what a person reads in one go."""
SMALLEST_RECALL, LARGEST_RECALL = 1000, 16000
"""Tokens that a recall can be asked for."""


class OfflineReflectPolicy:
    """Asks memory for the question once; the answer is the relevant facts as they were said, nothing added."""

    engine = "offline"
    deterministic = True

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        """Never fails and costs nothing."""
        if results:
            return Thought(step=_answer(question, results))
        if must_finish:
            return Thought(step=NoAnswer(reason="no memories were read before the answer was due"))
        return Thought(step=_recall(question))


def _recall(question: ReflectQuestion) -> ToolCall:
    """Asks for twice as much as the document holds, as some of it will be irrelevant or said twice."""
    return ToolCall(
        tool="recall",
        query=question.source_query,
        max_tokens=min(max(2 * question.max_tokens, SMALLEST_RECALL), LARGEST_RECALL),
        reason="facts that answer the question",
    )


def _answer(question: ReflectQuestion, results: Sequence[ToolResult]) -> Answer | NoAnswer:
    found = _best_of_each(recalled for result in results for recalled in result.facts)
    if not found:
        return NoAnswer(reason="no memory in scope was found for the question")
    relevant = [recalled.fact for recalled in found if _is_relevant(recalled) and recalled.fact.text.strip()]
    if not relevant:
        return NoAnswer(reason=f"none of the {len(found)} memories found is relevant to the question")
    document = extract_document(question.name, _said_once(relevant)[:MOST_FACTS], question.max_tokens)
    return Answer(markdown=document.markdown, used=tuple(str(fact.id) for fact in document.facts))


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


def _said_once(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without those that a newer one says in the same words, where the best of them stood. The same words
    about different times are different facts."""
    newest: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        key = (_bare(fact.text), fact.occurred_start, fact.occurred_end)
        if key not in newest or fact.position > newest[key].position:
            newest[key] = fact
    return list(newest.values())


_DECORATION = str.maketrans("", "", "*_`\"'“”‘’«»")


def _bare(text: str) -> str:
    """What two near-identical texts have in common: case, space, emphasis, quotes and the full stop say nothing. All
    other signs stay, for "C" is not "C++" and "done?" not "done"."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_DECORATION)
    return " ".join(plain.split()).rstrip(".。")
