"""Bodies of responses, in the shapes of the wire contract. Fields that are null are left out where the contract does.

Fields the contract does not have, all of them optional to a client, are `version`, `is_paused`, `stale_reasons`, the
missions of a bank, `palimpsest_version`, and the events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.responses import Response

from domain.usage import TokenUsage


def respond(
    body: BaseModel, *, keep_nulls: bool = False, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """The body as JSON, without its null fields unless the contract has them."""
    content = body.__pydantic_serializer__.to_json(body, exclude_none=not keep_nulls, by_alias=True)
    return Response(content, status, headers, media_type="application/json")


def respond_with(fields: Mapping[str, Any], *, status: int = 200) -> Response:
    """Fields that are told as they are, as JSON: what `respond` answers, for bodies too large to be made of models."""
    return Response(to_json(fields), status, media_type="application/json")


def _nullable_may_be_absent(schema: dict[str, Any]) -> None:
    may_be_null = {
        name
        for name, told in schema.get("properties", {}).items()
        if {"type": "null"} in told.get("anyOf", ()) or told.get("type") == "null"
    }
    schema["required"] = [name for name in schema.get("required", ()) if name not in may_be_null]


NULLS_LEFT_OUT = ConfigDict(json_schema_extra=_nullable_may_be_absent)
"""Of a body that is told without its null fields: who reads it finds them absent, who makes it has to give them."""


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
    key_id: str | None = Field(default=None, description="The API key that was used; none, or none was asked for.")
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


class RetainResponse(BaseModel):
    success: Literal[True] = True
    bank_id: str
    items_count: int
    run_async: bool = Field(serialization_alias="async")
    operation_id: str | None = None
    operation_ids: list[str] | None = None
    usage: TokenUsage | None = None


class BankStatsResponse(BaseModel):
    model_config = NULLS_LEFT_OUT

    bank_id: str
    total_nodes: int
    total_links: int
    total_documents: int
    nodes_by_fact_type: dict[str, int]
    links_by_link_type: dict[str, int]
    links_by_fact_type: dict[str, int]
    links_breakdown: dict[str, dict[str, int]]
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int]
    last_consolidated_at: str | None = None
    last_memory_write_at: str | None
    pending_consolidation: int
    failed_consolidation: int
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
