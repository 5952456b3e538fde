"""Events of a mental model. Names and shapes are permanent; docs/event-catalogue.md is made from this module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from domain.event import Event, Upcast
from domain.mental_model.record import Citation, FailureReason, PieceGrounds, RefreshRecord
from domain.mental_model.trigger import Trigger


class MentalModelCreated(Event):
    """A mental model was defined; its document is empty."""

    TOPIC: ClassVar[str] = "mental_model.created"

    bank_id: str
    mental_model_id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger


class MentalModelRenamed(Event):
    """Its name changed."""

    TOPIC: ClassVar[str] = "mental_model.renamed"

    name: str


class SourceQueryChanged(Event):
    """The question it answers changed; the document still answers the old one until the next refresh."""

    TOPIC: ClassVar[str] = "mental_model.source_query_changed"

    source_query: str


class TagsChanged(Event):
    """Its tags, and with them its scope, changed."""

    TOPIC: ClassVar[str] = "mental_model.tags_changed"

    tags: tuple[str, ...]


class TokenBudgetChanged(Event):
    """The length its document should keep to changed."""

    TOPIC: ClassVar[str] = "mental_model.token_budget_changed"

    max_tokens: int


class TriggerChanged(Event):
    """When or how it is refreshed changed; the whole trigger after the change."""

    TOPIC: ClassVar[str] = "mental_model.trigger_changed"

    trigger: Trigger


def _as_before(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Shape 1 had no deltas, shape 2 no mental models and directives among what a document rests on: whatever came with
    them is absent, which is its default."""
    return dict(payload)


_RECORD_GREW: Mapping[int, Upcast] = {1: _as_before, 2: _as_before}


class ContentWritten(Event):
    """A refresh wrote the document: `text` is every byte of it, `sha256` of its UTF-8 in hex.

    `ids` are those of its sections, blocks and items in the order of the text; `pieces` those that this write wrote or
    named facts for. Without ids (shape 1) they are derived from the text."""

    TOPIC: ClassVar[str] = "mental_model.content_written"
    SCHEMA: ClassVar[int] = 3
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _RECORD_GREW

    text: str
    sha256: str
    ids: tuple[str, ...] = ()
    pieces: tuple[PieceGrounds, ...] = ()
    record: RefreshRecord


class ContentUnchanged(Event):
    """A refresh ran to its end and came to the same text."""

    TOPIC: ClassVar[str] = "mental_model.content_unchanged"
    SCHEMA: ClassVar[int] = 3
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _RECORD_GREW

    record: RefreshRecord


class ContentPreservedNoNewFacts(Event):
    """A refresh found nothing to read in its scope; the document stays."""

    TOPIC: ClassVar[str] = "mental_model.content_preserved_no_new_facts"
    SCHEMA: ClassVar[int] = 3
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _RECORD_GREW

    record: RefreshRecord


class RefreshFailedEmptyCandidate(Event):
    """A refresh came to an empty text; the document stays and nothing is stamped."""

    TOPIC: ClassVar[str] = "mental_model.refresh_failed_empty_candidate"
    SCHEMA: ClassVar[int] = 3
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _RECORD_GREW

    record: RefreshRecord


class RefreshFailedError(Event):
    """A refresh could not be finished; the document and its evidence stay and nothing is stamped.

    A transient failure (rate limit, server error, timeout) does not pause automation."""

    TOPIC: ClassVar[str] = "mental_model.refresh_failed_error"
    SCHEMA: ClassVar[int] = 3
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _RECORD_GREW

    failure_reason: FailureReason
    error_message: str
    transient: bool
    record: RefreshRecord


class RefreshFailedDeltaNotApplied(Event):
    """The edits of a delta could not be had or applied; the document stays and nothing is stamped."""

    TOPIC: ClassVar[str] = "mental_model.refresh_failed_delta_not_applied"
    SCHEMA: ClassVar[int] = 2
    UPCASTS: ClassVar[Mapping[int, Upcast]] = {1: _as_before}

    failure_reason: FailureReason
    error_message: str
    transient: bool
    record: RefreshRecord


class RefreshFailedStructuredOutput(Event):
    """The structured view of the new text could not be had; the document and its present view stay."""

    TOPIC: ClassVar[str] = "mental_model.refresh_failed_structured_output"
    SCHEMA: ClassVar[int] = 2
    UPCASTS: ClassVar[Mapping[int, Upcast]] = {1: _as_before}

    error_message: str
    transient: bool
    record: RefreshRecord


class ContentEdited(Event):
    """Somebody wrote the document by hand: every byte of it. What it keeps of the text before keeps its grounds."""

    TOPIC: ClassVar[str] = "mental_model.content_edited"

    text: str
    sha256: str
    ids: tuple[str, ...]


class ContentReverted(Event):
    """The document was put back to what it said at an earlier version of its stream, and rests on what it did then.

    `pieces` are those that it does not have so now, with their grounds of then."""

    TOPIC: ClassVar[str] = "mental_model.content_reverted"

    to_version: int
    text: str
    sha256: str
    ids: tuple[str, ...]
    pieces: tuple[PieceGrounds, ...] = ()
    evidence: tuple[Citation, ...] = ()


class ContentCleared(Event):
    """The document was emptied by hand; what it said remains in the log."""

    TOPIC: ClassVar[str] = "mental_model.content_cleared"


class MentalModelDeleted(Event):
    """It was deleted; its id may be used again."""

    TOPIC: ClassVar[str] = "mental_model.deleted"


RefreshOutcome = (
    ContentWritten
    | ContentUnchanged
    | ContentPreservedNoNewFacts
    | RefreshFailedEmptyCandidate
    | RefreshFailedDeltaNotApplied
    | RefreshFailedStructuredOutput
    | RefreshFailedError
)

MentalModelEvent = (
    MentalModelCreated
    | MentalModelRenamed
    | SourceQueryChanged
    | TagsChanged
    | TokenBudgetChanged
    | TriggerChanged
    | RefreshOutcome
    | ContentEdited
    | ContentReverted
    | ContentCleared
    | MentalModelDeleted
)
