"""Runs the statements of read models inside the transaction of an append.

All read models are folded under one savepoint; only when that fails each is tried alone, and the one at fault is set
aside: it gets no more events until a rebuild heals it, and health says so. A broken read model never blocks a write.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from domain.event import Recorded
from projections.projection import Json, Projection, Statement
from projections.registry import PROJECTIONS

logger = logging.getLogger(__name__)

SET_ASIDE = "SELECT name FROM read_models WHERE set_aside_at IS NOT NULL"
"""The read models that get no events."""

READ_MODELS_DDL = """
CREATE TABLE IF NOT EXISTS read_models (
    name text PRIMARY KEY,
    version int NOT NULL,
    set_aside_at timestamptz,
    set_aside_position bigint,
    error text
)"""


def run(connection: Connection[Any], statements: Iterable[Statement]) -> None:
    """Executes statements in order."""
    for statement in statements:
        params = {
            name: Jsonb(value.value) if isinstance(value, Json) else value for name, value in statement.params.items()
        }
        connection.execute(statement.sql, params)


def statements_of(projection: Projection, events: Iterable[Recorded]) -> Iterable[Statement]:
    for recorded in events:
        if isinstance(recorded.event, projection.handles):
            yield from projection.project(recorded)


def fold(connection: Connection[Any], events: Sequence[Recorded], aside: Collection[str]) -> None:
    """Folds events just inserted by this transaction into all read models that are not set aside, in one round trip."""
    active = [projection for projection in PROJECTIONS if projection.name not in aside]
    try:
        statements = [each for projection in active for each in statements_of(projection, events)]
    except Exception:  # noqa: BLE001 - whatever a read model does wrong, the write goes on; found out one by one
        _fold_each(connection, active, events)
        return
    try:
        with connection.pipeline():
            connection.execute("SAVEPOINT read_models")
            run(connection, statements)
            connection.execute("RELEASE SAVEPOINT read_models")
    except Exception as error:
        if isinstance(error, psycopg.OperationalError) and not isinstance(error, psycopg.errors.PipelineAborted):
            raise
        connection.execute("ROLLBACK TO SAVEPOINT read_models")
        _fold_each(connection, active, events)


def _fold_each(connection: Connection[Any], projections: Iterable[Projection], events: Sequence[Recorded]) -> None:
    for projection in projections:
        _fold_alone(connection, projection, events)


def _fold_alone(connection: Connection[Any], projection: Projection, events: Sequence[Recorded]) -> None:
    try:
        with connection.transaction():
            run(connection, statements_of(projection, events))
    except psycopg.OperationalError:
        raise
    except Exception as error:
        logger.exception(
            "read model %s was set aside; `palimpsest rebuild %s` heals it", projection.name, projection.name
        )
        connection.execute(
            "UPDATE read_models SET set_aside_at = now(), set_aside_position = %s, error = %s WHERE name = %s",
            (events[0].position, f"{type(error).__name__}: {error}"[:2000], projection.name),
        )
