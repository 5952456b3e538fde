"""The body of a dry run, in the shapes of the wire contract: what a refresh would do, and how it came to that."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from adapters.http.responses import NULLS_LEFT_OUT
from domain.mental_model.record import FallbackReason
from domain.mental_model.trigger import RefreshMode
from domain.scope import FactType, TagGroup, TagsMatch
from domain.usage import TokenUsage

Moment = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
ExecutorOutcome = Literal[
    "content_written",
    "content_unchanged",
    "content_preserved_no_new_facts",
    "refresh_failed_empty_candidate",
    "refresh_failed_delta_not_applied",
]
"""Another end than these is an error of the request."""


class RefreshScope(BaseModel):
    model_config = NULLS_LEFT_OUT

    tags: list[str] | None = Field(description="Null when memories are not chosen by these.")
    tags_match: TagsMatch
    tag_groups: list[TagGroup] | None
    fact_types: list[FactType] | None
    exclude_mental_models: bool
    exclude_mental_model_ids: list[str]


class RefreshWindowTimes(BaseModel):
    model_config = NULLS_LEFT_OUT

    created_after: Moment | None
    created_before: Moment
    watermark: Moment | None


class FactCounts(BaseModel):
    """By type of fact."""

    retrieved: dict[str, int]
    used: dict[str, int]


class DeltaOperations(BaseModel):
    applied: list[dict[str, Any]]
    skipped: list[dict[str, Any]] = Field(description="Each with its reason.")


class RetractionReport(BaseModel):
    """Facts that the document rests on and that no longer stand. `broken` were never in this memory, `relinked` another
    fact says now."""

    model_config = ConfigDict(extra="allow")

    fact_ids: list[str]
    fact_texts: list[str]
    applied: bool
    deferred_reason: str | None = None


class TraceToolCall(BaseModel):
    model_config = NULLS_LEFT_OUT

    tool: str
    reason: str | None
    input: dict[str, Any]
    output: dict[str, Any] | None = Field(default=None, description="What it gave: `memories`.")
    updated_at: Moment | None
    result_count: int | None
    duration_ms: int
    iteration: int


class RefreshTrace(BaseModel):
    model_config = NULLS_LEFT_OUT

    recorded_at: Moment | None
    effective_mode: RefreshMode
    mode_fallback_reason: FallbackReason | None
    outcome: ExecutorOutcome
    tool_calls: list[TraceToolCall]
    llm_calls: list[dict[str, Any]]
    delta_operations: DeltaOperations | None
    retraction: RetractionReport | None
    usage: TokenUsage | None
    duration_ms: int
    warnings: list[str]


class DryRunRefreshResult(BaseModel):
    model_config = NULLS_LEFT_OUT

    mental_model_id: str
    name: str
    requested_mode: RefreshMode
    effective_mode: RefreshMode
    mode_fallback_reason: FallbackReason | None
    outcome: ExecutorOutcome
    would_persist: bool
    scope: RefreshScope
    window: RefreshWindowTimes
    facts: FactCounts
    based_on: dict[str, list[dict[str, Any]]] = Field(description="What the document would rest on afterwards.")
    current_content: str = Field(description="Without blank space around it.")
    candidate_content: str
    preview_content: str = Field(description="What would be stored; `current_content` when nothing would.")
    diff: str
    delta_operations: DeltaOperations | None
    retraction: RetractionReport | None
    trace: RefreshTrace
    usage: TokenUsage
    duration_ms: int
    warnings: list[str]
