"""Commands of an operation: the imperative of its events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.operation.events import ParkReason
from domain.operation.work import RefreshAsked, RefreshDone, RetainAsked, RetainDone
from domain.usage import ModelCall


@dataclass(frozen=True)
class RequestOperation:
    """Asks for work; the same id with the same work again, in the same life of the bank, is no event."""

    bank_id: str
    operation_id: UUID
    work: RefreshAsked | RetainAsked
    bank_since: datetime | None = None


@dataclass(frozen=True)
class StartOperation:
    """An attempt begins. One whose worker died is repeated `at_most` times; after that it fails."""

    bank_id: str
    operation_id: UUID
    at_most: int = 5


@dataclass(frozen=True)
class FoldRequest:
    """Another request for the same refresh: explicit over automatic, in full over in its own mode."""

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
    """Of one that waits or runs."""

    bank_id: str
    operation_id: UUID


@dataclass(frozen=True)
class RestartOperation:
    """Of a failed, cancelled or waiting one; a refresh that was automatic is now asked for."""

    bank_id: str
    operation_id: UUID


@dataclass(frozen=True)
class RemoveOperation:
    """Of one that has ended."""

    bank_id: str
    operation_id: UUID


@dataclass(frozen=True)
class CompleteOperation:
    """An attempt did what was asked."""

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
)
