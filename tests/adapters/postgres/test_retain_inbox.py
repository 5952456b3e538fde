"""Items that wait to be retained, on real PostgreSQL and in the double: whom they are for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from uuid import UUID, uuid4

import pytest

from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.read_models import ReadModels
from adapters.postgres.retain_inbox import PostgresRetainInbox
from adapters.service import Service
from application.command_handler import OPERATION, CommandHandler, Step, operation_stream
from application.ports import RetainInbox, Transactions
from domain.memory import RetainItem
from domain.operation import FailOperation, StartOperation
from tests.support.in_memory import InMemoryInbox, InMemoryTransactions
from tests.support.services import context


@pytest.fixture(params=["PostgreSQL", "double"])
def inbox(request: pytest.FixtureRequest) -> Iterator[tuple[RetainInbox, Transactions]]:
    if request.param == "double":
        yield InMemoryInbox(count(1).__next__), InMemoryTransactions()
        return
    with Database(request.getfixturevalue("shared_conninfo")) as database:
        read_models = ReadModels(database, PostgresEventLog(database, lambda _connection, _events: None))
        read_models.prepare()
        yield PostgresRetainInbox(database), database


def put(inbox: tuple[RetainInbox, Transactions], bank_id: str, *tags_of_items: tuple[str, ...]) -> UUID:
    operation_id = uuid4()
    with inbox[1].begin() as tx:
        inbox[0].put(operation_id, bank_id, [RetainItem(content="tea", tags=tags) for tags in tags_of_items], tx)
    return operation_id


def test_the_tags_of_every_item_that_waits_are_told(inbox: tuple[RetainInbox, Transactions]) -> None:
    bank_id = f"bank-{uuid4()}"
    put(inbox, bank_id, ("b", "a"), (), ("it's",))
    put(inbox, bank_id, ("b", "a"))
    put(inbox, f"bank-{uuid4()}", ("other",))

    assert sorted(inbox[0].waiting(bank_id)) == [(), ("b", "a"), ("b", "a"), ("it's",)]


def test_nothing_waits_once_its_operation_has_ended(inbox: tuple[RetainInbox, Transactions]) -> None:
    bank_id = f"bank-{uuid4()}"
    ended, _ = put(inbox, bank_id, ("a",)), put(inbox, bank_id, ("b",))

    with inbox[1].begin() as tx:
        inbox[0].drop(ended, tx)

    assert list(inbox[0].waiting(bank_id)) == [("b",)]


def test_nothing_waits_in_a_bank_that_nobody_wrote_to(inbox: tuple[RetainInbox, Transactions]) -> None:
    assert list(inbox[0].waiting(f"bank-{uuid4()}")) == []


def test_items_of_a_retain_that_failed_or_was_cancelled_are_kept_but_wait_for_nothing(service: Service) -> None:
    """Else what they are tagged with would hold up retractions for ever."""
    inbox = PostgresRetainInbox(service.database)
    handler = CommandHandler(service.log, service.database)
    waits, runs, failed, cancelled = (
        service.memories.retain_later(context(service), "b", [RetainItem(content="tea", tags=(tag,))])
        for tag in ("waits", "runs", "failed", "cancelled")
    )
    for each in (runs, failed):
        handler.execute(context(service), Step(OPERATION, operation_stream("b", each), StartOperation("b", each)))
    ends = FailOperation("b", failed, "no key", 0, None)
    handler.execute(context(service), Step(OPERATION, operation_stream("b", failed), ends))
    service.operations.cancel(context(service), "b", cancelled)

    assert sorted(inbox.waiting("b")) == [("runs",), ("waits",)]
    assert inbox.take(failed) is not None

    service.operations.retry(context(service), "b", cancelled)
    assert sorted(inbox.waiting("b")) == [("cancelled",), ("runs",), ("waits",)]
    assert inbox.take(waits) is not None
