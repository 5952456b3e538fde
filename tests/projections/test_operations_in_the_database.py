"""The list of operations in PostgreSQL: what is in flight, what ended, what a page and its filters give."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

import pytest

from adapters.postgres import projector
from adapters.postgres.database import Database
from adapters.postgres.reader import Reader
from domain.bank import BankDeleted, BankOpened
from domain.event import Event, Recorded, StreamId
from domain.operation import (
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationStarted,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    Work,
)
from projections import operations
from projections.operations import InFlight
from projections.registry import PROJECTIONS
from tests.support.examples import MODEL, NOW, later

REFRESH = RefreshAsked(mental_model_id=MODEL)
RETAIN = RetainAsked(items_count=1, items_sha256="one")
STARTED = OperationStarted(attempt=1)
PARKED = OperationParked(work=REFRESH, reason="min_interval", until=later(60))
COMPLETED = OperationCompleted(result=RefreshDone(outcome="content_written"))
FAILED = OperationFailed(error_message="no answer")


class Listed:
    """The operations of one bank, told event by event."""

    def __init__(self, database: Database) -> None:
        self.bank_id = f"bank-{uuid4()}"
        self._database = database
        self._reader = Reader(database)
        self._since = NOW
        self.opened(NOW)

    def opened(self, at: datetime) -> None:
        """The bank comes to be, or comes back."""
        version = 1 if at == NOW else 3
        self._since = at
        self._tell([self._of("bank", self.bank_id, BankOpened(bank_id=self.bank_id, name="b"), version, at)])

    def deleted(self) -> None:
        self._tell([self._of("bank", self.bank_id, BankDeleted(), 2, later(1))])

    def happens(self, *since: Event, work: Work = REFRESH, at: datetime = NOW, operation_id: UUID | None = None) -> str:
        """An operation that was asked for at a time, and all that came of it a minute later; its id."""
        name = str(operation_id or uuid4())
        requested = OperationRequested(bank_id=self.bank_id, operation_id=UUID(name), work=work, bank_since=self._since)
        self.goes_on(name, requested, version=1, at=at)
        self.goes_on(name, *since, version=2, at=at.replace(minute=(at.minute + 1) % 60))
        return name

    def goes_on(self, name: str, *events: Event, version: int, at: datetime) -> None:
        self._tell([self._of("operation", name, event, version + n, at) for n, event in enumerate(events)])

    def in_flight(self, mental_model_id: str = MODEL) -> list[InFlight]:
        return self._reader.ask(operations.in_flight(self.bank_id, mental_model_id))

    def row(self, name: str) -> operations.OperationRow | None:
        return self._reader.ask(operations.find(self.bank_id, name))

    def page(
        self,
        *,
        status: str | None = None,
        work: str | None = None,
        limit: int = 7,
        offset: int = 0,
        after: str | None = None,
    ) -> tuple[list[str], int]:
        rows, total = self._reader.ask(
            operations.page(self.bank_id, status=status, operation_type=work, limit=limit, offset=offset, after=after)
        )
        return [row.operation_id for row in rows], total

    def ended_before(self, time: datetime, limit: int = 100) -> list[str]:
        found = self._reader.ask(operations.ended_before(time, limit))
        return [str(each.operation_id) for each in found if each.bank_id == self.bank_id]

    def _of(self, kind: str, name: str, event: Event, version: int, at: datetime) -> Recorded:
        stream = StreamId(kind, self.bank_id, name)  # type: ignore[arg-type]  # "bank" or "operation"
        return Recorded(stream, version, 1, event, "user", None, "", at)

    def _tell(self, events: Sequence[Recorded]) -> None:
        with self._database.begin() as tx:
            for projection in PROJECTIONS:
                if projection.name in ("banks", "operations"):
                    projector.run(tx.connection, projector.statements_of(projection, events))


@pytest.fixture(scope="module")
def folded(shared_database: Database) -> Database:
    with shared_database.begin() as tx:
        for projection in PROJECTIONS:
            tx.connection.execute(projection.ddl)  # type: ignore[arg-type]  # our own text
    return shared_database


@pytest.fixture
def listed(folded: Database) -> Listed:
    return Listed(folded)


def test_refreshes_that_wait_or_run_are_in_flight_oldest_first(listed: Listed) -> None:
    waits = listed.happens(at=later(3))
    parked = listed.happens(PARKED, at=later(2))
    runs = listed.happens(STARTED, at=later(1))
    again = listed.happens(FAILED, OperationRestarted(work=REFRESH), at=later(4))
    for end in (COMPLETED, FAILED, OperationCancelled()):
        listed.happens(STARTED, end)
    listed.happens(work=RefreshAsked(mental_model_id="old-town"))
    listed.happens(work=RETAIN)
    assert listed.in_flight() == [
        InFlight(runs, "processing", None),
        InFlight(parked, "pending", later(60)),
        InFlight(waits, "pending", None),
        InFlight(again, "pending", None),
    ]


def test_of_two_refreshes_asked_for_at_the_same_time_the_lower_id_is_the_older(listed: Listed) -> None:
    ids = sorted(str(uuid4()) for _ in range(4))
    for each in reversed(ids):
        listed.happens(operation_id=UUID(each))
    assert [each.operation_id for each in listed.in_flight()] == ids


def test_nothing_of_an_earlier_life_of_the_bank_is_in_flight(listed: Listed) -> None:
    listed.happens()
    listed.deleted()
    assert listed.in_flight() == []
    listed.opened(later(2))
    assert listed.in_flight() == []
    anew = listed.happens(at=later(3))
    assert [each.operation_id for each in listed.in_flight()] == [anew]


def test_a_parked_operation_tells_why_until_it_runs(listed: Listed) -> None:
    parked = listed.happens(PARKED)
    row = listed.row(parked)
    assert row is not None
    assert (row.status, row.next_retry_at, row.park_reason) == ("pending", later(60), "min_interval")
    listed.goes_on(parked, STARTED, version=3, at=later(60))
    row = listed.row(parked)
    assert row is not None
    assert (row.status, row.next_retry_at, row.park_reason) == ("processing", None, None)


def test_operations_that_ended_before_a_time_are_told_the_first_to_end_first(listed: Listed) -> None:
    last = listed.happens(STARTED, OperationCancelled(), at=later(7))
    second = listed.happens(STARTED, FAILED, at=later(5))
    first = listed.happens(STARTED, COMPLETED, at=later(4))
    listed.happens(STARTED)
    listed.happens(PARKED)
    listed.happens(FAILED, OperationRestarted(work=REFRESH))
    listed.happens(FAILED, OperationRemoved())
    assert listed.ended_before(later(8)) == [first, second], "what ends at that time has not ended before it"
    assert listed.ended_before(later(9)) == [first, second, last]


def test_no_more_than_asked_for_are_told(folded: Database) -> None:
    listed = Listed(folded)
    for _ in range(3):
        listed.happens(FAILED)
    assert len(Reader(folded).ask(operations.ended_before(later(1440), 2))) == 2


def test_operations_of_an_earlier_life_of_their_bank_are_told_too(listed: Listed) -> None:
    before = listed.happens(FAILED)
    listed.deleted()
    assert listed.ended_before(later(9)) == [before]


def test_a_removed_operation_is_not_listed(listed: Listed) -> None:
    removed = listed.happens(FAILED, OperationRemoved())
    kept = listed.happens(FAILED)
    assert listed.row(removed) is None
    assert listed.page() == ([kept], 1)


def test_op_06_pages_of_a_filtered_list_neither_repeat_nor_miss_while_new_ones_arrive(listed: Listed) -> None:
    ends = {"pending": (), "processing": (STARTED,), "completed": (COMPLETED,), "failed": (FAILED,)}
    of: dict[tuple[str, str], list[str]] = {}
    for number in range(30):
        status = list(ends)[number % 4]
        work: Work = REFRESH if number % 3 else RETAIN
        at = later(number // 5)  # several at the same time
        of.setdefault((status, work.type), []).append(listed.happens(*ends[status], work=work, at=at))

    def everything(status: str, work: str) -> list[str]:
        seen: list[str] = []
        while True:
            page, total = listed.page(status=status, work=work, limit=2, offset=len(seen))
            if not page:
                assert total == len(seen)
                return seen
            seen += page
            listed.happens(at=later(40))  # a new one waits: it is none of those asked for

    for status in ("completed", "failed", "processing"):
        for work in ("refresh_mental_model", "retain"):
            seen = everything(status, work)
            assert len(seen) == len(set(seen))
            assert set(seen) == set(of[status, work])


def test_op_06_pages_after_an_operation_neither_repeat_nor_miss_though_new_ones_of_the_kind_arrive(
    listed: Listed,
) -> None:
    ids = [listed.happens(at=later(number // 4)) for number in range(30)]
    seen: list[str] = []
    while True:
        page, total = listed.page(status="pending", limit=7, after=seen[-1] if seen else None)
        assert total == 30 + len(seen) // 7 + bool(len(seen) % 7), "all that match, whatever the page begins after"
        if not page:
            break
        seen += page
        listed.happens(at=later(40))
    assert len(seen) == 30
    assert set(seen) == set(ids)


def test_op_06_a_list_is_newest_first_whatever_happens_to_what_is_in_it(listed: Listed) -> None:
    ids = sorted((listed.happens(at=later(number // 3)) for number in range(9)), key=str)
    before, _ = listed.page(limit=9)
    rows = {name: listed.row(name) for name in ids}
    assert before == sorted(ids, key=lambda name: (rows[name].created_at, name), reverse=True)  # type: ignore[union-attr]  # all are there
    for name in ids[::2]:
        listed.goes_on(name, STARTED, PARKED, version=2, at=later(50))
    pages = [name for offset in range(0, 9, 2) for name in listed.page(limit=2, offset=offset)[0]]
    assert pages == before
