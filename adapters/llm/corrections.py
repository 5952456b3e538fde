"""A reply that was not taken, shown to the model that gave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adapters.llm.quoted_data import single_line
from adapters.llm.replies import ChatReply


def asked_again(reply: str, problems: Iterable[str], again: str) -> list[dict[str, Any]]:
    """The reply, all that was wrong with it, and what to do `again`. As text: the call it may have come in is gone."""
    listed = "\n".join(f"- {single_line(problem)}" for problem in problems)
    told = f"This was not accepted as it is, and nothing of it has been done:\n{listed}\n{again}"
    return [{"role": "assistant", "content": reply.strip() or "[]"}, {"role": "user", "content": told}]


def replied(reply: ChatReply, told: str) -> list[dict[str, Any]]:
    """The reply, and what is said to it: to each call in it, or to its text."""
    if not reply.tool_uses:
        return [reply.message(), {"role": "user", "content": told}]
    return [reply.message()] + [{"role": "tool", "tool_call_id": use.id, "content": told} for use in reply.tool_uses]
