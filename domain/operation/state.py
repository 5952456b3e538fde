"""The state of an operation, folded from its events."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, assert_never
from uuid import UUID

from domain.event import Recorded
from domain.operation.events import (
    OperationCancelled,
    OperationCompleted,
    OperationEvent,
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
from domain.operation.work import Work
from domain.value import Value

STATE_VERSION = 2


class NoOperation(Value):
    kind: Literal["absent"] = "absent"


class Operation(Value):
    """`due` is when a waiting one is to run, None for now; `cut_off` counts attempts whose end is not known, since the
    last one whose end is."""

    kind: Literal["present"] = "present"
    bank_id: str
    operation_id: UUID
    work: Work
    bank_since: datetime | None = None
    requested_at: datetime
    status: Literal["pending", "processing", "completed", "failed", "cancelled"] = "pending"
    due: datetime | None = None
    attempts: int = 0
    retries: int = 0
    cut_off: int = 0

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "failed", "cancelled")


OperationState = NoOperation | Operation


def evolve(state: OperationState, recorded: Recorded) -> OperationState:
    """The state after one more event."""
    event: OperationEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    if isinstance(event, OperationRequested):
        return Operation(
            bank_id=event.bank_id,
            operation_id=event.operation_id,
            work=event.work,
            bank_since=event.bank_since,
            requested_at=recorded.occurred_at,
        )
    if isinstance(state, NoOperation) or isinstance(event, OperationRemoved):
        return NoOperation()
    return state.model_copy(update=_changes(state, event))


def _changes(state: Operation, event: OperationEvent) -> dict[str, Any]:
    match event:
        case OperationStarted():
            cut_off = state.cut_off + (state.status == "processing")
            return {"status": "processing", "attempts": event.attempt, "due": None, "cut_off": cut_off}
        case OperationFolded():
            return {"work": event.work, "due": None if event.released else state.due}
        case OperationParked():
            return {"status": "pending", "due": event.until, "cut_off": 0}
        case OperationRetryScheduled():
            return {"status": "pending", "retries": event.retry_count, "due": event.next_retry_at, "cut_off": 0}
        case OperationCompleted():
            return {"status": "completed", "due": None}
        case OperationFailed():
            return {"status": "failed", "due": None}
        case OperationCancelled():
            return {"status": "cancelled", "due": None}
        case OperationRestarted():
            return {"status": "pending", "work": event.work, "retries": 0, "due": None, "cut_off": 0}
        case OperationRequested() | OperationRemoved() | OperationSpent():
            return {}
        case _:
            assert_never(event)
