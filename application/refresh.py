"""The refresh of a document: read the scope, ask the mind, and say what came of it. Writes nothing.

The seven phases of the system of reference are the steps of `execute`: mode, scope, snapshot and window, reading (none
when nothing is readable), the edit of a delta, guards, and persistence; `domain.refresh` decides the last two when the
run is recorded.
"""

from __future__ import annotations

import logging
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
from domain.storable import storable

logger = logging.getLogger(__name__)


@dataclass
class _Progress:
    """What is known of a run so far, so that a failure at any point is explained as far as it got."""

    mode: Mode
    scope: ResolvedScope
    window: RefreshWindow
    started: float
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
        """Reads and asks. Whatever fails is a result, explained as far as the run got."""
        progress = _Progress(
            mode=decide_mode(override or model.trigger.mode, model.content, model.answered_query, model.source_query),
            scope=_resolved_scope(model),
            window=RefreshWindow(after=0, upto=0, created_before=self._clock.now()),
            started=self._stopwatch(),
        )
        try:
            result = self._read(model, progress)
        except Exception as error:
            logger.exception("the refresh of %s/%s failed", model.bank_id, model.mental_model_id)
            told = storable(f"the memory could not be read: {type(error).__name__}: {error}")
            result = RunFailed("retrieval_failed", told, transient=True)
        return self._run(model, progress, result)

    def _read(self, model: MentalModel, progress: _Progress) -> NothingToRead | Candidate | RunFailed:
        window = Window(after=0, upto=self._memory.position(model.bank_id))
        scope = progress.scope.scope
        newest = self._memory.newest_in_scope(RecallQuery(bank_id=model.bank_id, text="", scope=scope, window=window))
        progress.window = progress.window.model_copy(
            update={"upto": window.upto, "watermark": newest.recorded_at if newest else None}
        )
        if newest is None:
            progress.skipped = "no_sources_in_scope"
            progress.reflection.warnings.append(NOTHING_READABLE)
            return NothingToRead()
        question = ReflectQuestion(
            name=model.name,
            source_query=model.source_query,
            max_tokens=model.max_tokens,
            asked_at=progress.window.created_before,
            current_content=model.content,
        )
        readable = Readable(model.bank_id, scope, window)
        progress.reflection = self._reflector.reflect(question, readable, model.trigger.budget or "mid")
        return progress.reflection.result

    def _run(
        self, model: MentalModel, progress: _Progress, result: NothingToRead | Candidate | RunFailed
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
            raw_reply=storable(reflection.raw_reply),
            warnings=(*progress.mode.warnings, *reflection.warnings),
            calls=tuple(reflection.calls),
            duration_ms=round((self._stopwatch() - progress.started) * 1000),
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
