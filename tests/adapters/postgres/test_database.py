"""The pool of connections: one that was in use a moment ago is not asked again whether its server is there."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from adapters.postgres.database import Database


@pytest.fixture
def database(conninfo: str) -> Iterator[Database]:
    with Database(conninfo, min_size=2, max_size=2) as database:
        yield database


def use_both(database: Database) -> list[int]:
    """The processes of the server behind the two connections."""
    with database.connection() as one, database.connection() as other:
        return [each.execute("SELECT pg_backend_pid() AS pid").fetchone()["pid"] for each in (one, other)]  # type: ignore[index]  # one row


def end(conninfo: str, processes: list[int]) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for process in processes:
            connection.execute("SELECT pg_terminate_backend(%s, 10000)", (process,))


def test_what_was_asked_last_is_all_that_a_connection_in_use_is_asked(database: Database, conninfo: str) -> None:
    use_both(database)
    with database.connection() as connection:
        connection.execute("SELECT 'the last statement'")
        pid = connection.info.backend_pid
    with database.connection(), database.connection(), psycopg.connect(conninfo) as beside:
        row = beside.execute("SELECT query FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone()
    assert row == ("SELECT 'the last statement'",)


def test_of_connections_that_the_server_ended_one_is_found_by_its_use_and_the_others_before_it(
    database: Database, conninfo: str
) -> None:
    end(conninfo, use_both(database))
    with pytest.raises(psycopg.OperationalError), database.begin():
        pass
    with database.begin() as tx:
        assert tx.connection.execute("SELECT 1 AS one").fetchone() == {"one": 1}


def test_a_connection_that_was_not_in_use_for_a_while_is_asked_first(database: Database, conninfo: str) -> None:
    ended = use_both(database)
    with database.connection() as one, database.connection() as other:
        connections = one, other
    for each in connections:
        each.used_at = 0.0  # type: ignore[attr-defined]  # long ago
    end(conninfo, ended)
    assert not set(use_both(database)) & set(ended)
