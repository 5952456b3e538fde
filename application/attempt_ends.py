"""How attempts at operations begin and end, on record: with what they paid for, what becomes of replies that were kept,
and, for a refresh, that only one of its model waits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from application.attempt_account import AttemptAccount
from application.automation import Automation
from application.command_handler import (
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    Within,
    mental_model_stream,
    operation_stream,
)
from application.ports import Clock, KeptReplies, MindFailed, ProgressBoard, Transaction
from application.retries import Replies, RetryPolicy
from domain.event import Context
from domain.mental_model.commands import RequireMentalModel
from domain.operation import (
    CompleteOperation,
    FailOperation,
    Operation,
    OperationCommand,
    OperationParked,
    OperationRetryScheduled,
    OperationStarted,
    ParkOperation,
    RefreshAsked,
    Result,
    SpendOperation,
    StartOperation,
)
from domain.refusals import MentalModelNotFound, OperationEnded, OperationNotFound
from domain.scheduling import delay_before_retry
from domain.storable import storable
from domain.usage import ModelCall

logger = logging.getLogger(__name__)


class _AnotherWaits(Exception):
    """Another refresh of the same model waits: it reads all there is, and only one is to wait."""


class AttemptEnds:
    """Records the beginning and the end of attempts."""

    def __init__(
        self,
        handler: CommandHandler,
        clock: Clock,
        retries: RetryPolicy,
        automation: Automation,
        kept: KeptReplies,
        progress: ProgressBoard,
    ) -> None:
        self._handler = handler
        self._clock = clock
        self._retries = retries
        self._automation = automation
        self._kept = kept
        self._progress = progress

    def account(self, operation: Operation) -> AttemptAccount:
        return AttemptAccount(self._kept, operation.bank_id, operation.operation_id)

    def context(self, operation_id: UUID) -> Context:
        return Context("worker", self._clock.now(), operation_id, "operation")

    def started(self, operation: Operation, account: AttemptAccount) -> int | None:
        """The number of the attempt that began; None for an operation that was cut off too often and ended instead."""
        bank_id, operation_id = operation.bank_id, operation.operation_id

        def start() -> StartOperation:
            cut_off = operation.status == "processing"
            return StartOperation(
                bank_id, operation_id, self._retries.at_most_cut_off, account.untold() if cut_off else ()
            )

        def begin(tx: Transaction, results: tuple[Done, ...]) -> None:
            event = results[0].events[0]
            if isinstance(event, OperationStarted):
                self._progress.begin(bank_id, operation_id, event.attempt, tx)
            else:
                self.settle(operation, account, "useless", tx)

        event = self._execute(operation_id, self._step(operation, start), within=begin)[0].events[0]
        return event.attempt if isinstance(event, OperationStarted) else None

    def completed(self, operation: Operation, account: AttemptAccount, result: Result) -> Step:
        """The step that completes the operation; `settle` goes with it. What the attempt cost is in its result."""
        account.tells(getattr(result, "calls", ()))
        bank_id, operation_id = operation.bank_id, operation.operation_id
        return self._step(operation, lambda *_: CompleteOperation(bank_id, operation_id, result, account.untold()))

    def record(
        self,
        operation: Operation,
        account: AttemptAccount,
        end: Callable[..., OperationCommand],
        replies: Callable[[tuple[Done, ...]], Replies],
        *before: Step,
    ) -> None:
        """Records the end of an attempt after other steps. `end` is given whether the operation may wait to be tried
        again, and what the steps came to; `replies` what all of them came to. Raises Refusal.

        A refresh may wait when none of the same model does, which nobody can change meanwhile: a step before holds the
        model."""

        def settled(may_wait: bool) -> Within:
            def within(tx: Transaction, results: tuple[Done, ...]) -> None:
                waits = isinstance(results[-1].events[-1], OperationRetryScheduled | OperationParked)
                if waits and may_wait:
                    self._require_that_none_waits(operation, tx)
                self.settle(operation, account, replies(results) if waits else "useless", tx)

            return within

        def ending(may_wait: bool) -> Step:
            return self._step(operation, lambda *results: end(may_wait, *results))

        try:
            self._execute(operation.operation_id, *before, ending(True), within=settled(True))
        except _AnotherWaits:
            self._execute(operation.operation_id, *before, ending(False), within=settled(False))

    def fail(
        self,
        operation: Operation,
        account: AttemptAccount,
        message: str,
        *,
        retry: bool,
        replies: Replies,
        calls: Sequence[ModelCall] = (),
        resume_at: datetime | None = None,
    ) -> None:
        """An attempt that came to nothing else; with `resume_at` it waits until then, which is no failure. One that was
        ended by another attempt, or by a person, tells only what it spent."""

        def end(may_wait: bool, *_results: Done) -> OperationCommand:
            if resume_at is not None and may_wait:
                return self.parked(operation, account, resume_at, replies, calls)
            return self.failure(operation, account, message, retry=retry and may_wait, replies=replies, calls=calls)

        def alone() -> None:
            self.record(operation, account, end, lambda _results: replies, *self._model_of(operation))

        try:
            try:
                alone()
            except MentalModelNotFound:  # it has no refresh any more to wait for
                self._execute(
                    operation.operation_id,
                    self._step(operation, lambda *_: end(False)),
                    within=lambda tx, _results: self.settle(operation, account, "useless", tx),
                )
        except (OperationEnded, OperationNotFound):
            self.spent(operation, account)

    def mind_failed(self, operation: Operation, account: AttemptAccount, failed: MindFailed) -> None:
        """Until the time that it named, or as any failure."""
        account.tells(failed.calls)
        self.fail(
            operation,
            account,
            str(failed),
            retry=failed.transient,
            replies="of_use" if failed.transient else "useless",
            calls=failed.calls,
            resume_at=failed.resume_at,
        )

    def failure(
        self,
        operation: Operation,
        account: AttemptAccount,
        message: str,
        *,
        retry: bool,
        replies: Replies,
        result: Result | None = None,
        calls: Sequence[ModelCall] = (),
    ) -> FailOperation:
        """Calls of other attempts are told when replies are dropped: now, or when this is the last attempt."""
        untold, now = account.untold(), replies == "useless"
        delay = delay_before_retry(self._retries.delay, operation.retries, operation.operation_id)
        return FailOperation(
            operation.bank_id,
            operation.operation_id,
            storable(message),
            at_most=self._retries.at_most,
            retry_at=self._clock.now() + delay if retry else None,
            result=result,
            calls=(*calls, *untold) if now else tuple(calls),
            untold=() if now else untold,
        )

    def parked(
        self,
        operation: Operation,
        account: AttemptAccount,
        until: datetime,
        replies: Replies,
        calls: Sequence[ModelCall] = (),
    ) -> ParkOperation:
        """Waits for the quota of an endpoint."""
        untold = account.untold() if replies == "useless" else ()
        return ParkOperation(operation.bank_id, operation.operation_id, until, "quota", (*calls, *untold))

    def spent(self, operation: Operation, account: AttemptAccount) -> None:
        """The operation was ended by another attempt, or by a person: what this one paid for is told all the same."""
        others = account.tells_nothing()
        work = operation.work
        model_id = work.mental_model_id if isinstance(work, RefreshAsked) else None

        def spend(*_results: Done) -> SpendOperation:
            return SpendOperation(operation.bank_id, operation.operation_id, model_id, (*others, *account.untold()))

        logger.warning("operation %s was ended meanwhile; this attempt is dropped", operation.operation_id)
        self._execute(
            operation.operation_id,
            self._step(operation, spend),
            within=lambda tx, _results: account.settle(tx, drop=True),
        )

    def settle(self, operation: Operation, account: AttemptAccount, replies: Replies, tx: Transaction) -> None:
        """What becomes of what was answered and shown when an attempt has ended; when it was the last one, replies are
        of no use any more."""
        self._progress.clear(operation.bank_id, operation.operation_id, tx)
        account.settle(tx, drop=replies == "useless")

    def _require_that_none_waits(self, operation: Operation, tx: Transaction) -> None:
        work = operation.work
        if isinstance(work, RefreshAsked) and self._automation.another_waits(operation, work.mental_model_id, tx):
            raise _AnotherWaits

    def _model_of(self, operation: Operation) -> Sequence[Step]:
        """Holds the model of a refresh."""
        work, bank_id = operation.work, operation.bank_id
        if not isinstance(work, RefreshAsked):
            return ()
        stream = mental_model_stream(bank_id, work.mental_model_id)
        return (Step(MENTAL_MODEL, stream, RequireMentalModel(bank_id, work.mental_model_id)),)

    def _step(self, operation: Operation, command: Callable[..., OperationCommand] | OperationCommand) -> Step:
        return Step(OPERATION, operation_stream(operation.bank_id, operation.operation_id), command)

    def _execute(self, operation_id: UUID, *steps: Step, within: Within) -> tuple[Done, ...]:
        return self._handler.execute(self.context(operation_id), *steps, within=within)
