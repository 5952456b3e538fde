"""The state of a mental model, folded from its events: what its decisions need, and the document."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, assert_never

from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelEvent,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.evidence import cited_after
from domain.mental_model.outline import Piece, outline_after, without_pruned
from domain.mental_model.record import Citation, FailureReason, FallbackReason, RefreshRecord
from domain.mental_model.trigger import Trigger
from domain.scope import Scope, refresh_scope
from domain.value import Value

STATE_VERSION = 3
"""Version of the shape below: a snapshot of another version is ignored."""


class Absent(Value):
    """Never created, or deleted."""

    kind: Literal["absent"] = "absent"


OUTGROWN = 1.5
"""How many times its budget a document may take, after an attempt to shorten it, before it has outgrown it."""

AS_FALLBACK: dict[FailureReason, FallbackReason] = {
    "structured_doc_unreadable": "structured_doc_unreadable",
    "delta_ops_all_skipped": "delta_ops_all_skipped",
}
"""The failures of a delta that the contract names as reasons of a fallback; all others are failed operations."""


class MentalModel(Value):
    """A mental model as it stands. Times are shown, not compared; `covered` is a position of its bank's clock."""

    kind: Literal["present"] = "present"
    bank_id: str
    mental_model_id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger
    created_at: datetime
    content: str = ""
    outline: tuple[Piece, ...] = ()
    """Its pieces in the order of the text; none for a text whose pieces were never recorded."""
    evidence: tuple[Citation, ...] = ()
    covered: int = 0
    covered_scope: Scope | None = None
    pending: tuple[int, ...] = ()
    """Positions up to `covered` of facts that are still to be worked in."""
    failures_in_a_row: int = 0
    """Refreshes in a row that failed for good."""
    delta_failures: int = 0
    """Deltas in a row that could not be applied, and why the last one could not."""
    delta_failure: FallbackReason | None = None
    outgrown_tokens: int | None = None
    """Its size, when the last delta could not shorten it to anything near its budget."""
    written_by_hand: bool = False
    """Some of it was written by a person since it was last written in full."""
    structured_schema_sha256: str | None = None
    """Of the schema its structured view was read out by; None when there is none."""
    answered_query: str | None = None
    last_refreshed_at: datetime
    last_memory_seen_at: datetime | None = None
    last_refresh_failed_at: datetime | None = None
    last_full_refreshed_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """What it reads now."""
        return refresh_scope(self.tags, self.trigger.tags_match, self.trigger.tag_groups, self.trigger.fact_types)


State = Absent | MentalModel


def evolve(state: State, recorded: Recorded) -> State:
    """The state after one more event. Total: an event that makes no sense in a state leaves it as it is."""
    event: MentalModelEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    if isinstance(event, MentalModelCreated):
        return _created(event, recorded.occurred_at)
    if isinstance(state, Absent):
        return state
    match event:
        case MentalModelRenamed():
            return state.model_copy(update={"name": event.name})
        case SourceQueryChanged():
            return state.model_copy(update={"source_query": event.source_query})
        case TagsChanged():
            return state.model_copy(update={"tags": event.tags})
        case TokenBudgetChanged():
            return state.model_copy(update={"max_tokens": event.max_tokens})
        case TriggerChanged():
            return state.model_copy(update={"trigger": event.trigger})
        case ContentWritten():
            return _written(_finished(state, event.record, recorded, wrote=True), event, recorded)
        case ContentUnchanged():
            return _viewed(_finished(state, event.record, recorded, wrote=True), event.record)
        case ContentPreservedNoNewFacts():
            kept = state.answered_query if state.content else event.record.source_query
            return _finished(state, event.record, recorded, wrote=False).model_copy(update={"answered_query": kept})
        case (
            RefreshFailedError()
            | RefreshFailedEmptyCandidate()
            | RefreshFailedDeltaNotApplied()
            | RefreshFailedStructuredOutput()
        ):
            return _failed(state, event, recorded.occurred_at)
        case ContentEdited() | ContentReverted():
            return _edited(state, event, recorded)
        case ContentCleared():
            return _cleared(state)
        case MentalModelDeleted():
            return Absent()
        case _:
            assert_never(event)


def _created(event: MentalModelCreated, at: datetime) -> MentalModel:
    return MentalModel(
        bank_id=event.bank_id,
        mental_model_id=event.mental_model_id,
        name=event.name,
        source_query=event.source_query,
        tags=event.tags,
        max_tokens=event.max_tokens,
        trigger=event.trigger,
        created_at=at,
        last_refreshed_at=at,
    )


def _finished(state: MentalModel, record: RefreshRecord, recorded: Recorded, *, wrote: bool) -> MentalModel:
    """What every finished run stamps: the watermark never moves back, the answered query is the one the run read."""
    newest = max((time for time in (state.last_memory_seen_at, record.window.watermark) if time), default=None)
    full = record.effective_mode == "full"
    late = record.window.upto < state.covered  # another run saw more and ended sooner
    return state.model_copy(
        update={
            "covered": max(state.covered, record.window.upto),
            "covered_scope": state.covered_scope if late else record.scope.scope,
            "pending": tuple(sorted({*state.pending, *record.pending})) if late else record.pending,
            "evidence": cited_after(state.evidence, record, wrote=wrote),
            "outline": without_pruned(state.outline, record),
            "answered_query": record.source_query,
            "last_refreshed_at": recorded.occurred_at,
            "last_memory_seen_at": newest,
            "last_refresh_failed_at": None,
            "last_full_refreshed_at": recorded.occurred_at if full else state.last_full_refreshed_at,
            "failures_in_a_row": 0,
            "delta_failures": 0,
            "delta_failure": None,
            "outgrown_tokens": _outgrown(state, record),
        }
    )


def _written(state: MentalModel, event: ContentWritten, recorded: Recorded) -> MentalModel:
    full = event.record.effective_mode == "full"
    return state.model_copy(
        update={
            "content": event.text,
            # pruned again: what was written anew is told with all that it rested on before
            "outline": without_pruned(outline_after(state.outline, event.ids, event.pieces, recorded), event.record),
            "written_by_hand": state.written_by_hand and not full,
            "structured_schema_sha256": event.record.structured_schema_sha256,
        }
    )


def _viewed(state: MentalModel, record: RefreshRecord) -> MentalModel:
    """The same text, perhaps with a structured view by another schema."""
    if record.structured_schema_sha256 is None:
        return state
    return state.model_copy(update={"structured_schema_sha256": record.structured_schema_sha256})


def _outgrown(state: MentalModel, record: RefreshRecord) -> int | None:
    """Its size, if it is far over its budget after a delta that tried to shorten it: one that wrote something."""
    if record.effective_mode == "full":
        return None
    delta = record.delta
    if delta is None or delta.document_tokens is None or delta.document_budget is None:
        return state.outgrown_tokens
    if not any(edit.edit_pass == "edit" and edit.skipped is None for edit in delta.edits):
        return state.outgrown_tokens
    return delta.document_tokens if delta.document_tokens > OUTGROWN * delta.document_budget else None


def _failed(
    state: MentalModel,
    event: RefreshFailedError
    | RefreshFailedEmptyCandidate
    | RefreshFailedDeltaNotApplied
    | RefreshFailedStructuredOutput,
    at: datetime,
) -> MentalModel:
    """A failure that may go away by itself changes nothing here; no failure stamps what was read or answered."""
    if not isinstance(event, RefreshFailedEmptyCandidate) and event.transient:
        return state
    changes: dict[str, object] = {"last_refresh_failed_at": at, "failures_in_a_row": state.failures_in_a_row + 1}
    if isinstance(event, RefreshFailedDeltaNotApplied) and event.failure_reason != "unexpected_error":
        # a model that could not be asked at all says nothing of the document
        changes["delta_failures"] = state.delta_failures + 1
        changes["delta_failure"] = AS_FALLBACK.get(event.failure_reason, "delta_ops_failed")
    return state.model_copy(update=changes)


def _edited(state: MentalModel, event: ContentEdited | ContentReverted, recorded: Recorded) -> MentalModel:
    """What a person wrote is the baseline of the next delta, whatever question it answers."""
    return state.model_copy(
        update={
            "content": event.text,
            "outline": outline_after(
                state.outline, event.ids, event.pieces if isinstance(event, ContentReverted) else (), recorded
            ),
            "evidence": event.evidence if isinstance(event, ContentReverted) else state.evidence,
            "written_by_hand": True,
            "answered_query": None,
            "last_refreshed_at": recorded.occurred_at,
            "last_refresh_failed_at": None,
            "failures_in_a_row": 0,
            "delta_failures": 0,
            "delta_failure": None,
            "outgrown_tokens": None,
            "structured_schema_sha256": None,
        }
    )


def _cleared(state: MentalModel) -> MentalModel:
    return state.model_copy(
        update={
            "content": "",
            "outline": (),
            "evidence": (),
            "answered_query": None,
            "last_refresh_failed_at": None,
            "failures_in_a_row": 0,
            "delta_failures": 0,
            "delta_failure": None,
            "outgrown_tokens": None,
            "written_by_hand": False,
            "structured_schema_sha256": None,
        }
    )
