"""The tool `search_observations`: what consolidation made of facts, and how much of them it has not seen yet."""

from __future__ import annotations

from application.reflection.readable import Desk
from application.reflection.recall import found_facts
from domain.reflection import ToolCall, ToolResult, freshness


def search_observations(call: ToolCall, desk: Desk) -> ToolResult:
    found = found_facts(call, desk, ("observation",))
    return found.model_copy(update={"freshness": freshness(desk.waiting)})
