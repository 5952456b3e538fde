"""What a refresh read, asked and got: the part of an outcome event that explains it later without asking again."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from domain.document import Operation
from domain.mental_model.trigger import RefreshMode
from domain.scope import FactType, Scope
from domain.usage import ModelCall
from domain.value import Value

FallbackReason = Literal[
    "no_baseline_content",
    "source_query_changed",
    "structured_doc_unreadable",
    "delta_ops_failed",
    "delta_ops_all_skipped",
]
FailureReason = Literal[
    "empty_candidate",
    "structured_doc_unreadable",
    "delta_ops_failed",
    "delta_ops_all_skipped",
    "delta_not_applied",
    "structured_output_failed",
    "retrieval_failed",
    "no_answer",
    "unexpected_error",
]


class ResolvedScope(Value):
    """The scope a run read, and the pages it kept out (itself always)."""

    scope: Scope
    exclude_mental_models: bool = False
    exclude_mental_model_ids: tuple[str, ...] = ()


class RefreshWindow(Value):
    """Positions `(after, upto]` of the bank's clock; the times are those of the positions, for people.

    `watermark` is when the newest readable memory at or before `upto` was written; None when there is none."""

    after: int
    upto: int
    created_after: datetime | None = None
    created_before: datetime
    watermark: datetime | None = None


class Citation(Value):
    """A fact version a document rests on."""

    fact_id: UUID
    version: int
    position: int
    fact_type: FactType


class Evidence(Citation):
    """A fact version a document rests on, with its text as it was read."""

    text: str
    context: str | None = None


class PageEvidence(Value):
    """A mental model that a document rests on, at a version of its stream, with its text as it was read."""

    mental_model_id: str
    name: str
    version: int
    text: str


class DirectiveKept(Value):
    """A directive that a document had to keep to."""

    directive_id: UUID
    name: str
    content: str


class PieceGrounds(Value):
    """The facts that a section, block or item of a document rests on. `kept`: its text is older than this write, which
    only named further facts for it."""

    id: str
    facts: tuple[UUID, ...] = ()
    kept: bool = False
    partly: bool = False
    """It holds something from before, of which it is not known what it rests on."""


class FactCount(Value):
    fact_type: FactType
    count: int


class ToolCallRecord(Value):
    """One retrieval of a run, in order. `ids` are those it asked for; `problem` is why it could not be run."""

    tool: str
    reason: str
    query: str
    max_tokens: int
    result_count: int
    duration_ms: int
    iteration: int
    ids: tuple[str, ...] = ()
    problem: str = ""


EditPass = Literal["blame", "retraction", "edit", "compaction"]
"""Removing what rests only on facts that are gone; asking for what else does; working new facts in; shortening."""


class Edit(Value):
    """One operation of a refresh: what it did and on which facts, or why it did nothing.

    `operation` is None for an entry of a reply that was no operation; `raw` is that entry then, shortened."""

    edit_pass: EditPass
    operation: Operation | None = None
    raw: str = ""
    facts: tuple[UUID, ...] = ()
    skipped: str | None = None
    before: str = ""
    after: str = ""
    wrote: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    assigned_id: str | None = None
    merged_into_block_id: str | None = None


Verdict = Literal["integrated", "irrelevant", "pending", "set_aside"]
"""Named by an edit that was applied; read, and no edit was proposed; named only by edits that were skipped; not near
enough to the page to be read now. The last two are read again by the next refresh that reads at all."""


class FactReading(Value):
    """What became of one fact of a delta's window."""

    fact_id: UUID
    version: int
    position: int
    verdict: Verdict


class DeltaRecord(Value):
    """The edit of a delta refresh: what it started from, each operation, and what became of each fact it read."""

    baseline_sha256: str
    skipped_reason: Literal["no_new_facts", "no_relevant_facts"] | None = None
    edits: tuple[Edit, ...] = ()
    readings: tuple[FactReading, ...] = ()
    replies: tuple[str, ...] = ()
    document_tokens: int | None = None
    document_budget: int | None = None


class Relink(Value):
    """A citation that went over to another fact of the same text."""

    before: UUID
    after: Citation


class RetractionRecord(Value):
    """Cited facts that no longer stand. `applied`: what rested on them was taken out, and their citations with it;
    `broken` were never in this memory (a restored bank): their citations are dropped, the text stays."""

    fact_ids: tuple[UUID, ...] = ()
    fact_texts: tuple[str, ...] = ()
    applied: bool = False
    deferred_reason: str | None = None
    broken: tuple[UUID, ...] = ()
    relinked: tuple[Relink, ...] = ()


class RefreshRecord(Value):
    """Everything a refresh outcome needs to be explained: modes, scope, window, evidence, replies, cost, engine."""

    requested_mode: RefreshMode
    effective_mode: RefreshMode
    mode_fallback_reason: FallbackReason | None = None
    source_query: str
    scope: ResolvedScope
    window: RefreshWindow
    reflect_skipped: Literal["no_sources_in_scope"] | None = None
    retrieved: tuple[FactCount, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """The facts, observations among them; `pages` are the mental models."""
    pages: tuple[PageEvidence, ...] = ()
    directives: tuple[DirectiveKept, ...] = ()
    tool_calls: tuple[ToolCallRecord, ...] = ()
    candidate: str = ""
    raw_reply: str = ""
    warnings: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    duration_ms: int
    engine: str
    parser_version: int
    delta: DeltaRecord | None = None
    retraction: RetractionRecord | None = None
    pending: tuple[int, ...] = ()
    """Positions of facts in the window that are still to be worked in; the next refresh that reads, reads them too."""
    unread: int = 0
    """How many of `pending` were not read for want of room: the document is stale by them."""
    structured_output: dict[str, Any] | None = None
    structured_schema_sha256: str | None = None
    """Of the schema that `structured_output` was read out by, as JSON with sorted keys."""
    keep_trace: bool = False
