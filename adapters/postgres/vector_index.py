"""The vector graph (HNSW) over current facts: not needed in small banks, and built beside the running service."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.rows import scalar_row

from application.ports import MindFailed

logger = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 10
"""How often it is looked whether a bank has grown enough."""

ADVISORY_LOCK = 0x70616C76  # "palv"
EXACT_NUMBERS = 15_000 * 256
"""Numbers (facts times dimensions) up to which a search compares all vectors of a bank: that finds every near fact, and
takes little longer than a search of the graph."""
_BREADTH = {"m": 8, "ef_construction": 64}
"""Of the graph. Measured on turns of conversations (docs/recall.md): a graph of the usual breadth (m = 16) finds hardly
more, and a new fact costs twice as much."""
MOST_DIMENSIONS = 4_000
"""What pgvector can index of 16-bit numbers."""
_BUILD_MEMORY = "256MB"
"""Holds the graph of some 150,000 facts of 256 dimensions; a build that runs out of it is several times slower."""


def keep_vector_index(conninfo: str, dimensions: Callable[[], int]) -> None:
    """Looks after the graph in a thread that ends with the process: builds it now, or when a bank has grown enough."""

    def keep() -> None:
        while True:
            try:
                with psycopg.connect(conninfo, autocommit=True) as connection:
                    ensure_vector_index(connection, dimensions())
            except (psycopg.Error, MindFailed) as error:
                logger.warning("the vector index could not be looked after: %s", error)
            time.sleep(LOOK_EVERY_SECONDS)

    threading.Thread(target=keep, name="vector index", daemon=True).start()


def index_name(dimensions: int) -> str:
    return f"current_vectors_{dimensions}"


def ensure_vector_index(connection: Connection[Any], dimensions: int) -> bool:
    """Builds the graph for vectors of so many dimensions once some bank has more facts than are compared one by one;
    returns whether it is there. Building takes about 0.1 ms a fact, and reads and writes go on meanwhile; after it each
    new fact costs 0.8 ms more. Needs a connection in autocommit mode. A process that finds another one building
    does not wait for it."""
    if not 0 < dimensions <= MOST_DIMENSIONS:
        return False
    name = index_name(dimensions)
    if not _one(connection, "SELECT pg_try_advisory_lock(%s)", ADVISORY_LOCK):
        return False
    try:
        if _one(connection, "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", name):
            return True
        if not _one(
            connection, "SELECT EXISTS (SELECT FROM memory_clock WHERE facts * %s > %s)", dimensions, EXACT_NUMBERS
        ):
            return False
        # An unfinished build leaves an index that is kept up to date but never read.
        connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("SET maintenance_work_mem = {}").format(sql.Literal(_BUILD_MEMORY)))
        connection.execute(_build(name, dimensions))
        return True
    finally:
        connection.execute("RESET maintenance_work_mem")
        connection.execute("SELECT pg_advisory_unlock(%s)", (ADVISORY_LOCK,))


def _build(name: str, dimensions: int) -> sql.Composed:
    return sql.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON fact_vectors"
        " USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops)"
        " WITH (m = {m}, ef_construction = {ef_construction})"
        " WHERE to_position IS NULL AND vector_dims(embedding) = {dimensions}"
    ).format(
        name=sql.Identifier(name),
        dimensions=sql.Literal(dimensions),
        **{option: sql.Literal(value) for option, value in _BREADTH.items()},
    )


def _one(connection: Connection[Any], query: str, *parameters: object) -> Any:
    return connection.cursor(row_factory=scalar_row).execute(query, parameters).fetchone()
