"""The progress of operations on real PostgreSQL: shown while an attempt runs, and never in the way of its work."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.postgres.database import Database
from adapters.postgres.operation_progress import PostgresProgressBoard
from application.ports import Progress

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def board(shared_database: Database) -> PostgresProgressBoard:
    return PostgresProgressBoard(shared_database, lambda: NOW)


@pytest.fixture
def shown(shared_database: Database) -> Callable[[UUID], Any]:
    def read(operation_id: UUID) -> Any:
        with shared_database.connection() as connection:
            row = connection.execute(
                "SELECT attempt, stage, processed, total, detail, at FROM operation_progress"
                " WHERE bank_id = 'b' AND operation_id = %s",
                (operation_id,),
            ).fetchone()
        return tuple(row.values()) if row else None

    return read


def begin(board: PostgresProgressBoard, database: Database, operation_id: UUID, attempt: int) -> None:
    with database.begin() as tx:
        board.begin("b", operation_id, attempt, tx)


def test_what_an_attempt_shows_last_is_shown(
    board: PostgresProgressBoard, shared_database: Database, shown: Callable[[UUID], Any]
) -> None:
    operation_id = uuid4()
    begin(board, shared_database, operation_id, 1)
    assert shown(operation_id) == (1, "starting", None, None, None, NOW)

    board.show("b", operation_id, 1, Progress("reading", 1, 10, {"facts": 3}))
    board.show("b", operation_id, 1, Progress("editing", 2))

    assert shown(operation_id) == (1, "editing", 2, None, None, NOW)


def test_the_next_attempt_takes_the_place_of_the_one_before_which_shows_nothing_any_more(
    board: PostgresProgressBoard, shared_database: Database, shown: Callable[[UUID], Any]
) -> None:
    operation_id = uuid4()
    begin(board, shared_database, operation_id, 1)
    board.show("b", operation_id, 1, Progress("editing", 2, 3, {"facts": 3}))

    begin(board, shared_database, operation_id, 2)
    board.show("b", operation_id, 1, Progress("late"))

    assert shown(operation_id) == (2, "starting", None, None, None, NOW)


def test_after_its_end_an_attempt_shows_nothing(
    board: PostgresProgressBoard, shared_database: Database, shown: Callable[[UUID], Any]
) -> None:
    operation_id = uuid4()
    begin(board, shared_database, operation_id, 1)

    with shared_database.begin() as tx:
        board.clear("b", operation_id, tx)
    board.show("b", operation_id, 1, Progress("late"))

    assert shown(operation_id) is None


def test_what_cannot_be_shown_is_no_failure(conninfo: str) -> None:
    with Database(conninfo) as database:
        board = PostgresProgressBoard(database, lambda: NOW)
        board.show("b", uuid4(), 1, Progress("reading", 2**70))
        with database.connection() as connection:
            connection.execute("DROP TABLE operation_progress")
        board.show("b", uuid4(), 1, Progress("reading"))
    board.show("b", uuid4(), 1, Progress("the pool is closed"))
