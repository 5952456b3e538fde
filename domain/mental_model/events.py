"""Events of a mental model. Names and shapes are permanent; docs/event-catalogue.md is made from this module."""

from __future__ import annotations

from typing import ClassVar

from domain.event import Event
from domain.mental_model.record import FailureReason, RefreshRecord
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


class ContentWritten(Event):
    """A refresh wrote the document: `text` is every byte of it, `sha256` of its UTF-8 in hex."""

    TOPIC: ClassVar[str] = "mental_model.content_written"

    text: str
    sha256: str
    record: RefreshRecord


class ContentUnchanged(Event):
    """A refresh ran to its end and came to the same text."""

    TOPIC: ClassVar[str] = "mental_model.content_unchanged"

    record: RefreshRecord


class ContentPreservedNoNewFacts(Event):
    """A refresh found nothing to read in its scope; the document stays."""

    TOPIC: ClassVar[str] = "mental_model.content_preserved_no_new_facts"

    record: RefreshRecord


class RefreshFailedEmptyCandidate(Event):
    """A refresh came to an empty text; the document stays and nothing is stamped."""

    TOPIC: ClassVar[str] = "mental_model.refresh_failed_empty_candidate"

    record: RefreshRecord


class RefreshFailedError(Event):
    """A refresh could not be finished; the document and its evidence stay and nothing is stamped.

    A transient failure (rate limit, server error, timeout) does not pause automation."""

    TOPIC: ClassVar[str] = "mental_model.refresh_failed_error"

    failure_reason: FailureReason
    error_message: str
    transient: bool
    record: RefreshRecord


class ContentCleared(Event):
    """The document was emptied by hand; what it said remains in the log."""

    TOPIC: ClassVar[str] = "mental_model.content_cleared"


class MentalModelDeleted(Event):
    """It was deleted; its id may be used again."""

    TOPIC: ClassVar[str] = "mental_model.deleted"


RefreshOutcome = (
    ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts | RefreshFailedEmptyCandidate | RefreshFailedError
)

MentalModelEvent = (
    MentalModelCreated
    | MentalModelRenamed
    | SourceQueryChanged
    | TagsChanged
    | TokenBudgetChanged
    | TriggerChanged
    | RefreshOutcome
    | ContentCleared
    | MentalModelDeleted
)
