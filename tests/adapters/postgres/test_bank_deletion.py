"""A bank that is deleted while others are at work in it leaves nothing behind, on real PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.kept_replies import PostgresKeptReplies
from adapters.postgres.retain_inbox import PostgresRetainInbox
from adapters.service import Service
from application.banks import Banks
from application.command_handler import BANK, CommandHandler, bank_stream
from application.ports import Extraction, RetainSteering, Transaction
from domain.bank import Bank, BankDeleted, BankOpened, NoBank
from domain.memory import Chunk, RetainItem
from domain.mental_model.trigger import Trigger
from domain.refusals import BankNotFound, MentalModelNotFound
from projections import documents
from tests.support.services import context, retain

ITEMS = [RetainItem(content="The harbour is deep."), RetainItem(content="Ships are white.")]


def create(service: Service, mental_model_id: str) -> None:
    service.mental_models.create(
        context(service),
        "b",
        mental_model_id=mental_model_id,
        name="Ships",
        source_query="What about ships?",
        tags=(),
        max_tokens=1024,
        trigger=Trigger(),
    )


def banks_listing(service: Service, listed: Callable[[Transaction | None], None]) -> Banks:
    """The use cases of banks, with something that happens just after the models of a bank were listed."""

    def mental_models_of(bank_id: str, tx: Transaction | None) -> Sequence[str]:
        models = service.reader.ask(documents.ids(bank_id), tx)
        listed(tx)
        return models

    handler = CommandHandler(service.log, service.database)
    kept = PostgresKeptReplies(service.database)
    return Banks(handler, service.log, service.memory, PostgresRetainInbox(service.database), kept, mental_models_of)


def while_its_facts_are_read(service: Service, monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Something happens once, just after the first item was read and long before its facts are written."""
    extract = service.minds.extractor.extract
    todo = [act]

    def read(
        item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        extraction = extract(item, steering=steering, now=now, chunks=chunks)
        if todo:
            todo.pop()()
        return extraction

    monkeypatch.setattr(service.minds.extractor, "extract", read)


def rows_of(service: Service, table: str) -> int:
    with service.database.connection() as connection:
        row = connection.execute(f"SELECT count(*) AS n FROM {table} WHERE bank_id = 'b'").fetchone()  # type: ignore[arg-type]  # names of our own
    assert row is not None
    return int(row["n"])


def operation(service: Service, operation_id: UUID) -> Any:
    """As it stands in the read model; a bank that is gone shows it to nobody."""
    with service.database.connection() as connection:
        row = connection.execute("SELECT * FROM operations WHERE operation_id = %s", (operation_id,)).fetchone()
    assert row is not None
    return SimpleNamespace(**row)


def assert_ended_without_a_bank(service: Service, operation_id: UUID) -> None:
    ended = operation(service, operation_id)
    assert (ended.status, ended.retry_count, ended.next_retry_at) == ("failed", 0, None)
    assert "'b' not found" in (ended.error_message or "")


def assert_nothing_is_left(service: Service) -> None:
    assert isinstance(service.log.load(BANK, bank_stream("b")).state, NoBank)
    assert [rows_of(service, table) for table in ("fact_versions", "retain_inbox", "documents", "banks")] == [0] * 4


def test_a_model_created_while_its_bank_is_being_deleted_is_no_orphan(service: Service) -> None:
    create(service, "early")
    created_late: list[str] = []

    def one_more(tx: Transaction | None) -> None:
        if tx is None and not created_late:
            created_late.append("late")
            create(service, "late")

    banks_listing(service, one_more).delete(context(service), "b")

    assert created_late == ["late"]
    with pytest.raises(MentalModelNotFound):
        service.mental_models.load("b", "late")
    assert_nothing_is_left(service)


def test_a_model_deleted_while_its_bank_is_being_deleted_does_not_keep_the_bank(service: Service) -> None:
    create(service, "early")
    deleted: list[str] = []

    def one_less(tx: Transaction | None) -> None:
        if tx is None and not deleted:
            deleted.append("early")
            service.mental_models.delete(context(service), "b", "early")

    banks_listing(service, one_less).delete(context(service), "b")

    assert deleted == ["early"]
    assert_nothing_is_left(service)


def test_models_are_created_before_a_deletion_or_after_it_and_never_between(service: Service) -> None:
    writers = 8
    create(service, "first")
    all_ready = threading.Barrier(writers + 1)

    def make(number: int) -> None:
        all_ready.wait(timeout=30)
        create(service, f"model-{number}")

    def delete() -> None:
        all_ready.wait(timeout=30)
        service.banks.delete(context(service), "b")

    with ThreadPoolExecutor(writers + 1) as pool:
        work = [pool.submit(delete), *(pool.submit(make, number) for number in range(writers))]
        for each in work:
            each.result(timeout=60)

    models = service.reader.ask(documents.ids("b"))
    assert "first" not in models
    events = [type(each.event) for each in service.log.events(bank_stream("b"))]
    assert events == [BankOpened, BankDeleted, *([BankOpened] if models else [])], "models are in an open bank only"


def test_a_waiting_retain_of_a_deleted_bank_fails_without_a_retry_and_its_items_are_gone(service: Service) -> None:
    waiting = service.memories.retain_later(context(service), "b", ITEMS)
    assert rows_of(service, "retain_inbox") == 1

    service.banks.delete(context(service), "b")
    assert rows_of(service, "retain_inbox") == 0

    service.background.run("b", waiting)
    assert_ended_without_a_bank(service, waiting)
    assert_nothing_is_left(service)


def test_a_retain_in_flight_never_brings_back_a_deleted_bank_nor_leaves_a_fact(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    retain(service, "b", "Ships sail in May.")
    asked = service.memories.retain_later(context(service), "b", ITEMS)
    deleted: list[int] = []
    while_its_facts_are_read(service, monkeypatch, lambda: deleted.append(service.banks.delete(context(service), "b")))

    service.background.run("b", asked)

    assert deleted == [1], "the fact that was there before"
    assert_ended_without_a_bank(service, asked)
    assert_nothing_is_left(service)


def test_a_retain_in_flight_does_not_write_into_a_bank_put_anew(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_and_put_anew() -> None:
        service.banks.delete(context(service), "b")
        service.banks.put(context(service), "b", "Anew")

    asked = service.memories.retain_later(context(service), "b", ITEMS)
    while_its_facts_are_read(service, monkeypatch, delete_and_put_anew)

    service.background.run("b", asked)

    assert_ended_without_a_bank(service, asked)
    assert isinstance(service.log.load(BANK, bank_stream("b")).state, Bank)
    assert rows_of(service, "fact_versions") == 0


@pytest.mark.parametrize("waiting", [4, 5, 6])
def test_retains_beside_a_deletion_are_erased_by_it_or_refused(service: Service, waiting: int) -> None:
    """Whichever of them the stream of the bank is given to first."""
    asked = [service.memories.retain_later(context(service), "b", ITEMS) for _ in range(waiting)]
    all_ready = threading.Barrier(len(asked) + 1)

    def run(operation_id: UUID) -> None:
        all_ready.wait(timeout=30)
        service.background.run("b", operation_id)

    def delete() -> None:
        all_ready.wait(timeout=30)
        service.banks.delete(context(service), "b")

    with ThreadPoolExecutor(len(asked) + 1) as pool:
        work = [*(pool.submit(run, each) for each in asked), pool.submit(delete)]
        for each in work:
            each.result(timeout=60)

    assert {operation(service, each).status for each in asked} <= {"completed", "failed"}
    assert_nothing_is_left(service)


def test_a_bank_is_deleted_once(service: Service) -> None:
    retain(service, "b", "Ships are white.")
    both_ready = threading.Barrier(2)

    def delete() -> int | None:
        both_ready.wait(timeout=30)
        try:
            return service.banks.delete(context(service), "b")
        except BankNotFound:
            return None

    with ThreadPoolExecutor(2) as pool:
        outcomes = [each.result(timeout=60) for each in [pool.submit(delete), pool.submit(delete)]]
    assert sorted(outcomes, key=str) == [1, None]
    assert [type(each.event) for each in service.log.events(bank_stream("b"))] == [BankOpened, BankDeleted]
