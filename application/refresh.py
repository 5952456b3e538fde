"""The refresh of a document: read what it has to, ask a mind, and say what came of it. Writes nothing.

The seven phases of the system of reference are here: mode, scope, snapshot and window, reading (the reflect loop for
a full refresh, all of the window for a delta), the edits of a delta, guards, and persistence; `domain.refresh` decides
the last two when the run is recorded. A preview is the same run, without the structured view.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from application.current_operation import report
from application.delta import DeltaRefresh
from application.delta_run import DeltaRun
from application.ports import Clock, MemoryStore, MindFailed, ReflectPolicy, StructuredExtractor
from application.reflection import Readable, Reflection, Reflector, kept
from domain.digest import sha256_of
from domain.document import PARSER_VERSION
from domain.memory import Fact, RecallQuery, Window
from domain.mental_model.events import ContentUnchanged, ContentWritten
from domain.mental_model.record import FactCount, RefreshRecord, RefreshWindow, ResolvedScope
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.reflection import ReflectQuestion
from domain.refresh import (
    Candidate,
    Mode,
    NothingToRead,
    RefreshRun,
    RunFailed,
    RunResult,
    StructuredOutputFailed,
    decide_mode,
    decide_outcome,
)
from domain.scope import Scope
from domain.scope_inclusion import within
from domain.storable import storable

logger = logging.getLogger(__name__)

NOTHING_READABLE = (
    "nothing is readable in the scope: check tags, tag groups and fact types; the document was left as it is"
)
NO_EXTRACTOR = "a structured view needs a language model: the document was written without one"


@dataclass
class _Progress:
    """What is known of a run so far, so that a failure at any point is explained as far as it got."""

    mode: Mode
    scope: ResolvedScope
    window: RefreshWindow
    started: float
    asked_at: datetime
    reflection: Reflection = field(default_factory=Reflection)
    delta: DeltaRun | None = None
    skipped: Literal["no_sources_in_scope"] | None = None


class RefreshExecutor:
    """Turns the state of a mental model into a run: what was read, answered and spent."""

    def __init__(
        self,
        memory: MemoryStore,
        reflector: Reflector,
        deltas: DeltaRefresh,
        policy: ReflectPolicy,
        structured: StructuredExtractor | None,
        clock: Clock,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self._memory = memory
        self._reflector = reflector
        self._deltas = deltas
        self._policy = policy
        self._structured = structured
        self._clock = clock
        self._stopwatch = stopwatch

    def execute(
        self,
        model: MentalModel,
        override: Literal["full"] | None = None,
        *,
        preview: bool = False,
        asked_at: datetime | None = None,
    ) -> RefreshRun:
        """Reads and asks. Whatever fails is a result, explained as far as the run got.

        `asked_at` is what minds are told the time is: the same for each attempt at an operation, whose requests are
        then the same. Without it, now."""
        progress = _Progress(
            mode=decide_mode(override or model.trigger.mode, model),
            scope=_resolved_scope(model),
            window=RefreshWindow(after=0, upto=0, created_before=self._clock.now()),
            started=self._stopwatch(),
            asked_at=asked_at or self._clock.now(),
        )
        try:
            result = self._read(model, progress)
        except Exception as error:
            logger.exception("the refresh of %s/%s failed", model.bank_id, model.mental_model_id)
            result = self._broken(progress, error)
        run = self._run(model, progress, result)
        return run if preview else self._with_structure(model, run)

    def _read(self, model: MentalModel, progress: _Progress) -> RunResult:
        report("reading")
        upto = self._memory.position(model.bank_id)
        if progress.mode.effective == "delta":
            return self._delta(model, upto, progress)
        return self._full(model, upto, progress)

    def _broken(self, progress: _Progress, error: Exception) -> RunFailed:
        """An unexpected error. Until an editor was asked, it is the memory that could not be read."""
        told = storable(f"{type(error).__name__}: {error}")
        if progress.delta is not None and progress.delta.asked:
            return RunFailed("unexpected_error", told)
        return RunFailed("retrieval_failed", f"the memory could not be read: {told}", transient=True)

    # --- full ---------------------------------------------------------------------------------------------------------

    def _full(self, model: MentalModel, upto: int, progress: _Progress) -> RunResult:
        window = Window(after=0, upto=upto)
        scope = progress.scope.scope
        newest = self._memory.newest_in_scope(RecallQuery(bank_id=model.bank_id, text="", scope=scope, window=window))
        progress.window = progress.window.model_copy(
            update={"upto": upto, "watermark": newest.recorded_at if newest else None}
        )
        if newest is None:
            progress.skipped = "no_sources_in_scope"
            progress.reflection.warnings.append(NOTHING_READABLE)
            return NothingToRead()
        question = ReflectQuestion(
            name=model.name,
            source_query=model.source_query,
            max_tokens=model.max_tokens,
            asked_at=progress.asked_at,
            current_content=_for_reference(model, scope),
            recall_tokens=model.trigger.recall_max_tokens,
            observation_tokens=model.trigger.reflect_search_observations_max_tokens,
            chunk_tokens=_chunk_tokens(model.trigger),
        )
        resolved = progress.scope
        readable = Readable(
            model.bank_id, scope, window, resolved.exclude_mental_models, frozenset(resolved.exclude_mental_model_ids)
        )
        progress.reflection = self._reflector.reflect(question, readable, model.trigger.budget or "mid")
        return progress.reflection.result

    # --- delta --------------------------------------------------------------------------------------------------------

    def _delta(self, model: MentalModel, upto: int, progress: _Progress) -> RunResult:
        progress.window = progress.window.model_copy(
            update={
                "after": model.covered,
                "upto": upto,
                "created_after": model.last_memory_seen_at or model.last_refreshed_at,
            }
        )
        progress.delta = self._deltas.begin(model, upto, progress.asked_at)
        if facts := progress.delta.facts:
            newest = max(facts, key=lambda fact: fact.position)
            progress.window = progress.window.model_copy(update={"watermark": newest.recorded_at})
        else:
            progress.skipped = "no_sources_in_scope"
        self._deltas.finish(progress.delta)
        return progress.delta.result

    # --- structured view ----------------------------------------------------------------------------------------------

    def _with_structure(self, model: MentalModel, run: RefreshRun) -> RefreshRun:
        """The run with the structured view of its text, when one is asked for and not there yet."""
        schema = model.trigger.response_schema
        if schema is None:
            return run
        fingerprint = sha256_of(json.dumps(schema, sort_keys=True, ensure_ascii=False))
        match decide_outcome(run, model):
            case ContentWritten(text=text):
                pass
            case ContentUnchanged() if model.structured_schema_sha256 != fingerprint:
                text = model.content
            case _:
                return run
        if self._structured is None:
            return _changed(run, warnings=(*run.record.warnings, NO_EXTRACTOR))
        report("structuring")
        started = self._stopwatch()
        try:
            found = self._structured.extract(text, schema, max_tokens=model.max_tokens)
        except MindFailed as failed:
            told = StructuredOutputFailed(storable(str(failed)), failed.transient, failed.resume_at)
            failing = replace(run, result=told)
            return _changed(failing, calls=(*run.record.calls, *failed.calls), duration_ms=self._since(started, run))
        except Exception as error:
            logger.exception("the structured view of %s/%s failed", model.bank_id, model.mental_model_id)
            failing = replace(run, result=StructuredOutputFailed(storable(f"{type(error).__name__}: {error}")))
            return _changed(failing, duration_ms=self._since(started, run))
        return _changed(
            run,
            structured_output=found.value,
            structured_schema_sha256=fingerprint,
            calls=(*run.record.calls, *found.calls),
            duration_ms=self._since(started, run),
        )

    def _since(self, started: float, run: RefreshRun) -> int:
        return run.record.duration_ms + round((self._stopwatch() - started) * 1000)

    # --- the record ---------------------------------------------------------------------------------------------------

    def _run(self, model: MentalModel, progress: _Progress, result: RunResult) -> RefreshRun:
        reflection, delta = progress.reflection, progress.delta
        record = RefreshRecord(
            requested_mode=progress.mode.requested,
            effective_mode=progress.mode.effective,
            mode_fallback_reason=progress.mode.fallback,
            source_query=model.source_query,
            scope=progress.scope,
            window=progress.window,
            reflect_skipped=progress.skipped,
            retrieved=_counted(delta.facts) if delta else reflection.retrieved,
            evidence=delta.evidence if delta else reflection.evidence,
            pages=reflection.pages,
            directives=kept(delta.persona) if delta else reflection.directives,
            tool_calls=tuple(reflection.tool_calls),
            candidate=result.markdown if isinstance(result, Candidate) else "",
            raw_reply=storable(reflection.raw_reply),
            warnings=(*progress.mode.warnings, *reflection.warnings, *(delta.warnings if delta else ())),
            calls=(*reflection.calls, *(delta.calls if delta else ())),
            duration_ms=round((self._stopwatch() - progress.started) * 1000),
            engine=self._policy.engine,
            parser_version=PARSER_VERSION,
            delta=delta.record if delta else None,
            retraction=delta.retraction if delta else None,
            pending=delta.pending if delta else (),
            unread=len(delta.unread) if delta else 0,
            keep_trace=model.trigger.keep_trace,
        )
        return RefreshRun(record, result, tuple(reflection.tool_results))


def _changed(run: RefreshRun, **changes: Any) -> RefreshRun:
    return replace(run, record=run.record.model_copy(update=changes))


def _counted(facts: Sequence[Fact]) -> tuple[FactCount, ...]:
    """How many facts of each type."""
    kinds = [fact.fact_type for fact in facts]
    return tuple(FactCount(fact_type=kind, count=kinds.count(kind)) for kind in sorted(set(kinds)))


def _for_reference(model: MentalModel, scope: Scope) -> str:
    """The text as it stands, unless it was made from memories that the document may not read any more."""
    before = model.covered_scope
    return model.content if before is None or within(before, scope) else ""


def _chunk_tokens(trigger: Trigger) -> int | None:
    """Of the text around facts, when it is asked for; None: as much as the bank says."""
    return trigger.recall_chunks_max_tokens if trigger.include_chunks else 0


def _resolved_scope(model: MentalModel) -> ResolvedScope:
    """A model never reads itself."""
    excluded = {*(model.trigger.exclude_mental_model_ids or ()), model.mental_model_id}
    return ResolvedScope(
        scope=model.scope,
        exclude_mental_models=model.trigger.exclude_mental_models,
        exclude_mental_model_ids=tuple(sorted(excluded)),
    )
