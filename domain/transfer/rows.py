"""The rows of a bank's memory in an archive. Names and shapes are part of the format: a change is a new VERSION.

Left out is what follows from the rest: search terms, keys of tag sets, counts, digests of chunks, vectors of documents.
"""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, Field

from domain.memory import ObservationScopes
from domain.retain import Part
from domain.scope import FactType
from domain.value import Value

Position = Annotated[int, Field(ge=0, lt=2**62)]


class ClockRow(Value):
    """The bank's clock; the one row of its section."""

    position: Position
    written_at: AwareDatetime | None = None
    document_at: AwareDatetime | None = None
    consolidated_at: AwareDatetime | None = None


class DocumentRow(Value):
    document_id: str
    text: str
    text_stored: bool
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    parts: tuple[Part, ...]
    retained_with: dict[str, Any]
    created_at: AwareDatetime
    updated_at: AwareDatetime


class ChunkRow(Value):
    """The chunks of a document follow each other by their numbers."""

    document_id: str
    chunk_id: UUID
    number: int
    text: str
    read_with: str
    created_at: AwareDatetime


class FactRow(Value):
    """One version of a fact or an observation. `vector` is how pgvector writes it, of the model that `space` names."""

    fact_id: UUID
    version: Annotated[int, Field(ge=1, lt=2**31)]
    from_position: Position
    to_position: Position | None
    fact_type: FactType
    tags: tuple[str, ...]
    text: str
    context: str | None
    occurred_start: AwareDatetime | None
    occurred_end: AwareDatetime | None
    mentioned_at: AwareDatetime | None
    document_id: str | None
    chunk_id: str | None
    metadata: dict[str, Any]
    entities: tuple[str, ...]
    source_ids: tuple[UUID, ...]
    observation_scopes: ObservationScopes | None
    recorded_at: AwareDatetime
    space: str | None
    vector: str | None


class CauseRow(Value):
    fact_id: UUID
    cause_id: UUID


class SetAsideRow(Value):
    """A fact that a person set aside, and why."""

    fact_id: UUID
    version: Annotated[int, Field(ge=1, lt=2**31)]
    position: Position
    reason: str | None
    invalidated_at: AwareDatetime
    tags: tuple[str, ...] | None
    observation_scopes: ObservationScopes | None


class ConsolidationRow(Value):
    """Where a current fact stands with consolidation; neither time: it waits."""

    fact_id: UUID
    consolidated_at: AwareDatetime | None
    failed_at: AwareDatetime | None
    failure: str | None


class EntityRow(Value):
    """A name as it was first spelled."""

    name: str
    first_seen: AwareDatetime
    last_seen: AwareDatetime


class ScopeRow(Value):
    """Where a combination of tags and fact type was last written."""

    tags: tuple[str, ...]
    fact_type: FactType
    position: Position


MemoryRow = (
    ClockRow | DocumentRow | ChunkRow | FactRow | CauseRow | SetAsideRow | ConsolidationRow | EntityRow | ScopeRow
)
