"""An operation: work asked for over REST that runs in the background, with its attempts and its end.

The queue that runs it keeps neither result nor error, so they are events here, and the list of operations is a read
model like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Literal, assert_never
from uuid import UUID

from pydantic import Field

from domain.event import Event, Recorded
from domain.mental_model.record import FailureReason
from domain.refusals import OperationEnded, OperationIdTaken, OperationNotFound, Refusal
from domain.usage import ModelCall
from domain.value import Value

STATE_VERSION = 1


class RefreshAsked(Value):
    """A refresh of one mental model; `mode` overrides its trigger for this run."""

    type: Literal["refresh_mental_model"] = "refresh_mental_model"
    mental_model_id: str
    mode: Literal["full"] | None = None


class RetainAsked(Value):
    """A retain of items that wait in the inbox under the operation's id."""

    type: Literal["retain"] = "retain"
    items_count: int
    items_sha256: str
    """Tells a repeated request from another one under the same id."""
    document_id: str | None = None


Work = Annotated[RefreshAsked | RetainAsked, Field(discriminator="type")]


class RefreshDone(Value):
    """What a finished or failed attempt at a refresh came to."""

    type: Literal["refresh_mental_model"] = "refresh_mental_model"
    outcome: str
    failure_reason: FailureReason | None = None
    content_length: int = 0


class RetainDone(Value):
    """What a finished retain read, and what that cost."""

    type: Literal["retain"] = "retain"
    facts: int
    calls: tuple[ModelCall, ...] = ()


Result = Annotated[RefreshDone | RetainDone, Field(discriminator="type")]


class OperationRequested(Event):
    """Work was asked for; the job that does it is queued in the same transaction."""

    TOPIC: ClassVar[str] = "operation.requested"

    bank_id: str
    operation_id: UUID
    work: Work
    bank_since: datetime | None = None
    """When its bank came to be: a bank deleted and created anew has no part in operations of its earlier life."""


class OperationStarted(Event):
    """An attempt began; attempts count from 1."""

    TOPIC: ClassVar[str] = "operation.started"

    attempt: int


class OperationRetryScheduled(Event):
    """An attempt failed and another will follow; its job is queued in the same transaction."""

    TOPIC: ClassVar[str] = "operation.retry_scheduled"

    work: Work
    error_message: str
    retry_count: int
    next_retry_at: datetime
    result: Result | None = None
    calls: tuple[ModelCall, ...] = ()
    """What the attempt cost, where no other event tells it."""


class OperationCompleted(Event):
    """It was done."""

    TOPIC: ClassVar[str] = "operation.completed"

    result: Result


class OperationFailed(Event):
    """It failed for good."""

    TOPIC: ClassVar[str] = "operation.failed"

    error_message: str
    result: Result | None = None
    calls: tuple[ModelCall, ...] = ()
    """What the attempt cost, where no other event tells it."""


OperationEvent = OperationRequested | OperationStarted | OperationRetryScheduled | OperationCompleted | OperationFailed


class NoOperation(Value):
    kind: Literal["absent"] = "absent"


class Operation(Value):
    kind: Literal["present"] = "present"
    bank_id: str
    operation_id: UUID
    work: Work
    bank_since: datetime | None = None
    status: Literal["pending", "processing", "completed", "failed"] = "pending"
    attempts: int = 0
    retries: int = 0

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "failed")


OperationState = NoOperation | Operation


@dataclass(frozen=True)
class RequestOperation:
    """Asks for work; the same id with the same work again, in the same life of the bank, is no event."""

    bank_id: str
    operation_id: UUID
    work: RefreshAsked | RetainAsked
    bank_since: datetime | None = None


@dataclass(frozen=True)
class StartOperation:
    bank_id: str
    operation_id: UUID


@dataclass(frozen=True)
class CompleteOperation:
    bank_id: str
    operation_id: UUID
    result: RefreshDone | RetainDone


@dataclass(frozen=True)
class FailOperation:
    """An attempt failed. It is tried again `at_most` times, next at `retry_at`; None never."""

    bank_id: str
    operation_id: UUID
    error_message: str
    at_most: int
    retry_at: datetime | None
    result: RefreshDone | RetainDone | None = None
    calls: tuple[ModelCall, ...] = ()


OperationCommand = RequestOperation | StartOperation | CompleteOperation | FailOperation


def evolve(state: OperationState, recorded: Recorded) -> OperationState:
    """The state after one more event."""
    event: OperationEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    if isinstance(event, OperationRequested):
        return Operation(
            bank_id=event.bank_id, operation_id=event.operation_id, work=event.work, bank_since=event.bank_since
        )
    if isinstance(state, NoOperation):
        return state
    match event:
        case OperationStarted():
            return state.model_copy(update={"status": "processing", "attempts": event.attempt})
        case OperationRetryScheduled():
            return state.model_copy(update={"status": "pending", "retries": event.retry_count})
        case OperationCompleted():
            return state.model_copy(update={"status": "completed"})
        case OperationFailed():
            return state.model_copy(update={"status": "failed"})
        case _:
            assert_never(event)


def decide(command: OperationCommand, state: OperationState) -> Sequence[Event] | Refusal:
    """The events a command causes. An ended operation stays ended: what another attempt came to is refused, so that
    nothing of it is recorded twice."""
    if isinstance(command, RequestOperation):
        return _request(command, state)
    if isinstance(state, NoOperation):
        return OperationNotFound(command.bank_id, str(command.operation_id))
    if state.ended:
        return OperationEnded(str(command.operation_id))
    match command:
        case StartOperation():
            return (OperationStarted(attempt=state.attempts + 1),)
        case CompleteOperation(result=result):
            return (OperationCompleted(result=result),)
        case FailOperation():
            return (_failed(command, state),)
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
    return OperationFailed(error_message=message, result=command.result, calls=command.calls)
