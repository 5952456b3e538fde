"""The refresh of a document: read the scope, ask the mind, and say what came of it. Writes nothing.

The seven phases of the system of reference are the steps of `execute`: mode, scope, snapshot and window, reading (none
when nothing is readable), the edit of a delta, guards, and persistence; `domain.refresh` decides the last two when the
run is recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from application.ports import Clock, MemoryStore, ReflectPolicy
from application.reflect import Readable, Reflection, Reflector
from domain.document import PARSER_VERSION
from domain.memory import RecallQuery, Window
from domain.mental_model.record import RefreshRecord, RefreshWindow, ResolvedScope
from domain.mental_model.state import MentalModel
from domain.reflection import ReflectQuestion
from domain.refresh import NOTHING_READABLE, Candidate, Mode, NothingToRead, RefreshRun, RunFailed, decide_mode


@dataclass
class _Progress:
    """What is known of a run so far, so that a failure at any point is explained as far as it got."""

    mode: Mode
    scope: ResolvedScope
    window: RefreshWindow
    reflection: Reflection = field(default_factory=Reflection)
    skipped: Literal["no_sources_in_scope"] | None = None


class RefreshExecutor:
    """Turns the state of a mental model into a run: what was read, answered and spent."""

    def __init__(
        self,
        memory: MemoryStore,
        reflector: Reflector,
        policy: ReflectPolicy,
        clock: Clock,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._reflector = reflector
        self._policy = policy
        self._clock = clock
        self._stopwatch = stopwatch

    def execute(self, model: MentalModel, override: Literal["full"] | None = None) -> RefreshRun:
        """Reads and asks. Failures of the mind or of retrieval are results; only the database itself may raise."""
        started = self._stopwatch()
        mode = decide_mode(override or model.trigger.mode, model.content, model.answered_query, model.source_query)
        scope = _resolved_scope(model)
        upto = self._memory.position(model.bank_id)
        window = Window(after=0, upto=upto)
        asked_at = self._clock.now()
        newest = self._memory.newest_in_scope(
            RecallQuery(bank_id=model.bank_id, text="", scope=scope.scope, window=window)
        )
        progress = _Progress(
            mode,
            scope,
            RefreshWindow(
                after=0, upto=upto, created_before=asked_at, watermark=newest.recorded_at if newest else None
            ),
        )
        if newest is None:
            progress.skipped = "no_sources_in_scope"
            progress.reflection.warnings.append(NOTHING_READABLE)
            return self._run(model, progress, NothingToRead(), started)
        question = ReflectQuestion(
            name=model.name,
            source_query=model.source_query,
            max_tokens=model.max_tokens,
            asked_at=asked_at,
            current_content=model.content,
        )
        readable = Readable(model.bank_id, scope.scope, window)
        progress.reflection = self._reflector.reflect(question, readable, model.trigger.budget or "mid")
        return self._run(model, progress, progress.reflection.result, started)

    def _run(
        self,
        model: MentalModel,
        progress: _Progress,
        result: NothingToRead | Candidate | RunFailed,
        started: float,
    ) -> RefreshRun:
        reflection = progress.reflection
        record = RefreshRecord(
            requested_mode=progress.mode.requested,
            effective_mode=progress.mode.effective,
            mode_fallback_reason=progress.mode.fallback,
            source_query=model.source_query,
            scope=progress.scope,
            window=progress.window,
            reflect_skipped=progress.skipped,
            retrieved=reflection.retrieved,
            evidence=reflection.evidence,
            tool_calls=tuple(reflection.tool_calls),
            candidate=result.markdown if isinstance(result, Candidate) else "",
            raw_reply=reflection.raw_reply,
            warnings=(*progress.mode.warnings, *reflection.warnings),
            calls=tuple(reflection.calls),
            duration_ms=round((self._stopwatch() - started) * 1000),
            engine=self._policy.engine,
            parser_version=PARSER_VERSION,
        )
        return RefreshRun(record, result)


def _resolved_scope(model: MentalModel) -> ResolvedScope:
    """A model never reads itself."""
    excluded = {*(model.trigger.exclude_mental_model_ids or ()), model.mental_model_id}
    return ResolvedScope(
        scope=model.scope,
        exclude_mental_models=model.trigger.exclude_mental_models,
        exclude_mental_model_ids=tuple(sorted(excluded)),
    )
