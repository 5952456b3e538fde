"""The API keys there are: what each is held to, and the digest that its secret is compared with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from domain.api_keys import KeyCreated, KeyRevoked, Principal
from domain.event import Recorded
from projections.projection import Projection, Query, Row, Statement

DDL = """
CREATE TABLE api_keys (
    key_id text PRIMARY KEY,
    version bigint NOT NULL,
    name text NOT NULL,
    banks text[],
    tags text[],
    read_only bool NOT NULL,
    digest text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
)"""

HANDLES = (KeyCreated, KeyRevoked)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key; None for banks and tags: it is held to none."""

    key_id: str
    name: str
    banks: list[str] | None
    tags: list[str] | None
    read_only: bool
    digest: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None

    def is_live(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def principal(self) -> Principal:
        return Principal(
            key_id=self.key_id,
            banks=None if self.banks is None else frozenset(self.banks),
            tags=None if self.tags is None else tuple(self.tags),
            read_only=self.read_only,
        )


def project(recorded: Recorded) -> Iterable[Statement]:
    key = {"id": recorded.stream.name, "version": recorded.version, "at": recorded.occurred_at}
    match recorded.event:
        case KeyCreated() as event:
            yield Statement(
                "INSERT INTO api_keys (key_id, version, name, banks, tags, read_only, digest, created_at, expires_at)"
                " VALUES (%(id)s, %(version)s, %(name)s, %(banks)s, %(tags)s, %(read_only)s, %(digest)s, %(at)s,"
                " %(expires_at)s) ON CONFLICT (key_id) DO NOTHING",
                {
                    **key,
                    "name": event.name,
                    "banks": None if event.banks is None else list(event.banks),
                    "tags": None if event.tags is None else list(event.tags),
                    "read_only": event.read_only,
                    "digest": event.digest,
                    "expires_at": event.expires_at,
                },
            )
        case KeyRevoked():
            yield Statement(
                "UPDATE api_keys SET revoked_at = %(at)s, version = %(version)s"
                " WHERE key_id = %(id)s AND version < %(version)s",
                key,
            )


PROJECTION = Projection("api_keys", 1, "api_keys", ("key_id",), DDL, HANDLES, project)

_COLUMNS = "key_id, name, banks, tags, read_only, digest, created_at, expires_at, revoked_at"


def find(key_id: str) -> Query[KeyRow | None]:
    return Query(
        f"SELECT {_COLUMNS} FROM api_keys WHERE key_id = %(id)s",
        {"id": key_id},
        lambda rows: _row(rows[0]) if rows else None,
    )


def any_not_revoked() -> Query[bool]:
    """An expired key counts: that time passed is nobody's decision to open the service."""
    statement = "SELECT EXISTS (SELECT FROM api_keys WHERE revoked_at IS NULL) AS found"
    return Query(statement, {}, lambda rows: rows[0]["found"])


@dataclass(frozen=True, slots=True)
class ListedKey:
    key: KeyRow
    last_used_at: datetime | None


def every() -> Query[list[ListedKey]]:
    """All keys, revoked ones too, the oldest first, and when each was last used, to the minute."""
    return Query(
        f"SELECT {_COLUMNS}, (SELECT u.last_used_at FROM api_key_uses u WHERE u.key_id = k.key_id) AS last_used_at"
        " FROM api_keys k ORDER BY created_at, key_id",
        {},
        lambda rows: [ListedKey(_row(row), row["last_used_at"]) for row in rows],
    )


def _row(row: Row) -> KeyRow:
    return KeyRow(**{name: row[name] for name in KeyRow.__dataclass_fields__})
