"""The reflect loop: a mind asks for more until it answers. The same for every engine; it writes nothing.

The layers of a memory (mental models, observations, facts) are read in one turn, with one query: that of the one who
asks, or, for the standing question of a document, the first of the mind. Fresh pages may answer one who asks alone; a
document always reads its memory as well, for it is held to have read all up to its snapshot. Source of the rules: spec
of the system of reference, reflect; the mind is never asked for an answer twice, its finishing step is the answer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence

from application.current_operation import check_deadline, report
from application.ports import Embedder, MemoryStore, MindFailed, ReflectPolicy
from application.reflection.amounts import Amounts
from application.reflection.conclusion import Reflection, conclude
from application.reflection.readable import Readable
from application.reflection.toolbox import Toolbox, ToolFailed
from domain.memory import Budget, estimated_tokens
from domain.mental_model.record import ToolCallRecord
from domain.persona import NOBODY, Persona
from domain.reflection import (
    LEAST_TOKENS,
    SEARCHES,
    Answer,
    NoAnswer,
    ReflectQuestion,
    ToolCall,
    ToolCalls,
    ToolName,
    ToolResult,
    answered_by_pages,
    tokens_told,
)
from domain.refresh.run import RunFailed
from domain.storable import storable

logger = logging.getLogger(__name__)

ITERATIONS: dict[Budget, int] = {"low": 5, "mid": 10, "high": 20}
"""Turns at most, by budget."""
CONTEXT_TOKENS = 100_000
"""What a mind takes in at most, all turns together."""
RULES_TOKENS = 4_000
"""Of them, for instructions and the shapes of tools."""
LONGEST_ANSWER = 32_000
"""Of them, kept for an answer at most."""
FIRST_REASON = "the question as it was asked"
MORE_REASON = "the layers that were not searched yet"
LAYER_REASON = "the same question to another layer"


class Reflector:
    """Runs the loop over a toolbox and a mind; `persona_of` tells who answers for a bank, `amounts_of` what it reads
    at a time."""

    def __init__(
        self,
        memory: MemoryStore,
        embedder: Embedder,
        policy: ReflectPolicy,
        stopwatch: Callable[[], float] = time.monotonic,
        *,
        toolbox: Toolbox | None = None,
        persona_of: Callable[[str], Persona] = lambda _bank_id: NOBODY,
        amounts_of: Callable[[str], Amounts] = lambda _bank_id: Amounts(),
    ) -> None:
        self._toolbox = toolbox or Toolbox(memory, embedder, stopwatch=stopwatch)
        self._policy = policy
        self._persona_of = persona_of
        self._amounts_of = amounts_of

    def reads_pages(self, readable: Readable) -> bool:
        """Whether there are pages to be read."""
        return "search_mental_models" in self._toolbox.tools(readable)

    def reflect(
        self, question: ReflectQuestion, readable: Readable, budget: Budget = "mid", *, all_directives: bool = False
    ) -> Reflection:
        """Asks until there is an answer, none, or the turns are used up. Failures are results, never raised."""
        reflection = Reflection()
        try:
            persona = self._persona_of(readable.bank_id).asked_in(readable.scope, all_directives=all_directives)
            tools = self._toolbox.tools(readable)
            reflection.persona, reflection.tools = persona, tools
            asked = self._amounts_of(readable.bank_id).in_place_of_none(question)
            asked = asked.model_copy(update={"tools": tools, "persona": persona})
            _Run(self._toolbox, self._policy, asked, readable, budget, reflection).run()
        except ToolFailed as failed:
            reflection.result = RunFailed("retrieval_failed", storable(str(failed)), failed.transient, failed.resume_at)
        except MindFailed as failed:
            reflection.calls.extend(failed.calls)
            reflection.raw_reply = failed.raw
            reflection.result = RunFailed(failed.reason, storable(str(failed)), failed.transient, failed.resume_at)
        except Exception as error:
            logger.exception("a mind failed in an unexpected way")
            reflection.result = RunFailed("unexpected_error", storable(f"{type(error).__name__}: {error}"))
        return reflection


class _Run:
    def __init__(
        self,
        toolbox: Toolbox,
        policy: ReflectPolicy,
        question: ReflectQuestion,
        readable: Readable,
        budget: Budget,
        reflection: Reflection,
    ) -> None:
        self._toolbox = toolbox
        self._policy = policy
        self._question = question
        self._readable = readable
        self._budget = budget
        self._reflection = reflection
        self._iteration = 1

    def run(self) -> None:
        limit = ITERATIONS[self._budget]
        if self._question.kind == "answer":
            self._open()
            self._iteration += 1
        while self._iteration <= limit:
            check_deadline()
            report("reflecting", self._iteration, limit)
            full = bool(self._reflection.tool_results) and self._room() < 2 * LEAST_TOKENS
            must_finish = self._iteration == limit or full
            if must_finish and not full:
                self._read_the_rest()
            if self._turn(must_finish):
                return
            self._iteration += 1
        self._reflection.result = RunFailed("no_answer", f"no answer after {limit} steps")

    def _turn(self, must_finish: bool) -> bool:
        """Whether it was the last."""
        reflection = self._reflection
        thought = self._policy.next_step(self._question, reflection.tool_results, must_finish=must_finish)
        reflection.calls.extend(thought.calls)
        match thought.step:
            case Answer() as answer:
                conclude(answer, reflection)
                return True
            case NoAnswer() as none:
                if reflection.tool_results and self._missed() and not must_finish:  # there may be more than was read
                    self._read_the_rest()
                    return False
                reflection.raw_reply, reflection.unanswered = none.raw, none
                reflection.result = RunFailed("no_answer", storable(none.reason))
                return True
            case ToolCall() | ToolCalls() if must_finish:
                reflection.result = RunFailed("no_answer", f"no answer after {self._iteration} steps")
                return True
            case ToolCall() as call:
                self._search(self._with_layers((call,)))
            case ToolCalls(calls=calls):
                self._search(self._with_layers(calls))
        return False

    # --- the layers ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """The layers searched for the question as it was asked, before the mind is: it is one turn less."""
        query = self._question.source_query
        missed = self._missed()
        if "search_mental_models" in missed:
            self._search(self._layers(("search_mental_models",), query, FIRST_REASON))
            if self._budget != "high" and answered_by_pages(self._reflection.tool_results[-1]):
                return
        if below := tuple(each for each in missed if each != "search_mental_models"):
            self._search(self._layers(below, query, FIRST_REASON))

    def _read_the_rest(self) -> None:
        """The layers that were not searched, before an answer, or none, is taken for the last time."""
        if self._reflection.tool_results and (missed := self._missed()):
            self._search(self._layers(missed, self._question.source_query, MORE_REASON))

    def _missed(self) -> tuple[ToolName, ...]:
        """Layers that are there and were not searched."""
        searched = {result.call.tool for result in self._reflection.tool_results}
        return tuple(each for each in SEARCHES if each in self._question.tools and each not in searched)

    def _layers(self, tools: Sequence[ToolName], query: str, reason: str) -> tuple[ToolCall, ...]:
        usual = self._question.usual_tokens
        return tuple(ToolCall(tool=tool, query=query, reason=reason, max_tokens=usual(tool)) for tool in tools)

    def _with_layers(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The first search of a mind goes to all layers, in their order."""
        searching = [call for call in calls if call.tool in SEARCHES]
        if self._reflection.tool_results or not searching:
            return tuple(calls)
        named = {call.tool for call in searching}
        others = tuple(each for each in self._missed() if each not in named)
        layers = (*self._layers(others, searching[0].query, LAYER_REASON), *searching)
        ordered = sorted(layers, key=lambda call: SEARCHES.index(call.tool))
        return (*ordered, *(call for call in calls if call.tool not in SEARCHES))

    # --- tools --------------------------------------------------------------------------------------------------------

    def _search(self, calls: Sequence[ToolCall]) -> None:
        """Carries the calls of one turn out, each within its share of the room that is left."""
        check_deadline()
        reflection = self._reflection
        share = max(LEAST_TOKENS, self._room() // (len(calls) + 1))
        calls = [call.model_copy(update={"max_tokens": min(call.max_tokens, share)}) for call in calls]
        desk = self._toolbox.desk(
            question=self._question,
            readable=self._readable,
            budget=self._budget,
            results=tuple(reflection.tool_results),
        )
        for result in self._toolbox.run(calls, desk, reflection.calls):
            reflection.calls.extend(result.calls)
            reflection.tool_results.append(result.model_copy(update={"turn": self._iteration}))
            reflection.tool_calls.append(_record(result, self._iteration))

    def _room(self) -> int:
        """Tokens that the mind can still be told."""
        question = self._question
        asked = estimated_tokens(question.source_query) + estimated_tokens(question.current_content)
        told = tokens_told(self._reflection.tool_results)
        return CONTEXT_TOKENS - RULES_TOKENS - min(question.max_tokens, LONGEST_ANSWER) - asked - told


def _record(result: ToolResult, iteration: int) -> ToolCallRecord:
    call = result.call
    return ToolCallRecord(
        tool=call.tool,
        reason=call.reason,
        query=call.query,
        max_tokens=call.max_tokens,
        result_count=result.count,
        duration_ms=result.duration_ms,
        iteration=iteration,
        ids=call.ids,
        problem=result.problem,
    )
