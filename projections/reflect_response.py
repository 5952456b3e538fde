"""The `reflect_response` of the wire contract: what the last refreshes answered, and what the document rests on now.

What a run said of itself is kept with the document; what the document rests on are its citations, and the two are put
together when they are read. Source: spec of the system of reference, refresh pipeline, "reflect_response keys".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.event import Event, Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    RefreshOutcome,
)
from domain.mental_model.record import DirectiveKept, PageEvidence, RefreshRecord
from domain.refresh import failure_of, outcome_name
from projections import citations
from projections.citations import Cited
from projections.refresh_trace import delta_operations, trace_of

BASED_ON_KEYS = ("world", "experience", "opinion", "observation", "mental-models", "directives")
"""All keys are always there, as clients of the system of reference expect."""

UNANSWERED: Mapping[str, Any] = {"text": "", "mental_models": []}
"""Of a document that no refresh has written yet: the keys that are always there."""

OF_ONE_RUN = (
    "refresh_skipped",
    "reflect_skipped",
    "delta_applied",
    "delta_skipped_reason",
    "delta_operations_applied",
    "delta_operations_skipped",
    "document_tokens",
    "document_budget",
    "trace",
    "warnings",
)
"""Keys that say how the last run went; they do not outlive it."""


PAGES, DIRECTIVES = "based_on_pages", "based_on_directives"
"""Kept beside what is told: the mental models the document rests on, and the directives it was last written by."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an event does to what is kept: keys that go, and what is told instead."""

    dropped: tuple[str, ...]
    told: Mapping[str, Any]


def change(event: Event, at: datetime) -> Change | None:
    """What an event of a mental model, recorded `at` that time, changes in its reflect response. None: nothing."""
    match event:
        case ContentWritten(record=record):
            dropped = (*OF_ONE_RUN, "pending_facts", "structured_output", *_replaced(record))
            return Change(dropped, _answered(event, at))
        case ContentUnchanged(record=record):
            return Change((*OF_ONE_RUN, "pending_facts", *_replaced(record)), _answered(event, at))
        case ContentPreservedNoNewFacts():
            return Change((*OF_ONE_RUN, "pending_facts"), {**_of_run(event, at), **_pending(event)})
        case RefreshFailedEmptyCandidate() | RefreshFailedDeltaNotApplied() | RefreshFailedStructuredOutput():
            refusal = failure_of(event)
            return Change(OF_ONE_RUN, {**_of_run(event, at), "refresh_skipped": refusal[0] if refusal else None})
        case RefreshFailedError(record=record) if record.keep_trace:
            return Change(("trace",), {"trace": trace_of(event, at)})
        case ContentEdited():
            return Change(("structured_output",), {})  # a view of another text
        case ContentReverted() | ContentCleared():
            return Change(("structured_output", PAGES, DIRECTIVES), {})
        case _:
            return None


def _answered(outcome: ContentWritten | ContentUnchanged, at: datetime) -> dict[str, Any]:
    record = outcome.record
    told = {"text": record.candidate, **_of_run(outcome, at), **_pending(outcome), "engine": record.engine}
    if record.structured_output is not None:
        told["structured_output"] = record.structured_output
    if record.pages:
        told[PAGES] = [_page(each) for each in record.pages]
    if record.directives:
        told[DIRECTIVES] = [_directive(each) for each in record.directives]
    return told


def _replaced(record: RefreshRecord) -> tuple[str, ...]:
    """What the document rested on before and does not any more: a delta adds to what a full refresh used."""
    return (PAGES, DIRECTIVES) if record.effective_mode == "full" else (DIRECTIVES,)


def _page(page: PageEvidence) -> dict[str, Any]:
    return {
        "id": page.mental_model_id,
        "name": page.name,
        "text": f"{page.name}: {page.text}",
        "type": "mental-models",
        "context": None,
        "version": page.version,
    }


def _directive(directive: DirectiveKept) -> dict[str, Any]:
    return {
        "id": str(directive.directive_id),
        "name": directive.name,
        "text": directive.content,
        "type": "directives",
        "context": None,
    }


def _of_run(outcome: RefreshOutcome, at: datetime) -> dict[str, Any]:
    record = outcome.record
    told: dict[str, Any] = {"outcome": outcome_name(outcome)}
    if record.reflect_skipped:
        told["reflect_skipped"] = record.reflect_skipped
    if record.delta is not None:
        finished = isinstance(outcome, ContentWritten | ContentUnchanged)
        told["delta_applied"] = finished and record.effective_mode == "delta"
        of_delta = {
            "delta_skipped_reason": record.delta.skipped_reason,
            "document_tokens": record.delta.document_tokens,
            "document_budget": record.delta.document_budget,
        }
        told |= {name: value for name, value in of_delta.items() if value is not None}
        if record.delta.edits:
            told |= {f"delta_operations_{came}": each for came, each in delta_operations(record.delta).items()}
    if record.warnings:
        told["warnings"] = list(record.warnings)
    if record.keep_trace:
        told["trace"] = trace_of(outcome, at)
    return told


def _pending(outcome: RefreshOutcome) -> dict[str, Any]:
    return {"pending_facts": len(outcome.record.pending)} if outcome.record.pending else {}


def based_on(entries: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The facts a document rests on (entries as `citations.entry` makes them), by kind, in their order."""
    kinds: dict[str, list[Mapping[str, Any]]] = {key: [] for key in BASED_ON_KEYS}
    for each in entries:
        kinds[each["type"]].append(each)
    return kinds


def composed(kept: Mapping[str, Any] | None, entries: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """What is served: what is kept of the runs, and what the document rests on; None until a refresh has ended."""
    if kept is None:
        return None
    told = {name: value for name, value in kept.items() if name not in (PAGES, DIRECTIVES)}
    grounds = {"mental-models": kept.get(PAGES, []), "directives": kept.get(DIRECTIVES, [])}
    return {**told, "based_on": {**based_on(entries), **grounds}}


@dataclass(frozen=True, slots=True)
class Told:
    """The reflect response of a mental model, folded: what is kept of its runs, and all its citations ever."""

    kept: Mapping[str, Any] | None = None
    citations: Sequence[Cited] = ()

    @property
    def served(self) -> dict[str, Any] | None:
        return composed(self.kept, map(citations.entry, citations.newest_first(self.citations)))


def after(before: Told, recorded: Recorded) -> Told:
    """After one more event of the mental model."""
    cited = citations.after(before.citations, recorded)
    if isinstance(recorded.event, MentalModelCreated | MentalModelDeleted):
        return Told(None, cited)
    changed = change(recorded.event, recorded.occurred_at)
    if changed is None or (before.kept is None and not changed.told):
        return Told(before.kept, cited)
    kept = {key: value for key, value in (before.kept or UNANSWERED).items() if key not in changed.dropped}
    return Told({**kept, **changed.told}, cited)


def as_of(version: int, events: Iterable[Recorded]) -> dict[str, Any] | None:
    """As it stood at a version of its stream, of which these are all events: folded as the read models fold it, so that
    now and then are told alike."""
    told = Told()
    for recorded in events:
        if recorded.version > version:
            break
        told = after(told, recorded)
    return told.served
