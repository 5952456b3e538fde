"""Bodies of responses about operations, in the shapes of the wire contract."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, WithJsonSchema

from adapters.http.responses import NULLS_LEFT_OUT
from domain.mental_model.record import FailureReason
from domain.operation import ParkReason, RefreshDone
from projections.operations import Status

OUTCOMES = (
    "content_written",
    "content_preserved_no_new_facts",
    "content_unchanged",
    "refresh_failed_empty_candidate",
    "refresh_failed_delta_not_applied",
    "refresh_failed_structured_output",
    "refresh_failed_error",
)
Outcome = Annotated[str, WithJsonSchema({"type": "string", "enum": list(OUTCOMES)})]


class RefreshDetails(BaseModel):
    operation_type: Literal["refresh_mental_model"] = "refresh_mental_model"
    outcome: Outcome
    failure_reason: FailureReason | None = None

    @classmethod
    def of(cls, result: RefreshDone) -> RefreshDetails:
        return cls(outcome=result.outcome, failure_reason=result.failure_reason)


class OperationProgress(BaseModel):
    """How far an operation is that runs. While `at` moves, so does the work."""

    model_config = NULLS_LEFT_OUT

    stage: str = Field(description="What it does: `starting`, `reading`, `asking`, `editing`, `writing` ...")
    at: str
    processed: int | None = Field(description="Units of work that are done, such as items of a retain")
    total: int | None
    detail: dict[str, int] | None = Field(description="Counters of the operation's own, such as the step of the mind")


class OperationFields(BaseModel):
    """What the list and the single read share; both names of an operation's id and type are always there."""

    id: str
    operation_id: str
    task_type: str
    operation_type: str
    mental_model_id: str | None
    details: RefreshDetails | None
    created_at: str
    updated_at: str
    status: Status
    error_message: str | None
    retry_count: int
    next_retry_at: str | None
    park_reason: ParkReason | None = Field(
        description="Why one that waits has to: it was refreshed too recently, the bank spent its tokens of the day, or"
        " the endpoint named a time to come back."
    )
    progress: OperationProgress | None


class OperationResponse(OperationFields):
    items_count: int
    document_id: str | None
    filename: None = None


class OperationsListResponse(BaseModel):
    bank_id: str
    total: int
    limit: int
    offset: int
    operations: list[OperationResponse]


class ChildOperationStatus(BaseModel):
    model_config = NULLS_LEFT_OUT

    operation_id: str
    status: str
    sub_batch_index: int
    items_count: int
    error_message: str | None


class OperationStatusResponse(OperationFields):
    model_config = NULLS_LEFT_OUT

    completed_at: str | None
    result_metadata: dict[str, Any] | None
    child_operations: list[ChildOperationStatus] | None = None
    task_payload: dict[str, Any] | None


class UnknownOperation(BaseModel):
    operation_id: str
    status: Literal["not_found"] = "not_found"


class OperationChanged(BaseModel):
    """It was cancelled, queued again, or deleted."""

    success: Literal[True] = True
    message: str
    operation_id: str
