"""Which documents refresh themselves, as PostgreSQL tells: from created, changed and deleted triggers."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.read_models import ReadModels
from adapters.postgres.reader import Reader
from application.command_handler import MENTAL_MODEL, mental_model_stream, operation_stream
from application.ports import StreamAppend
from domain.event import Context, Event
from domain.mental_model.events import MentalModelDeleted, TagsChanged, TriggerChanged
from domain.mental_model.trigger import Trigger
from domain.operation import (
    OperationCompleted,
    OperationFailed,
    OperationRequested,
    OperationStarted,
    RefreshAsked,
    RefreshDone,
)
from domain.scheduling import CronSchedule, Failures
from projections import schedules
from tests.support.examples import NOW, created, later, written
from tests.support.memories import BankMemory, document

AT_THREE = Trigger(refresh_cron="0 3 * * *")
AFTER_WRITES = Trigger(refresh_after_consolidation=True)


class Bank:
    """A bank of the test's own, whose events are recorded without asking anybody."""

    def __init__(self, database: Database, log: PostgresEventLog) -> None:
        self.bank_id = f"bank-{uuid4()}"
        self.reader = Reader(database)
        self._database = database
        self._log = log

    def happens(self, name: str, *events: Event, at: datetime = NOW) -> None:
        stream = mental_model_stream(self.bank_id, name)
        self._record(StreamAppend(stream, self._log.load(MENTAL_MODEL, stream).version, events, written(), 0), at)

    def is_made(self, name: str, trigger: Trigger) -> None:
        self.happens(name, created(bank_id=self.bank_id, mental_model_id=name, trigger=trigger))

    def operation(self, name: str, end: Event | None, asked: datetime, ended: datetime = NOW) -> None:
        operation_id: UUID = uuid4()
        stream = operation_stream(self.bank_id, operation_id)
        work = RefreshAsked(mental_model_id=name)
        requested = OperationRequested(bank_id=self.bank_id, operation_id=operation_id, work=work)
        self._record(StreamAppend(stream, 0, (requested,), written(), 0), asked)
        if end is not None:
            self._record(StreamAppend(stream, 1, (end,), written(), 0), ended)

    def _record(self, append: StreamAppend, at: datetime) -> None:
        with self._database.begin() as tx:
            self._log.append([append], Context("worker", at), tx)

    def by_cron(self) -> list[CronSchedule]:
        return [each for each in self.reader.ask(schedules.by_cron()) if each.bank_id == self.bank_id]


@pytest.fixture(scope="module")
def log(shared_database: Database) -> PostgresEventLog:
    """A log that queues no jobs, with read models."""
    log = PostgresEventLog(shared_database, lambda _connection, _events: None)
    ReadModels(shared_database, log).prepare()
    return log


@pytest.fixture
def bank(shared_database: Database, log: PostgresEventLog) -> Bank:
    return Bank(shared_database, log)


def test_documents_with_a_cron_are_listed_with_what_a_look_depends_on(bank: Bank, shared_database: Database) -> None:
    bank.is_made("by-hand", Trigger())
    bank.is_made("after-writes", AFTER_WRITES)
    bank.is_made("nightly", AT_THREE)
    bank.is_made("in-full", Trigger(refresh_after_consolidation=True, full_refresh_cron="0 3 * * 0"))
    assert bank.by_cron() == [
        CronSchedule(bank.bank_id, "in-full", 1, 0),
        CronSchedule(bank.bank_id, "nightly", 1, 0),
    ]
    bank.happens("nightly", TagsChanged(tags=("stone",)), written())
    BankMemory(shared_database, bank.bank_id).retain(document("guide", "The bridge is of stone."))
    assert bank.by_cron() == [
        CronSchedule(bank.bank_id, "in-full", 1, 1),
        CronSchedule(bank.bank_id, "nightly", 3, 1),
    ]


def test_a_changed_trigger_counts_and_a_deleted_document_is_gone(bank: Bank) -> None:
    bank.is_made("nightly", AT_THREE)
    bank.happens("nightly", TriggerChanged(trigger=AFTER_WRITES))
    assert bank.by_cron() == []
    assert bank.reader.ask(schedules.after_writes(bank.bank_id)) == [(bank.bank_id, "nightly")]
    bank.happens("nightly", TriggerChanged(trigger=AT_THREE))
    assert [each.version for each in bank.by_cron()] == [3]
    assert bank.reader.ask(schedules.after_writes(bank.bank_id)) == []
    bank.happens("nightly", MentalModelDeleted())
    assert bank.by_cron() == []


def test_documents_to_refresh_after_writes_are_listed_for_one_bank_or_for_all(
    bank: Bank, shared_database: Database, log: PostgresEventLog
) -> None:
    other = Bank(shared_database, log)
    for each, name in ((bank, "b"), (bank, "a"), (other, "c")):
        each.is_made(name, AFTER_WRITES)
    own = [(bank.bank_id, "a"), (bank.bank_id, "b")]
    assert bank.reader.ask(schedules.after_writes(bank.bank_id)) == own
    everywhere = bank.reader.ask(schedules.after_writes(None))
    assert {*own, (other.bank_id, "c")} <= set(everywhere)


def test_failures_are_those_of_operations_since_the_last_refresh(bank: Bank) -> None:
    for name in ("bridge", "castle", "square"):
        bank.is_made(name, AFTER_WRITES)
    failure = OperationFailed(error_message="timed out")
    bank.operation("bridge", failure, later(1), later(2))
    bank.happens("bridge", written(), at=later(3))
    assert bank.reader.ask(schedules.failures(bank.bank_id, ["bridge"])) == {}
    bank.operation("bridge", failure, later(4), later(5))
    bank.operation("bridge", OperationCompleted(result=RefreshDone(outcome="content_written")), later(6), later(7))
    bank.operation("bridge", failure, later(6), later(8))
    bank.operation("castle", failure, NOW, NOW + timedelta(seconds=1))
    assert bank.reader.ask(schedules.failures(bank.bank_id, ["bridge", "castle", "square", "none"])) == {
        "bridge": Failures(2, later(8)),
        "castle": Failures(1, NOW + timedelta(seconds=1)),
    }
    assert bank.reader.ask(schedules.failures(bank.bank_id, [])) == {}


def test_documents_wait_whose_refresh_was_asked_for_in_this_life_and_has_not_begun(bank: Bank) -> None:
    for name in ("bridge", "castle", "square", "tower"):
        bank.is_made(name, AFTER_WRITES)
    bank.operation("bridge", None, NOW)
    bank.operation("bridge", None, later(1))
    bank.operation("castle", OperationStarted(attempt=1), NOW, later(1))
    bank.operation("square", None, later(-1))
    names = ["bridge", "castle", "square", "tower", "none"]
    assert bank.reader.ask(schedules.waiting(bank.bank_id, names)) == {"bridge"}


def test_when_documents_were_last_refreshed(bank: Bank) -> None:
    bank.is_made("bridge", AFTER_WRITES)
    bank.is_made("castle", AFTER_WRITES)
    bank.happens("castle", written(), at=later(3))
    asked = bank.reader.ask(schedules.refreshed_at(bank.bank_id, ["bridge", "castle", "none"]))
    assert asked == {"bridge": NOW, "castle": later(3)}
