"""A language model behind an OpenAI-compatible endpoint: conversations with tools, and typed answers.

Every call is counted, also the ones that fail or are asked again. `openai` and `instructor` take seconds to import and
are loaded at the first call.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from adapters.llm.connection import Connection, Observe, utc_now
from adapters.llm.failures import ParameterRefused, one_line, unusable
from adapters.llm.paid_once import PaidOnce
from adapters.llm.replies import ChatReply, ToolUse, counted, json_in, read_reply
from adapters.llm.storable_text import storable_json
from adapters.llm.tool_schema import plain_schema
from application.ports import KeptReplies, MindFailed
from domain.usage import ModelCall

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

OPENAI = "https://api.openai.com/v1"

Message = Mapping[str, Any]
Tool = Mapping[str, Any]
Typed = TypeVar("Typed", bound=BaseModel)


class Endpoint:
    """Shared by all minds of a process; safe to use from several threads. Close it at the end.

    `base_url` None is OpenAI's own. `timeout_seconds` is for one whole answer. `max_completion_tokens` caps an answer,
    thoughts included; None leaves that to the endpoint. `temperature` None is not sent. Either of them, when the
    endpoint refuses it, is left out from then on. With `kept`, an operation that asks the same again in another attempt
    gets the reply that it has paid for. `now` tells the time in UTC; `observe` is told of each request.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str | None,
        model: str,
        timeout_seconds: float = 120.0,
        max_completion_tokens: int | None = None,
        temperature: float | None = 0.0,
        kept: KeptReplies | None = None,
        now: Callable[[], datetime] = utc_now,
        observe: Observe | None = None,
    ) -> None:
        self.model = model
        self._observe = observe
        self._connection = Connection(
            base_url=base_url or OPENAI, api_key=api_key, model=model, timeout_seconds=timeout_seconds, now=now
        )
        self._paid_once = PaidOnce(kept)
        self._options = {"max_completion_tokens": max_completion_tokens, "temperature": temperature}
        self._left_out: set[str] = set()

    @property
    def target(self) -> str:
        """Model and endpoint as messages name them."""
        return self._connection.target

    def chat(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        paid: list[ModelCall],
        tools: Sequence[Tool] = (),
        tool_choice: str | Mapping[str, Any] | None = None,
        max_completion_tokens: int | None = None,
    ) -> ChatReply:
        """The next message of the model, of at most `max_completion_tokens` when given (or the endpoint's own cap, if
        that is less). The call is appended to `paid`; a MindFailed carries all of `paid`."""
        request: dict[str, Any] = {"messages": list(messages)}
        caps = [cap for cap in (max_completion_tokens, self._options["max_completion_tokens"]) if cap is not None]
        if caps:
            request["max_completion_tokens"] = min(caps)
        if tools:
            request |= {"tools": list(tools), "tool_choice": tool_choice or "auto"}
        return self._ask(request, purpose, paid)

    def typed(self, messages: Sequence[Message], answer: type[Typed], *, purpose: str, paid: list[ModelCall]) -> Typed:
        """An answer of the given shape, asked for once more when the first does not fit, with the errors quoted.

        Calls are appended to `paid`. Raises MindFailed, which carries all of `paid`, when the second does not fit.
        """
        import instructor
        from instructor.core.exceptions import InstructorRetryException

        logging.getLogger("instructor").setLevel(logging.CRITICAL)  # it logs as errors what is raised here
        wanted, parameters = _as_tool(answer)
        replies: list[ChatReply] = []

        def create(**request: Any) -> ChatCompletion:
            function = {**request["tools"][0]["function"], "parameters": parameters}
            replies.append(self._ask({**request, "tools": [{"type": "function", "function": function}]}, purpose, paid))
            return _completion(replies[-1], function["name"])

        # Tools, because that is what most endpoints offer and what the reflect loop needs anyway.
        ask = instructor.patch(create=create, mode=instructor.Mode.TOOLS)
        try:
            given = ask(response_model=wanted, messages=list(messages), max_retries=1, strict=False)
            return answer.model_construct(**dict(given))  # `given` is of the library's subclass
        except InstructorRetryException as error:
            if isinstance(error.__cause__, MindFailed):
                raise error.__cause__ from error.__cause__.__cause__
            failure = unusable(
                f"{self.target} did not give a usable answer, nor when asked again: {one_line(str(error.__cause__))}",
                raw=replies[-1].raw if replies else "",
            )
            failure.calls = tuple(paid)
            raise failure from error

    def _ask(self, request: Mapping[str, Any], purpose: str, paid: list[ModelCall]) -> ChatReply:
        options = {name: value for name, value in self._options.items() if value is not None}
        whole = {"model": self.model, **options, **storable_json(request)}
        asked = self._paid_once.of(whole)
        try:
            payload = asked.replayed(purpose, self.model, paid)
            if payload is None:
                payload = self._sent_as_taken(whole, purpose, paid)
                asked.keep(payload, paid[-1])
            return read_reply(payload, self.target, self._connection.now())
        except MindFailed as failure:
            failure.calls = tuple(paid)
            raise

    def _sent_as_taken(self, whole: Mapping[str, Any], purpose: str, paid: list[ModelCall]) -> dict[str, Any]:
        """The reply to a request, without the options that the endpoint refuses."""
        while True:
            sent = {name: value for name, value in whole.items() if name not in self._left_out}
            try:
                return self._sent(sent, purpose, paid)
            except ParameterRefused as refused:
                if refused.parameter not in self._options or refused.parameter not in sent:
                    raise
                self._left_out.add(refused.parameter)

    def _sent(self, request: Mapping[str, Any], purpose: str, paid: list[ModelCall]) -> dict[str, Any]:
        payload: dict[str, Any] = {}
        self._connection.open()
        started = time.perf_counter()
        try:
            payload = self._connection.request(
                # as a body of its own: the library takes longer to look through messages and tools than to send them
                lambda client: client.chat.completions.with_streaming_response.create(
                    model=self.model, messages=(), extra_body=request
                )
            )
        finally:
            seconds = time.perf_counter() - started
            call = counted(payload, purpose=purpose, model=self.model, seconds=seconds)
            if self._observe is not None:
                failed = not payload or bool(payload.get("error"))
                spent = {"input_tokens": call.input_tokens, "output_tokens": call.output_tokens}
                self._observe(purpose, self.model, seconds, failed=failed, **spent)
            paid.append(call)
        return payload

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@lru_cache(maxsize=64)
def _as_tool(answer: type[Typed]) -> tuple[type[Typed], dict[str, Any]]:
    """The library's subclass of the type and the parameters of its tool; kept, for building them takes milliseconds."""
    import instructor

    parameters = plain_schema(answer.model_json_schema())
    parameters.pop("description", None)  # that of the tool already says it
    return instructor.response_schema(answer), parameters


def _completion(reply: ChatReply, tool: str) -> ChatCompletion:
    """The reply as `instructor` reads it: one call of the tool, whatever form the model chose.

    Arguments written as text are taken, because some endpoints ignore `tool_choice`; several calls in one turn become
    one with a list of all arguments, because only the first would be read and the others lost.
    """
    from openai.types.chat import ChatCompletion

    uses = reply.tool_uses
    if not uses and (written := json_in(reply.content)) is not None:
        uses = (ToolUse("call_0", tool, json.dumps(written, ensure_ascii=False)),)
    if len(uses) > 1:
        uses = (ToolUse(uses[0].id, tool, f"[{', '.join(use.arguments for use in uses)}]"),)
    message = ChatReply(reply.content, uses).message()
    return ChatCompletion.construct(choices=[{"index": 0, "message": message, "finish_reason": "stop"}])
