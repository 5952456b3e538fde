"""What a background job does: one attempt at an operation, from its start to its recorded end. Safe to run twice."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from threading import Event
from typing import Any
from uuid import UUID

from application.attempt_account import AttemptAccount
from application.attempt_ends import AttemptEnds
from application.automation import Automation
from application.command_handler import (
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    mental_model_stream,
    operation_stream,
)
from application.consolidation import Assignment, Consolidation
from application.current_operation import report, working_on
from application.deadline import Deadline
from application.memories import Memories
from application.ports import (
    Clock,
    EventLog,
    KeptReplies,
    MindFailed,
    ProgressBoard,
    ReflectPolicy,
    RetainInbox,
    Transaction,
)
from application.refresh import RefreshExecutor
from application.retain_attempts import RetainAttempts
from application.retries import CLOCKS_DIFFER, UNSURE, Replies, RetryPolicy
from application.transfers import Transfers
from domain.mental_model.commands import RecordRefresh
from domain.mental_model.state import Absent, MentalModel
from domain.operation import (
    BankCloneAsked,
    BankExportAsked,
    BankImportAsked,
    CompleteOperation,
    ConsolidationAsked,
    NoOperation,
    Operation,
    OperationCommand,
    ParkOperation,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
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
from domain.refusals import MentalModelNotFound, OperationEnded, OperationNotFound, Refusal, StaleVersion

logger = logging.getLogger(__name__)


class WorkStopping(Exception):
    """The process is about to end."""


class BackgroundWork:
    """Runs operations. Every attempt ends in the log: completed, to be retried, or failed. `refreshed` is told of each
    bank in which one refreshed a document, or consolidated, after it did, and neither waits nor raises. Without a
    `consolidation` there is no mind for it. Each attempt is made inside of `watched`."""

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
        progress: ProgressBoard,
        wall_seconds: float = 0,
        refreshed: Callable[[str], object] = lambda _bank_id: None,
        consolidation: Consolidation | None = None,
        transfers: Transfers | None = None,
        watched: Callable[[Operation, int], AbstractContextManager[object]] = lambda _, __: nullcontext(),
    ) -> None:
        self._handler = handler
        self._log = log
        self._executor = executor
        self._policy = policy
        self._clock = clock
        self._automation = automation
        self._progress = progress
        self._ends = AttemptEnds(handler, clock, retries, automation, kept, progress)
        self._retains = RetainAttempts(memories, inbox, self._ends)
        self._wall_seconds = wall_seconds
        self._refreshed = refreshed
        self._consolidation = consolidation
        self._transfers = transfers
        self._watched = watched
        self._stopping = Event()

    def stop(self) -> None:
        """The process is about to end: an attempt that is under way is left to the next worker, as after a crash."""
        self._stopping.set()

    def run(self, bank_id: str, operation_id: UUID) -> None:
        """One attempt. An operation that has ended is left alone; an unexpected error fails the attempt, on record."""
        state = self._log.load(OPERATION, operation_stream(bank_id, operation_id)).state
        if isinstance(state, NoOperation) or state.ended or self._is_for_later(state):
            return
        account = self._ends.account(state)
        try:
            if not self._parked(state) and (attempt := self._ends.started(state, account)) is not None:
                with self._watched(state, attempt):
                    self._attempt(state, account, attempt)
        except (OperationEnded, OperationNotFound):
            self._ends.spent(state, account)
        except Refusal as refusal:
            self._fail(state, account, str(refusal), retry=isinstance(refusal, StaleVersion))
        except MindFailed as failed:
            self._ends.mind_failed(state, account, failed)
        except Exception as error:
            if self._stopping.is_set():
                logger.info("operation %s of bank %s is left to the next worker", operation_id, bank_id)
                return
            logger.exception("operation %s of bank %s failed", operation_id, bank_id)
            self._fail(state, account, f"{type(error).__name__}: {error}", retry=True)
        if isinstance(state.work, ConsolidationAsked):
            self._refreshed(bank_id)  # whatever it came to: facts may wait again, or documents for no more

    def _attempt(self, operation: Operation, account: AttemptAccount, attempt: int) -> None:
        show = partial(self._progress.show, operation.bank_id, operation.operation_id, attempt)
        deadline = self._deadline(operation)
        with working_on(operation.operation_id, deadline=deadline, bank_id=operation.bank_id, show=show) as current:
            account.begins(current)
            match operation.work:
                case RefreshAsked() as work:
                    self._refresh(operation, work, account)
                case RetainAsked():
                    self._retains.run(operation, account)
                case ConsolidationAsked() as work:
                    self._consolidate(operation, work, account)
                case BankExportAsked() | BankImportAsked() | BankCloneAsked() if self._transfers is not None:
                    self._transfers.run(operation, account, self._ends)

    def _fail(self, operation: Operation, account: AttemptAccount, message: str, *, retry: bool) -> None:
        """An end that no event but this one tells of: what was answered, and is not told, is to be had again."""
        calls = account.tells_nothing()
        self._ends.fail(operation, account, message, retry=retry, replies="untold", calls=calls)

    def _deadline(self, operation: Operation) -> Deadline | None:
        bounded = self._wall_seconds > 0 and isinstance(operation.work, RefreshAsked)
        return Deadline(self._wall_seconds) if bounded else None

    def _is_for_later(self, operation: Operation) -> bool:
        """A job that was left from before: the one that is due comes later. Clocks may differ a little."""
        return operation.due is not None and operation.due > self._clock.now() + CLOCKS_DIFFER

    def _parked(self, operation: Operation) -> bool:
        """Whether automatic work has to wait; decided before anything is read or asked."""
        work = operation.work
        if (
            not isinstance(work, RefreshAsked | ConsolidationAsked)
            or not work.automatic
            or operation.status != "pending"
        ):
            return False
        if isinstance(work, RefreshAsked):
            model = self._log.load(MENTAL_MODEL, mental_model_stream(operation.bank_id, work.mental_model_id)).state
            park = None if isinstance(model, Absent) else self._automation.park(model, self._clock.now())
        else:
            park = self._automation.park_in_bank(operation.bank_id, self._clock.now())
        if park is None:
            return False
        command = ParkOperation(operation.bank_id, operation.operation_id, park.until, park.reason)
        stream = operation_stream(operation.bank_id, operation.operation_id)
        self._handler.execute(self._ends.context(operation.operation_id), Step(OPERATION, stream, command))
        return True

    def _refresh(self, operation: Operation, work: RefreshAsked, account: AttemptAccount) -> None:
        stream = mental_model_stream(operation.bank_id, work.mental_model_id)
        model = self._log.load(MENTAL_MODEL, stream).state
        if isinstance(model, Absent):
            raise MentalModelNotFound(operation.bank_id, work.mental_model_id)
        run = self._executor.execute(model, work.mode, asked_at=operation.requested_at)
        account.tells(run.record.calls)
        report("writing")
        record = RecordRefresh(operation.bank_id, work.mental_model_id, model.created_at, run)
        self._ends.record(
            operation,
            account,
            self._end_of(operation, account, run),
            _replies_of,
            Step(MENTAL_MODEL, stream, record),
        )
        # an automatic request is taken in by a refresh that runs, also when that has read already
        self._refreshed(operation.bank_id)

    def _end_of(
        self, operation: Operation, account: AttemptAccount, run: RefreshRun
    ) -> Callable[[bool, Done], OperationCommand]:
        """How the operation ends, given whether it may wait and the outcome that was decided for the document."""

        def end(may_wait: bool, recorded: Done) -> OperationCommand:
            outcome: Any = recorded.events[0]
            model: MentalModel = recorded.state
            failure = failure_of(outcome)
            result = RefreshDone(
                outcome=outcome_name(outcome),
                failure_reason=failure[0] if failure else None,
                content_length=len(model.content),
            )
            if failure is None:
                return CompleteOperation(operation.bank_id, operation.operation_id, result, account.untold())
            reason, message, transient = failure
            replies = _replies_of((recorded,))
            if may_wait and (at := _resume_at(run.result)) is not None:
                return self._ends.parked(operation, account, at, replies)
            retry = transient or reason == "retrieval_failed" or (reason in UNSURE and not self._policy.deterministic)
            return self._ends.failure(
                operation, account, message, retry=retry and may_wait, replies=replies, result=result
            )

        return end

    def _consolidate(self, operation: Operation, work: ConsolidationAsked, account: AttemptAccount) -> None:
        """Each batch is on record by itself; the end of the operation tells only what they came to."""
        bank_id, operation_id = operation.bank_id, operation.operation_id
        if self._consolidation is None:
            raise MindFailed("this engine makes no observations", reason="unexpected_error", transient=False)

        def require_wanted(tx: Transaction | None) -> None:
            if self._stopping.is_set():
                raise WorkStopping
            state = self._log.load(OPERATION, operation_stream(bank_id, operation_id), tx).state
            if isinstance(state, NoOperation) or state.ended:
                raise OperationEnded(str(operation_id))

        assignment = Assignment(
            bank_id,
            work.observation_scopes,
            operation.requested_at,
            lambda: self._ends.context(operation_id),
            require_wanted,
            self._automation.tokens_left(bank_id, self._clock.now()) if work.automatic else None,
        )
        done = self._consolidation.run(assignment, account.tells)
        report("writing")

        def end(_may_wait: bool) -> OperationCommand:
            return CompleteOperation(bank_id, operation_id, done, account.untold())

        self._ends.record(operation, account, end, lambda _results: "useless")


def _replies_of(results: tuple[Done, ...]) -> Replies:
    """What becomes of the replies to a run whose outcome was decided for the document."""
    outcome: Any = results[0].events[0]
    failure = failure_of(outcome)
    return "of_use" if failure is not None and failure[2] else "useless"


def _resume_at(result: RunResult) -> datetime | None:
    return result.resume_at if isinstance(result, RunFailed | DeltaFailed | StructuredOutputFailed) else None
