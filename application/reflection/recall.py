"""The tool `recall`: facts near a query. Observations have a tool of their own, where there are any."""

from __future__ import annotations

from collections.abc import Iterator

from application.recall import Recalled, RecallRequest
from application.reflection.readable import Desk
from domain.memory import LEAST_SEMANTIC, RecalledFact, RecallQuery, RecallScores
from domain.recall.selection import NO_LIMIT, SourceFactsLimit
from domain.reflection import Passage, ReflectQuestion, ToolCall, ToolResult
from domain.scope import FactType, admits

RAW_TYPES: tuple[FactType, ...] = ("world", "experience")


def recall(call: ToolCall, desk: Desk) -> ToolResult:
    allowed = desk.readable.scope.fact_types
    types: tuple[FactType, ...] | None = allowed
    if "search_observations" in desk.question.tools:
        types = RAW_TYPES if allowed is None else tuple(each for each in allowed if each in RAW_TYPES)
    return found_facts(call, desk, types)


def found_facts(call: ToolCall, desk: Desk, types: tuple[FactType, ...] | None) -> ToolResult:
    """Facts of these types (None: of all) in the scope and window."""
    scope = desk.readable.scope.model_copy(update={"fact_types": types})
    least = -1.0 if call.nearest else LEAST_SEMANTIC
    vector = desk.vectors[call.query]
    if desk.recalls is None:
        query = RecallQuery(
            bank_id=desk.readable.bank_id,
            text=call.query,
            scope=scope,
            window=desk.readable.window,
            limit=desk.most_facts,
            max_tokens=call.max_tokens,
            min_semantic=least,
        )
        return ToolResult(call=call, facts=tuple(desk.memory.recall(query, vector)))
    request = RecallRequest(
        bank_id=desk.readable.bank_id,
        text=call.query,
        scope=scope,
        window=desk.readable.window,
        budget=desk.budget,
        max_tokens=call.max_tokens,
        at=desk.question.asked_at,
        prefer_observations=False,  # they have a search of their own
        min_semantic=least,
        chunk_tokens=desk.question.chunk_tokens or None if call.tool == "recall" else None,
        source_facts=_under(desk.question) if call.tool == "search_observations" else None,
    )
    recalled = desk.recalls.found(request, vector)
    facts = (*recalled.facts, *_sources(recalled, desk))
    return ToolResult(call=call, facts=facts, passages=_around(recalled), calls=recalled.calls)


def _under(question: ReflectQuestion) -> SourceFactsLimit | None:
    tokens = question.source_tokens
    return None if tokens is None else SourceFactsLimit(max_tokens=tokens or NO_LIMIT)


def _sources(recalled: Recalled, desk: Desk) -> Iterator[RecalledFact]:
    """The facts under the observations, as far as they may be read here."""
    for fact in recalled.sources:
        if admits(desk.readable.scope, fact.tags, fact.fact_type):
            yield RecalledFact(fact=fact, scores=RecallScores(final=0.0))


def _around(recalled: Recalled) -> tuple[Passage, ...]:
    """The chunks, each told of the best fact that was read from it."""
    fact_of: dict[str, str] = {}
    for found in recalled.facts:
        fact_of.setdefault(found.fact.chunk_id or "", str(found.fact.id))
    return tuple(
        Passage(fact_id=fact_of[chunk.chunk_id], depth="chunk", text=chunk.text)
        for chunk in recalled.chunks
        if chunk.chunk_id in fact_of
    )
