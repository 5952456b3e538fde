"""The reflect loop's mind: a language model that searches the memory and then delivers the document.

The loop itself (limits, running the tools) is application code; here one step is decided at a time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from adapters.llm.aliases import Aliases
from adapters.llm.documents import Delivered, DocumentRefused, markdown_of
from adapters.llm.endpoint import Endpoint
from adapters.llm.failures import one_line, unusable
from adapters.llm.prompts import DONE_TOOL, FINISH_NOW, NO_TOOL_CALLED, RECALL_TOOL, document_messages, not_accepted
from adapters.llm.replies import ChatReply, ToolUse, json_in
from adapters.llm.transcript import tool_messages
from application.ports import MindFailed
from domain.candidate import is_blank
from domain.reflection import Answer, Mention, NoAnswer, ReflectQuestion, Step, Thought, ToolCall, ToolResult
from domain.usage import ModelCall

_TOOLS = {"recall": RECALL_TOOL, "done": DONE_TOOL}
_LEAST_TOKENS, _MOST_TOKENS, _USUAL_TOKENS = 1000, 16000, 2048


class _Rejected(Exception):
    """An unusable reply. `tool` is what it called, None for no call; `errors` tell the model what is wrong."""

    def __init__(self, tool: str | None, errors: list[str]) -> None:
        super().__init__("; ".join(errors))
        self.tool = tool
        self.errors = errors


class LlmReflectPolicy:
    """A ReflectPolicy. An unusable reply is asked for once more, with what was wrong with it; a second one fails."""

    deterministic = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.engine = endpoint.model

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        """The first step is a search, unless it must be the last; then the model chooses between search and document.

        Raises MindFailed: reason `no_answer` when the model calls no tool, `unexpected_error` for all else.
        """
        aliases = Aliases.of_found(results)
        allowed = ("done",) if must_finish else ("recall", "done") if results else ("recall",)
        purpose = "reflect_document" if must_finish else f"reflect_{len(results) + 1}"
        messages = document_messages(question) + tool_messages(results, aliases)
        if must_finish:
            messages.append({"role": "user", "content": FINISH_NOW})
        paid: list[ModelCall] = []
        reply = self._asked(messages, allowed, purpose, paid)
        try:
            step = _step(reply, allowed, aliases)
        except _Rejected as first:
            reply = self._asked(messages + _correction(reply, first), allowed, purpose, paid)
            try:
                step = _step(reply, allowed, aliases)
            except _Rejected as second:
                raise self._failure(second, reply, paid) from second
        return Thought(step=step, calls=tuple(paid))

    def _asked(
        self, messages: Sequence[dict[str, Any]], allowed: Sequence[str], purpose: str, paid: list[ModelCall]
    ) -> ChatReply:
        only = {"type": "function", "function": {"name": allowed[0]}}
        return self._endpoint.chat(
            messages,
            purpose=purpose,
            paid=paid,
            tools=[_TOOLS[name] for name in allowed],
            tool_choice=only if len(allowed) == 1 else "required",
        )

    def _failure(self, rejected: _Rejected, reply: ChatReply, paid: Sequence[ModelCall]) -> MindFailed:
        if rejected.tool is None:
            failure = unusable(
                f"{self._endpoint.target} answered with text instead of a tool call, also when asked again; "
                "check that the model can call tools",
                reason="no_answer",
                raw=reply.raw,
            )
        else:
            failure = unusable(
                f"{self._endpoint.target} gave an unusable `{rejected.tool}`, also when asked again: "
                f"{one_line(str(rejected))}",
                raw=reply.raw,
            )
        failure.calls = tuple(paid)
        return failure


def _step(reply: ChatReply, allowed: Sequence[str], aliases: Aliases) -> Step:
    """The step a reply asks for. Raises _Rejected."""
    use = _chosen(reply)
    if use is None:
        raise _Rejected(None, ["no tool was called"])
    if use.name not in allowed:
        offered = " or ".join(f"`{name}`" for name in allowed)
        raise _Rejected(use.name, [f"this tool cannot be called now, only {offered}"])
    arguments = json_in(use.arguments)
    if not isinstance(arguments, dict):
        raise _Rejected(use.name, ["the arguments are not a JSON object"])
    return _search(arguments) if use.name == "recall" else _delivery(arguments, use.arguments, aliases)


def _chosen(reply: ChatReply) -> ToolUse | None:
    """One call a turn. A search goes before a document that was written beside it, without its results.

    Some endpoints give a call as text: it is taken only when it is the JSON of a call, or of all that `done` needs.
    """
    for use in sorted(reply.tool_uses, key=lambda each: each.name != "recall"):
        return use
    written = json_in(reply.content)
    if not isinstance(written, dict):
        return None
    if {"answer_found", "document"} <= written.keys():
        return ToolUse("call_0", "done", reply.content)
    if written.keys() == {"name", "arguments"} and isinstance(written["arguments"], dict):
        return ToolUse("call_0", str(written["name"]), json.dumps(written["arguments"], ensure_ascii=False))
    return None


def _search(arguments: dict[str, Any]) -> ToolCall:
    query, wanted, reason = arguments.get("query"), arguments.get("max_tokens"), arguments.get("reason")
    if not isinstance(query, str) or is_blank(query):
        raise _Rejected("recall", ["query: must be a text that is not empty"])
    tokens = wanted if isinstance(wanted, int) and not isinstance(wanted, bool) else _USUAL_TOKENS
    return ToolCall(
        tool="recall",
        query=query.strip(),
        max_tokens=min(max(tokens, _LEAST_TOKENS), _MOST_TOKENS),
        reason=reason if isinstance(reason, str) else "",
    )


def _delivery(arguments: dict[str, Any], raw: str, aliases: Aliases) -> Answer | NoAnswer:
    found, named = arguments.get("answer_found"), arguments.get("memory_ids")
    if found is False:
        return NoAnswer(reason="the model found no answer in the memory", raw=raw)
    errors = [] if found is True else ["answer_found: must be true or false"]
    if named is not None and not (isinstance(named, list) and all(isinstance(name, str) for name in named)):
        errors.append("memory_ids: must be a list of texts")
    delivered = Delivered()
    try:
        delivered = markdown_of(arguments.get("document"), aliases.take_out)
    except DocumentRefused as refused:
        errors += refused.errors
    if errors:
        raise _Rejected("done", errors)
    if not delivered.markdown:
        return NoAnswer(reason="the model delivered an empty document", raw=raw)
    mentions = tuple(
        Mention(offset=offset, fact_id=fact_id) for offset, name in delivered.cited for fact_id in aliases.ids([name])
    )
    used = aliases.ids([*(named or []), *(name for _, name in delivered.cited)])
    return Answer(markdown=delivered.markdown, used=used, mentions=mentions, raw=raw)


def _correction(reply: ChatReply, rejected: _Rejected) -> list[dict[str, Any]]:
    """The rejected reply and what was wrong with it, as messages."""
    if not reply.tool_uses:
        return [reply.message(), {"role": "user", "content": NO_TOOL_CALLED}]
    told = not_accepted(rejected.tool or "", rejected.errors)
    return [reply.message()] + [{"role": "tool", "tool_call_id": use.id, "content": told} for use in reply.tool_uses]
