"""The one event that a run becomes. Guards are asked in order, the first that applies decides; what passes is written.

Sources: spec of the system of reference, refresh pipeline, "guards, in order" and "outcomes".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from domain.candidate import fault_of
from domain.digest import sha256_of
from domain.document import ids_of, parse
from domain.memory import estimated_tokens
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    RefreshOutcome,
)
from domain.mental_model.record import FailureReason, RefreshRecord
from domain.mental_model.state import MentalModel
from domain.refresh.grounds import grounds_of_edits, grounds_of_rewrite
from domain.refresh.present import document_of, on_present_text
from domain.refresh.run import (
    Candidate,
    DeltaFailed,
    Edited,
    NothingToRead,
    RefreshRun,
    RunFailed,
    StructuredOutputFailed,
)

LARGE_PAGE = 500
"""Tokens of a page from which on it is told when a rewrite leaves little of it."""
LITTLE = 0.35
"""The share of its length below which little is left of a page."""

EMPTY_CANDIDATE = "the refresh came to an empty document; the present one was kept"
NO_DOCUMENT = "the answer is no document but a {fault}; the present document was kept"
GROUNDLESS = (
    "retrieval returned nothing, and the present document rests on facts: an answer that rests on none does not"
    " replace it; check tags, tag groups and fact types, or clear the document first"
)
EMPTIED = "the edits would leave nothing but headings; the present document was kept"
LOST_GROUNDING = "the document rested on {before} facts and now rests on none"
SHRANK = "the document shrank from {before} to {after} tokens"

Guard = Callable[[RefreshRun, MentalModel], RefreshOutcome | None]


def failed_run(run: RefreshRun, _model: MentalModel) -> RefreshOutcome | None:
    """A run that could not be finished never touches the document."""
    if isinstance(run.result, RunFailed):
        return RefreshFailedError(
            failure_reason=run.result.reason,
            error_message=run.result.message,
            transient=run.result.transient,
            record=run.record,
        )
    return None


def no_structured_output(run: RefreshRun, _model: MentalModel) -> RefreshOutcome | None:
    """A text without the structured view that was asked for replaces neither the text nor the view."""
    if isinstance(run.result, StructuredOutputFailed):
        return RefreshFailedStructuredOutput(
            error_message=run.result.message, transient=run.result.transient, record=run.record
        )
    return None


def no_sources(run: RefreshRun, _model: MentalModel) -> RefreshOutcome | None:
    """Nothing to read never empties or rewrites a document."""
    return ContentPreservedNoNewFacts(record=run.record) if isinstance(run.result, NothingToRead) else None


def empty_candidate(run: RefreshRun, _model: MentalModel) -> RefreshOutcome | None:
    """A text in which a reader sees nothing, or nothing but headings, is no document."""
    fault = _fault(run)
    return RefreshFailedEmptyCandidate(record=run.record) if fault in ("blank", "heading_only") else None


def no_document(run: RefreshRun, _model: MentalModel) -> RefreshOutcome | None:
    """A placeholder, a refusal or the envelope of a reply is never stored as a document."""
    fault = _fault(run)
    return None if fault is None else _no_answer(run.record, NO_DOCUMENT.format(fault=fault))


def groundless(run: RefreshRun, model: MentalModel) -> RefreshOutcome | None:
    """What rests on nothing that was read never replaces what rests on facts."""
    if isinstance(run.result, Candidate) and not run.record.retrieved and model.evidence and model.content:
        return _no_answer(run.record, GROUNDLESS)
    return None


def delta_not_applied(run: RefreshRun, model: MentalModel) -> RefreshOutcome | None:
    """A delta whose edits came to nothing holds its window: the next refresh reads the same facts again."""
    failure = run.result
    if isinstance(failure, Edited) and _emptied(failure, run.record, model):
        failure = DeltaFailed("delta_not_applied", EMPTIED)
    if isinstance(failure, DeltaFailed):
        return RefreshFailedDeltaNotApplied(
            failure_reason=failure.reason,
            error_message=failure.message,
            transient=failure.transient,
            record=run.record,
        )
    return None


def same_text(run: RefreshRun, model: MentalModel) -> RefreshOutcome | None:
    """The same text again is no new version."""
    match run.result:
        case Candidate(markdown=markdown) if markdown.strip() == model.content.strip():
            return ContentUnchanged(record=run.record)
        case Edited(markdown=markdown) if markdown == model.content:
            return ContentUnchanged(record=run.record)
    return None


GUARDS: tuple[Guard, ...] = (
    failed_run,
    no_structured_output,
    no_sources,
    empty_candidate,
    no_document,
    groundless,
    delta_not_applied,
    same_text,
)
"""First match wins; a run that passes all of them is written."""


def decide_outcome(run: RefreshRun, model: MentalModel) -> RefreshOutcome:
    """The one event a run becomes, given the document as it stands when the outcome is recorded."""
    run = on_present_text(run, model)
    for guard in GUARDS:
        outcome = guard(run, model)
        if outcome is not None:
            return outcome
    match run.result:
        case Candidate() as candidate:
            return _rewritten(candidate, run.record, model)
        case Edited(markdown=markdown, ids=ids):
            edits = run.record.delta.edits if run.record.delta else ()
            pieces = grounds_of_edits(edits, document_of(model), model.outline, ids)
            return ContentWritten(text=markdown, sha256=sha256_of(markdown), ids=ids, pieces=pieces, record=run.record)
        case NothingToRead() | RunFailed() | DeltaFailed() | StructuredOutputFailed():
            raise AssertionError("the guards decide these")
        case _:
            assert_never(run.result)


def _rewritten(candidate: Candidate, record: RefreshRecord, model: MentalModel) -> ContentWritten:
    markdown = candidate.markdown
    text = markdown if markdown.endswith("\n") else markdown + "\n"
    before = document_of(model)
    document = parse(text, before)
    return ContentWritten(
        text=text,
        sha256=sha256_of(text),
        ids=ids_of(document),
        pieces=grounds_of_rewrite(document, ids_of(before), candidate.mentions),
        record=record.model_copy(update={"warnings": (*record.warnings, *_cautions(text, record, model))}),
    )


def _cautions(text: str, record: RefreshRecord, model: MentalModel) -> tuple[str, ...]:
    """What a person should know of a document that was written anew."""
    told = []
    if model.evidence and model.content and not record.evidence:
        told.append(LOST_GROUNDING.format(before=len(model.evidence)))
    before, after = estimated_tokens(model.content), estimated_tokens(text)
    if before >= LARGE_PAGE and after < LITTLE * before:
        told.append(SHRANK.format(before=before, after=after))
    return tuple(told)


def _fault(run: RefreshRun) -> str | None:
    if not isinstance(run.result, Candidate):
        return None
    return fault_of(run.result.markdown, parse(run.result.markdown))


def _emptied(edited: Edited, record: RefreshRecord, model: MentalModel) -> bool:
    """Whether an editor removed all there was. Taking back what is no longer true may do that."""
    if _has_blocks(edited.markdown) or not _has_blocks(model.content):
        return False
    edits = record.delta.edits if record.delta else ()
    return any(edit.removed and edit.edit_pass in ("edit", "compaction") for edit in edits)


def _has_blocks(markdown: str) -> bool:
    return any(section.blocks for section in parse(markdown).sections)


def _no_answer(record: RefreshRecord, message: str) -> RefreshFailedError:
    return RefreshFailedError(failure_reason="no_answer", error_message=message, transient=False, record=record)


OUTCOME_NAMES: dict[type[RefreshOutcome], str] = {
    ContentWritten: "content_written",
    ContentUnchanged: "content_unchanged",
    ContentPreservedNoNewFacts: "content_preserved_no_new_facts",
    RefreshFailedEmptyCandidate: "refresh_failed_empty_candidate",
    RefreshFailedDeltaNotApplied: "refresh_failed_delta_not_applied",
    RefreshFailedStructuredOutput: "refresh_failed_structured_output",
    RefreshFailedError: "refresh_failed_error",
}
"""The public enum of operation outcomes."""


def outcome_name(outcome: RefreshOutcome) -> str:
    return OUTCOME_NAMES[type(outcome)]


def failure_of(outcome: RefreshOutcome) -> tuple[FailureReason, str, bool] | None:
    """Failure reason, message and whether it is transient, for an outcome that refused to write; None for a success."""
    match outcome:
        case RefreshFailedError() | RefreshFailedDeltaNotApplied():
            return outcome.failure_reason, outcome.error_message, outcome.transient
        case RefreshFailedStructuredOutput():
            return "structured_output_failed", outcome.error_message, outcome.transient
        case RefreshFailedEmptyCandidate():
            return "empty_candidate", EMPTY_CANDIDATE, False
        case ContentWritten() | ContentUnchanged() | ContentPreservedNoNewFacts():
            return None
        case _:
            assert_never(outcome)
