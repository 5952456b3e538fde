"""The tool `recall`: facts near a query. Observations have a tool of their own, where there are any."""

from __future__ import annotations

from application.recall import Recalled, RecallRequest
from application.reflection.readable import Desk
from domain.memory import LEAST_SEMANTIC, RecallQuery
from domain.reflection import Passage, ToolCall, ToolResult
from domain.scope import FactType

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
    )
    recalled = desk.recalls.found(request, vector)
    return ToolResult(call=call, facts=tuple(recalled.facts), passages=_around(recalled), calls=recalled.calls)


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
