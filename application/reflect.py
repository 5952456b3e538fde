"""The reflect loop: a mind asks for memories until it answers. The same for every engine; it writes nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from application.current_operation import check_deadline
from application.deadline import DeadlinePassed
from application.ports import Embedder, MemoryStore, MindFailed, ReflectPolicy
from domain.memory import FACTS_OF_BUDGET, LEAST_SEMANTIC, Budget, RecallQuery, Window
from domain.mental_model.evidence import evidence_of
from domain.mental_model.record import Evidence, FactCount, ToolCallRecord
from domain.reflection import Answer, NoAnswer, ReflectQuestion, ToolCall, ToolResult
from domain.refresh.run import Candidate, RunFailed
from domain.scope import Scope
from domain.storable import storable
from domain.usage import ModelCall

logger = logging.getLogger(__name__)

RETRIEVAL_EMPTY = "retrieval returned nothing"
NONE_USED = "retrieval found {found} facts but the answer used none of them"

ITERATIONS: dict[Budget, int] = {"low": 5, "mid": 10, "high": 20}
"""Steps of a mind at most, by budget."""


@dataclass(frozen=True)
class Readable:
    """Where a reflection may look."""

    bank_id: str
    scope: Scope
    window: Window


@dataclass
class Reflection:
    """What a reflection came to, with all it read and cost; `result` is set when the loop ends."""

    result: Candidate | RunFailed = field(default_factory=lambda: RunFailed("unexpected_error", "the loop did not run"))
    tool_results: list[ToolResult] = field(default_factory=list)
    tool_calls: list[ToolCallRecord] = field(default_factory=list)
    evidence: tuple[Evidence, ...] = ()
    calls: list[ModelCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    raw_reply: str = ""

    @property
    def retrieved(self) -> tuple[FactCount, ...]:
        """Distinct facts the tools gave, by type."""
        kinds = {found.fact.id: found.fact.fact_type for result in self.tool_results for found in result.facts}
        types = sorted(set(kinds.values()))
        return tuple(FactCount(fact_type=kind, count=list(kinds.values()).count(kind)) for kind in types)


class Reflector:
    """Runs the loop over a memory store, an embedder and a mind."""

    def __init__(
        self,
        memory: MemoryStore,
        embedder: Embedder,
        policy: ReflectPolicy,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._embedder = embedder
        self._policy = policy
        self._stopwatch = stopwatch

    def reflect(self, question: ReflectQuestion, readable: Readable, budget: Budget = "mid") -> Reflection:
        """Asks until there is an answer, none, or the steps are used up. Failures are results, never raised."""
        reflection = Reflection()
        try:
            self._loop(question, readable, budget, reflection)
        except MindFailed as failed:
            reflection.calls.extend(failed.calls)
            reflection.raw_reply = failed.raw
            reflection.result = RunFailed(failed.reason, storable(str(failed)), failed.transient, failed.resume_at)
        except Exception as error:
            logger.exception("a mind failed in an unexpected way")
            reflection.result = RunFailed("unexpected_error", storable(f"{type(error).__name__}: {error}"))
        return reflection

    def _loop(self, question: ReflectQuestion, readable: Readable, budget: Budget, reflection: Reflection) -> None:
        limit = ITERATIONS[budget]
        for iteration in range(1, limit + 1):
            check_deadline()
            must_finish = iteration == limit
            thought = self._policy.next_step(question, reflection.tool_results, must_finish=must_finish)
            reflection.calls.extend(thought.calls)
            match thought.step:
                case ToolCall() as call if not must_finish:
                    if not self._recall(call, readable, FACTS_OF_BUDGET[budget], iteration, reflection):
                        return
                case Answer() as answer:
                    _conclude(answer, reflection)
                    return
                case NoAnswer(reason=reason, raw=raw):
                    reflection.raw_reply = raw
                    reflection.result = RunFailed("no_answer", storable(reason))
                    return
                case ToolCall():
                    break
        reflection.result = RunFailed("no_answer", f"no answer after {limit} steps")

    def _recall(self, call: ToolCall, readable: Readable, limit: int, iteration: int, reflection: Reflection) -> bool:
        started = self._stopwatch()
        try:
            embedded = self._embedder.embed([call.query])
            reflection.calls.extend(embedded.calls)
            facts = self._memory.recall(
                RecallQuery(
                    bank_id=readable.bank_id,
                    text=call.query,
                    scope=readable.scope,
                    window=readable.window,
                    limit=limit,
                    max_tokens=call.max_tokens,
                    min_semantic=-1.0 if call.nearest else LEAST_SEMANTIC,
                ),
                embedded.vectors[0],
            )
        except DeadlinePassed:  # it is not the retrieval that failed
            raise
        except MindFailed as failed:
            reflection.calls.extend(failed.calls)
            reflection.result = RunFailed(
                "retrieval_failed", storable(f"recall failed: {failed}"), failed.transient, failed.resume_at
            )
            return False
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a tool is a failed retrieval, never an empty one
            reflection.result = RunFailed(
                "retrieval_failed", storable(f"recall failed: {type(error).__name__}: {error}")
            )
            return False
        took = round((self._stopwatch() - started) * 1000)
        reflection.tool_results.append(ToolResult(call=call, facts=tuple(facts), duration_ms=took))
        reflection.tool_calls.append(_record(call, len(facts), took, iteration))
        return True


def _record(call: ToolCall, found: int, took: int, iteration: int) -> ToolCallRecord:
    return ToolCallRecord(
        tool=call.tool,
        reason=call.reason,
        query=call.query,
        max_tokens=call.max_tokens,
        result_count=found,
        duration_ms=took,
        iteration=iteration,
    )


def _conclude(answer: Answer, reflection: Reflection) -> None:
    """Evidence is what the mind says it used and was really shown; a fact it was not shown is no evidence."""
    shown = {str(found.fact.id): found for result in reflection.tool_results for found in result.facts}
    used = [shown[fact_id] for fact_id in dict.fromkeys(answer.used) if fact_id in shown]
    reflection.evidence = tuple(evidence_of(found.fact) for found in used)
    reflection.raw_reply = answer.raw
    cited = {str(found.fact.id) for found in used}
    mentions = tuple(mention for mention in answer.mentions if mention.fact_id in cited)
    reflection.result = Candidate(storable(answer.markdown), mentions)
    if not shown:
        reflection.warnings.append(RETRIEVAL_EMPTY)
    elif not used:
        reflection.warnings.append(NONE_USED.format(found=len(shown)))
