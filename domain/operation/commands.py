"""Commands of an operation: the imperative of its events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.operation.events import ParkReason
from domain.operation.work import Result, Work
from domain.usage import ModelCall


@dataclass(frozen=True)
class RequestOperation:
    """Asks for work; the same id with the same work again, in the same life of the bank, is no event."""

    bank_id: str
    operation_id: UUID
    work: Work
    bank_since: datetime | None = None


@dataclass(frozen=True)
class StartOperation:
    """An attempt begins. One whose worker died is repeated `at_most` times; after that it fails, and `untold` are calls
    of those attempts that no event tells."""

    bank_id: str
    operation_id: UUID
    at_most: int = 5
    untold: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class FoldRequest:
    """Another request for the same refresh, or consolidation: explicit over automatic, in full over in its own mode."""

    bank_id: str
    operation_id: UUID
    automatic: bool = False
    mode: Literal["full"] | None = None


@dataclass(frozen=True)
class ParkOperation:
    """It is to wait until a time, before an attempt or instead of its end."""

    bank_id: str
    operation_id: UUID
    until: datetime
    reason: ParkReason
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class CancelOperation:
    """Of one that waits or runs. `untold` are calls of attempts before that no event tells; of one that runs, the
    attempt itself will tell them."""

    bank_id: str
    operation_id: UUID
    untold: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class RestartOperation:
    """Of a failed, cancelled or waiting one; what was automatic is now asked for."""

    bank_id: str
    operation_id: UUID


@dataclass(frozen=True)
class RemoveOperation:
    """Of one that has ended."""

    bank_id: str
    operation_id: UUID


@dataclass(frozen=True)
class CompleteOperation:
    """An attempt did what was asked. `untold` are calls of attempts before that no event tells."""

    bank_id: str
    operation_id: UUID
    result: Result
    untold: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class FailOperation:
    """An attempt failed. It is tried again `at_most` times, next at `retry_at`; None never. `calls` are told however it
    goes on; `untold` are calls of attempts before, told when this was the last."""

    bank_id: str
    operation_id: UUID
    error_message: str
    at_most: int
    retry_at: datetime | None
    result: Result | None = None
    calls: tuple[ModelCall, ...] = ()
    untold: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class SpendOperation:
    """Calls that no event tells, and no end of an attempt will; also of an operation that has ended or is no longer
    listed. No calls, no event."""

    bank_id: str
    operation_id: UUID
    mental_model_id: str | None
    calls: tuple[ModelCall, ...]


OperationCommand = (
    RequestOperation
    | FoldRequest
    | StartOperation
    | ParkOperation
    | CompleteOperation
    | FailOperation
    | CancelOperation
    | RestartOperation
    | RemoveOperation
    | SpendOperation
)
