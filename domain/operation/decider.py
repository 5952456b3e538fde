"""What an operation answers to a command: events, or a refusal. Pure and total."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from domain.event import Event
from domain.operation.commands import (
    CancelOperation,
    CompleteOperation,
    FailOperation,
    FoldRequest,
    OperationCommand,
    ParkOperation,
    RemoveOperation,
    RequestOperation,
    RestartOperation,
    SpendOperation,
    StartOperation,
)
from domain.operation.events import (
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationFolded,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
)
from domain.operation.state import NoOperation, Operation, OperationState
from domain.operation.work import BatchRetainAsked, ConsolidationAsked, RefreshAsked
from domain.refusals import (
    OperationEnded,
    OperationIdTaken,
    OperationNotFound,
    OperationNotRestartable,
    OperationNotWaiting,
    OperationStillOpen,
    Refusal,
)
from domain.usage import ModelCall

CUT_OFF = (
    "its worker died {count} times while it ran; what it works on may be what kills it. Retry it when that is mended"
)


def decide(command: OperationCommand, state: OperationState) -> Sequence[Event] | Refusal:
    """The events a command causes. An ended operation stays ended until somebody restarts it: what another attempt came
    to is refused, so that nothing of it is recorded twice, and a cancel wins over a late end."""
    if isinstance(command, RequestOperation):
        return _request(command, state)
    if isinstance(command, SpendOperation):
        return _spent(command.mental_model_id, command.calls)
    if isinstance(state, NoOperation):
        return OperationNotFound(command.bank_id, str(command.operation_id))
    if isinstance(command, RestartOperation):
        return _restart(state)
    if isinstance(command, RemoveOperation):
        done = state.ended or isinstance(state.work, BatchRetainAsked)  # a whole has no end but that of its parts
        return (OperationRemoved(),) if done else OperationStillOpen(str(command.operation_id), state.status)
    if state.ended:
        return OperationEnded(str(command.operation_id))
    match command:
        case StartOperation():
            return (_start(command, state),)
        case FoldRequest():
            return _fold(command, state)
        case ParkOperation():
            return (OperationParked(work=state.work, reason=command.reason, until=command.until, calls=command.calls),)
        case CompleteOperation() if _is_asked_anew(state):
            return OperationEnded(str(command.operation_id))
        case CompleteOperation(result=result, untold=untold):
            return (*_spent(_mental_model_of(state), untold), OperationCompleted(result=result))
        case FailOperation():
            return (_failed(command, state),)
        case CancelOperation(untold=untold):
            left = untold if state.status == "pending" else ()
            return (*_spent(_mental_model_of(state), left), OperationCancelled())
        case _:
            assert_never(command)


def _request(command: RequestOperation, state: OperationState) -> Sequence[Event] | Refusal:
    if isinstance(state, Operation) and state.bank_since == command.bank_since:
        return () if state.work == command.work else OperationIdTaken(str(command.operation_id))
    return (
        OperationRequested(
            bank_id=command.bank_id,
            operation_id=command.operation_id,
            work=command.work,
            bank_since=command.bank_since,
        ),
    )


def _is_asked_anew(state: Operation) -> bool:
    """Whether nobody began it since it was last asked for: an attempt that ends now began before that, and was
    cancelled meanwhile or may have read what is changed since."""
    return state.status == "pending" and state.due is None


def _start(command: StartOperation, state: Operation) -> Event:
    cut_off = state.cut_off + (state.status == "processing")
    if cut_off > command.at_most:
        return OperationFailed(error_message=CUT_OFF.format(count=cut_off), calls=command.untold)
    return OperationStarted(attempt=state.attempts + 1)


def _fold(command: FoldRequest, state: Operation) -> Sequence[Event] | Refusal:
    if state.status != "pending" or not isinstance(state.work, RefreshAsked | ConsolidationAsked):
        return OperationNotWaiting(str(command.operation_id))
    changes: dict[str, object] = {"automatic": state.work.automatic and command.automatic}
    if isinstance(state.work, RefreshAsked):
        changes["mode"] = "full" if "full" in (state.work.mode, command.mode) else None
    work = state.work.model_copy(update=changes)
    released = state.due is not None and not command.automatic
    return (OperationFolded(work=work, released=released),) if released or work != state.work else ()


def _restart(state: Operation) -> Sequence[Event] | Refusal:
    """What is automatic would be parked again: who restarts it asks for it."""
    if state.status in ("processing", "completed"):
        return OperationNotRestartable(str(state.operation_id), state.status)
    work = state.work
    if isinstance(work, RefreshAsked | ConsolidationAsked):
        work = work.model_copy(update={"automatic": False})
    if _is_asked_anew(state) and work == state.work:
        return ()
    return (OperationRestarted(work=work),)


def _failed(command: FailOperation, state: Operation) -> Event:
    message = command.error_message[:5000]
    if command.retry_at is not None and state.retries < command.at_most:
        return OperationRetryScheduled(
            work=state.work,
            error_message=message,
            retry_count=state.retries + 1,
            next_retry_at=command.retry_at,
            result=command.result,
            calls=command.calls,
        )
    return OperationFailed(error_message=message, result=command.result, calls=(*command.calls, *command.untold))


def _spent(mental_model_id: str | None, calls: tuple[ModelCall, ...]) -> tuple[Event, ...]:
    return (OperationSpent(mental_model_id=mental_model_id, calls=calls),) if calls else ()


def _mental_model_of(state: Operation) -> str | None:
    return state.work.mental_model_id if isinstance(state.work, RefreshAsked) else None
