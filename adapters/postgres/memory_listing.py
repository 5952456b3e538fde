"""Lists of facts as a person browses them, with what became of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from adapters.postgres.memory_rows import FACT_COLUMNS, fact_fields
from adapters.postgres.scope_sql import ScopeCondition
from domain.memory import Fact
from domain.scope import EVERYTHING, Scope
from projections.projection import Query, Row

State = Literal["valid", "invalidated"]
ConsolidationState = Literal["pending", "done", "failed"]
TimeField = Literal["created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end"]

_CREATED = (
    "CASE WHEN f.version = 1 THEN f.recorded_at ELSE (SELECT v.recorded_at FROM fact_versions v"
    " WHERE v.bank_id = f.bank_id AND v.fact_id = f.fact_id AND v.version = 1) END"
)
_TIMES: dict[TimeField, str] = {
    "created_at": _CREATED,
    "updated_at": "f.recorded_at",
    "mentioned_at": "f.mentioned_at",
    "occurred_start": "f.occurred_start",
    "occurred_end": "f.occurred_end",
}
# A version that says something else than the one before was edited; others came of new tags alone.
_EDITED = (
    "(SELECT max(v.recorded_at) FROM fact_versions v JOIN fact_versions p ON p.bank_id = v.bank_id"
    "   AND p.fact_id = v.fact_id AND p.version = v.version - 1"
    "   WHERE f.version > 1 AND f.fact_type <> 'observation' AND v.bank_id = f.bank_id AND v.fact_id = f.fact_id"
    "   AND (v.text, v.context, v.occurred_start, v.occurred_end, v.mentioned_at, v.fact_type, v.entities)"
    "   IS DISTINCT FROM"
    "   (p.text, p.context, p.occurred_start, p.occurred_end, p.mentioned_at, p.fact_type, p.entities))"
)
_TABLES: dict[State, str] = {"valid": "fact_versions", "invalidated": "facts_set_aside"}
_CURRENT: dict[State, str] = {"valid": "f.to_position IS NULL", "invalidated": "TRUE"}
_CONSOLIDATED = "consolidation c ON c.bank_id = f.bank_id AND c.fact_id = f.fact_id"
_INVALIDATED: dict[State, str] = {
    "valid": "NULL::timestamptz AS invalidated_at, NULL::text AS reason",
    "invalidated": "f.invalidated_at, f.reason",
}
_CONSOLIDATION: dict[ConsolidationState, str] = {
    "pending": "c.consolidated_at IS NULL AND c.failed_at IS NULL",
    "done": "c.consolidated_at IS NOT NULL",
    "failed": "c.failed_at IS NOT NULL",
}
_STATE_COLUMNS = "invalidated_at, reason, consolidated_at, failed_at, created_at, edited_at"


@dataclass(frozen=True, slots=True)
class ListedFact:
    """A fact with its times: of its first version (`created_at`), of its last edit, and of what became of it."""

    fact: Fact
    created_at: datetime
    edited_at: datetime | None
    consolidated_at: datetime | None
    failed_at: datetime | None
    invalidated_at: datetime | None
    reason: str | None


@dataclass(frozen=True)
class FactFilter:
    """Which facts to list. `text` is part of the text or the context, in any case. Times are of `time_field`, from
    `start` on and before `end`; facts that have no such time are left out. None: nothing of the kind is asked, or with
    a start or an end `created_at`."""

    scope: Scope = EVERYTHING
    state: State = "valid"
    text: str | None = None
    consolidation: ConsolidationState | None = None
    document_id: str | None = None
    entity_id: UUID | None = None
    time_field: TimeField | None = None
    start: datetime | None = None
    end: datetime | None = None

    @property
    def asked_time(self) -> TimeField | None:
        if self.time_field is None and (self.start is not None or self.end is not None):
            return "created_at"
        return self.time_field


def page(bank_id: str, chosen: FactFilter, limit: int, offset: int) -> Query[tuple[list[ListedFact], int]]:
    """A page and the total; newest by the time field first, by default by when it was said. Only facts of the page are
    looked at closely."""
    time, table = _TIMES[chosen.asked_time or "mentioned_at"], _TABLES[chosen.state]
    source, parameters = _chosen(bank_id, chosen, time)
    statement = (
        f"WITH page AS (SELECT f.from_position, {time} AS time FROM {source}"
        f"   ORDER BY {time} DESC NULLS LAST, f.from_position DESC LIMIT %(limit)s OFFSET %(offset)s),"
        f" listed AS (SELECT {_columns(chosen.state)}, page.time FROM page"
        f"   JOIN {table} f ON f.bank_id = %(bank_id)s AND f.from_position = page.from_position"
        f"   LEFT JOIN {_CONSOLIDATED})"
        f" SELECT listed.*, counted.total FROM ({_total(chosen, source)}) counted LEFT JOIN listed ON true"
        " ORDER BY listed.time DESC NULLS LAST, listed.position DESC"
    )
    return Query(statement, {**parameters, "limit": limit, "offset": offset}, _read_page)


def _columns(state: State) -> str:
    columns = FACT_COLUMNS.as_string()
    return (
        f"{columns}, {_INVALIDATED[state]}, c.consolidated_at, c.failed_at,"
        f" {_CREATED} AS created_at, {_EDITED} AS edited_at"
    )


def _total(chosen: FactFilter, source: str) -> str:
    """Current facts of a scope are counted already."""
    if chosen == FactFilter(scope=chosen.scope):
        scope = ScopeCondition(chosen.scope).on("s").as_string()
        return (
            "SELECT coalesce(sum(s.facts), 0)::bigint AS total FROM scope_clock s"
            f" WHERE s.bank_id = %(bank_id)s AND {scope}"
        )
    return f"SELECT count(*) AS total FROM {source}"


def find(bank_id: str, fact_id: UUID) -> Query[ListedFact | None]:
    """A fact that is current or was invalidated."""
    statement = " UNION ALL ".join(
        f"SELECT {_columns(state)} FROM {table} f LEFT JOIN {_CONSOLIDATED}"
        f" WHERE f.bank_id = %(bank_id)s AND {_CURRENT[state]} AND f.fact_id = %(fact_id)s"
        for state, table in _TABLES.items()
    )
    return Query(
        statement, {"bank_id": bank_id, "fact_id": fact_id}, lambda rows: _listed(dict(rows[0])) if rows else None
    )


def _chosen(bank_id: str, chosen: FactFilter, time: str) -> tuple[str, dict[str, Any]]:
    """The rows of a filter as a FROM with its conditions, and the parameters of it."""
    condition = ScopeCondition(chosen.scope)
    source = f"{_TABLES[chosen.state]} f"
    conditions = ["f.bank_id = %(bank_id)s", _CURRENT[chosen.state]]
    if chosen.scope != EVERYTHING:
        conditions.append(condition.on("f").as_string())
    if chosen.text:
        conditions.append(
            "(strpos(lower(f.text), lower(%(text)s)) > 0 OR strpos(lower(f.context), lower(%(text)s)) > 0)"
        )
    if chosen.consolidation is not None:
        source += f" JOIN {_CONSOLIDATED}"
        conditions.append(_CONSOLIDATION[chosen.consolidation])
    if chosen.document_id is not None:
        conditions.append("f.document_id = %(document_id)s")
    if chosen.entity_id is not None:
        conditions.append(
            "EXISTS (SELECT FROM unnest(f.entities) AS said(name) WHERE left(lower(said.name), 300) = (SELECT e.folded"
            " FROM memory_entities e WHERE e.bank_id = %(bank_id)s AND md5(e.folded)::uuid = %(entity_id)s))"
        )
    if chosen.asked_time in ("mentioned_at", "occurred_start", "occurred_end"):
        conditions.append(f"{time} IS NOT NULL")
    if chosen.start is not None:
        conditions.append(f"{time} >= %(start)s")
    if chosen.end is not None:
        conditions.append(f"{time} < %(end)s")
    parameters = {
        "bank_id": bank_id,
        "text": chosen.text,
        "document_id": chosen.document_id,
        "entity_id": chosen.entity_id,
        "start": chosen.start,
        "end": chosen.end,
        **condition.parameters,
    }
    return f"{source} WHERE {' AND '.join(conditions)}", parameters


def _read_page(rows: Sequence[Row]) -> tuple[list[ListedFact], int]:
    listed = [_listed(dict(row)) for row in rows if row["id"] is not None]
    return listed, rows[0]["total"] if rows else 0


def _listed(row: dict[str, Any]) -> ListedFact:
    state = {name: row.pop(name) for name in _STATE_COLUMNS.split(", ")}
    row.pop("time", None)
    row.pop("total", None)
    times: dict[str, Any] = {
        name: _utc(value) if isinstance(value, datetime) else value for name, value in state.items()
    }
    return ListedFact(Fact.model_validate(fact_fields(row)), **times)


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
