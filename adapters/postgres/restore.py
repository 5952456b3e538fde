"""A backup put back: all in one transaction, compared with what was recorded before that is committed.

The tables are made as they were when the backup was written, by the migrations of then, and filled; the migrations that
came since run over them afterwards, as in an upgrade. Read models are not restored: the next start folds them.
"""

from __future__ import annotations

import time
import zipfile
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.rows import scalar_row

from adapters.postgres.backup import TELL_EVERY, Progress, Tally, last_position, make_plain, rows_of
from adapters.postgres.backup_file import BackedUpTable, BackupUnusable, Listing, reading, rows_in
from adapters.postgres.migrations import ADVISORY_LOCK, JOB_QUEUE, apply_missing, digest_of, migrations
from adapters.postgres.own_objects import drop_all, tables_of_migrations

OTHERS_LEAVE_WITHIN_SECONDS = 3.0
"""Connections of a process that has just ended may be seen for a moment."""
_BLOCK = 1 << 18
# Of sessions of other accounts a user without rights sees no type.
_OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'"
)
_NO_CONTENT = frozenset({"memory_terms_rule"})
"""Tables that a migration fills: they say nothing of whether anybody has used the database."""


def restore(conninfo: str, path: Path, *, replace: bool, progress: Progress) -> Listing:
    """Puts the backup into a migrated database that nobody uses. With `replace` one that holds something loses it.
    Whatever fails, the database is as it was. Raises BackupUnusable, DatabaseUnavailable, psycopg.Error, OSError."""
    with reading(path) as (archive, listing):
        _check_migrations(listing, path)
        with psycopg.connect(conninfo, autocommit=True) as connection:
            make_plain(connection)
            connection.execute("SELECT pg_advisory_lock(%s)", (ADVISORY_LOCK,))  # who starts now waits for the end
            _check_alone(connection)
            if not replace:
                _check_empty(connection)
            with connection.transaction():
                drop_all(connection)
                apply_missing(connection, {each.name for each in listing.migrations} | {JOB_QUEUE})
                for table in listing.tables:
                    _fill(connection, archive, table, progress)
                for each in listing.sequences:
                    connection.execute("SELECT setval(%s, %s, %s)", (each.name, each.last, each.called))
                _compare(connection, listing)
                apply_missing(connection)
            for table in listing.tables:
                connection.execute(sql.SQL("ANALYZE {}").format(sql.Identifier(table.name)))
    return listing


def _check_migrations(listing: Listing, path: Path) -> None:
    known = {name: digest_of(text) for name, text in migrations()}
    for each in listing.migrations:
        if each.name not in known:
            raise BackupUnusable(
                f"{path} was made by a newer Palimpsest ({listing.palimpsest}, {each.name}); restore it with that"
                " version or a newer one"
            )
        if each.name != JOB_QUEUE and known[each.name] != each.sha256:
            raise BackupUnusable(f"{path} was made with another migration {each.name} than this Palimpsest has")


def _check_alone(connection: Connection[Any]) -> None:
    deadline = time.monotonic() + OTHERS_LEAVE_WITHIN_SECONDS
    while others := _one(connection, _OTHERS):
        if time.monotonic() > deadline:
            raise BackupUnusable(
                f"the database is in use ({others} other connections); stop all services and workers on it, and restore"
                " again"
            )
        time.sleep(0.1)


def _check_empty(connection: Connection[Any]) -> None:
    for table in tables_of_migrations(connection, [name for name, _ in migrations()]):
        if table not in _NO_CONTENT and _one(
            connection, sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(table))
        ):
            raise BackupUnusable(
                f"the database is not empty (there is something in {table}); --replace deletes all that is in it first"
            )


def _fill(connection: Connection[Any], archive: zipfile.ZipFile, table: BackedUpTable, progress: Progress) -> None:
    name, columns = sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, table.columns))
    connection.execute(sql.SQL("DELETE FROM {}").format(name))  # what its migration put there
    sent = told = 0
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(name, columns)
    with rows_in(archive, table.name) as rows, connection.cursor().copy(statement) as copy:
        while block := rows.read(_BLOCK):
            copy.write(block)
            sent += block.count(b"\n")
            if sent - told >= TELL_EVERY:
                progress(table.name, told := sent)
    progress(table.name, sent)
    _go_on_counting(connection, table)


def _go_on_counting(connection: Connection[Any], table: BackedUpTable) -> None:
    for column in table.columns:
        sequence = _one(connection, "SELECT pg_get_serial_sequence(%s, %s)", table.name, column)
        if sequence is not None:
            last = sql.SQL("SELECT setval({}, greatest(max({}), 1), max({}) IS NOT NULL) FROM {}")
            identifier = sql.Identifier(column)
            connection.execute(last.format(sql.Literal(sequence), identifier, identifier, sql.Identifier(table.name)))


def _compare(connection: Connection[Any], listing: Listing) -> None:
    """Reads back what was written."""
    for table in listing.tables:
        tally = Tally()
        for row in rows_of(connection, table.name, table.columns):
            tally.add(row)
        if (tally.rows, tally.digest) != (table.rows, table.digest):
            raise BackupUnusable(
                f"what was restored of {table.name} is not what was backed up ({tally.rows} rows of {table.rows});"
                " nothing was changed"
            )
    if (last := last_position(connection)) != listing.last_position:
        raise BackupUnusable(
            f"the log was restored to position {last} instead of {listing.last_position}; nothing was changed"
        )


def _one(connection: Connection[Any], query: Any, *parameters: object) -> Any:
    return connection.cursor(row_factory=scalar_row).execute(query, parameters or None).fetchone()
