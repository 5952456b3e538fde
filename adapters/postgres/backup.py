"""A backup of a database in use: one snapshot of all that cannot be made anew.

Left out are read models, which are folded from the log again, and what only lives with a process: workers and the
history of the job queue. A job that a worker has begun is kept as one that waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.rows import scalar_row, tuple_row

from adapters.postgres.backup_file import (
    BackedUpMigration,
    BackedUpSequence,
    BackedUpTable,
    BackupUnusable,
    BackupWriter,
    Listing,
    writing,
)
from adapters.postgres.migrations import JOB_QUEUE, applied_migrations, migrations
from adapters.postgres.own_objects import sequences_of_migrations, tables_of_migrations

Progress = Callable[[str, int], None]
"""Told of a table and how many of its rows are done."""

JOBS = "procrastinate_jobs"
_OF_PROCESSES = frozenset({"procrastinate_workers", "procrastinate_events", "procrastinate_periodic_defers"})
_JOB_COLUMNS = (
    "id",
    "queue_name",
    "task_name",
    "priority",
    "lock",
    "queueing_lock",
    "args",
    "status",
    "scheduled_at",
    "attempts",
)
_WAITING_JOBS = sql.SQL(
    "SELECT id, queue_name, task_name, priority, lock, queueing_lock, args, 'todo' AS status, scheduled_at, attempts"
    " FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
)
# Not kept are generated columns, and numbers of transactions, which mean nothing on another server.
_COLUMNS = (
    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    " AND attgenerated = '' AND atttypid <> 'xid8'::regtype ORDER BY attnum"
)
# The same values are written the same way by every server.
_PLAIN = (
    "SET client_encoding = 'UTF8'; SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres';"
    " SET bytea_output = 'hex'; SET extra_float_digits = 1; SET statement_timeout = 0; SET lock_timeout = 0;"
    " SET idle_in_transaction_session_timeout = 0"
)
TELL_EVERY = 500
"""Rows between two words of progress."""


@dataclass
class Tally:
    """Counts rows, and adds up their digests: the same for the same rows in any order."""

    rows: int = 0
    _sum: int = field(default=0, repr=False)

    def add(self, row: bytes) -> None:
        self.rows += 1
        self._sum += int.from_bytes(blake2b(row, digest_size=16).digest(), "big")

    @property
    def digest(self) -> str:
        return f"{self._sum % 2**128:032x}"


def back_up(conninfo: str, path: Path, *, version: str, now: datetime, progress: Progress) -> Listing:
    """Writes the file while the service goes on. `version` is ours. Raises BackupUnusable, psycopg.Error, OSError."""
    with writing(path) as file, psycopg.connect(conninfo, autocommit=True) as connection:
        make_plain(connection)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            applied = applied_migrations(connection)
            _check_known(applied)
            tables = [name for name in tables_of_migrations(connection, applied) if name not in _OF_PROCESSES]
            listing = Listing(
                palimpsest=version,
                made_at=now,
                postgresql=str(connection.info.server_version),
                migrations=tuple(BackedUpMigration(name=name, sha256=digest) for name, digest in applied.items()),
                tables=tuple(_copied(connection, name, file, progress) for name in tables),
                sequences=tuple(_sequence(connection, name) for name in sequences_of_migrations(connection, applied)),
                last_position=last_position(connection),
            )
        file.finish(listing)
    return listing


def make_plain(connection: Connection[Any]) -> None:
    connection.execute(_PLAIN)


def columns_of(connection: Connection[Any], table: str) -> tuple[str, ...]:
    """Those that a backup keeps."""
    if table == JOBS:
        return _JOB_COLUMNS
    return tuple(connection.cursor(row_factory=scalar_row).execute(_COLUMNS, (table,)).fetchall())


def rows_of(connection: Connection[Any], table: str, columns: Iterable[str]) -> Iterator[bytes]:
    """The rows that a backup keeps, each as a line of COPY without its end."""
    selected = _WAITING_JOBS if table == JOBS else _select(table, columns)
    with connection.cursor().copy(sql.SQL("COPY ({}) TO STDOUT").format(selected)) as copy:
        for block in copy:  # the server sends whole rows, and writes line ends inside of values as \n
            yield from bytes(block).removesuffix(b"\n").split(b"\n")


def last_position(connection: Connection[Any]) -> int:
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute("SELECT coalesce(max(notification_id), 0) FROM stored_events").fetchone()
    return int(row[0]) if row else 0


def _select(table: str, columns: Iterable[str]) -> sql.Composed:
    return sql.SQL("SELECT {} FROM {}").format(sql.SQL(", ").join(map(sql.Identifier, columns)), sql.Identifier(table))


def _sequence(connection: Connection[Any], name: str) -> BackedUpSequence:
    """As it is at the end of the copy: at least as far as any row of the snapshot."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        query = sql.SQL("SELECT last_value, is_called FROM {}").format(sql.Identifier(name))
        last, called = cursor.execute(query).fetchall()[0]
    return BackedUpSequence(name=name, last=last, called=called)


def _check_known(applied: dict[str, str]) -> None:
    if not applied:
        raise BackupUnusable("there is nothing to back up: no Palimpsest has used this database yet")
    if unknown := sorted(applied.keys() - {name for name, _ in migrations()} - {JOB_QUEUE}):
        raise BackupUnusable(
            f"a newer Palimpsest has changed this database ({unknown[0]}); back it up with that version"
        )


def _copied(connection: Connection[Any], table: str, file: BackupWriter, progress: Progress) -> BackedUpTable:
    columns, tally = columns_of(connection, table), Tally()
    with file.table(table) as member:
        for row in rows_of(connection, table, columns):
            member.write(row + b"\n")
            tally.add(row)
            if tally.rows % TELL_EVERY == 0:
                progress(table, tally.rows)
    progress(table, tally.rows)
    return BackedUpTable(name=table, columns=columns, rows=tally.rows, digest=tally.digest)
