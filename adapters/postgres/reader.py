"""Asks read models their queries: from threads (commands, CLI) and from the event loop (REST)."""

from __future__ import annotations

import time
from typing import TypeVar

from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from adapters.postgres.database import RECONNECT_SECONDS, TRUSTED_SECONDS, Database, connection_of
from application.ports import Transaction
from projections.projection import Query

T = TypeVar("T")

CONNECTION_WITHIN_SECONDS = 5.0
"""How long a read waits for a connection: a service without its database says so soon."""


class Reader:
    """Answers a query on the shared pool, in the calling thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def ask(self, query: Query[T], tx: Transaction | None = None) -> T:
        """With a transaction, as that transaction sees it."""
        if tx is not None:
            return query.read(connection_of(tx).execute(query.sql, query.params).fetchall())
        with self._database.connection() as connection:
            return query.read(connection.execute(query.sql, query.params).fetchall())


class ReadConnection(AsyncConnection[DictRow]):
    """A connection that knows when it last answered."""

    answered_at: float = 0.0


async def _prepare(connection: ReadConnection) -> None:
    await connection.set_autocommit(True)


async def _check(connection: ReadConnection) -> None:
    """Asks the server whether it is there, unless it was a moment ago: asking costs a fifth of a read."""
    if time.monotonic() - connection.answered_at > TRUSTED_SECONDS:
        await AsyncConnectionPool.check_connection(connection)


class AsyncReader:
    """Answers a query on a pool of its own, in the event loop. Open it inside the loop that uses it."""

    def __init__(self, conninfo: str, *, max_size: int = 8) -> None:
        self.pool: AsyncConnectionPool[ReadConnection] = AsyncConnectionPool(
            conninfo,
            connection_class=ReadConnection,
            kwargs={"row_factory": dict_row},
            configure=_prepare,
            min_size=1,
            max_size=max_size,
            timeout=CONNECTION_WITHIN_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            open=False,
            check=_check,
            name="palimpsest reads",
        )

    async def open(self) -> None:
        await self.pool.open(wait=True, timeout=10.0)

    async def close(self) -> None:
        await self.pool.close()

    async def ask(self, query: Query[T]) -> T:
        async with self.pool.connection() as connection:
            cursor = await connection.execute(query.sql, query.params)
            rows = await cursor.fetchall()
            connection.answered_at = time.monotonic()
        return query.read(rows)
