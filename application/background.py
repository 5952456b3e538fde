"""What a background job does: one attempt at an operation, from its start to its recorded end. Safe to run twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

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
from application.current_operation import working_on
from application.deadline import Deadline
from application.memories import Memories
from application.ports import Clock, EventLog, KeptReplies, MindFailed, ReflectPolicy, RetainInbox, Transaction
from application.refresh import RefreshExecutor
from application.retries import CLOCKS_DIFFER, UNSURE, Replies, RetryPolicy
from domain.event import Context, Event
from domain.mental_model.commands import RecordRefresh
from domain.mental_model.state import Absent, MentalModel
from domain.operation import (
    CompleteOperation,
    FailOperation,
    NoOperation,
    Operation,
    OperationCommand,
    OperationParked,
    OperationRetryScheduled,
    OperationStarted,
    ParkOperation,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    RetainDone,
    StartOperation,
)
from domain.refresh import (
    DeltaFailed,
    RefreshRun,
    RunFailed,
    RunResult,
    StructuredOutputFailed,
    failure_of,
    outcome_name,
)
from domain.refusals import BankNotFound, MentalModelNotFound, OperationEnded, OperationNotFound, Refusal, StaleVersion
from domain.scheduling import delay_before_retry
from domain.storable import storable
from domain.usage import ModelCall

logger = logging.getLogger(__name__)


class BackgroundWork:
    """Runs operations. Every attempt ends in the log: completed, to be retried, or failed. `refreshed` is told of each
    bank in which one refreshed a document, after it did, and neither waits nor raises."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        executor: RefreshExecutor,
        policy: ReflectPolicy,
        memories: Memories,
        inbox: RetainInbox,
        clock: Clock,
        retries: RetryPolicy,
        automation: Automation,
        kept: KeptReplies,
        wall_seconds: float = 0,
        refreshed: Callable[[str], object] = lambda _bank_id: None,
    ) -> None:
        self._handler = handler
        self._log = log
        self._executor = executor
        self._policy = policy
        self._memories = memories
        self._inbox = inbox
        self._clock = clock
        self._retries = retries
        self._automation = automation
        self._kept = kept
        self._wall_seconds = wall_seconds
        self._refreshed = refreshed

    def run(self, bank_id: str, operation_id: UUID) -> None:
        """One attempt. An operation that has ended is left alone; an unexpected error fails the attempt, on record."""
        state = self._log.load(OPERATION, operation_stream(bank_id, operation_id)).state
        if isinstance(state, NoOperation) or state.ended or self._is_for_later(state):
            return
        try:
            if self._parked(state) or not self._started(state):
                return
            with working_on(operation_id, deadline=self._deadline(state)):
                match state.work:
                    case RefreshAsked() as work:
                        self._refresh(state, work)
                    case RetainAsked():
                        self._retain(state)
        except OperationEnded:
            logger.warning("operation %s was ended by another attempt; this one is dropped", operation_id)
            self._kept.drop(operation_id)
        except Refusal as refusal:
            self._fail(state, str(refusal), retry=isinstance(refusal, StaleVersion), replies="untold")
        except MindFailed as failed:
            self._failed(state, failed)
        except Exception as error:
            logger.exception("operation %s of bank %s failed", operation_id, bank_id)
            self._fail(state, f"{type(error).__name__}: {error}", retry=True, replies="untold")

    def _deadline(self, operation: Operation) -> Deadline | None:
        bounded = self._wall_seconds > 0 and isinstance(operation.work, RefreshAsked)
        return Deadline(self._wall_seconds) if bounded else None

    def _is_for_later(self, operation: Operation) -> bool:
        """A job that was left from before: the one that is due comes later. Clocks may differ a little."""
        return operation.due is not None and operation.due > self._clock.now() + CLOCKS_DIFFER

    def _parked(self, operation: Operation) -> bool:
        """Whether an automatic refresh has to wait; decided before anything is read or asked."""
        work = operation.work
        if not isinstance(work, RefreshAsked) or not work.automatic or operation.status != "pending":
            return False
        model = self._log.load(MENTAL_MODEL, mental_model_stream(operation.bank_id, work.mental_model_id)).state
        park = None if isinstance(model, Absent) else self._automation.park(model, self._clock.now())
        if park is None:
            return False
        self._step(ParkOperation(operation.bank_id, operation.operation_id, park.until, park.reason))
        return True

    def _started(self, operation: Operation) -> bool:
        """Whether an attempt began; an operation that was cut off too often ends instead."""
        command = StartOperation(operation.bank_id, operation.operation_id, self._retries.at_most_cut_off)
        started = isinstance(self._step(command).events[0], OperationStarted)
        if not started:
            self._kept.drop(operation.operation_id)
        return started

    def _refresh(self, operation: Operation, work: RefreshAsked) -> None:
        stream = mental_model_stream(operation.bank_id, work.mental_model_id)
        model = self._log.load(MENTAL_MODEL, stream).state
        if isinstance(model, Absent):
            raise MentalModelNotFound(operation.bank_id, work.mental_model_id)
        run = self._executor.execute(model, work.mode, asked_at=operation.requested_at)

        def settle(tx: Transaction, results: tuple[Done, ...]) -> None:
            outcome: Any = results[0].events[0]
            failure = failure_of(outcome)
            replies: Replies = "of_use" if failure is not None and failure[2] else "useless"
            self._settle_replies(operation.operation_id, results[1].events[0], replies, tx)

        self._handler.execute(
            self._context(operation.operation_id),
            Step(MENTAL_MODEL, stream, RecordRefresh(operation.bank_id, work.mental_model_id, model.created_at, run)),
            Step(OPERATION, operation_stream(operation.bank_id, operation.operation_id), self._end_of(operation, run)),
            within=settle,
        )
        # an automatic request is taken in by a refresh that runs, also when that has read already
        self._refreshed(operation.bank_id)

    def _settle_replies(self, operation_id: UUID, ended: Event, replies: Replies, tx: Transaction) -> None:
        """What becomes of what was answered, when an attempt ends so."""
        if replies == "useless" or not isinstance(ended, OperationRetryScheduled | OperationParked):
            self._kept.drop(operation_id, tx)
        elif replies == "of_use":
            self._kept.count(operation_id, tx)

    def _end_of(self, operation: Operation, run: RefreshRun) -> Callable[[Done], OperationCommand]:
        """How the operation ends, given the outcome that was decided for the document."""

        def end(recorded: Done) -> OperationCommand:
            outcome: Any = recorded.events[0]
            model: MentalModel = recorded.state
            failure = failure_of(outcome)
            result = RefreshDone(
                outcome=outcome_name(outcome),
                failure_reason=failure[0] if failure else None,
                content_length=len(model.content),
            )
            if failure is None:
                return CompleteOperation(operation.bank_id, operation.operation_id, result)
            reason, message, transient = failure
            if (at := _resume_at(run.result)) is not None and not self._another_waits(operation):
                return ParkOperation(operation.bank_id, operation.operation_id, at, "quota")
            retry = transient or reason == "retrieval_failed" or (reason in UNSURE and not self._policy.deterministic)
            return self._failure(operation, message, retry=retry, result=result)

        return end

    def _retain(self, operation: Operation) -> None:
        """The bank was opened when the retain was asked for: a retain never brings back a bank deleted since."""
        bank_id, operation_id = operation.bank_id, operation.operation_id
        items = self._inbox.take(operation_id)
        if items is None:
            raise BankNotFound(bank_id)

        def finish(facts: int, calls: Sequence[ModelCall]) -> Step:
            done = RetainDone(facts=facts, calls=tuple(calls))
            stream = operation_stream(bank_id, operation_id)
            return Step(OPERATION, stream, CompleteOperation(bank_id, operation_id, done))

        def drop(tx: Transaction) -> None:
            if not self._inbox.drop(operation_id, tx):  # the bank was deleted, and maybe put anew, since they were read
                raise BankNotFound(bank_id)
            self._kept.drop(operation_id, tx)

        asked_at = operation.requested_at
        self._memories.finish_retain(self._context(operation_id), bank_id, items, finish, drop, asked_at=asked_at)

    def _failure(
        self,
        operation: Operation,
        message: str,
        *,
        retry: bool,
        result: RefreshDone | None = None,
        calls: Sequence[ModelCall] = (),
    ) -> FailOperation:
        return FailOperation(
            operation.bank_id,
            operation.operation_id,
            storable(message),
            at_most=self._retries.at_most,
            retry_at=self._retry_at(operation) if retry else None,
            result=result,
            calls=tuple(calls),
        )

    def _retry_at(self, operation: Operation) -> datetime | None:
        """When it is tried again; never, when another refresh of the same model waits."""
        if self._another_waits(operation):
            return None
        return self._clock.now() + delay_before_retry(self._retries.delay, operation.retries, operation.operation_id)

    def _another_waits(self, operation: Operation) -> bool:
        """Whether another refresh of the same model waits: it reads all there is, and only one is to wait."""
        work = operation.work
        return isinstance(work, RefreshAsked) and self._automation.another_waits(operation, work.mental_model_id)

    def _failed(self, operation: Operation, failed: MindFailed) -> None:
        """A mind that failed: until the time it named, or as any failure."""
        replies: Replies = "of_use" if failed.transient else "useless"
        if failed.resume_at is None:
            self._fail(operation, str(failed), retry=failed.transient, calls=failed.calls, replies=replies)
            return
        bank_id, operation_id = operation.bank_id, operation.operation_id
        with suppress(OperationEnded, OperationNotFound):
            self._end(ParkOperation(bank_id, operation_id, failed.resume_at, "quota", failed.calls), replies)

    def _fail(
        self,
        operation: Operation,
        message: str,
        *,
        retry: bool,
        calls: Sequence[ModelCall] = (),
        replies: Replies = "useless",
    ) -> None:
        with suppress(OperationEnded, OperationNotFound):  # by another attempt, which had better luck or tells the same
            self._end(self._failure(operation, message, retry=retry, calls=calls), replies)

    def _end(self, command: FailOperation | ParkOperation, replies: Replies) -> None:
        """Records the end of an attempt, and what becomes of the replies it got."""

        def settle(tx: Transaction, results: tuple[Done, ...]) -> None:
            self._settle_replies(command.operation_id, results[0].events[0], replies, tx)

        self._step(command, settle)

    def _step(self, command: StartOperation | FailOperation | ParkOperation, within: Within | None = None) -> Done:
        step = Step(OPERATION, operation_stream(command.bank_id, command.operation_id), command)
        return self._handler.execute(self._context(command.operation_id), step, within=within)[0]

    def _context(self, operation_id: UUID) -> Context:
        return Context("worker", self._clock.now(), operation_id, "operation")


def _resume_at(result: RunResult) -> datetime | None:
    return result.resume_at if isinstance(result, RunFailed | DeltaFailed | StructuredOutputFailed) else None
