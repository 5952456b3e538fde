"""Events of an operation. Names and shapes are permanent; docs/event-catalogue.md is made from this module."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID

from domain.event import Event, Upcast
from domain.operation.work import Result, Work
from domain.usage import ModelCall

ParkReason = Literal["min_interval", "token_budget", "quota"]
"""Refreshed too recently; the bank has spent its tokens of the day; the endpoint named a time to come back."""


def _as_before(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Shape 1 had no automatic refreshes: all were asked for, which is the default."""
    return dict(payload)


_WORK_WITH_AUTOMATIC: Mapping[int, Upcast] = {1: _as_before}


class OperationRequested(Event):
    """Work was asked for; the job that does it is queued in the same transaction."""

    TOPIC: ClassVar[str] = "operation.requested"
    SCHEMA: ClassVar[int] = 2
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _WORK_WITH_AUTOMATIC

    bank_id: str
    operation_id: UUID
    work: Work
    bank_since: datetime | None = None
    """When its bank came to be: a bank deleted and created anew has no part in operations of its earlier life."""


class OperationStarted(Event):
    """An attempt began; attempts count from 1."""

    TOPIC: ClassVar[str] = "operation.started"

    attempt: int


class OperationFolded(Event):
    """Another request for the same work was folded into this one while it waited: `work` is what it is now.
    `released`: it was to wait longer, and runs now; its job is queued in the same transaction."""

    TOPIC: ClassVar[str] = "operation.folded"

    work: Work
    released: bool


class OperationParked(Event):
    """It waits until a time, for a reason that is no failure; its job is queued for then in the same transaction."""

    TOPIC: ClassVar[str] = "operation.parked"

    work: Work
    reason: ParkReason
    until: datetime
    calls: tuple[ModelCall, ...] = ()
    """What an attempt cost that ended so, where no other event tells it."""


class OperationRestarted(Event):
    """Somebody asked for it again: a failed or cancelled one from the beginning, a waiting one at once; its job is
    queued in the same transaction. `work` is what it is now: no longer automatic."""

    TOPIC: ClassVar[str] = "operation.restarted"

    work: Work


class OperationCancelled(Event):
    """Somebody cancelled it; what an attempt still comes to is not recorded."""

    TOPIC: ClassVar[str] = "operation.cancelled"


class OperationRemoved(Event):
    """It is no longer listed, by hand or by age; its events remain."""

    TOPIC: ClassVar[str] = "operation.removed"


class OperationRetryScheduled(Event):
    """An attempt failed and another will follow; its job is queued in the same transaction."""

    TOPIC: ClassVar[str] = "operation.retry_scheduled"
    SCHEMA: ClassVar[int] = 2
    UPCASTS: ClassVar[Mapping[int, Upcast]] = _WORK_WITH_AUTOMATIC

    work: Work
    error_message: str
    retry_count: int
    next_retry_at: datetime
    result: Result | None = None
    calls: tuple[ModelCall, ...] = ()
    """What the attempt cost, where no other event tells it."""


class OperationSpent(Event):
    """Models were asked for it, and no other event tells what that cost: by an attempt that was cut off, or one that
    came to its end too late. Nothing else follows from it; it may come after the operation has ended."""

    TOPIC: ClassVar[str] = "operation.spent"

    mental_model_id: str | None
    calls: tuple[ModelCall, ...]


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


OperationEvent = (
    OperationRequested
    | OperationStarted
    | OperationFolded
    | OperationParked
    | OperationRetryScheduled
    | OperationSpent
    | OperationCompleted
    | OperationFailed
    | OperationCancelled
    | OperationRestarted
    | OperationRemoved
)
