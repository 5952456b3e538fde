"""The names that a bank's facts bear, as entities with ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from adapters.postgres.scope_sql import ScopeCondition
from domain.scope import EVERYTHING, Scope
from projections.projection import Query, page_reader

_ID = "md5(e.folded)::uuid"
_ALL = (
    f"SELECT {_ID} AS entity_id, e.name, e.facts AS mentions, e.first_seen, e.last_seen FROM memory_entities e"
    " WHERE e.bank_id = %(bank_id)s AND e.facts > 0"
)
_IN_SCOPE = (
    f"SELECT {_ID} AS entity_id, e.name, count(*) AS mentions, min(f.recorded_at) AS first_seen,"
    " max(f.recorded_at) AS last_seen FROM fact_versions f CROSS JOIN LATERAL unnest(f.entities) AS said(name)"
    " JOIN memory_entities e ON e.bank_id = f.bank_id AND e.folded = left(lower(said.name), 300)"
    " WHERE f.bank_id = %(bank_id)s AND f.to_position IS NULL AND {scope} GROUP BY e.folded, e.name"
)


@dataclass(frozen=True, slots=True)
class EntityRow:
    """A name, and how many current facts bear it; of a scope, times are of the facts in it."""

    entity_id: UUID
    name: str
    mentions: int
    first_seen: datetime
    last_seen: datetime


@dataclass(frozen=True, slots=True)
class EntityObservation:
    text: str
    mentioned_at: datetime | None


def page(bank_id: str, scope: Scope, limit: int, offset: int) -> Query[tuple[list[EntityRow], int]]:
    """The most mentioned first."""
    found, parameters = _found(bank_id, scope)
    statement = (
        f"WITH found AS ({found}),"
        " listed AS (SELECT * FROM found ORDER BY mentions DESC, name LIMIT %(limit)s OFFSET %(offset)s)"
        " SELECT listed.*, counted.total FROM (SELECT count(*) AS total FROM found) counted"
        " LEFT JOIN listed ON true ORDER BY listed.mentions DESC, listed.name"
    )
    return Query(statement, {**parameters, "limit": limit, "offset": offset}, page_reader(EntityRow, "entity_id"))


def ids(names: Sequence[str]) -> Query[dict[str, UUID]]:
    """The ids that entities of these names have."""
    return Query(
        f"SELECT e.name, {_ID.replace('e.folded', 'left(lower(e.name), 300)')} AS entity_id"
        " FROM unnest(%(names)s::text[]) AS e(name)",
        {"names": list(names)},
        lambda rows: {row["name"]: row["entity_id"] for row in rows},
    )


def find(bank_id: str, scope: Scope, entity_id: UUID) -> Query[EntityRow | None]:
    found, parameters = _found(bank_id, scope)
    return Query(
        f"SELECT * FROM ({found}) found WHERE entity_id = %(entity_id)s",
        {**parameters, "entity_id": entity_id},
        lambda rows: EntityRow(**rows[0]) if rows else None,
    )


def observations(bank_id: str, scope: Scope, name: str, limit: int) -> Query[Sequence[EntityObservation]]:
    """What was observed of a name, the latest first."""
    condition = ScopeCondition(scope)
    return Query(
        "SELECT f.text, f.mentioned_at FROM fact_versions f WHERE f.bank_id = %(bank_id)s AND f.to_position IS NULL"
        f" AND f.fact_type = 'observation' AND {condition.on('f').as_string()}"
        " AND EXISTS (SELECT FROM unnest(f.entities) AS said(name) WHERE lower(said.name) = lower(%(name)s))"
        " ORDER BY f.mentioned_at DESC NULLS LAST, f.from_position DESC LIMIT %(limit)s",
        {"bank_id": bank_id, "name": name, "limit": limit, **condition.parameters},
        lambda rows: [EntityObservation(**row) for row in rows],
    )


def _found(bank_id: str, scope: Scope) -> tuple[str, dict[str, object]]:
    if scope == EVERYTHING:
        return _ALL, {"bank_id": bank_id}
    condition = ScopeCondition(scope)
    return _IN_SCOPE.format(scope=condition.on("f").as_string()), {"bank_id": bank_id, **condition.parameters}
