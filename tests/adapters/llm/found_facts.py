"""Facts as a search gives them, about a bridge that was painted."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from domain.memory import Fact, RecalledFact, RecallScores
from domain.reflection import ReflectQuestion, ToolCall, ToolResult

ASKED_AT = datetime(2024, 5, 6, 12, 30, tzinfo=UTC)


def question(current_content: str = "") -> ReflectQuestion:
    return ReflectQuestion(
        name="The bridge",
        source_query="What colour is the bridge?",
        max_tokens=1500,
        asked_at=ASKED_AT,
        current_content=current_content,
    )


def fact_id(number: int) -> str:
    return str(UUID(int=number))


def fact(
    number: int,
    text: str = "The bridge is green.",
    *,
    occurred: tuple[datetime | None, datetime | None] = (None, None),
    mentioned_at: datetime | None = None,
    context: str | None = None,
) -> Fact:
    return Fact(
        id=UUID(int=number),
        version=1,
        position=number,
        text=text,
        fact_type="world",
        occurred_start=occurred[0],
        occurred_end=occurred[1],
        mentioned_at=mentioned_at,
        recorded_at=ASKED_AT,
        context=context,
    )


def found(*facts: Fact, query: str = "bridge colour") -> ToolResult:
    """What one search gave."""
    call = ToolCall(tool="recall", query=query, max_tokens=2048, reason="to know")
    return ToolResult(call=call, facts=tuple(RecalledFact(fact=each, scores=RecallScores(final=1.0)) for each in facts))
