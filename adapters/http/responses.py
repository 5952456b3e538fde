"""Bodies of responses, in the shapes of the wire contract. Fields that are null are left out where the contract does.

Fields the contract does not have, all of them optional to a client, are `version`, `is_paused`, `stale_reasons`, the
missions of a bank, `palimpsest_version`, and the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.responses import Response

from domain.operation import ParkReason, RefreshDone
from domain.usage import TokenUsage


def respond(
    body: BaseModel, *, keep_nulls: bool = False, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """The body as JSON, without its null fields unless the contract has them."""
    content = body.__pydantic_serializer__.to_json(body, exclude_none=not keep_nulls, by_alias=True)
    return Response(content, status, headers, media_type="application/json")


def respond_with(fields: Mapping[str, Any]) -> Response:
    """Fields that are told as they are, as JSON: what `respond` answers, for bodies too large to be made of models."""
    return Response(to_json(fields), media_type="application/json")


class Problem(BaseModel):
    """What went wrong, and what to do."""

    detail: str


class MentalModelResponse(BaseModel):
    id: str
    bank_id: str
    name: str
    tags: list[str]
    version: int = Field(description="Version of the model's stream of events: its ETag, and a moment for `as_of`.")
    created_at: str
    last_refreshed_at: str
    last_memory_seen_at: str | None = None
    last_refresh_failed_at: str | None = None
    last_full_refreshed_at: str | None = None
    is_paused: bool = Field(
        default=False,
        description="Whether it no longer refreshes itself, because its last refresh failed for good: until a refresh"
        " that was asked for succeeds, or it is edited or cleared. Where the service is set to try again by itself,"
        " until then.",
    )
    is_knowledge_page: bool = False
    is_stale: bool | None = None
    stale_reasons: list[str] | None = Field(
        default=None,
        description="Of a stale model: `new_memories`, `scope_changed`, `evidence_changed`, `unread_memories`,"
        " `pending_consolidation`.",
    )
    source_query: str | None = None
    max_tokens: int | None = None
    trigger: dict[str, Any] | None = None
    content: str | None = None
    reflect_response: dict[str, Any] | None = None


class MentalModelListResponse(BaseModel):
    items: list[MentalModelResponse]
    total: int
    limit: int
    offset: int


class CreateMentalModelResponse(BaseModel):
    mental_model_id: str
    operation_id: str


class AsyncOperationSubmitResponse(BaseModel):
    operation_id: str
    status: Literal["queued"] = "queued"
    folded: bool = Field(default=False, description="Whether a refresh that waited already took this request in.")


class Deleted(BaseModel):
    status: Literal["deleted"] = "deleted"


class HistoryEntry(BaseModel):
    """What the document said before a change, or (`kind` refresh_failed) a refresh that failed."""

    version: int
    changed_at: str
    previous_content: str | None
    previous_reflect_response: dict[str, Any] | None
    actor: str
    operation_id: str | None
    kind: Literal["edited", "reverted", "cleared", "refresh_failed"] | None = None
    outcome: str | None = None
    failure_reason: str | None = None
    error_message: str | None = None


class EventResponse(BaseModel):
    """One thing that happened to a mental model: what, when, who, why, and what it cost."""

    version: int
    position: int
    topic: str
    occurred_at: str
    actor: str
    cause: str
    operation_id: str | None = None
    sentence: str
    calls: int
    tokens: int
    duration_ms: int
    payload: dict[str, Any] | None = Field(default=None, description="The whole event, with detail=full.")


class EventListResponse(BaseModel):
    items: list[EventResponse]
    total: int
    limit: int
    offset: int


class RefreshDetails(BaseModel):
    operation_type: Literal["refresh_mental_model"] = "refresh_mental_model"
    outcome: str
    failure_reason: str | None = None

    @classmethod
    def of(cls, result: RefreshDone) -> RefreshDetails:
        return cls(outcome=result.outcome, failure_reason=result.failure_reason)


class OperationProgress(BaseModel):
    """How far an operation is that runs. While `at` moves, so does the work."""

    stage: str = Field(description="What it does: `starting`, `reading`, `asking`, `editing`, `writing` ...")
    at: str
    processed: int | None = Field(description="Units of work that are done, such as items of a retain")
    total: int | None
    detail: dict[str, int] | None = Field(description="Counters of the operation's own, such as the step of the mind")


class OperationFields(BaseModel):
    """What the list and the single read share; both names of an operation's id and type are always there."""

    id: str
    operation_id: str
    task_type: str
    operation_type: str
    mental_model_id: str | None
    details: RefreshDetails | None
    created_at: str
    updated_at: str
    status: str
    error_message: str | None
    retry_count: int
    next_retry_at: str | None
    park_reason: ParkReason | None = Field(
        description="Why one that waits has to: it was refreshed too recently, the bank spent its tokens of the day, or"
        " the endpoint named a time to come back."
    )
    progress: OperationProgress | None


class OperationResponse(OperationFields):
    items_count: int
    document_id: str | None
    filename: None = None


class OperationsListResponse(BaseModel):
    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class ChildOperationStatus(BaseModel):
    operation_id: str
    status: str
    sub_batch_index: int
    items_count: int
    error_message: str | None


class OperationStatusResponse(OperationFields):
    completed_at: str | None
    result_metadata: dict[str, Any] | None
    child_operations: list[ChildOperationStatus] | None = None
    task_payload: dict[str, Any] | None


class UnknownOperation(BaseModel):
    operation_id: str
    status: Literal["not_found"] = "not_found"


class OperationChanged(BaseModel):
    """It was cancelled, queued again, or deleted."""

    success: Literal[True] = True
    message: str
    operation_id: str


class RetainResponse(BaseModel):
    success: Literal[True] = True
    bank_id: str
    items_count: int
    run_async: bool = Field(serialization_alias="async")
    operation_id: str | None = None
    operation_ids: list[str] | None = None
    usage: TokenUsage | None = None


class BankStatsResponse(BaseModel):
    bank_id: str
    total_nodes: int
    total_links: int = 0
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int] = Field(default_factory=dict)
    links_by_fact_type: dict[str, int] = Field(default_factory=dict)
    links_breakdown: dict[str, dict[str, int]] = Field(default_factory=dict)
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int]
    last_consolidated_at: str | None = None
    last_memory_write_at: str | None
    pending_consolidation: int = 0
    failed_consolidation: int = 0
    total_observations: int


class DeleteResponse(BaseModel):
    success: Literal[True] = True
    message: str
    deleted_count: int


class TagItem(BaseModel):
    tag: str
    count: int


class ListTagsResponse(BaseModel):
    items: list[TagItem]
    total: int
    limit: int
    offset: int


class FeaturesInfo(BaseModel):
    """What of the contract this service has."""

    observations: bool
    mcp: bool = False
    worker: bool
    bank_config_api: bool = True
    bank_llm_health: bool = False
    file_upload_api: bool = True
    document_export_api: bool = False
    document_import_api: bool = False
    audit_log: bool = False
    llm_trace: bool = False
    store_document_text: bool = True


class VersionResponse(BaseModel):
    api_version: str = Field(description="The version of the wire contract this service speaks.")
    features: FeaturesInfo
    palimpsest_version: str


class LivenessResponse(BaseModel):
    status: Literal["alive"] = "alive"
    version: str
    uptime_seconds: float


class ReadinessResponse(BaseModel):
    status: Literal["ready", "not_ready"]
    database: Literal["connected", "unreachable"]
    worker: Literal["running", "stopped", "none"]
    reasons: list[str] = Field(description="Why it is not ready, and what to do; empty when it is.")
