"""Use cases of operations: cancel, retry, delete, and prune, with what waits to be retained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from application.command_handler import BANK as BANK_AGGREGATE
from application.command_handler import OPERATION as OPERATION_AGGREGATE
from application.command_handler import operation_stream
from application.operations import PRUNED_AT_ONCE, Operations
from domain.bank import BankOpened
from domain.event import Event
from domain.memory import RetainItem
from domain.operation import (
    Operation,
    OperationCancelled,
    OperationFailed,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationSpent,
    OperationStarted,
    RefreshAsked,
)
from domain.reflection import Step, ToolResult
from domain.refusals import (
    AnotherRefreshWaits,
    BankNotFound,
    OperationEnded,
    OperationNotFound,
    OperationNotRestartable,
    OperationStillOpen,
)
from tests.support.examples import (
    BANK,
    BANK_STREAM,
    MENTAL_MODEL_STREAM,
    MODEL,
    NOW,
    OPERATION,
    OPERATION_STREAM,
    created,
    later,
)
from tests.support.scripted_minds import RECALL, answer_from_all
from tests.support.world import World

REFRESH = RefreshAsked(mental_model_id=MODEL)
FAILED = OperationFailed(error_message="no answer")
ITEMS = [RetainItem(content="It has 16 arches.")]
MONTH = 30


@dataclass(frozen=True)
class EndedOperation:
    """Ended."""

    bank_id: str
    operation_id: UUID
    at: datetime


class Office:
    """The use cases over a world, whose log tells what has ended."""

    def __init__(self) -> None:
        self.world = World()
        self.looked_up: list[int] = []
        self.operations = Operations(
            self.world.handler,
            self.world.log,
            self.world.inbox,
            self.ended_before,
            self.world.in_flight,
            self.world.kept,
            self.world.progress,
        )

    def ended_before(self, time: datetime, limit: int) -> Sequence[EndedOperation]:
        streams = [each for each in self.world.log.streams if each.kind == "operation"]
        ended = [
            EndedOperation(each.bank_id, UUID(each.name), self.world.log.events(each)[-1].occurred_at)
            for each in streams
            if isinstance(state := self.world.log.load(OPERATION_AGGREGATE, each).state, Operation) and state.ended
        ]
        found = sorted((each for each in ended if each.at < time), key=lambda each: each.at)[:limit]
        self.looked_up.append(len(found))
        return found

    def has_an_operation(self, *since: Event, work: RefreshAsked = REFRESH) -> Office:
        self.world.log.record(BANK_STREAM, BankOpened(bank_id=BANK, name=BANK))
        life = self.world.log.load(BANK_AGGREGATE, BANK_STREAM).state.created_at
        requested = OperationRequested(bank_id=BANK, operation_id=OPERATION, work=work, bank_since=life)
        self.world.log.record(OPERATION_STREAM, requested, *since)
        return self

    def does(self, what: str, operation_id: UUID = OPERATION, bank_id: str = BANK) -> None:
        getattr(self.operations, what)(self.world.context, bank_id, operation_id)

    def retains_later(self, operation_id: UUID, bank_id: str = BANK) -> None:
        self.world.memories.retain_later(self.world.context, bank_id, ITEMS, operation_id)

    def last(self, operation_id: UUID = OPERATION) -> Event:
        return self.world.operation(operation_id)[-1]


def test_cancel_is_recorded_as_what_the_user_did() -> None:
    office = Office().has_an_operation()
    office.does("cancel")
    assert office.last() == OperationCancelled()
    assert office.world.log.events(OPERATION_STREAM)[-1].actor == "user"


def test_a_cancelled_refresh_writes_nothing_and_stays_cancelled_though_it_was_running() -> None:
    office = Office().has_an_operation()
    office.world.log.record(MENTAL_MODEL_STREAM, created())
    office.world.knows("It has 16 arches.")

    def is_cancelled_meanwhile(results: Sequence[ToolResult]) -> Step:
        assert office.last() == OperationStarted(attempt=1)
        office.does("cancel")
        return answer_from_all(results)

    office.world.policy.script = [RECALL, is_cancelled_meanwhile]
    office.world.works()
    assert office.world.policy.script == []
    cancelled, spent = office.world.operation()[-2:]
    assert cancelled == OperationCancelled()
    assert isinstance(spent, OperationSpent)
    assert (spent.mental_model_id, len(spent.calls)) == (MODEL, 3)
    assert office.world.document() == [created()]
    assert office.world.progress.shown == {}


def test_a_failed_one_is_retried_and_a_parked_one_runs_now_though_it_was_automatic() -> None:
    office = Office().has_an_operation(OperationStarted(attempt=1), FAILED)
    office.does("retry")
    assert office.last() == OperationRestarted(work=REFRESH)
    automatic = RefreshAsked(mental_model_id=MODEL, automatic=True)
    parked = OperationParked(work=automatic, reason="min_interval", until=later(60))
    office = Office().has_an_operation(parked, work=automatic)
    office.does("retry")
    assert office.last() == OperationRestarted(work=REFRESH)


def test_a_refresh_is_not_retried_while_another_of_the_model_waits() -> None:
    office = Office().has_an_operation(OperationStarted(attempt=1), FAILED)
    office.world.log.record(MENTAL_MODEL_STREAM, created())
    waiting = office.world.refresh_requests.refresh(office.world.context, BANK, MODEL)
    with pytest.raises(AnotherRefreshWaits, match=str(waiting.operation_id)):
        office.does("retry")
    office.does("retry", waiting.operation_id)
    office.does("cancel", waiting.operation_id)
    office.does("retry")
    assert office.last() == OperationRestarted(work=REFRESH)


def test_what_does_not_fit_the_status_is_refused() -> None:
    ended = Office().has_an_operation(FAILED)
    with pytest.raises(OperationEnded):
        ended.does("cancel")
    runs = Office().has_an_operation(OperationStarted(attempt=1))
    with pytest.raises(OperationNotRestartable):
        runs.does("retry")
    with pytest.raises(OperationStillOpen):
        runs.does("delete")


@pytest.mark.parametrize("what", ["cancel", "retry", "delete"])
def test_an_operation_that_nobody_asked_for_is_not_found(what: str) -> None:
    office = Office().has_an_operation()
    with pytest.raises(OperationNotFound):
        office.does(what, UUID(int=7))
    with pytest.raises(BankNotFound):
        office.does(what, OPERATION, "vienna")


@pytest.mark.parametrize("what", ["cancel", "retry", "delete"])
@pytest.mark.parametrize("ended", [False, True])
def test_an_operation_of_an_earlier_life_of_its_bank_is_not_found(what: str, ended: bool) -> None:
    office = Office().has_an_operation(*([FAILED] if ended else []))
    office.world.banks.delete(office.world.context, BANK)
    with pytest.raises(BankNotFound):
        office.does(what)
    office.world.clock.move(timedelta(minutes=1))
    office.retains_later(UUID(int=7))
    events = office.world.operation()
    with pytest.raises(OperationNotFound):
        office.does(what)
    assert office.world.operation() == events


def test_a_cancelled_retain_keeps_its_items_for_a_retry() -> None:
    office = Office()
    office.retains_later(OPERATION)
    office.does("cancel")
    office.world.works()
    assert office.last() == OperationCancelled()
    office.does("retry")
    office.world.works()
    assert [row.fact.text for row in office.world.memory.rows] == ["It has 16 arches."]


def test_a_deleted_retain_takes_its_items_with_it_in_the_same_transaction() -> None:
    office = Office()
    office.retains_later(OPERATION)
    office.does("cancel")
    begun = office.world.transactions.begun
    office.does("delete")
    assert office.last() == OperationRemoved()
    assert office.world.inbox.items == {}
    assert office.world.transactions.begun == begun + 1


def test_a_retain_that_is_not_deleted_keeps_its_items() -> None:
    office = Office()
    office.retains_later(OPERATION)
    with pytest.raises(OperationStillOpen):
        office.does("delete")
    assert list(office.world.inbox.items) == [OPERATION]


def test_a_deleted_operation_leaves_what_waits_under_its_id_in_another_bank() -> None:
    office = Office().has_an_operation(FAILED)
    office.retains_later(OPERATION, "vienna")
    office.does("delete")
    assert list(office.world.inbox.items) == [OPERATION]


def test_a_deleted_id_can_be_used_again() -> None:
    office = Office()
    office.retains_later(OPERATION)
    office.does("cancel")
    office.does("delete")
    office.retains_later(OPERATION)
    office.world.works()
    assert [row.fact.text for row in office.world.memory.rows] == ["It has 16 arches."]


# --- prune ------------------------------------------------------------------------------------------------------------


def ended_so_long_ago(office: Office, days: float, count: int = 1) -> list[UUID]:
    """Cancelled retains."""
    now = office.world.clock.now()
    office.world.clock.move(-timedelta(days=days))
    ids = [UUID(int=round(days * 1000) * 1000 + number) for number in range(count)]
    for each in ids:
        office.retains_later(each)
        office.does("cancel", each)
    office.world.clock.move(now - office.world.clock.now())
    return ids


def test_prune_deletes_what_ended_before_the_retention_with_its_items_and_leaves_the_rest() -> None:
    office = Office()
    (old,) = ended_so_long_ago(office, 30.5)
    (young,) = ended_so_long_ago(office, 29.5)
    office.retains_later(OPERATION)
    assert office.operations.prune(NOW, MONTH) == 1
    assert office.last(old) == OperationRemoved()
    removed = office.world.log.events(operation_stream(BANK, old))[-1]
    assert (removed.actor, removed.cause, removed.occurred_at) == ("system", "retention of operations", NOW)
    assert office.last(young) == OperationCancelled()
    assert set(office.world.inbox.items) == {young, OPERATION}


def test_prune_goes_on_until_nothing_is_left() -> None:
    office = Office()
    ended_so_long_ago(office, 31, PRUNED_AT_ONCE + 1)
    assert office.operations.prune(NOW, MONTH) == PRUNED_AT_ONCE + 1
    assert office.looked_up == [PRUNED_AT_ONCE, 1, 0]
    assert office.operations.prune(NOW, MONTH) == 0


def test_operations_are_kept_for_ever_unless_a_retention_is_set() -> None:
    office = Office()
    ended_so_long_ago(office, 31)
    assert office.operations.prune(NOW, 0) == 0
    assert office.looked_up == []


def test_prune_reaches_operations_of_a_deleted_bank() -> None:
    office = Office()
    (old,) = ended_so_long_ago(office, 31)
    office.world.banks.delete(office.world.context, BANK)
    assert office.operations.prune(NOW, MONTH) == 1
    assert office.last(old) == OperationRemoved()


def test_an_operation_that_was_restarted_meanwhile_is_left_and_ends_no_pruning_of_others() -> None:
    office = Office()
    first, second = ended_so_long_ago(office, 31, 2)
    office.world.log.before_lock.append(
        lambda: office.world.log.record(
            operation_stream(BANK, first),
            OperationRestarted(work=office.world.operation(first)[0].work),  # type: ignore[attr-defined]  # it was requested
        )
    )
    assert office.operations.prune(NOW, MONTH) == 1
    assert (office.last(second), type(office.last(first))) == (OperationRemoved(), OperationRestarted)
