"""A question asked of a bank now: answered by a reflection, with what the answer rests on; nothing is written but what
it cost."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from application.current_operation import answering_within
from application.deadline import Deadline
from application.ports import MemoryStore, MindFailed, StructuredExtractor
from application.reflection.conclusion import Reflection
from application.reflection.loop import Reflector
from application.reflection.readable import Readable
from application.request_costs import RequestCosts
from domain.event import Context
from domain.memory import Budget, RecallQuery, Window
from domain.reflection import NoAnswer, ReflectQuestion
from domain.refresh.run import Candidate
from domain.scope import Scope
from domain.storable import storable
from domain.usage import ModelCall

logger = logging.getLogger(__name__)

WALL_SECONDS = 300.0
NOTHING_READABLE = "nothing is readable in the scope that was asked in"
NO_EXTRACTOR = "structured output needs a language model; this service runs without one"


@dataclass(frozen=True)
class Asked:
    """A question and where its answer may look. `max_tokens` is the length aimed at."""

    bank_id: str
    query: str
    scope: Scope
    budget: Budget = "low"
    max_tokens: int = 4096
    all_directives: bool = False
    exclude_pages: bool = False
    excluded_page_ids: frozenset[str] = frozenset()
    response_schema: Mapping[str, Any] | None = None
    observation_tokens: int | None = None


@dataclass(frozen=True)
class Answered:
    """The answer, or with `found` False why there is none. `calls` are all that were made for it."""

    text: str
    found: bool
    reflection: Reflection
    calls: tuple[ModelCall, ...]
    reason: str = ""
    structured: dict[str, Any] | None = None
    structured_error: str | None = None


class Reflections:
    """Answers questions."""

    def __init__(
        self,
        memory: MemoryStore,
        reflector: Reflector,
        structured: StructuredExtractor | None,
        costs: RequestCosts,
        wall_seconds: float = WALL_SECONDS,
    ) -> None:
        self._memory = memory
        self._reflector = reflector
        self._structured = structured
        self._costs = costs
        self._wall_seconds = wall_seconds

    def answer(self, context: Context, asked: Asked, deadline: Deadline | None = None) -> Answered:
        """Raises DeadlinePassed, and MindFailed when a model or the memory failed; what it cost is told in any case."""
        deadline = deadline or self.deadline()
        reflection = Reflection()
        try:
            with answering_within(deadline):
                reflection = self._reflect(context, asked)
                if reflection.unanswered is None and not isinstance(reflection.result, Candidate):
                    deadline.check()
                    raise _failure(reflection)
                answered = self._told(reflection, asked)
        except MindFailed:
            self._costs.record(context, asked.bank_id, "reflect", reflection.calls)
            raise
        self._costs.record(context, asked.bank_id, "reflect", answered.calls)
        return answered

    def deadline(self) -> Deadline:
        """How long an answer that begins now may take; 0 seconds are no bound."""
        return Deadline(self._wall_seconds or inf, work="the answer")

    def _reflect(self, context: Context, asked: Asked) -> Reflection:
        question = ReflectQuestion(
            name="",
            source_query=asked.query,
            max_tokens=asked.max_tokens,
            asked_at=context.now,
            kind="answer",
            observation_tokens=asked.observation_tokens,
        )
        readable = Readable(
            asked.bank_id,
            asked.scope,
            Window(upto=self._memory.position(asked.bank_id)),
            asked.exclude_pages,
            asked.excluded_page_ids,
        )
        if not self._is_anything_readable(readable):
            return Reflection(unanswered=NoAnswer(reason=NOTHING_READABLE))
        return self._reflector.reflect(question, readable, asked.budget, all_directives=asked.all_directives)

    def _is_anything_readable(self, readable: Readable) -> bool:
        """Where there is nothing, no model is asked."""
        query = RecallQuery(bank_id=readable.bank_id, text="", scope=readable.scope, window=readable.window)
        return self._reflector.reads_pages(readable) or self._memory.newest_in_scope(query) is not None

    def _told(self, reflection: Reflection, asked: Asked) -> Answered:
        calls = tuple(reflection.calls)
        if not isinstance(reflection.result, Candidate):
            none = reflection.unanswered or NoAnswer(reason="")
            return Answered(storable(none.said), False, reflection, calls, reason=storable(none.reason))
        answered = Answered(reflection.result.markdown, True, reflection, calls)
        return answered if asked.response_schema is None else self._structured_view(answered, asked.response_schema)

    def _structured_view(self, answered: Answered, schema: Mapping[str, Any]) -> Answered:
        """With the values of the schema, or why they could not be had: the answer stands either way."""
        if self._structured is None:
            return _changed(answered, error=NO_EXTRACTOR)
        try:
            found = self._structured.extract(answered.text, schema, max_tokens=_STRUCTURED_TOKENS)
        except MindFailed as failed:
            return _changed(answered, error=storable(str(failed)), calls=tuple(failed.calls))
        except Exception as error:
            logger.exception("the structured view of an answer failed")
            return _changed(answered, error=storable(f"{type(error).__name__}: {error}"))
        return _changed(answered, value=found.value, calls=tuple(found.calls))


_STRUCTURED_TOKENS = 4096


def _changed(
    answered: Answered,
    *,
    value: dict[str, Any] | None = None,
    error: str | None = None,
    calls: tuple[ModelCall, ...] = (),
) -> Answered:
    return Answered(
        answered.text,
        answered.found,
        answered.reflection,
        (*answered.calls, *calls),
        structured=value,
        structured_error=error,
    )


def _failure(reflection: Reflection) -> MindFailed:
    failed = reflection.result
    assert not isinstance(failed, Candidate)
    return MindFailed(
        failed.message,
        reason=failed.reason,
        transient=failed.transient,
        calls=tuple(reflection.calls),
        raw=reflection.raw_reply,
        resume_at=failed.resume_at,
    )
