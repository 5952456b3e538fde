"""Read models as a whole: made at start, rebuilt from the log beside the live ones, compared, and swapped.

A rebuild replays the log in batches into tables of a shadow schema while the service runs, catches up while
writers wait, compares, and swaps the tables in one transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import DictRow

from adapters.postgres import projector
from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from projections.projection import Projection
from projections.registry import PROJECTIONS

logger = logging.getLogger(__name__)

SHADOW = "palimpsest_shadow"
BATCH = 1000
REBUILD_LOCK = 0x70616C72  # "palr": one rebuild at a time

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Comparison:
    """How a rebuilt read model differs from the one served: rows only here, only there, and different in both."""

    name: str
    rows: int
    missing: int
    extra: int
    different: int
    examples: tuple[str, ...]

    @property
    def same(self) -> bool:
        return self.missing == self.extra == self.different == 0


@dataclass(frozen=True)
class Rebuilt:
    events: int
    comparisons: tuple[Comparison, ...]
    swapped: bool


@dataclass(frozen=True)
class ReadModelState:
    """`error` says why a read model was set aside; None for a healthy one."""

    name: str
    version: int
    error: str | None


class ReadModels:
    def __init__(self, database: Database, log: PostgresEventLog) -> None:
        self._database = database
        self._log = log

    def prepare(self) -> None:
        """Makes read models that are not there and rebuilds those of another version. Safe for several processes."""
        with self._database.begin() as tx:
            connection = tx.connection
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (REBUILD_LOCK,))
            connection.execute(projector.READ_MODELS_DDL)
            versions = {
                row["name"]: row["version"] for row in connection.execute("SELECT name, version FROM read_models")
            }
            empty = connection.execute("SELECT NOT EXISTS (SELECT FROM stored_events) AS empty").fetchone()
            fresh = [each for each in PROJECTIONS if each.name not in versions]
            if fresh and empty and empty["empty"]:
                for projection in fresh:
                    connection.execute(projection.ddl)
                    _register(connection, projection)
                versions.update({each.name: each.version for each in fresh})
        outdated = [each for each in PROJECTIONS if versions.get(each.name) != each.version]
        if outdated:
            logger.info("rebuilding read models of another version: %s", ", ".join(each.name for each in outdated))
            self.rebuild(outdated)

    def states(self) -> list[ReadModelState]:
        with self._database.connection() as connection:
            rows = connection.execute("SELECT name, version, error FROM read_models ORDER BY name").fetchall()
        return [ReadModelState(row["name"], row["version"], row["error"]) for row in rows]

    def rebuild(
        self,
        projections: Sequence[Projection] = PROJECTIONS,
        *,
        check_only: bool = False,
        progress: Progress | None = None,
    ) -> Rebuilt:
        """Replays the log into shadow tables, compares, and unless `check_only` swaps. The service may run."""
        with self._database.connection() as connection:
            connection.execute("SELECT pg_advisory_lock(%s)", (REBUILD_LOCK,))
            try:
                return self._rebuild(connection, projections, check_only, progress)
            finally:
                connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(SHADOW)))
                connection.execute("SELECT pg_advisory_unlock(%s)", (REBUILD_LOCK,))

    def _rebuild(
        self,
        connection: Connection[DictRow],
        projections: Sequence[Projection],
        check_only: bool,
        progress: Progress | None,
    ) -> Rebuilt:
        shadow = sql.Identifier(SHADOW)
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {0} CASCADE; CREATE SCHEMA {0}").format(shadow))
        with connection.transaction():
            _aim_at_shadow(connection)
            for projection in projections:
                connection.execute(projection.ddl)
        position, events = 0, 0
        while batch := self._log.after(position, limit=BATCH):
            with connection.transaction():
                _aim_at_shadow(connection)
                _replay(connection, projections, batch)
            position, events = batch[-1].position, events + len(batch)
            if progress is not None:
                progress(events, _last_position(connection))
        with connection.transaction():
            self._log.hold_off_writers(connection)
            _aim_at_shadow(connection)
            while batch := self._log.after(position, limit=BATCH):
                _replay(connection, projections, batch)
                position, events = batch[-1].position, events + len(batch)
            comparisons = tuple(_compare(connection, projection) for projection in projections)
            if not check_only:
                for projection in projections:
                    _swap(connection, projection)
        return Rebuilt(events, comparisons, not check_only)


def _aim_at_shadow(connection: Connection[DictRow]) -> None:
    connection.execute(sql.SQL("SET LOCAL search_path = {}, public").format(sql.Identifier(SHADOW)))


def _replay(connection: Connection[DictRow], projections: Sequence[Projection], batch: Sequence[Any]) -> None:
    with connection.pipeline():
        for projection in projections:
            projector.run(connection, projector.statements_of(projection, batch))


def _last_position(connection: Connection[DictRow]) -> int:
    row = connection.execute("SELECT coalesce(max(notification_id), 0) AS last FROM stored_events").fetchone()
    return row["last"] if row else 0


def _register(connection: Connection[DictRow], projection: Projection) -> None:
    connection.execute(
        "INSERT INTO public.read_models (name, version) VALUES (%s, %s) ON CONFLICT (name) DO UPDATE"
        " SET version = excluded.version, set_aside_at = NULL, set_aside_position = NULL, error = NULL",
        (projection.name, projection.version),
    )


def _swap(connection: Connection[DictRow], projection: Projection) -> None:
    table = sql.Identifier(projection.table)
    connection.execute(sql.SQL("DROP TABLE IF EXISTS public.{}").format(table))
    connection.execute(sql.SQL("ALTER TABLE {}.{} SET SCHEMA public").format(sql.Identifier(SHADOW), table))
    _register(connection, projection)


def _compare(connection: Connection[DictRow], projection: Projection) -> Comparison:
    """Row by row on the key; a table that is not served yet, or has other columns, differs in every row."""
    served = connection.execute(
        "SELECT to_regclass('public.' || quote_ident(%s)) IS NOT NULL AS there", (projection.table,)
    ).fetchone()
    count = connection.execute(
        sql.SQL("SELECT count(*) AS rows FROM {}.{}").format(sql.Identifier(SHADOW), sql.Identifier(projection.table))
    ).fetchone()
    rows = count["rows"] if count else 0
    if not (served and served["there"]):
        return Comparison(projection.name, rows, missing=rows, extra=0, different=0, examples=())
    keys = sql.SQL(", ").join(sql.Identifier(key) for key in projection.keys)
    found = connection.execute(
        sql.SQL(
            "SELECT to_jsonb(s) AS served, to_jsonb(r) AS rebuilt FROM public.{table} s"
            " FULL JOIN {shadow}.{table} r USING ({keys}) WHERE to_jsonb(s) IS DISTINCT FROM to_jsonb(r)"
        ).format(table=sql.Identifier(projection.table), shadow=sql.Identifier(SHADOW), keys=keys)
    ).fetchall()
    missing = sum(1 for row in found if row["served"] is None)
    extra = sum(1 for row in found if row["rebuilt"] is None)
    return Comparison(
        projection.name,
        rows,
        missing,
        extra,
        len(found) - missing - extra,
        tuple(_example(projection, row) for row in found[:5]),
    )


def _example(projection: Projection, row: DictRow) -> str:
    served, rebuilt = row["served"], row["rebuilt"]
    key = "/".join(str((served or rebuilt)[column]) for column in projection.keys)
    if served is None or rebuilt is None:
        return f"{key}: {'not served' if served is None else 'not in the log'}"
    columns = [column for column in rebuilt if served.get(column) != rebuilt[column]]
    return f"{key}: {', '.join(columns)}"
