"""The rules of a refresh: which mode, which guard, which outcome. Pure: no clock, no model, no store.

A run (what was read and answered) becomes exactly one outcome event. Sources: spec of the system of reference, refresh
pipeline, sections "mode gates", "guards, in order" and "outcomes".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from domain.digest import sha256_of
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshOutcome,
)
from domain.mental_model.record import FailureReason, FallbackReason, RefreshRecord
from domain.mental_model.trigger import RefreshMode

DELTA_ANSWERED_AS_FULL = "delta refreshes are not available yet: the document was rewritten as a full refresh"
NOTHING_READABLE = (
    "nothing is readable in the scope: check tags, tag groups and fact types; the document was left as it is"
)
RETRIEVAL_EMPTY = "retrieval returned nothing"
NONE_USED = "retrieval found {found} facts but the answer used none of them"


@dataclass(frozen=True)
class Mode:
    """What was asked for, what is done, and why they differ (None when they do not, or when no rule says)."""

    requested: RefreshMode
    effective: RefreshMode
    fallback: FallbackReason | None
    warnings: tuple[str, ...] = ()


def decide_mode(requested: RefreshMode, content: str, answered_query: str | None, source_query: str) -> Mode:
    """Mode gates. A delta needs a document that answers the present question; one without an answered query (cleared or
    written by hand) passes. Whitespace around a query is no change of the question."""
    if requested == "full":
        return Mode("full", "full", None)
    if is_blank(content):
        return Mode("delta", "full", "no_baseline_content")
    if answered_query is not None and answered_query.strip() != source_query.strip():
        return Mode("delta", "full", "source_query_changed")
    return Mode("delta", "full", None, (DELTA_ANSWERED_AS_FULL,))


@dataclass(frozen=True)
class NothingToRead:
    """No memory in scope: no model was asked."""


@dataclass(frozen=True)
class Candidate:
    """The markdown the mind answered with, as it came."""

    markdown: str


@dataclass(frozen=True)
class RunFailed:
    """The run could not be finished. A transient failure may go away by itself."""

    reason: FailureReason
    message: str
    transient: bool = False


@dataclass(frozen=True)
class RefreshRun:
    """What a refresh read and got. The executor makes it and writes nothing; `decide` turns it into an event."""

    record: RefreshRecord
    result: NothingToRead | Candidate | RunFailed


_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing: Hangul fillers and the empty Braille cell."""


def is_blank(text: str) -> bool:
    """Nothing a reader would see: whitespace, controls, zero-width characters, and marks on nothing."""
    return all(
        character.isspace() or character in _INVISIBLE or unicodedata.category(character) in ("Cf", "Cc", "Mn")
        for character in text
    )


Guard = Callable[[RefreshRun, str], RefreshOutcome | None]


def failed_run(run: RefreshRun, _current: str) -> RefreshOutcome | None:
    """A run that could not be finished never touches the document."""
    if isinstance(run.result, RunFailed):
        return RefreshFailedError(
            failure_reason=run.result.reason,
            error_message=run.result.message,
            transient=run.result.transient,
            record=run.record,
        )
    return None


def no_sources(run: RefreshRun, _current: str) -> RefreshOutcome | None:
    """Nothing readable in scope never empties or rewrites a document."""
    return ContentPreservedNoNewFacts(record=run.record) if isinstance(run.result, NothingToRead) else None


def empty_candidate(run: RefreshRun, _current: str) -> RefreshOutcome | None:
    """An empty text never replaces a document."""
    if isinstance(run.result, Candidate) and is_blank(run.result.markdown):
        return RefreshFailedEmptyCandidate(record=run.record)
    return None


def same_text(run: RefreshRun, current: str) -> RefreshOutcome | None:
    """The same text again is no new version."""
    if isinstance(run.result, Candidate) and run.result.markdown.strip() == current.strip():
        return ContentUnchanged(record=run.record)
    return None


GUARDS: tuple[Guard, ...] = (failed_run, no_sources, empty_candidate, same_text)
"""First match wins; a run that passes all of them is written."""


def decide_outcome(run: RefreshRun, current: str) -> RefreshOutcome:
    """The one event a run becomes, given the document as it stands when the outcome is recorded."""
    for guard in GUARDS:
        outcome = guard(run, current)
        if outcome is not None:
            return outcome
    match run.result:
        case Candidate(markdown=markdown):
            text = markdown if markdown.endswith("\n") else markdown + "\n"
            return ContentWritten(text=text, sha256=sha256_of(text), record=run.record)
        case NothingToRead() | RunFailed():
            raise AssertionError("the guards decide these")
        case _:
            assert_never(run.result)


OUTCOME_NAMES: dict[type[RefreshOutcome], str] = {
    ContentWritten: "content_written",
    ContentUnchanged: "content_unchanged",
    ContentPreservedNoNewFacts: "content_preserved_no_new_facts",
    RefreshFailedEmptyCandidate: "refresh_failed_empty_candidate",
    RefreshFailedError: "refresh_failed_error",
}
"""The public enum of operation outcomes."""


def outcome_name(outcome: RefreshOutcome) -> str:
    return OUTCOME_NAMES[type(outcome)]


def failure_of(outcome: RefreshOutcome) -> tuple[FailureReason, str, bool] | None:
    """Failure reason, message and whether it is transient, for an outcome that refused to write; None for a success."""
    match outcome:
        case RefreshFailedError():
            return outcome.failure_reason, outcome.error_message, outcome.transient
        case RefreshFailedEmptyCandidate():
            return "empty_candidate", "the refresh came to an empty document; the present one was kept", False
        case ContentWritten() | ContentUnchanged() | ContentPreservedNoNewFacts():
            return None
        case _:
            assert_never(outcome)
