"""Bodies of responses about single facts, documents, chunks and entities, in the shapes of the wire contract."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from adapters.http.times import iso, iso_or_none
from adapters.postgres.document_listing import ChunkRow, ListedDocument, WholeDocument
from adapters.postgres.entity_listing import EntityObservation, EntityRow
from adapters.postgres.memory_listing import ListedFact


class MemoryUnit(BaseModel):
    """A memory with all that is known of it."""

    id: str
    text: str = ""
    context: str = ""
    date: str = Field(default="", description="When it happened, else when it was said; empty when neither is known.")
    fact_type: str | None = None
    type: str | None = Field(default=None, description="The same as `fact_type`.")
    document_id: str | None = None
    mentioned_at: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    entities: str = Field(default="", description="Names, with commas between them.")
    chunk_id: str | None = None
    proof_count: int = 1
    tags: list[str] = []
    metadata: dict[str, str] = {}
    consolidated_at: str | None = None
    consolidation_failed_at: str | None = None
    state: str = "valid"
    invalidation_reason: str | None = None
    invalidated_at: str | None = None
    created_at: str | None = None
    edited_at: str | None = None
    updated_at: str | None = None
    version: int = Field(default=1, description="How many versions it has had (not in the contract).")
    observation_scopes: str | list[list[str]] | None = None
    source_memory_ids: list[str] = []


class MemoryUnitDetail(MemoryUnit):
    """A single memory: its names one by one."""

    entities: list[str] = []  # type: ignore[assignment]  # the contract has a text in lists and a list in single reads
    history: list[Any] = Field(default=[], description="Deprecated and empty: ask for its history.")


class ListMemoryUnitsResponse(BaseModel):
    items: list[MemoryUnit]
    total: int
    limit: int
    offset: int


class DocumentListItem(BaseModel):
    id: str
    bank_id: str = ""
    content_hash: str | None = None
    created_at: str = ""
    updated_at: str = ""
    text_length: int = 0
    memory_unit_count: int = 0
    retain_params: dict[str, Any] | None = None
    document_metadata: dict[str, Any] | None = None
    tags: list[str] = []
    matched_fields: list[str] = []


class ListDocumentsResponse(BaseModel):
    items: list[DocumentListItem]
    total: int
    limit: int
    offset: int
    total_is_estimate: bool = False


class DocumentResponse(BaseModel):
    id: str
    bank_id: str
    original_text: str | None
    content_hash: str | None
    created_at: str
    updated_at: str
    memory_unit_count: int
    nodes_by_fact_type: dict[str, int] | None = None
    tags: list[str] = []
    document_metadata: dict[str, Any] | None = None
    retain_params: dict[str, Any] | None = None
    observation_scopes: str | list[list[str]] | None = None


class UpdateDocumentResponse(BaseModel):
    success: bool = True
    memory_units_updated: int = Field(default=0, description="Facts that changed (not in the contract).")


class DeleteDocumentResponse(BaseModel):
    success: bool
    message: str
    document_id: str
    memory_units_deleted: int


class ReprocessDocumentResponse(BaseModel):
    success: bool
    operation_id: str
    items_count: int


class ChunkResponse(BaseModel):
    chunk_id: str
    document_id: str
    bank_id: str
    chunk_index: int
    chunk_text: str
    created_at: str


class ListChunksResponse(BaseModel):
    items: list[ChunkResponse]
    total: int
    limit: int
    offset: int


class EntityListItem(BaseModel):
    id: str
    canonical_name: str
    mention_count: int
    first_seen: str | None = None
    last_seen: str | None = None
    metadata: dict[str, Any] | None = None


class EntityListResponse(BaseModel):
    items: list[EntityListItem]
    total: int
    limit: int
    offset: int


class EntityObservationResponse(BaseModel):
    text: str
    mentioned_at: str | None = None


class EntityDetailResponse(EntityListItem):
    observations: list[EntityObservationResponse]


def memory_unit(listed: ListedFact) -> MemoryUnit:
    return MemoryUnit(**_unit(listed), entities=", ".join(listed.fact.entities))


def memory_unit_detail(listed: ListedFact) -> MemoryUnitDetail:
    return MemoryUnitDetail(**_unit(listed), entities=list(listed.fact.entities))


def _unit(listed: ListedFact) -> dict[str, Any]:
    fact = listed.fact
    scopes = fact.observation_scopes
    return {
        "id": str(fact.id),
        "text": fact.text,
        "context": fact.context or "",
        "date": iso_or_none(fact.occurred_start or fact.mentioned_at) or "",
        "fact_type": fact.fact_type,
        "type": fact.fact_type,
        "document_id": fact.document_id,
        "mentioned_at": iso_or_none(fact.mentioned_at),
        "occurred_start": iso_or_none(fact.occurred_start),
        "occurred_end": iso_or_none(fact.occurred_end),
        "chunk_id": fact.chunk_id,
        "proof_count": fact.proof_count,
        "tags": list(fact.tags),
        "metadata": dict(fact.metadata),
        "consolidated_at": iso_or_none(listed.consolidated_at),
        "consolidation_failed_at": iso_or_none(listed.failed_at),
        "state": "valid" if listed.invalidated_at is None else "invalidated",
        "invalidation_reason": listed.reason,
        "invalidated_at": iso_or_none(listed.invalidated_at),
        "created_at": iso(listed.created_at),
        "edited_at": iso_or_none(listed.edited_at),
        "updated_at": iso(fact.recorded_at),
        "version": fact.version,
        "observation_scopes": [list(tags) for tags in scopes] if isinstance(scopes, tuple) else scopes,
        "source_memory_ids": [str(source) for source in fact.source_ids],
    }


def document_list_item(bank_id: str, document: ListedDocument) -> DocumentListItem:
    matched = [name for name, found in (("id", document.in_id), ("original_text", document.in_text)) if found]
    return DocumentListItem(
        id=document.document_id,
        bank_id=bank_id,
        content_hash=document.sha256,
        created_at=iso(document.created_at),
        updated_at=iso(document.updated_at),
        text_length=document.length,
        memory_unit_count=document.facts,
        retain_params=document.retained_with or None,
        document_metadata=document.metadata or None,
        tags=document.tags,
        matched_fields=matched,
    )


def document_response(bank_id: str, document: WholeDocument) -> DocumentResponse:
    listed = document.listed
    return DocumentResponse(
        id=listed.document_id,
        bank_id=bank_id,
        original_text=document.text,
        content_hash=listed.sha256,
        created_at=iso(listed.created_at),
        updated_at=iso(listed.updated_at),
        memory_unit_count=listed.facts,
        nodes_by_fact_type=document.facts_by_type,
        tags=listed.tags,
        document_metadata=listed.metadata or None,
        retain_params=listed.retained_with or None,
        observation_scopes=listed.retained_with.get("observation_scopes"),
    )


def chunk_response(chunk: ChunkRow) -> ChunkResponse:
    return ChunkResponse(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        bank_id=chunk.bank_id,
        chunk_index=chunk.number,
        chunk_text=chunk.text,
        created_at=iso(chunk.created_at),
    )


def entity_list_item(entity: EntityRow) -> EntityListItem:
    return EntityListItem(**_entity(entity))


def entity_detail(entity: EntityRow, observations: list[EntityObservation]) -> EntityDetailResponse:
    told = [
        EntityObservationResponse(text=each.text, mentioned_at=iso_or_none(each.mentioned_at)) for each in observations
    ]
    return EntityDetailResponse(**_entity(entity), observations=told)


def _entity(entity: EntityRow) -> dict[str, Any]:
    return {
        "id": str(entity.entity_id),
        "canonical_name": entity.name,
        "mention_count": entity.mentions,
        "first_seen": iso(entity.first_seen),
        "last_seen": iso(entity.last_seen),
    }
