"""Reading a value of a client's JSON schema out of a document with a language model.

The model is given the schema in a form that every provider takes; what it answers is held to the client's own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from adapters.llm.client_schema import provider_schema
from adapters.llm.endpoint import Endpoint
from adapters.llm.failures import UnusableReply, one_line, unusable
from adapters.llm.prompts import RECORD, record_tool, structured_messages, values_not_accepted
from adapters.llm.replies import ChatReply, json_in
from application.ports import MindFailed, Structured
from domain import response_schema
from domain.usage import ModelCall

_REASON: Final = "structured_output_failed"


class LlmStructuredExtractor:
    """A StructuredExtractor. An answer that does not fit the schema is asked for once more, with the errors quoted."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def extract(self, markdown: str, schema: Mapping[str, Any], *, max_tokens: int) -> Structured:
        """A value that fits; an answer has at most `max_tokens`, a required value that is missing does not fit.

        Raises MindFailed, always for `structured_output_failed`: without any call when the schema cannot be used.
        """
        try:
            response_schema.check(schema)
        except ValueError as fault:
            raise self._failure(_unusable_schema(one_line(str(fault))), ()) from fault
        tool = record_tool(provider_schema(schema))
        messages = structured_messages(markdown)
        paid: list[ModelCall] = []
        reply = self._asked(messages, tool, max_tokens, paid)
        value = _value(reply)
        errors = _errors(value, schema)
        if errors:
            messages += _correction(reply, errors)
            reply = self._asked(messages, tool, max_tokens, paid)
            value = _value(reply)
            errors = _errors(value, schema)
        if errors or not isinstance(value, dict):
            raise self._failure(
                f"{self._endpoint.target} gave no values that fit the response_schema, nor when asked again: "
                f"{one_line('; '.join(errors))}",
                paid,
                raw=reply.raw,
            )
        return Structured(value=value, raw=reply.raw, calls=tuple(paid))

    def _asked(
        self, messages: Sequence[Mapping[str, Any]], tool: Mapping[str, Any], max_tokens: int, paid: list[ModelCall]
    ) -> ChatReply:
        try:
            return self._endpoint.chat(
                messages,
                purpose="structured_output_again" if paid else "structured_output",
                paid=paid,
                tools=[tool],
                tool_choice={"type": "function", "function": {"name": RECORD}},
                max_completion_tokens=max_tokens,
            )
        except UnusableReply as failure:
            told = f"{failure} (it was asked for the values of the response_schema, in {max_tokens} tokens at most)"
            raise self._failure(told, paid, raw=failure.raw) from failure
        except MindFailed as failure:
            failure.reason = _REASON
            raise

    def _failure(self, message: str, paid: Sequence[ModelCall], *, raw: str = "") -> MindFailed:
        failure = unusable(message, reason=_REASON, raw=raw)
        failure.calls = tuple(paid)
        return failure


def _unusable_schema(fault: str) -> str:
    return f"the response_schema cannot be used ({fault}); correct it"


def _value(reply: ChatReply) -> Any:
    """The arguments of the call, or the JSON written as text instead of it."""
    return json_in(reply.tool_uses[0].arguments if reply.tool_uses else reply.content)


def _errors(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """What is wrong with a value, one line each, none when it fits."""
    if not isinstance(value, dict):
        return [f"call `{RECORD}` with a JSON object, and nothing else"]
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return ["every number must be finite"]
    return [one_line(error) for error in response_schema.errors_of(value, schema)]


def _correction(reply: ChatReply, errors: Sequence[str]) -> list[dict[str, Any]]:
    """The reply that does not fit and what is wrong with it, as messages."""
    told = values_not_accepted(errors)
    if not reply.tool_uses:
        return [{"role": "assistant", "content": reply.content or "{}"}, {"role": "user", "content": told}]
    return [reply.message()] + [{"role": "tool", "tool_call_id": use.id, "content": told} for use in reply.tool_uses]
