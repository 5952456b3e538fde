"""The conversation of a reflect run, rebuilt at each step from what the tools gave."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.llm.aliases import Aliases
from adapters.llm.fact_times import moment, occurred
from domain.memory import Fact
from domain.reflection import PageShown, Passage, ToolCall, ToolResult

FRESH = "All of these are up to date: if they answer the question, no other search is needed."


def tool_messages(results: Sequence[ToolResult], aliases: Aliases) -> list[dict[str, Any]]:
    """Each call with what it gave. A fact is written out where it was found first; later only its alias is repeated."""
    messages: list[dict[str, Any]] = []
    shown: set[str] = set()
    for number, result in enumerate(results, start=1):
        call_id = f"call_{number}"
        arguments = json.dumps(_arguments(result.call, aliases), ensure_ascii=False)
        call = {"id": call_id, "type": "function", "function": {"name": result.call.tool, "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": _given(result, aliases, shown)})
    return messages


def _arguments(call: ToolCall, aliases: Aliases) -> dict[str, Any]:
    if call.tool == "read_mental_models":
        named: dict[str, Any] = {"mental_model_ids": [aliases.of_page(each) for each in call.ids]}
    elif call.tool == "expand":
        named = {"memory_ids": [aliases.of_fact(each) for each in call.ids], "depth": call.depth}
    else:
        named = {"query": call.query}
    return {**named, "max_tokens": call.max_tokens, "reason": call.reason}


def _given(result: ToolResult, aliases: Aliases, shown: set[str]) -> str:
    if result.problem:
        return json.dumps({"error": result.problem}, ensure_ascii=False)
    lines = [*_facts(result, aliases, shown), *(_page(each, aliases) for each in result.pages)]
    lines += [_passage(each, aliases) for each in result.passages]
    told: dict[str, Any] = {}
    if result.not_read:
        told["not_read"] = [aliases.of_page(each) for each in result.not_read]
    if result.freshness not in (None, "up_to_date"):
        told["freshness"] = result.freshness
    if told:
        lines.append(json.dumps(told, ensure_ascii=False))
    if result.call.tool == "search_mental_models" and result.pages and not any(p.page.is_stale for p in result.pages):
        lines.append(FRESH)
    return "\n".join(lines) or "Nothing found."


def _facts(result: ToolResult, aliases: Aliases, shown: set[str]) -> list[str]:
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
    return lines


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


def _page(shown: PageShown, aliases: Aliases) -> str:
    page = shown.page
    line: dict[str, Any] = {"mental_model_id": aliases.of_page(page.mental_model_id), "name": page.name}
    if shown.form == "stub":
        return json.dumps({**line, "shown": "above"}, ensure_ascii=False)
    line |= {"tags": list(page.tags)} if page.tags else {}
    line |= {"relevance": round(page.relevance, 2)} if page.relevance else {}
    line["updated_at"] = moment(page.updated_at)
    line["is_stale"] = page.is_stale
    if page.is_stale:
        line["staleness_reason"] = ", ".join(page.stale_because)
    if shown.form == "snippet" and len(shown.text) < len(page.content):
        line |= {"snippet": shown.text, "content_chars": len(page.content)}
    else:
        line["content"] = page.content
    return json.dumps(line, ensure_ascii=False)


def _passage(passage: Passage, aliases: Aliases) -> str:
    line: Mapping[str, Any] = {
        "id": aliases.of_fact(passage.fact_id),
        passage.depth: passage.text or None,
        "cut": passage.cut or None,
        "error": passage.problem or None,
    }
    return json.dumps({key: value for key, value in line.items() if value is not None}, ensure_ascii=False)
