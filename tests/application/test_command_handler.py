"""Lock, load, fold, decide, append: all steps or none, decided anew on a conflict, refused without a trace."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from application.command_handler import (
    ATTEMPTS,
    BANK,
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    bank_stream,
    mental_model_stream,
    open_bank,
    operation_stream,
)
from application.ports import Transaction
from domain.bank import BankOpened, OpenBank
from domain.event import Context, Event, StreamId
from domain.mental_model.commands import ChangeMentalModel, ClearContent, CreateMentalModel
from domain.mental_model.events import MentalModelRenamed, TagsChanged, TokenBudgetChanged
from domain.mental_model.trigger import Trigger
from domain.operation import OperationRequested, RefreshAsked, RequestOperation, RetainAsked
from domain.refusals import MentalModelAlreadyExists, MentalModelNotFound, OperationIdTaken, StaleVersion
from tests.support.examples import BANK as BANK_ID
from tests.support.examples import (
    BANK_STREAM,
    MENTAL_MODEL_STREAM,
    MODEL,
    NOW,
    OPERATION_STREAM,
    QUESTION,
    created,
    later,
)
from tests.support.examples import OPERATION as OPERATION_ID
from tests.support.in_memory import InMemoryEventLog, InMemoryTransactions, undo_of

CONTEXT = Context("cron", later(5), OPERATION_ID, "due")
OPEN = Step(BANK, BANK_STREAM, OpenBank(BANK_ID))
CREATE = Step(
    MENTAL_MODEL,
    MENTAL_MODEL_STREAM,
    CreateMentalModel(BANK_ID, MODEL, "Charles Bridge", QUESTION, (), 2048, Trigger()),
)
RENAME = Step(MENTAL_MODEL, MENTAL_MODEL_STREAM, ChangeMentalModel(BANK_ID, MODEL, name="Most"))
OPENED = BankOpened(bank_id=BANK_ID, name=BANK_ID)
RENAMED = MentalModelRenamed(name="Most")


class Handling:
    """A handler over an empty log, and what was done inside its transactions and stayed."""

    def __init__(self) -> None:
        self.log = InMemoryEventLog()
        self.transactions = InMemoryTransactions()
        self.handler = CommandHandler(self.log, self.transactions)
        self.runs = 0
        self.results: tuple[Done, ...] = ()
        self.kept: list[str] = []

    def within(self, tx: Transaction, results: tuple[Done, ...]) -> None:
        self.runs += 1
        self.results = results
        self.kept.append(f"run {self.runs}")
        undo_of(tx).append(lambda: self.kept.remove(f"run {self.runs}"))

    def meanwhile(self, stream: StreamId, *events: Event) -> Callable[[], None]:
        return lambda: self.log.record(stream, *events)


@pytest.fixture
def handling() -> Handling:
    return Handling()


def test_events_are_recorded_with_who_when_and_why(handling: Handling) -> None:
    (done,) = handling.handler.execute(CONTEXT, OPEN)
    (recorded,) = handling.log.events(BANK_STREAM)
    assert (recorded.event, recorded.version) == (OPENED, 1)
    assert (recorded.actor, recorded.operation_id, recorded.cause, recorded.occurred_at) == (
        "cron",
        OPERATION_ID,
        "due",
        later(5),
    )
    assert (done.events, done.version, done.state.created_at) == ((OPENED,), 1, later(5))


def test_several_streams_are_recorded_in_one_transaction(handling: Handling) -> None:
    handling.handler.execute(CONTEXT, OPEN, CREATE)
    assert (handling.log.of(BANK_STREAM), handling.log.of(MENTAL_MODEL_STREAM)) == ([OPENED], [created()])
    assert (handling.transactions.begun, handling.transactions.committed) == (1, 1)


def test_a_refusal_of_one_step_leaves_no_trace_of_the_others(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created())
    with pytest.raises(MentalModelAlreadyExists):
        handling.handler.execute(CONTEXT, OPEN, CREATE, within=handling.within)
    assert (handling.log.of(BANK_STREAM), handling.log.of(MENTAL_MODEL_STREAM)) == ([], [created()])
    assert (handling.transactions.committed, handling.runs) == (0, 0)


def test_a_conflict_in_one_stream_rolls_back_the_others_and_all_are_decided_again(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created())
    handling.log.meanwhile.append(handling.meanwhile(MENTAL_MODEL_STREAM, TagsChanged(tags=("stone",))))
    opened, renamed = handling.handler.execute(CONTEXT, OPEN, RENAME)
    assert handling.log.of(BANK_STREAM) == [OPENED]
    assert handling.log.of(MENTAL_MODEL_STREAM) == [created(), TagsChanged(tags=("stone",)), RENAMED]
    assert (opened.version, renamed.version, renamed.state.tags) == (1, 3, ("stone",))


def test_the_streams_of_all_steps_are_held_alone_before_anything_is_decided(handling: Handling) -> None:
    handling.log.before_lock.append(handling.meanwhile(MENTAL_MODEL_STREAM, created()))
    with pytest.raises(MentalModelAlreadyExists):
        handling.handler.execute(CONTEXT, OPEN, CREATE)
    assert handling.log.locked == [((BANK_STREAM, MENTAL_MODEL_STREAM), ())]


def test_what_happened_while_a_lock_was_waited_for_is_decided_on_at_the_first_attempt(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created())
    handling.log.before_lock.append(handling.meanwhile(MENTAL_MODEL_STREAM, TagsChanged(tags=("stone",))))
    (renamed,) = handling.handler.execute(CONTEXT, RENAME)
    assert (renamed.version, renamed.state.tags, handling.transactions.begun) == (3, ("stone",), 1)


def test_a_shared_stream_to_which_nothing_happens_is_held_together_with_others(handling: Handling) -> None:
    handling.log.record(BANK_STREAM, OPENED)
    opened, made = handling.handler.execute(CONTEXT, open_bank(BANK_ID), CREATE)
    assert handling.log.locked == [((MENTAL_MODEL_STREAM,), (BANK_STREAM,))]
    assert (opened.events, made.events) == ((), (created(),))


def test_when_something_happens_to_a_shared_stream_all_is_done_again_with_every_stream_alone(
    handling: Handling,
) -> None:
    opened, _ = handling.handler.execute(CONTEXT, open_bank(BANK_ID), CREATE, within=handling.within)
    assert handling.log.locked == [
        ((MENTAL_MODEL_STREAM,), (BANK_STREAM,)),
        ((BANK_STREAM, MENTAL_MODEL_STREAM), ()),
    ]
    assert (handling.log.of(BANK_STREAM), handling.log.of(MENTAL_MODEL_STREAM)) == ([OPENED], [created()])
    assert (opened.version, handling.kept, handling.transactions.committed) == (1, ["run 1"], 1)


def test_a_bank_opened_by_another_while_its_stream_was_waited_for_is_not_opened_twice(handling: Handling) -> None:
    handling.log.before_lock.extend([lambda: None, handling.meanwhile(BANK_STREAM, OPENED)])
    opened, made = handling.handler.execute(CONTEXT, open_bank(BANK_ID), CREATE)
    assert handling.log.of(BANK_STREAM) == [OPENED]
    assert (opened.events, made.events) == ((), (created(),))


def test_what_is_done_within_the_transaction_is_told_what_was_decided(handling: Handling) -> None:
    results = handling.handler.execute(CONTEXT, OPEN, CREATE, within=handling.within)
    assert handling.results == results


def test_what_became_so_meanwhile_is_not_recorded_again(handling: Handling) -> None:
    handling.log.meanwhile.append(handling.meanwhile(BANK_STREAM, OPENED))
    (done,) = handling.handler.execute(CONTEXT, OPEN)
    assert handling.log.of(BANK_STREAM) == [OPENED]
    assert (done.events, done.version) == ((), 1)


def test_what_became_impossible_meanwhile_is_refused(handling: Handling) -> None:
    handling.log.meanwhile.append(handling.meanwhile(MENTAL_MODEL_STREAM, created(name="Another")))
    with pytest.raises(MentalModelAlreadyExists):
        handling.handler.execute(CONTEXT, OPEN, CREATE)
    assert (handling.log.of(BANK_STREAM), handling.log.of(MENTAL_MODEL_STREAM)) == ([], [created(name="Another")])


def test_after_many_conflicts_the_handler_gives_up(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created())
    for tokens in range(ATTEMPTS):
        handling.log.meanwhile.append(handling.meanwhile(MENTAL_MODEL_STREAM, TokenBudgetChanged(max_tokens=tokens)))
    with pytest.raises(StaleVersion, match="was changed by someone else meanwhile"):
        handling.handler.execute(CONTEXT, RENAME, within=handling.within)
    assert RENAMED not in handling.log.of(MENTAL_MODEL_STREAM)
    assert (handling.runs, handling.kept) == (ATTEMPTS, [])


def test_a_version_that_is_not_the_expected_one_is_refused_at_once(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created(), TagsChanged(tags=("stone",)))
    step = Step(RENAME.aggregate, RENAME.stream, RENAME.command, expected=1)
    with pytest.raises(StaleVersion, match="If-Match says 1, it is at 2") as refused:
        handling.handler.execute(CONTEXT, step, within=handling.within)
    assert (refused.value.expected, refused.value.actual) == (1, 2)
    assert (handling.log.loads, handling.runs) == (1, 0)


def test_a_conflict_on_an_expected_version_is_not_retried(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created())
    handling.log.meanwhile.append(handling.meanwhile(MENTAL_MODEL_STREAM, TagsChanged(tags=("stone",))))
    with pytest.raises(StaleVersion):
        handling.handler.execute(CONTEXT, Step(RENAME.aggregate, RENAME.stream, RENAME.command, expected=1))
    assert handling.log.of(MENTAL_MODEL_STREAM) == [created(), TagsChanged(tags=("stone",))]
    assert handling.log.loads == 1


def test_an_expected_version_that_is_met_is_recorded(handling: Handling) -> None:
    handling.log.record(MENTAL_MODEL_STREAM, created())
    handling.handler.execute(CONTEXT, Step(RENAME.aggregate, RENAME.stream, RENAME.command, expected=1))
    assert handling.log.of(MENTAL_MODEL_STREAM)[-1] == RENAMED


def test_what_is_done_within_a_transaction_that_conflicts_is_done_again(handling: Handling) -> None:
    handling.log.meanwhile.append(handling.meanwhile(BANK_STREAM, OPENED))
    handling.handler.execute(CONTEXT, OPEN, within=handling.within)
    assert handling.kept == ["run 2"]


def test_a_failure_within_the_transaction_records_nothing(handling: Handling) -> None:
    def fail(_tx: Transaction, _results: tuple[Done, ...]) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        handling.handler.execute(CONTEXT, OPEN, within=fail)
    assert handling.log.of(BANK_STREAM) == []


def test_what_is_already_so_records_nothing(handling: Handling) -> None:
    handling.log.record(BANK_STREAM, OPENED)
    (done,) = handling.handler.execute(CONTEXT, OPEN)
    assert (done.events, done.version, handling.log.of(BANK_STREAM)) == ((), 1, [OPENED])


def test_what_is_already_so_still_runs_what_was_asked_within_the_transaction(handling: Handling) -> None:
    handling.log.record(BANK_STREAM, OPENED)
    handling.handler.execute(CONTEXT, OPEN, within=handling.within)
    assert handling.kept == ["run 1"]


def test_a_step_may_follow_from_what_the_ones_before_came_to(handling: Handling) -> None:
    seen: list[Done] = []

    def ask(*before: Done) -> RequestOperation:
        seen.extend(before)
        return RequestOperation(BANK_ID, OPERATION_ID, RefreshAsked(mental_model_id=before[1].state.name))

    handling.handler.execute(CONTEXT, OPEN, CREATE, Step(OPERATION, OPERATION_STREAM, ask))
    assert [done.events for done in seen] == [(OPENED,), (created(),)]
    (asked,) = handling.log.of(OPERATION_STREAM)
    assert isinstance(asked, OperationRequested)
    assert asked.work == RefreshAsked(mental_model_id="Charles Bridge")


def test_a_refusal_names_the_stream_it_is_about(handling: Handling) -> None:
    with pytest.raises(MentalModelNotFound, match=f"'{MODEL}' not found in bank '{BANK_ID}'"):
        handling.handler.execute(CONTEXT, Step(MENTAL_MODEL, MENTAL_MODEL_STREAM, ClearContent(BANK_ID, MODEL)))


def test_an_operation_id_is_its_own_in_each_bank(handling: Handling) -> None:
    for bank_id in ("prague", "vienna"):
        request = RequestOperation(bank_id, OPERATION_ID, RefreshAsked(mental_model_id=MODEL))
        handling.handler.execute(CONTEXT, Step(OPERATION, operation_stream(bank_id, OPERATION_ID), request))
    assert len(handling.log.streams) == 2


def test_streams_are_named_by_bank_and_what_they_are_about() -> None:
    assert bank_stream("prague") == StreamId("bank", "prague", "prague")
    assert mental_model_stream("prague", "bridge") == StreamId("mental_model", "prague", "bridge")
    assert operation_stream("prague", OPERATION_ID) == StreamId("operation", "prague", str(OPERATION_ID))


def test_the_time_of_a_command_is_the_time_of_its_events(handling: Handling) -> None:
    for minute in (3, 1):
        context = Context("user", later(minute))
        name = ChangeMentalModel(BANK_ID, MODEL, name=f"at {minute}")
        handling.log.record(MENTAL_MODEL_STREAM, created(), context=Context("user", NOW))
        handling.handler.execute(context, Step(MENTAL_MODEL, MENTAL_MODEL_STREAM, name))
        assert handling.log.events(MENTAL_MODEL_STREAM)[-1].occurred_at == later(minute)


def test_an_operation_id_that_is_taken_leaves_nothing_of_the_request(handling: Handling) -> None:
    asked = OperationRequested(bank_id=BANK_ID, operation_id=OPERATION_ID, work=RefreshAsked(mental_model_id=MODEL))
    handling.log.record(OPERATION_STREAM, asked)
    request = RequestOperation(BANK_ID, OPERATION_ID, RetainAsked(items_count=1, items_sha256="one"))
    with pytest.raises(OperationIdTaken):
        handling.handler.execute(CONTEXT, OPEN, Step(OPERATION, OPERATION_STREAM, request), within=handling.within)
    assert (handling.log.of(BANK_STREAM), handling.kept) == ([], [])
