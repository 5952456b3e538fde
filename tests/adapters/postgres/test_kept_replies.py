"""Replies that were paid for, on real PostgreSQL and in the double: how long they are kept, and for whom."""

from __future__ import annotations

import logging
import math
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from adapters.postgres.database import Database
from adapters.postgres.kept_replies import PostgresKeptReplies
from application.ports import KeptReplies, KeptReply, MindFailed, Transactions
from tests.support.in_memory import InMemoryTransactions
from tests.support.kept_replies import InMemoryKeptReplies

Kept = tuple[KeptReplies, Transactions]
PAYLOAD = {"choices": [{"message": {"content": "Grün", "b": 1.0, "a": None}}], "usage": {"prompt_tokens": 10**20}}


@pytest.fixture(params=["PostgreSQL", "double"])
def kept(request: pytest.FixtureRequest) -> Kept:
    if request.param == "double":
        return InMemoryKeptReplies(), InMemoryTransactions()
    database: Database = request.getfixturevalue("shared_database")
    return PostgresKeptReplies(database), database


def test_a_reply_is_found_by_its_operation_and_its_request_as_it_came(kept: Kept) -> None:
    replies, operation_id = kept[0], uuid4()

    replies.keep(operation_id, "a", PAYLOAD)

    found = replies.reply(operation_id, "a")
    assert found == KeptReply(PAYLOAD)
    assert list(found.payload["choices"][0]["message"]) == ["content", "b", "a"]
    assert replies.reply(operation_id, "b") is None
    assert replies.reply(uuid4(), "a") is None


def test_the_first_reply_to_a_request_stays(kept: Kept) -> None:
    replies, operation_id = kept[0], uuid4()

    replies.keep(operation_id, "a", {"first": True})
    replies.keep(operation_id, "a", {"first": False})

    assert replies.reply(operation_id, "a") == KeptReply({"first": True})


def test_a_reply_is_kept_although_the_attempt_is_undone(kept: Kept) -> None:
    replies, operation_id = kept[0], uuid4()

    with suppress(ZeroDivisionError), kept[1].begin():
        replies.keep(operation_id, "a", PAYLOAD)
        _ = 1 / 0

    assert replies.reply(operation_id, "a") is not None


def test_replies_are_counted_with_the_event_that_tells_their_cost(kept: Kept) -> None:
    replies, operation_id, other = kept[0], uuid4(), uuid4()
    replies.keep(operation_id, "a", PAYLOAD)
    replies.keep(other, "a", PAYLOAD)

    with suppress(ZeroDivisionError), kept[1].begin() as tx:
        replies.count(operation_id, tx)
        _ = 1 / 0
    assert replies.reply(operation_id, "a") == KeptReply(PAYLOAD)

    with kept[1].begin() as tx:
        replies.count(operation_id, tx)
    replies.keep(operation_id, "b", PAYLOAD)

    assert replies.reply(operation_id, "a") == KeptReply(PAYLOAD, counted=True)
    assert replies.reply(operation_id, "b") == KeptReply(PAYLOAD)
    assert replies.reply(other, "a") == KeptReply(PAYLOAD)


def test_replies_are_dropped_with_the_end_of_their_operation(kept: Kept) -> None:
    replies, operation_id, other = kept[0], uuid4(), uuid4()
    replies.keep(operation_id, "a", PAYLOAD)
    replies.keep(other, "a", PAYLOAD)

    with suppress(ZeroDivisionError), kept[1].begin() as tx:
        replies.drop(operation_id, tx)
        _ = 1 / 0
    assert replies.reply(operation_id, "a") is not None

    with kept[1].begin() as tx:
        replies.drop(operation_id, tx)
    assert replies.reply(operation_id, "a") is None
    assert replies.reply(other, "a") is not None
    replies.drop(other)
    assert replies.reply(other, "a") is None


def test_what_is_left_over_is_dropped_by_age(database: Database) -> None:
    replies, operation_id = PostgresKeptReplies(database), uuid4()
    replies.keep(operation_id, "a", PAYLOAD)
    now = datetime.now(UTC)

    assert replies.drop_before(now - timedelta(hours=1)) == 0
    assert replies.reply(operation_id, "a") is not None
    assert replies.drop_before(now + timedelta(hours=1)) == 1
    assert replies.reply(operation_id, "a") is None


def test_a_reply_that_cannot_be_kept_is_not_lost_to_the_work(
    shared_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    operation_id = uuid4()

    with caplog.at_level(logging.WARNING):
        PostgresKeptReplies(shared_database).keep(operation_id, "a", {"no number": math.nan})

    assert f"a reply for operation {operation_id} is not kept" in caplog.text


def test_without_the_database_no_model_is_asked(conninfo: str) -> None:
    with Database(conninfo) as database:
        with database.connection() as connection:
            connection.execute("ALTER TABLE kept_replies RENAME TO gone")
        with pytest.raises(MindFailed, match="no model was asked") as failed:
            PostgresKeptReplies(database).reply(uuid4(), "a")

    assert failed.value.transient
    assert "\n" not in str(failed.value)
