"""The reflect loop's mind: a language model that searches the memory and then delivers the document.

The loop itself (limits, running the tools) is application code; here one step is decided at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from adapters.llm.aliases import Aliases, Cited
from adapters.llm.corrections import replied
from adapters.llm.documents import Delivered, DocumentRefused, markdown_of
from adapters.llm.endpoint import Endpoint
from adapters.llm.failures import one_line, unusable
from adapters.llm.prompts import not_accepted
from adapters.llm.reflect_prompts import FINISH_ANSWER, FINISH_DOCUMENT, NO_TOOL_CALLED, TOO_LONG, reflect_messages
from adapters.llm.reflect_tools import tools_for
from adapters.llm.replies import ChatReply, ToolUse, json_in
from adapters.llm.transcript import tool_messages
from application.ports import MindFailed
from domain.candidate import is_blank
from domain.memory import estimated_tokens
from domain.reflection import (
    LEAST_TOKENS,
    MOST_TOKENS,
    SEARCHES,
    Answer,
    Mention,
    NoAnswer,
    ReflectQuestion,
    Step,
    Thought,
    ToolCall,
    ToolCalls,
    ToolName,
    ToolResult,
)
from domain.usage import ModelCall

MOST_CALLS = 8
"""Of one turn that are carried out; a model that asks for more can ask again."""


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
        """The first step is a search, unless it must be the last or something was searched already; then the model
        chooses between more of it and its answer.

        Raises MindFailed: reason `no_answer` when the model calls no tool, `unexpected_error` for all else.
        """
        aliases = Aliases.of_found(results)
        allowed = _allowed(question, results, must_finish)
        purpose = (
            f"reflect_{question.kind}"
            if must_finish
            else f"reflect_{max((result.turn for result in results), default=0) + 1}"
        )
        messages = reflect_messages(question) + tool_messages(results, aliases)
        if must_finish:
            finish = FINISH_DOCUMENT if question.kind == "document" else FINISH_ANSWER
            messages.append({"role": "user", "content": finish})
        tools = tools_for(question, allowed)
        paid: list[ModelCall] = []
        reply = self._asked(messages, tools, purpose, paid)
        try:
            step = _step(reply, question, allowed, aliases)
        except _Rejected as first:
            reply = self._asked(messages + _correction(reply, first), tools, purpose, paid)
            try:
                step = _step(reply, question, allowed, aliases)
            except _Rejected as second:
                raise self._failure(second, reply, paid) from second
        if isinstance(step, Answer) and question.kind == "answer":
            step = self._shortened(step, reply, messages, question, aliases, paid)
        return Thought(step=step, calls=tuple(paid))

    def _shortened(
        self,
        answer: Answer,
        reply: ChatReply,
        messages: Sequence[dict[str, Any]],
        question: ReflectQuestion,
        aliases: Aliases,
        paid: list[ModelCall],
    ) -> Answer:
        """An answer over its length is asked for once more; what comes is taken when it is shorter. Documents have a
        way of their own."""
        tokens = estimated_tokens(answer.markdown)
        if tokens <= question.max_tokens:
            return answer
        asked = [*messages, *replied(reply, TOO_LONG.format(tokens=tokens, limit=question.max_tokens))]
        try:
            shorter = self._asked(asked, tools_for(question, ("done",)), "reflect_shorten", paid)
            step = _step(shorter, question, ("done",), aliases)
        except (MindFailed, _Rejected):
            return answer
        return step if isinstance(step, Answer) and estimated_tokens(step.markdown) < tokens else answer

    def _asked(
        self,
        messages: Sequence[dict[str, Any]],
        tools: Sequence[dict[str, Any]],
        purpose: str,
        paid: list[ModelCall],
    ) -> ChatReply:
        only = {"type": "function", "function": {"name": tools[0]["function"]["name"]}}
        return self._endpoint.chat(
            messages, purpose=purpose, paid=paid, tools=tools, tool_choice=only if len(tools) == 1 else "required"
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


def _allowed(question: ReflectQuestion, results: Sequence[ToolResult], must_finish: bool) -> tuple[str, ...]:
    """The tools that may be called now. The first search goes to all layers, whichever of them it names: one does."""
    if must_finish:
        return ("done",)
    if results:
        return (*question.tools, "done")
    return (next((each for each in reversed(SEARCHES) if each in question.tools), "recall"),)


def _step(reply: ChatReply, question: ReflectQuestion, allowed: Sequence[str], aliases: Aliases) -> Step:
    """The step a reply asks for: its searches, in their order, or without any its answer. Raises _Rejected."""
    uses = _called(reply, question)
    if not uses:
        raise _Rejected(None, ["no tool was called"])
    # a search goes before an answer that was written beside it, without its results
    finishing = [use for use in uses if use.name == "done"]
    searching = [use for use in uses if use.name != "done"]
    wanted = finishing[:1] if finishing and tuple(allowed) == ("done",) else searching or finishing[:1]
    steps = [_one_step(use, question, allowed, aliases) for use in wanted[:MOST_CALLS]]
    if len(steps) == 1:
        return steps[0]
    return ToolCalls(calls=tuple(step for step in steps if isinstance(step, ToolCall)))


def _one_step(
    use: ToolUse, question: ReflectQuestion, allowed: Sequence[str], aliases: Aliases
) -> ToolCall | Answer | NoAnswer:
    if use.name not in allowed:
        offered = " or ".join(f"`{name}`" for name in allowed)
        raise _Rejected(use.name, [f"this tool cannot be called now, only {offered}"])
    arguments = json_in(use.arguments)
    if not isinstance(arguments, dict):
        raise _Rejected(use.name, ["the arguments are not a JSON object"])
    if use.name == "done":
        delivers = _document if question.kind == "document" else _answer
        return delivers(arguments, use.arguments, aliases)
    return _call(use.name, arguments, question, aliases)


def _called(reply: ChatReply, question: ReflectQuestion) -> list[ToolUse]:
    """The tools that a reply calls.

    Some endpoints give a call as text: it is taken only when it is the JSON of a call, or of all that `done` needs.
    """
    if reply.tool_uses:
        return list(reply.tool_uses)
    written = json_in(reply.content)
    if not isinstance(written, dict):
        return []
    if {"answer_found", question.kind} <= written.keys():
        return [ToolUse("call_0", "done", reply.content)]
    if written.keys() == {"name", "arguments"} and isinstance(written["arguments"], dict):
        return [ToolUse("call_0", str(written["name"]), json.dumps(written["arguments"], ensure_ascii=False))]
    return []


def _call(name: str, arguments: dict[str, Any], question: ReflectQuestion, aliases: Aliases) -> ToolCall:
    reason, wanted = arguments.get("reason"), arguments.get("max_tokens")
    tokens = wanted if isinstance(wanted, int) and not isinstance(wanted, bool) else question.usual_tokens(name)
    told: dict[str, Any] = {}
    if name == "read_mental_models":
        told["ids"] = _named(arguments, "mental_model_ids", name, aliases.pages)
    elif name == "expand":
        told["ids"] = _named(arguments, "memory_ids", name, aliases.ids)
        told["depth"] = "document" if arguments.get("depth") == "document" else "chunk"
    else:
        query = arguments.get("query")
        if not isinstance(query, str) or is_blank(query):
            raise _Rejected(name, ["query: must be a text that is not empty"])
        told["query"] = query.strip()
    tool: ToolName = name  # type: ignore[assignment]  # it is one of those offered
    return ToolCall(
        tool=tool,
        max_tokens=min(max(tokens, LEAST_TOKENS), MOST_TOKENS),
        reason=reason if isinstance(reason, str) else "",
        **told,
    )


def _named(
    arguments: dict[str, Any], field: str, tool: str, meant: Callable[[Sequence[str]], tuple[str, ...]]
) -> tuple[str, ...]:
    """The ids under a field; those that were never shown are kept as they are, to be told that they are none."""
    given = arguments.get(field)
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise _Rejected(tool, [f"{field}: must be a list of ids"])
    return tuple(dict.fromkeys(next(iter(meant([name])), name.strip()) for name in names))


def _document(arguments: dict[str, Any], raw: str, aliases: Aliases) -> Answer | NoAnswer:
    found = arguments.get("answer_found")
    if found is False:
        return NoAnswer(reason="the model found no answer in the memory", raw=raw)
    errors = _errors_of(arguments)
    delivered = Delivered()
    try:
        delivered = markdown_of(arguments.get("document"), aliases.take_out)
    except DocumentRefused as refused:
        errors += refused.errors
    if errors:
        raise _Rejected("done", errors)
    if not delivered.markdown:
        return NoAnswer(reason="the model delivered an empty document", raw=raw)
    return _delivered(arguments, delivered.markdown, delivered.cited, raw, aliases)


def _answer(arguments: dict[str, Any], raw: str, aliases: Aliases) -> Answer | NoAnswer:
    given = arguments.get("answer")
    errors = _errors_of(arguments)
    if not isinstance(given, str) and not (given is None and arguments.get("answer_found") is False):
        errors.append("answer: must be a text in markdown")
    if errors:
        raise _Rejected("done", errors)
    text = aliases.take_out(given or "")
    if arguments.get("answer_found") is False:
        return NoAnswer(reason="the model found no answer in the memory", said=text.text.strip(), raw=raw)
    if is_blank(text.text):
        return NoAnswer(reason="the model delivered an empty answer", raw=raw)
    return _delivered(arguments, text.text, text.cited, raw, aliases)


def _errors_of(arguments: dict[str, Any]) -> list[str]:
    """What is wrong with the fields that a document and an answer have in common."""
    errors = [] if isinstance(arguments.get("answer_found"), bool) else ["answer_found: must be true or false"]
    for field in ("memory_ids", "mental_model_ids"):
        named = arguments.get(field)
        if named is not None and not (isinstance(named, list) and all(isinstance(name, str) for name in named)):
            errors.append(f"{field}: must be a list of texts")
    return errors


def _delivered(arguments: dict[str, Any], markdown: str, cited: Sequence[Cited], raw: str, aliases: Aliases) -> Answer:
    named = [*(arguments.get("memory_ids") or ()), *(arguments.get("mental_model_ids") or ())]
    named += [name for _, name in cited]
    mentions = tuple(
        Mention(offset=offset, fact_id=fact_id) for offset, name in cited for fact_id in aliases.ids([name])
    )
    return Answer(
        markdown=markdown,
        used=aliases.ids(named),
        pages=aliases.pages(named),
        mentions=mentions,
        unknown=aliases.unknown(named),
        raw=raw,
    )


def _correction(reply: ChatReply, rejected: _Rejected) -> list[dict[str, Any]]:
    """The rejected reply and what was wrong with it, as messages."""
    return replied(reply, not_accepted(rejected.tool or "", rejected.errors) if reply.tool_uses else NO_TOOL_CALLED)
