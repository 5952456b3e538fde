"""What a background job does: one attempt at an operation, from its start to its recorded end. Safe to run twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from application.command_handler import (
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    mental_model_stream,
    operation_stream,
)
from application.memories import Memories
from application.ports import Clock, EventLog, MindFailed, ReflectPolicy, RetainInbox, Transaction
from application.refresh import RefreshExecutor
from domain.event import Context
from domain.mental_model.commands import RecordRefresh
from domain.mental_model.state import Absent, MentalModel
from domain.operation import (
    CompleteOperation,
    FailOperation,
    NoOperation,
    Operation,
    OperationCommand,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    RetainDone,
    StartOperation,
)
from domain.refresh import failure_of, outcome_name
from domain.refusals import BankNotFound, MentalModelNotFound, OperationEnded, Refusal, StaleVersion
from domain.storable import storable
from domain.usage import ModelCall

logger = logging.getLogger(__name__)

UNSURE = (
    "no_answer",
    "empty_candidate",
    "delta_ops_failed",
    "delta_ops_all_skipped",
    "delta_not_applied",
    "structured_output_failed",
)
"""Failures that another try may not come to, unless the mind always thinks the same."""


@dataclass(frozen=True)
class RetryPolicy:
    """A failed attempt is repeated `at_most` times, `delay` after it failed."""

    at_most: int = 3
    delay: timedelta = timedelta(seconds=60)


class BackgroundWork:
    """Runs operations. Every attempt ends in the log: completed, to be retried, or failed."""

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
    ) -> None:
        self._handler = handler
        self._log = log
        self._executor = executor
        self._policy = policy
        self._memories = memories
        self._inbox = inbox
        self._clock = clock
        self._retries = retries

    def run(self, bank_id: str, operation_id: UUID) -> None:
        """One attempt. An operation that has ended is left alone; an unexpected error fails the attempt, on record."""
        state = self._log.load(OPERATION, operation_stream(bank_id, operation_id)).state
        if isinstance(state, NoOperation) or state.ended:
            return
        try:
            self._step(StartOperation(bank_id, operation_id))
            match state.work:
                case RefreshAsked() as work:
                    self._refresh(state, work)
                case RetainAsked():
                    self._retain(state)
        except OperationEnded:
            logger.warning("operation %s was ended by another attempt; this one is dropped", operation_id)
        except Refusal as refusal:
            self._fail(state, str(refusal), retry=isinstance(refusal, StaleVersion))
        except MindFailed as failed:
            self._fail(state, str(failed), retry=failed.transient, calls=failed.calls)
        except Exception as error:
            logger.exception("operation %s of bank %s failed", operation_id, bank_id)
            self._fail(state, f"{type(error).__name__}: {error}", retry=True)

    def _refresh(self, operation: Operation, work: RefreshAsked) -> None:
        stream = mental_model_stream(operation.bank_id, work.mental_model_id)
        model = self._log.load(MENTAL_MODEL, stream).state
        if isinstance(model, Absent):
            raise MentalModelNotFound(operation.bank_id, work.mental_model_id)
        run = self._executor.execute(model, work.mode)
        self._handler.execute(
            self._context(operation.operation_id),
            Step(MENTAL_MODEL, stream, RecordRefresh(operation.bank_id, work.mental_model_id, model.created_at, run)),
            Step(OPERATION, operation_stream(operation.bank_id, operation.operation_id), self._end_of(operation)),
        )

    def _end_of(self, operation: Operation) -> Callable[[Done], OperationCommand]:
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

        self._memories.finish_retain(self._context(operation_id), bank_id, items, finish, drop)

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
            retry_at=self._clock.now() + self._retries.delay if retry else None,
            result=result,
            calls=tuple(calls),
        )

    def _fail(self, operation: Operation, message: str, *, retry: bool, calls: Sequence[ModelCall] = ()) -> None:
        with suppress(OperationEnded):  # by another attempt, which had better luck or tells of the same
            self._step(self._failure(operation, message, retry=retry, calls=calls))

    def _step(self, command: StartOperation | FailOperation) -> None:
        stream = operation_stream(command.bank_id, command.operation_id)
        self._handler.execute(self._context(command.operation_id), Step(OPERATION, stream, command))

    def _context(self, operation_id: UUID) -> Context:
        return Context("worker", self._clock.now(), operation_id, "operation")
