"""Use cases of operations: cancel, retry, delete, and prune what is left of those that ended long ago."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from application.attempt_account import AttemptAccount
from application.command_handler import (
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    Within,
    mental_model_stream,
    operation_stream,
    require_bank,
)
from application.ports import EventLog, KeptReplies, ProgressBoard, RetainInbox, Transaction
from application.refresh_requests import InFlight
from domain.event import Context
from domain.mental_model.commands import RequireMentalModel
from domain.mental_model.state import MentalModel
from domain.operation import (
    BatchRetainAsked,
    CancelOperation,
    Operation,
    OperationCommand,
    OperationSpent,
    RefreshAsked,
    RemoveOperation,
    RestartOperation,
    SpendOperation,
)
from domain.refusals import (
    AnotherRefreshWaits,
    OperationEnded,
    OperationNotFound,
    OperationNotRestartable,
    OperationStillOpen,
)

PRUNED_AT_ONCE = 200
"""How many are looked up at a time; each is removed by itself."""


class Ended(Protocol):
    """An operation that has ended."""

    @property
    def bank_id(self) -> str: ...

    @property
    def operation_id(self) -> UUID: ...


class Operations:
    """`ended_before` gives operations of all banks that ended before a time, at most as many as asked for; `in_flight`
    the refreshes of a model that wait or run, as a transaction sees them."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        inbox: RetainInbox,
        ended_before: Callable[[datetime, int], Sequence[Ended]],
        in_flight: Callable[[str, str, Transaction], Sequence[InFlight]],
        kept: KeptReplies,
        progress: ProgressBoard,
    ) -> None:
        self._handler = handler
        self._log = log
        self._inbox = inbox
        self._ended_before = ended_before
        self._in_flight = in_flight
        self._kept = kept
        self._progress = progress

    def cancel(self, context: Context, bank_id: str, operation_id: UUID) -> None:
        """One that waits never runs; what one that runs still comes to is not recorded, but what it spends. Of one made
        of parts those that have not ended are cancelled.

        Raises BankNotFound, OperationNotFound, OperationEnded."""
        if parts := self._parts_of(bank_id, operation_id):
            if not self._of_parts(parts, lambda part: self.cancel(context, bank_id, part)):
                raise OperationEnded(str(operation_id))
            return
        account = AttemptAccount(self._kept, bank_id, operation_id)

        def settle(tx: Transaction, results: tuple[Done, ...]) -> None:
            self._progress.clear(bank_id, operation_id, tx)
            if any(isinstance(event, OperationSpent) for event in results[-1].events):
                account.settle(tx, drop=True)

        def cancel() -> CancelOperation:
            return CancelOperation(bank_id, operation_id, account.untold())

        self._execute(context, bank_id, operation_id, cancel, settle)

    def retry(self, context: Context, bank_id: str, operation_id: UUID) -> None:
        """A failed or cancelled one begins anew, one that waits for a time runs at once. Of one made of parts those do
        that can.

        Raises BankNotFound, OperationNotFound, OperationNotRestartable, and AnotherRefreshWaits for a refresh of a
        model of which another waits."""
        if parts := self._parts_of(bank_id, operation_id):
            if not self._of_parts(parts, lambda part: self.retry(context, bank_id, part)):
                raise OperationNotRestartable(str(operation_id), "done, or runs")
            return
        restart = RestartOperation(bank_id, operation_id)
        model = self._model_of(bank_id, operation_id)
        if model is None:
            self._execute(context, bank_id, operation_id, restart)
            return
        model_id = model.mental_model_id

        def only_one_waits(tx: Transaction, _results: tuple[Done, ...]) -> None:
            for each in self._in_flight(bank_id, model_id, tx):
                if each.status == "pending" and each.operation_id != str(operation_id):
                    raise AnotherRefreshWaits(str(operation_id), each.operation_id)

        alone = Step(MENTAL_MODEL, mental_model_stream(bank_id, model_id), RequireMentalModel(bank_id, model_id))
        self._execute(context, bank_id, operation_id, restart, only_one_waits, alone)

    def _parts_of(self, bank_id: str, operation_id: UUID) -> list[UUID]:
        operation = self._log.load(OPERATION, operation_stream(bank_id, operation_id)).state
        if not isinstance(operation, Operation) or not isinstance(operation.work, BatchRetainAsked):
            return []
        return [part.operation_id for part in operation.work.parts]

    def _of_parts(self, parts: Sequence[UUID], change: Callable[[UUID], None]) -> int:
        """How many of the parts could be changed."""
        changed = 0
        for part in parts:
            with suppress(OperationNotFound, OperationEnded, OperationNotRestartable):
                change(part)
                changed += 1
        return changed

    def _model_of(self, bank_id: str, operation_id: UUID) -> MentalModel | None:
        """The model that an operation refreshes, if it does, and if that is still there."""
        operation = self._log.load(OPERATION, operation_stream(bank_id, operation_id)).state
        if not isinstance(operation, Operation) or not isinstance(operation.work, RefreshAsked):
            return None
        model = self._log.load(MENTAL_MODEL, mental_model_stream(bank_id, operation.work.mental_model_id)).state
        return model if isinstance(model, MentalModel) else None

    def delete(self, context: Context, bank_id: str, operation_id: UUID) -> None:
        """One that has ended is no longer listed, and items it did not retain are dropped; the log keeps its events.
        One made of parts goes with them.

        Raises BankNotFound, OperationNotFound, OperationStillOpen."""
        parts = self._parts_of(bank_id, operation_id)
        for part in parts:
            state = self._log.load(OPERATION, operation_stream(bank_id, part)).state
            if isinstance(state, Operation) and not state.ended:
                raise OperationStillOpen(str(part), state.status)
        for part in parts:
            with suppress(OperationNotFound):
                self.delete(context, bank_id, part)
        remove = RemoveOperation(bank_id, operation_id)
        self._execute(context, bank_id, operation_id, remove, self._drop_items(bank_id, operation_id))

    def prune(self, now: datetime, days: int) -> int:
        """Deletes operations of all banks that ended more than so many days ago; how many that were. 0 days: none."""
        if days == 0:
            return 0
        pruned = 0
        while ended := self._ended_before(now - timedelta(days=days), PRUNED_AT_ONCE):
            removed = sum(self._prune(now, each) for each in ended)
            pruned += removed
            if removed < len(ended):  # the rest was restarted or deleted meanwhile; what is left is for the next time
                break
        return pruned

    def _prune(self, now: datetime, ended: Ended) -> bool:
        stream = operation_stream(ended.bank_id, ended.operation_id)
        step = Step(OPERATION, stream, RemoveOperation(ended.bank_id, ended.operation_id))
        with suppress(OperationNotFound, OperationStillOpen):
            context = Context("system", now, cause="retention of operations")
            self._handler.execute(context, step, within=self._drop_items(ended.bank_id, ended.operation_id))
            return True
        return False

    def settle_replies(self, now: datetime, kept_before: datetime) -> int:
        """Has the log tell what replies cost that were kept before a time and that no attempt told, and forgets them;
        of how many operations."""
        left = self._kept.left_behind(kept_before)
        for bank_id, operation_id in left:
            self._settle_replies(now, bank_id, operation_id)
        return len(left)

    def _settle_replies(self, now: datetime, bank_id: str, operation_id: UUID) -> None:
        account = AttemptAccount(self._kept, bank_id, operation_id)
        stream = operation_stream(bank_id, operation_id)
        state = self._log.load(OPERATION, stream).state
        if isinstance(state, Operation) and state.status == "processing":
            return  # its attempt will tell
        refresh = isinstance(state, Operation) and isinstance(state.work, RefreshAsked)
        model_id = state.work.mental_model_id if refresh else None

        def spend(*_results: Done) -> SpendOperation:
            return SpendOperation(bank_id, operation_id, model_id, account.untold())

        def settle(tx: Transaction, _results: tuple[Done, ...]) -> None:
            account.settle(tx, drop=True)

        context = Context("system", now, cause="retention of replies")
        self._handler.execute(context, Step(OPERATION, stream, spend), within=settle)

    def _drop_items(self, bank_id: str, operation_id: UUID) -> Callable[[Transaction, tuple[Done, ...]], None]:
        """Another bank may have a retain under the same id."""

        def drop(tx: Transaction, _results: tuple[Done, ...]) -> None:
            self._inbox.drop(operation_id, tx, bank_id)

        return drop

    def _execute(
        self,
        context: Context,
        bank_id: str,
        operation_id: UUID,
        command: OperationCommand | Callable[[], OperationCommand],
        within: Within | None = None,
        *before: Step,
    ) -> None:
        """An operation of an earlier life of the bank is not found. `before` are steps on other streams; a command may
        be made when nobody else can change the operation."""
        stream = operation_stream(bank_id, operation_id)
        known = self._log.load(OPERATION, stream).state

        def of_this_life(bank: Done, *_others: Done) -> OperationCommand:
            if isinstance(known, Operation) and known.bank_since != bank.state.created_at:
                raise OperationNotFound(bank_id, str(operation_id))
            return command() if callable(command) else command

        step = Step(OPERATION, stream, of_this_life)
        self._handler.execute(context, require_bank(bank_id), *before, step, within=within)
