"""The conversation of a reflect run, rebuilt at each step from what the tools gave."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adapters.llm.aliases import Aliases
from adapters.llm.fact_times import moment, occurred
from domain.memory import Fact
from domain.reflection import ToolResult


def tool_messages(results: Sequence[ToolResult], aliases: Aliases) -> list[dict[str, Any]]:
    """Each call with what it gave. A fact is written out where it was found first; later only its alias is repeated."""
    messages: list[dict[str, Any]] = []
    shown: set[str] = set()
    for number, result in enumerate(results, start=1):
        call_id = f"call_{number}"
        arguments = result.call.model_dump(include={"reason", "query", "max_tokens"})
        function = {"name": result.call.tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
        call = {"id": call_id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": _found(result, aliases, shown)})
    return messages


def _found(result: ToolResult, aliases: Aliases, shown: set[str]) -> str:
    lines: list[str] = []
    again: list[str] = []
    for recalled in result.facts:
        name = aliases.name(recalled.fact.id)
        if name in shown:
            again.append(name)
        else:
            shown.add(name)
            lines.append(json.dumps(_line(recalled.fact, name), ensure_ascii=False))
    if again:
        lines.append(json.dumps({"found_again": again}))
    return "\n".join(lines) or "Nothing found."


def _line(fact: Fact, name: str) -> dict[str, str]:
    line = {
        "id": name,
        "type": fact.fact_type,
        "text": fact.text,
        "occurred": occurred(fact),
        "mentioned_at": moment(fact.mentioned_at),
        "context": fact.context,
    }
    return {key: value for key, value in line.items() if value}
