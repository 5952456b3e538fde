"""The reflect policy that needs no model: what was found in the layers of the memory, as it was said.

An observation stands for the facts it rests on: they are not said again. To one who asks, a page that has all the words
of the question is the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from adapters.offline.asked import (
    Asked,
    asked_by,
    is_about,
    most_telling_first,
    shares_of_words,
    speaker_of,
    told_by,
)
from adapters.offline.documents import Layout, extract_document
from adapters.offline.sameness import said_once
from domain.memory import LEAST_SEMANTIC, Fact, RecalledFact, estimated_tokens
from domain.reflection import (
    LEAST_TOKENS,
    MOST_TOKENS,
    Answer,
    Mention,
    NoAnswer,
    PageFound,
    ReflectQuestion,
    Thought,
    ToolCall,
    ToolName,
    ToolResult,
)
from domain.terms import terms

MOST_FACTS = 60
"""Facts in a document at most: about what a person reads in one go."""
NEAREST_FACTS = 20
"""Facts in a document whose question is near to none of them."""
MOST_ANSWERING = 10
"""Facts in the answer to one who asks."""
NEAR_WITHOUT_WORDS = 0.35
"""Cosine similarity from which what somebody said may answer a question of which it has no word but that one's name."""
MOST_WITHOUT_WORDS = 3
"""Facts in an answer when none has a word of the question but names."""
NOT_OF_YEAR = "the memory says nothing about {years}"
NOT_OF_NAME = "the memory says nothing of it about {names}"
NOTHING = "no memory in scope was found for the question"
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w-]|[.,]\d)")


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
            return Thought(step=_search(question, nearest=False))
        if question.kind == "answer" and (page := _page_that_answers(question, results)):
            return Thought(step=Answer(markdown=page.content, used=(), pages=(page.mental_model_id,)))
        if not must_finish and not any(result.call.tool in _OF_FACTS for result in results):
            return Thought(step=_search(question, nearest=False))
        relevant = _relevant(results)
        if question.kind == "answer" and not relevant:  # what is only nearest to what was asked is no answer to it
            return Thought(step=NoAnswer(reason=NOTHING))
        if not relevant and not must_finish and not any(result.call.nearest for result in results):
            return Thought(step=_search(question, nearest=True))
        if question.kind == "answer":
            answering = _with_words_or_near(asked_by(question.source_query), relevant, _found(results))
            return Thought(step=_answer(question, answering))
        if _is_general(question):
            relevant = [each.fact for each in _found(results)]
        return Thought(step=_answer(question, relevant or _nearest(results)))


_OF_FACTS: tuple[ToolName, ...] = ("recall", "search_observations")


def _is_general(question: ReflectQuestion) -> bool:
    """Whether a document is wanted of whatever there is. An answer is only what is near to what was asked."""
    return question.kind == "document" and asked_by(question.source_query).is_general


def _search(question: ReflectQuestion, *, nearest: bool) -> ToolCall:
    """Asks for twice as much as the document holds, as some of it will be irrelevant or said twice; for all there is
    when the question is too general for memory to tell what is best."""
    asked = asked_by(question.source_query)
    tokens = MOST_TOKENS if asked.is_general else min(max(2 * question.max_tokens, LEAST_TOKENS), MOST_TOKENS)
    nearest = nearest or _is_general(question)
    return ToolCall(
        tool=next((each for each in _OF_FACTS if each in question.tools), "recall"),
        query=question.source_query,
        max_tokens=tokens,
        reason="the facts nearest to the question" if nearest else "facts that answer the question",
        nearest=nearest,
    )


def _page_that_answers(question: ReflectQuestion, results: Sequence[ToolResult]) -> PageFound | None:
    """The best page that was shown whole, is fresh, has all the words of the question and fits."""
    wanted = set(terms(question.source_query))
    for result in results:
        for shown in result.pages:
            page = shown.page
            if shown.form != "whole" or page.is_stale or estimated_tokens(page.content) > question.max_tokens:
                continue
            if wanted and wanted <= set(terms(f"{page.name}\n{page.content}")):
                return page
    return None


def _answer(question: ReflectQuestion, facts: Sequence[Fact]) -> Answer | NoAnswer:
    facts = said_once(_without_what_observations_say(facts))
    if not facts:
        return NoAnswer(reason=NOTHING)
    asked = asked_by(question.source_query)
    if question.kind == "document":
        return _extract(question, _telling(asked, facts)[:MOST_FACTS], "by_time" if asked.in_order else "by_name")
    if years := _YEAR.findall(question.source_query):
        facts = [fact for fact in facts if any(_is_of(fact, year) for year in years)]
        if not facts:
            return NoAnswer(reason=NOT_OF_YEAR.format(years=" or ".join(dict.fromkeys(years))))
    if asked.names and not any(is_about(fact, asked.names) for fact in facts):
        facts = [fact for fact in facts if not fact.entities]  # what is known of others is no answer
        if not facts:
            return NoAnswer(reason=NOT_OF_NAME.format(names=" or ".join(asked.named)))
    return _extract(question, _answering(asked, facts), "by_time" if asked.in_order else "as_given")


def _extract(question: ReflectQuestion, facts: Sequence[Fact], layout: Layout) -> Answer:
    document = extract_document(question.name, facts, question.max_tokens, layout)
    used = tuple(str(fact.id) for fact in document.facts)
    mentions = tuple(Mention(offset=end, fact_id=fact_id) for end, fact_id in zip(document.ends, used, strict=True))
    return Answer(markdown=document.markdown, used=used, mentions=mentions)


def _telling(asked: Asked, facts: Sequence[Fact]) -> list[Fact]:
    """What a document says, best first, without what was only asked; of a general question the facts about those it
    names that tell most, since any fact is as near to it as another."""
    facts = [fact for fact in facts if told_by(fact)] or list(facts)
    if not asked.is_general:
        return facts
    about = [fact for fact in facts if is_about(fact, asked.names)]
    return most_telling_first(about or facts, dated=asked.in_order)


def _answering(asked: Asked, facts: Sequence[Fact]) -> list[Fact]:
    """What answers one who asks, best first: facts with the words asked for, above all the rare ones, and about those
    the question names; as they were found where none has any. Facts with less than half as much of that as the best
    one are left out."""
    telling = _telling(asked, facts)
    if asked.is_general:
        return telling[:MOST_ANSWERING]
    shares = [
        share if not asked.names or is_about(fact, asked.names) else share / 2
        for share, fact in zip(shares_of_words(telling, asked.words), telling, strict=True)
    ]
    least = max(shares, default=0.0) / 2
    most = MOST_ANSWERING if least else MOST_WITHOUT_WORDS
    ranked = sorted(zip(shares, telling, strict=True), key=lambda each: -each[0])
    return [fact for share, fact in ranked if share >= least][:most]


def _with_words_or_near(asked: Asked, relevant: list[Fact], found: Sequence[RecalledFact]) -> list[Fact]:
    """The facts, if any has a word that was asked for besides names; else without what was said and is not near in
    meaning, since the name of who speaks is in all that one says."""
    if asked.is_general or any(shares_of_words(relevant, asked.words)):
        return relevant
    near = {each.fact.id for each in found if (each.scores.semantic or 0.0) >= NEAR_WITHOUT_WORDS}
    return [fact for fact in relevant if fact.id in near or not speaker_of(fact)]


def _without_what_observations_say(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without those that an observation among them rests on."""
    said = {source for fact in facts if fact.fact_type == "observation" for source in fact.source_ids}
    return [fact for fact in facts if fact.id not in said]


def _is_of(fact: Fact, year: str) -> bool:
    """Whether a fact names a year, or happened in it."""
    if re.search(rf"(?<!\d){year}(?!\d)", fact.text):
        return True
    start, end = fact.occurred_start, fact.occurred_end or fact.occurred_start
    return start is not None and end is not None and start.year <= int(year) <= end.year


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
