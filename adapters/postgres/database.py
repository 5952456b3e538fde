"""The pool of connections that commands, jobs and the event log share, and transactions over it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from eventsourcing.postgres import ConnectionPool
from psycopg import Connection
from psycopg.rows import DictRow, dict_row

from application.ports import Transaction

CONNECTION_WITHIN_SECONDS = 10.0
"""How long a command waits for a connection before it is refused."""
RECONNECT_SECONDS = 5.0
"""How long a pool tries to reconnect, with ever longer pauses; after it, the next who asks makes it try anew. Without
a bound a server that comes back after a while is noticed late."""
TRUSTED_SECONDS = 1.0
"""How long a connection that was used without an error is taken for whole: asking the server whether it is there is a
round trip more for each read and each transaction."""
PREPARED_AFTER = 1
"""Runs of a statement before it is prepared: there are few of them and each runs often, and on which connection is left
to the pool."""


@dataclass(frozen=True)
class PostgresTransaction:
    """A transaction of ours; adapters take the connection out of it."""

    connection: Connection[DictRow]


def connection_of(tx: Transaction) -> Connection[DictRow]:
    """The connection inside a transaction that `Database.begin` opened."""
    if not isinstance(tx, PostgresTransaction):
        raise TypeError(f"a transaction of Database.begin is needed, not {type(tx).__name__}")
    return tx.connection


class PooledConnection(Connection[DictRow]):
    """A connection that knows when it was last used without an error."""

    used_at: float = 0.0


def _prepare(connection: PooledConnection) -> None:
    connection.autocommit = True


class Database:
    """Connections in autocommit mode with rows as dictionaries. Open it before use, close it at the end."""

    def __init__(self, conninfo: str, *, min_size: int = 1, max_size: int = 10) -> None:
        self.conninfo = conninfo
        self._lost_at = 0.0
        self.pool: ConnectionPool[PooledConnection] = ConnectionPool(
            conninfo,
            connection_class=PooledConnection,
            kwargs={"row_factory": dict_row, "prepare_threshold": PREPARED_AFTER},
            configure=_prepare,
            min_size=min_size,
            max_size=max_size,
            open=False,
            timeout=CONNECTION_WITHIN_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            check=self._check,
            name="palimpsest",
        )

    def open(self) -> None:
        """Connects; raises psycopg_pool.PoolTimeout when the server does not answer within 10 seconds."""
        self.pool.open(wait=True, timeout=10.0)

    def close(self) -> None:
        self.pool.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def connection(self) -> Iterator[Connection[DictRow]]:
        """A connection in autocommit mode, for reads of one statement."""
        with self.pool.connection() as connection:
            try:
                yield connection
            except BaseException:
                if connection.broken:  # the others are asked before they are used again
                    self._lost_at = time.monotonic()
                raise
            connection.used_at = time.monotonic()

    def _check(self, connection: PooledConnection) -> None:
        """Asks the server whether it is there, unless it was a moment ago, and no connection was lost since."""
        if connection.used_at < max(self._lost_at, time.monotonic() - TRUSTED_SECONDS):
            ConnectionPool.check_connection(connection)

    @contextmanager
    def begin(self) -> Iterator[PostgresTransaction]:
        """One transaction: committed at the end, rolled back when the block raises."""
        with self.connection() as connection, connection.transaction():
            yield PostgresTransaction(connection)
