"""The directives of each bank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from domain.bank import BankDeleted, DirectiveAdded, DirectiveChanged, DirectiveRemoved
from domain.event import Recorded
from projections.projection import Projection, Query, Statement, page_reader, page_sql

DDL = """
CREATE TABLE directives (
    bank_id text NOT NULL,
    directive_id uuid NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    content text NOT NULL,
    priority bigint NOT NULL,
    is_active boolean NOT NULL,
    tags text[] NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, directive_id)
)"""

HANDLES = (DirectiveAdded, DirectiveChanged, DirectiveRemoved, BankDeleted)

ListMatch = Literal["any", "all", "exact"]

_MATCHES: dict[ListMatch, str] = {
    "any": "tags && %(tags)s::text[]",
    "all": "tags @> %(tags)s::text[]",
    "exact": "(tags @> %(tags)s::text[] AND tags <@ %(tags)s::text[])",
}


@dataclass(frozen=True, slots=True)
class DirectiveRow:
    directive_id: UUID
    name: str
    content: str
    priority: int
    is_active: bool
    tags: list[str]
    created_at: datetime
    updated_at: datetime


def project(recorded: Recorded) -> Iterable[Statement]:
    key = {"bank_id": recorded.stream.bank_id, "version": recorded.version, "at": recorded.occurred_at}
    match recorded.event:
        case DirectiveAdded(directive=directive):
            yield Statement(
                "INSERT INTO directives (bank_id, directive_id, version, name, content, priority, is_active, tags,"
                " created_at, updated_at) VALUES (%(bank_id)s, %(directive_id)s, %(version)s, %(name)s, %(content)s,"
                " %(priority)s, %(is_active)s, %(tags)s, %(at)s, %(at)s)"
                " ON CONFLICT DO NOTHING",
                {**key, **_columns(directive.model_dump())},
            )
        case DirectiveChanged(directive=directive):
            yield Statement(
                "UPDATE directives SET name = %(name)s, content = %(content)s, priority = %(priority)s,"
                " is_active = %(is_active)s, tags = %(tags)s, version = %(version)s, updated_at = %(at)s"
                " WHERE bank_id = %(bank_id)s AND directive_id = %(directive_id)s AND version < %(version)s",
                {**key, **_columns(directive.model_dump())},
            )
        case DirectiveRemoved(directive_id=directive_id):
            yield Statement(
                "DELETE FROM directives WHERE bank_id = %(bank_id)s AND directive_id = %(directive_id)s"
                " AND version < %(version)s",
                {**key, "directive_id": directive_id},
            )
        case BankDeleted():
            yield Statement("DELETE FROM directives WHERE bank_id = %(bank_id)s AND version < %(version)s", key)


def _columns(directive: dict[str, Any]) -> dict[str, Any]:
    return {**directive, "tags": list(directive["tags"])}


PROJECTION = Projection("directives", 1, "directives", ("bank_id", "directive_id"), DDL, HANDLES, project)

_COLUMNS = "directive_id, name, content, priority, is_active, tags, created_at, updated_at"


def find(bank_id: str, directive_id: UUID) -> Query[DirectiveRow | None]:
    return Query(
        f"SELECT {_COLUMNS} FROM directives WHERE bank_id = %(bank_id)s AND directive_id = %(directive_id)s",
        {"bank_id": bank_id, "directive_id": directive_id},
        lambda rows: DirectiveRow(**rows[0]) if rows else None,
    )


def page(
    bank_id: str, *, tags: Sequence[str], match: ListMatch, active_only: bool, limit: int, offset: int
) -> Query[tuple[list[DirectiveRow], int]]:
    """Directives of a bank by priority, then by age, and how many there are in all. With `tags`, tagged ones have to
    match; untagged ones always do."""
    where = "bank_id = %(bank_id)s"
    if active_only:
        where += " AND is_active"
    if tags:
        where += f" AND (cardinality(tags) = 0 OR {_MATCHES[match]})"
    return Query(
        page_sql("directives", _COLUMNS, where, ("priority DESC", "created_at", "directive_id")),
        {"bank_id": bank_id, "tags": list(tags), "limit": limit, "offset": offset},
        page_reader(DirectiveRow, "directive_id"),
    )
