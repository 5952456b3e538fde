"""What a refresh read, asked and got: the part of an outcome event that explains it later without asking again."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

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


class Evidence(Value):
    """A fact version a document rests on, with its text as it was read."""

    fact_id: UUID
    version: int
    position: int
    fact_type: FactType
    text: str
    context: str | None = None


class FactCount(Value):
    fact_type: FactType
    count: int


class ToolCallRecord(Value):
    """One retrieval of a run, in order."""

    tool: str
    reason: str
    query: str
    max_tokens: int
    result_count: int
    duration_ms: int
    iteration: int


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
    tool_calls: tuple[ToolCallRecord, ...] = ()
    candidate: str = ""
    raw_reply: str = ""
    warnings: tuple[str, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    duration_ms: int
    engine: str
    parser_version: int
