"""Items that wait to be retained, on real PostgreSQL and in the double: whom they are for."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from adapters.postgres.database import Database
from adapters.postgres.retain_inbox import PostgresRetainInbox
from application.ports import RetainInbox, Transactions
from domain.memory import RetainItem
from tests.support.in_memory import InMemoryInbox, InMemoryTransactions


@pytest.fixture(params=["PostgreSQL", "double"])
def inbox(request: pytest.FixtureRequest) -> tuple[RetainInbox, Transactions]:
    if request.param == "double":
        return InMemoryInbox(), InMemoryTransactions()
    database: Database = request.getfixturevalue("shared_database")
    return PostgresRetainInbox(database), database


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
