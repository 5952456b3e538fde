"""Reading a chat completion as endpoints really send it: what was said, what it cost, and why it is unusable."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from adapters.llm.failures import CutOff, UnusableReply, of_error_body, one_line
from adapters.llm.storable_text import storable_json
from domain.storable import storable
from domain.usage import ModelCall


@dataclass(frozen=True)
class ToolUse:
    """A tool the model called. `arguments` is its JSON text, which may be broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ChatReply:
    """One complete answer of a model: text, tool calls, or both."""

    content: str
    tool_uses: tuple[ToolUse, ...] = ()

    @property
    def raw(self) -> str:
        """The answer as it came: arguments of the tool calls, or the text."""
        return "\n".join(use.arguments for use in self.tool_uses) or self.content

    def message(self) -> dict[str, Any]:
        """The answer as a message of the conversation, to go on from."""
        message: dict[str, Any] = {"role": "assistant", "content": self.content}
        if self.tool_uses:
            message["tool_calls"] = [
                {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.arguments}}
                for use in self.tool_uses
            ]
        return message


def read_reply(payload: Mapping[str, Any], target: str, now: datetime) -> ChatReply:
    """The answer in a completion that came now. Raises MindFailed when it is cut off, refused, an error, or no
    completion at all."""
    if error := payload.get("error"):
        raise of_error_body(error, target, now)
    choices = payload.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raw = json.dumps(payload, ensure_ascii=False)[:2000]
        raise UnusableReply(
            f"{target} answered with JSON that is no chat completion: {one_line(raw, limit=120)}", raw=raw
        )
    reply = ChatReply(_text(message.get("content")), _tool_uses(message.get("tool_calls")))
    _require_complete(choice.get("finish_reason"), message.get("refusal"), reply, _tokens(payload)[1], target)
    return reply


def counted(payload: Mapping[str, Any], *, purpose: str, model: str, seconds: float) -> ModelCall:
    """What a call cost, by the endpoint's own count; zero tokens for what it does not tell."""
    read, written = _tokens(payload)
    usage = payload.get("usage")
    return ModelCall(
        purpose=purpose,
        model=model,
        input_tokens=read,
        output_tokens=written,
        cached_tokens=_number(_under(_under(usage, "prompt_tokens_details"), "cached_tokens")),
        thoughts_tokens=_number(_under(_under(usage, "completion_tokens_details"), "reasoning_tokens")),
        duration_ms=round(seconds * 1000),
    )


def json_in(text: str) -> Any:
    """The JSON object or list that is the whole text, a code fence around it or closing brackets too many allowed.

    None when the text is anything else.
    """
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped.removesuffix("```").partition("\n")[2].strip()
    if not stripped.startswith(("{", "[")):
        return None
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(stripped)
    except (ValueError, RecursionError):
        return None
    return None if stripped[end:].strip("}] \t\r\n") else storable_json(value)


def _require_complete(finish: object, refusal: object, reply: ChatReply, written: int, target: str) -> None:
    if isinstance(refusal, str) and refusal.strip():
        raise UnusableReply(f"{target} refused to answer: {one_line(refusal)!r}", raw=refusal)
    if finish == "content_filter":
        raise UnusableReply(f"{target} refused to answer: its provider filtered the content", raw=reply.raw)
    if finish == "length":
        raise CutOff(
            f"the answer of {target} was truncated at {written} tokens and is not used; allow more completion tokens, "
            "or ask for a shorter document",
            raw=reply.raw,
        )


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(_under(part, "text") or "") for part in content)
    return content if isinstance(content, str) else ""


def _tool_uses(calls: object) -> tuple[ToolUse, ...]:
    if not isinstance(calls, list):
        return ()
    read = []
    for number, call in enumerate(calls):
        name = _under(_under(call, "function"), "name")
        given = _under(_under(call, "function"), "arguments")
        read.append(ToolUse(str(_under(call, "id") or f"call_{number}"), str(name or ""), _arguments(given)))
    return tuple(read)


def _arguments(given: object) -> str:
    """Arguments as JSON text that can be stored: escapes in it may hide NUL and lone surrogates."""
    if isinstance(given, str):
        try:
            given = json.loads(given, strict=False)
        except (ValueError, RecursionError):
            return storable(str(given))
    return json.dumps(storable_json(given if given is not None else {}), ensure_ascii=False)


def _tokens(payload: Mapping[str, Any]) -> tuple[int, int]:
    usage = payload.get("usage")
    return _number(_under(usage, "prompt_tokens")), _number(_under(usage, "completion_tokens"))


def _under(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
