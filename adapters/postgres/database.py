"""The pool of connections that commands, jobs and the event log share, and transactions over it."""

from __future__ import annotations

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


@dataclass(frozen=True)
class PostgresTransaction:
    """A transaction of ours; adapters take the connection out of it."""

    connection: Connection[DictRow]


def connection_of(tx: Transaction) -> Connection[DictRow]:
    """The connection inside a transaction that `Database.begin` opened."""
    if not isinstance(tx, PostgresTransaction):
        raise TypeError(f"a transaction of Database.begin is needed, not {type(tx).__name__}")
    return tx.connection


def _prepare(connection: Connection[DictRow]) -> None:
    connection.autocommit = True


class Database:
    """Connections in autocommit mode with rows as dictionaries. Open it before use, close it at the end."""

    def __init__(self, conninfo: str, *, min_size: int = 1, max_size: int = 10) -> None:
        self.conninfo = conninfo
        self.pool: ConnectionPool[Connection[DictRow]] = ConnectionPool(
            conninfo,
            connection_class=Connection[DictRow],
            kwargs={"row_factory": dict_row},
            configure=_prepare,
            min_size=min_size,
            max_size=max_size,
            open=False,
            timeout=CONNECTION_WITHIN_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            check=ConnectionPool.check_connection,
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
            yield connection

    @contextmanager
    def begin(self) -> Iterator[PostgresTransaction]:
        """One transaction: committed at the end, rolled back when the block raises."""
        with self.pool.connection() as connection, connection.transaction():
            yield PostgresTransaction(connection)
