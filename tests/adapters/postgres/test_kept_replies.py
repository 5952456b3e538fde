"""Replies that were paid for, on real PostgreSQL and in the double: how long they are kept, and for whom."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.postgres.database import Database
from adapters.postgres.kept_replies import PostgresKeptReplies
from application.ports import KeptReplies, KeptReply, MindFailed, Transactions
from domain.usage import ModelCall
from tests.support.in_memory import InMemoryTransactions
from tests.support.kept_replies import InMemoryKeptReplies

Kept = tuple[KeptReplies, Transactions]
PAYLOAD = {"choices": [{"message": {"content": "Grün", "b": 1.0, "a": None}}], "usage": {"prompt_tokens": 10**20}}
CALL = ModelCall(purpose="test", model="tester-1", input_tokens=100)


@pytest.fixture(params=["PostgreSQL", "double"])
def kept(request: pytest.FixtureRequest) -> Kept:
    if request.param == "double":
        return InMemoryKeptReplies(), InMemoryTransactions()
    database: Database = request.getfixturevalue("shared_database")
    return PostgresKeptReplies(database), database


def keep(kept: Kept, operation_id: UUID, key: str, payload: Mapping[str, Any] = PAYLOAD, bank_id: str = "b") -> bool:
    return kept[0].keep(bank_id, operation_id, key, payload, CALL)


def settle(kept: Kept, operation_id: UUID, *keys: str) -> None:
    with kept[1].begin() as tx:
        kept[0].count("b", operation_id, keys, tx)
        kept[0].drop("b", operation_id, tx)


def test_a_reply_is_found_by_its_operation_and_its_request_as_it_came(kept: Kept) -> None:
    replies, operation_id = kept[0], uuid4()

    assert keep(kept, operation_id, "a")

    found = replies.reply("b", operation_id, "a")
    assert found == KeptReply(PAYLOAD)
    assert list(found.payload["choices"][0]["message"]) == ["content", "b", "a"]
    assert replies.reply("b", operation_id, "b") is None
    assert replies.reply("b", uuid4(), "a") is None
    assert replies.reply("another bank", operation_id, "a") is None


def test_the_first_reply_to_a_request_stays(kept: Kept) -> None:
    operation_id = uuid4()

    assert keep(kept, operation_id, "a", {"first": True})
    assert not keep(kept, operation_id, "a", {"first": False})

    assert kept[0].reply("b", operation_id, "a") == KeptReply({"first": True})


def test_a_reply_is_kept_although_the_attempt_is_undone(kept: Kept) -> None:
    operation_id = uuid4()

    with suppress(ZeroDivisionError), kept[1].begin():
        keep(kept, operation_id, "a")
        _ = 1 / 0

    assert kept[0].reply("b", operation_id, "a") is not None


def test_replies_are_counted_with_the_event_that_tells_their_cost(kept: Kept) -> None:
    replies, operation_id, other = kept[0], uuid4(), uuid4()
    for each in (operation_id, other):
        keep(kept, each, "a")
        keep(kept, each, "b")

    with suppress(ZeroDivisionError), kept[1].begin() as tx:
        replies.count("b", operation_id, ["a"], tx)
        _ = 1 / 0
    assert replies.reply("b", operation_id, "a") == KeptReply(PAYLOAD)
    assert replies.uncounted("b", operation_id) == {"a": CALL, "b": CALL}

    with kept[1].begin() as tx:
        replies.count("b", operation_id, ["a"], tx)

    assert replies.reply("b", operation_id, "a") == KeptReply(PAYLOAD, counted=True)
    assert replies.reply("b", operation_id, "b") == KeptReply(PAYLOAD)
    assert replies.uncounted("b", operation_id) == {"b": CALL}
    assert replies.uncounted("another bank", operation_id) == {}
    assert replies.uncounted("b", other) == {"a": CALL, "b": CALL}


def test_replies_are_dropped_with_the_end_of_their_operation(kept: Kept) -> None:
    replies, operation_id, other = kept[0], uuid4(), uuid4()
    keep(kept, operation_id, "a")
    keep(kept, other, "a")
    keep(kept, operation_id, "a", bank_id="another bank")

    with suppress(ZeroDivisionError), kept[1].begin() as tx:
        replies.count("b", operation_id, ["a"], tx)
        replies.drop("b", operation_id, tx)
        _ = 1 / 0
    assert replies.reply("b", operation_id, "a") == KeptReply(PAYLOAD)

    settle(kept, operation_id, "a")
    assert replies.reply("b", operation_id, "a") is None
    assert replies.reply("b", other, "a") is not None
    assert replies.reply("another bank", operation_id, "a") is not None


def test_a_reply_that_came_while_its_operation_ended_is_not_dropped_before_it_is_counted(kept: Kept) -> None:
    operation_id = uuid4()
    keep(kept, operation_id, "a")
    keep(kept, operation_id, "late")

    settle(kept, operation_id, "a")

    assert kept[0].uncounted("b", operation_id) == {"late": CALL}


def test_with_a_bank_goes_what_was_answered_but_not_what_it_cost(kept: Kept) -> None:
    replies, operation_id = kept[0], uuid4()
    keep(kept, operation_id, "told")
    keep(kept, operation_id, "untold")
    keep(kept, operation_id, "a", bank_id="another bank")

    with kept[1].begin() as tx:
        replies.count("b", operation_id, ["told"], tx)
        replies.drop_bank("b", tx)

    assert replies.reply("b", operation_id, "told") is None
    assert replies.reply("b", operation_id, "untold") is None
    assert replies.uncounted("b", operation_id) == {"untold": CALL}
    assert replies.reply("another bank", operation_id, "a") is not None


def test_what_is_left_behind_is_told_by_age(database: Database) -> None:
    replies, operation_id = PostgresKeptReplies(database), uuid4()
    keep((replies, database), operation_id, "a")
    keep((replies, database), operation_id, "b")
    now = datetime.now(UTC)

    assert replies.left_behind(now - timedelta(hours=1)) == []
    assert replies.left_behind(now + timedelta(hours=1)) == [("b", operation_id)]


def test_a_reply_that_cannot_be_kept_is_not_lost_to_the_work(
    shared_database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    operation_id = uuid4()

    with caplog.at_level(logging.WARNING):
        kept = PostgresKeptReplies(shared_database).keep("b", operation_id, "a", {"no number": math.nan}, CALL)

    assert not kept
    assert f"a reply for operation {operation_id} is not kept" in caplog.text


def test_without_the_database_no_model_is_asked(conninfo: str) -> None:
    with Database(conninfo) as database:
        with database.connection() as connection:
            connection.execute("ALTER TABLE kept_replies RENAME TO gone")
        with pytest.raises(MindFailed, match="no model was asked") as failed:
            PostgresKeptReplies(database).reply("b", uuid4(), "a")

    assert failed.value.transient
    assert "\n" not in str(failed.value)
