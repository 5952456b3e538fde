"""Plain SQL migrations, numbered, each applied once in its own transaction, one process at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from importlib import resources
from typing import Any, cast

import procrastinate.schema
import psycopg
from psycopg import Connection
from psycopg.rows import tuple_row

from adapters.postgres.unavailable import DatabaseUnavailable

JOB_QUEUE = "procrastinate"
ADVISORY_LOCK = 0x70616C69  # "pali"

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
    name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
)"""


def migrations() -> list[tuple[str, str]]:
    """Name and SQL of every migration, in order of application. The tables of the job queue are its library's own."""
    folder = resources.files("adapters.postgres") / "migrations"
    files = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    ours = [(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")) for entry in files]
    return [*ours, (JOB_QUEUE, procrastinate.schema.SchemaManager.get_schema())]


def migrate(conninfo: str) -> list[str]:
    """Brings the schema up to date; returns the names applied now. Raises DatabaseUnavailable when an applied migration
    was changed afterwards, or one fails (what succeeded before it stays)."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (ADVISORY_LOCK,))
        return apply_missing(connection)


def apply_missing(connection: Connection[Any], only: Collection[str] | None = None) -> list[str]:
    """Applies what the database has not seen yet, or of that `only` what is named; returns the names. The caller holds
    the lock. Raises DatabaseUnavailable as `migrate` does."""
    connection.execute(_LEDGER)
    applied: list[str] = []
    known = applied_migrations(connection)
    for name, sql in migrations():
        digest = digest_of(sql)
        if name not in known:
            if only is None or name in only:
                _apply(connection, name, sql, digest)
                applied.append(name)
        elif known[name] != digest and name == JOB_QUEUE:
            raise DatabaseUnavailable(
                "the tables of the job queue were made by another version of procrastinate; install the version of"
                " requirements.lock, or add that library's own migrations to adapters/postgres/migrations"
            )
        elif known[name] != digest:
            raise DatabaseUnavailable(
                f"migration {name} was changed after it was applied; restore the file and add a new one instead"
            )
    return applied


def applied_migrations(connection: Connection[Any]) -> dict[str, str]:
    """The digest of each migration that the database has seen, by name; none when nothing was ever applied."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        found = cursor.execute("SELECT to_regclass('schema_migrations') IS NOT NULL").fetchone()
        if not (found and found[0]):
            return {}
        return dict(
            cast("list[tuple[str, str]]", cursor.execute("SELECT name, sha256 FROM schema_migrations").fetchall())
        )


def digest_of(sql: str) -> str:
    return hashlib.sha256(sql.encode()).hexdigest()


def _apply(connection: Connection[Any], name: str, sql: str, digest: str) -> None:
    try:
        with connection.transaction():
            connection.execute(sql)
            connection.execute("INSERT INTO schema_migrations (name, sha256) VALUES (%s, %s)", (name, digest))
    except psycopg.Error as error:
        raise DatabaseUnavailable(f"migration {name} failed: {str(error).strip().splitlines()[0]}") from error
