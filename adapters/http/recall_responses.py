"""The response of a recall, in the shapes of the wire contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field
from pydantic_core import to_json

from adapters.http.recall_requests import DEFAULT_ENTITY_TOKENS, IncludeOptions
from adapters.http.times import iso, iso_or_none
from application.recall import Recalled
from domain.memory import Fact, RecalledFact, estimated_tokens
from domain.recall.selection import NO_LIMIT, ChunkText


class Scores(BaseModel):
    """Why a fact was found; what is null did not find it."""

    final: float = Field(description="What the results are ordered by; comparable within one response only.")
    reranker: float | None = Field(default=None, description="0 to 1; null without a reranker.")
    semantic: float | None = Field(default=None, description="Cosine similarity.")
    keyword: float | None = Field(default=None, description="BM25.")
    graph: float | None = Field(default=None, description="For neighbours, shared names, and names in the query.")
    temporal: float | None = Field(default=None, description="For being in the time that is meant.")


class RecallResult(BaseModel):
    id: str
    text: str
    type: str
    entities: list[str]
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    metadata: dict[str, str] | None = None
    chunk_id: str | None = None
    tags: list[str]
    source_fact_ids: list[str] | None = None
    scores: Scores | None = None


class EntityObservation(BaseModel):
    text: str
    mentioned_at: str | None


class EntityState(BaseModel):
    entity_id: str
    canonical_name: str
    observations: list[EntityObservation]


class ChunkData(BaseModel):
    id: str
    text: str
    chunk_index: int
    truncated: bool


class RecallResponse(BaseModel):
    results: list[RecallResult]
    entities: dict[str, EntityState] | None = None
    chunks: dict[str, ChunkData] | None = None
    source_facts: dict[str, RecallResult] | None = None
    source_facts_truncated: bool | None = None
    trace: dict[str, Any] | None = None


def recall_result(recalled: RecalledFact) -> RecallResult:
    return RecallResult.model_validate_json(to_json(recall_fields(recalled)))


def recall_fields(recalled: RecalledFact) -> dict[str, Any]:
    """The fields of a RecallResult, without those that are null. A recall tells hundreds of them: as models they would
    take longer than the search."""
    fields = fact_fields(recalled.fact)
    fields["scores"] = {name: value for name, value in recalled.scores.__dict__.items() if value is not None}
    return fields


def fact_fields(fact: Fact) -> dict[str, Any]:
    """The fields of a RecallResult but its scores, without those that are null."""
    fields: dict[str, Any] = {
        "id": fact.id,
        "text": fact.text,
        "type": fact.fact_type,
        "entities": fact.entities,
        "tags": fact.tags,
    }
    for name in ("context", "document_id", "chunk_id"):
        if (value := getattr(fact, name)) is not None:
            fields[name] = value
    for name in ("occurred_start", "occurred_end", "mentioned_at"):
        if (moment := getattr(fact, name)) is not None:
            fields[name] = iso(moment)
    if fact.metadata:
        fields["metadata"] = dict(fact.metadata)
    if fact.source_ids:
        fields["source_fact_ids"] = fact.source_ids
    return fields


def answer_fields(recalled: Recalled, include: IncludeOptions, names: Mapping[str, UUID]) -> dict[str, Any]:
    """The fields of a RecallResponse but its trace. `names` are the ids of entities by their names."""
    fields: dict[str, Any] = {"results": [recall_fields(each) for each in recalled.facts]}
    if include.entities is not None:
        tokens = include.entities.max_tokens
        limit = DEFAULT_ENTITY_TOKENS if tokens is None else tokens
        fields["entities"] = entity_states(recalled.facts, names, limit)
    if include.chunks is not None:
        fields["chunks"] = chunk_data(recalled.chunks)
    if include.source_facts is not None:
        fields["source_facts"] = {str(each.id): fact_fields(each) for each in recalled.sources}
        fields["source_facts_truncated"] = recalled.sources_truncated
    return fields


def chunk_data(chunks: Sequence[ChunkText]) -> dict[str, ChunkData]:
    return {
        each.chunk_id: ChunkData(id=each.chunk_id, text=each.text, chunk_index=each.number, truncated=each.truncated)
        for each in chunks
    }


def names_of(facts: Sequence[RecalledFact]) -> list[str]:
    """The names in the facts, those of the best fact first, each spelling once."""
    return list(dict.fromkeys(name for each in facts for name in each.fact.entities))


def entity_states(facts: Sequence[RecalledFact], ids: Mapping[str, UUID], max_tokens: int) -> dict[str, EntityState]:
    """The names in the facts, with what the observations among the facts say of them, `max_tokens` of text in all."""
    observations = [each.fact for each in facts if each.fact.fact_type == "observation"]
    states: dict[str, EntityState] = {}
    left = max_tokens
    for name in names_of(facts):
        told = []
        for fact in (each for each in observations if name in each.entities):
            tokens = estimated_tokens(fact.text)
            if left != NO_LIMIT and tokens > left:
                break
            left -= tokens if left != NO_LIMIT else 0
            told.append(EntityObservation(text=fact.text, mentioned_at=iso_or_none(fact.mentioned_at)))
        if name in ids:
            states[name] = EntityState(entity_id=str(ids[name]), canonical_name=name, observations=told)
    return states
