"""The endpoints of operations: work asked for over REST that runs in the background."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import BankId, Offset
from adapters.http.operation_parts import child_of, result_of
from adapters.http.operation_responses import (
    OperationChanged,
    OperationProgress,
    OperationResponse,
    OperationsListResponse,
    OperationStatusResponse,
    RefreshDetails,
    UnknownOperation,
)
from adapters.http.responses import Problem, respond
from adapters.http.times import iso, iso_or_none
from adapters.http.visibility import require_operation, seen_operations
from adapters.http.wire_route import WireRoute
from domain.operation import RefreshDone, Result
from domain.refusals import BankNotFound, OperationNotFound
from projections import banks, operation_parts, operations
from projections.operation_parts import IN_PARTS
from projections.operations import OperationRow, Status

_RESULT: TypeAdapter[Any] = TypeAdapter(Result)

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/operations",
    tags=["Operations"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank"}},
)


NO_SUCH_ID: dict[int | str, dict[str, Any]] = {400: {"model": Problem, "description": "Not the id of an operation"}}


@router.get("", response_model=OperationsListResponse, responses=NO_SUCH_ID)
async def list_operations(
    api: Api,
    bank_id: BankId,
    status: Annotated[Status | None, Query()] = None,
    type: Annotated[str | None, Query(description="`retain`, `refresh_mental_model`")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Offset = 0,
    after: Annotated[
        str | None, Query(description="An operation's id: those listed after it, though new ones came")
    ] = None,
    exclude_parents: Annotated[bool, Query(description="Without those that are made of others")] = False,
) -> Response:
    """Operations of a bank, newest first. Pages that begin `after` the last operation of the page before, which the
    contract does not have, neither repeat nor miss any while new ones arrive."""
    known = None if after is None else str(_operation_id(after))
    asked = operations.page(
        bank_id,
        status=status,
        operation_type=type,
        limit=limit,
        offset=offset,
        after=known,
        exclude_parents=exclude_parents,
        seen=await seen_operations(api, bank_id),
    )
    (rows, total), bank = await api.ask_both(asked, banks.find(bank_id))
    if bank is None:  # operations outlive their bank, but not for those who ask
        raise BankNotFound(bank_id)
    if known is not None and not rows and await api.ask(operations.find(bank_id, known)) is None:
        raise OperationNotFound(bank_id, known)
    body = OperationsListResponse(
        bank_id=bank_id, total=total, limit=limit, offset=offset, operations=[_list_item(row) for row in rows]
    )
    return respond(body, keep_nulls=True)


@router.get("/{operation_id}", response_model=OperationStatusResponse | UnknownOperation, responses=NO_SUCH_ID)
async def get_operation_status(api: Api, bank_id: BankId, operation_id: str, include_payload: bool = False) -> Response:
    """One operation. One that is not known has the status `not_found`."""
    known_as = _operation_id(operation_id)
    row, bank = await api.ask_both(operations.find(bank_id, str(known_as)), banks.find(bank_id))
    if bank is None:
        raise BankNotFound(bank_id)
    seen = await seen_operations(api, bank_id)
    if row is None or not (seen is None or seen.has(row.operation_id, row.mental_model_id)):
        return respond(UnknownOperation(operation_id=operation_id))
    parts = await api.ask(operation_parts.parts(bank_id, str(known_as))) if row.operation_type == IN_PARTS else []
    body = OperationStatusResponse(
        **_shared(row),
        completed_at=iso_or_none(row.completed_at),
        result_metadata=result_of(parts) if parts else row.result,
        child_operations=[child_of(part) for part in parts] if row.operation_type == IN_PARTS else None,
        task_payload=row.work if include_payload else None,
    )
    return respond(body)


_NOT_IN_THAT_STATUS: dict[int | str, dict[str, Any]] = {409: {"model": Problem, "description": "Its status forbids it"}}


@router.delete("/{operation_id}", response_model=OperationChanged, responses=_NOT_IN_THAT_STATUS | NO_SUCH_ID)
async def cancel_operation(api: Api, bank_id: BankId, operation_id: str) -> Response:
    """Cancels an operation that waits or runs. One that waits never runs; what one that runs still comes to is not
    recorded. It can be retried, or deleted."""
    chosen = _operation_id(operation_id)
    await require_operation(api, bank_id, str(chosen))
    await api.command(api.service.operations.cancel, api.by_user("DELETE operation"), bank_id, chosen)
    return respond(OperationChanged(message=f"Operation {chosen} cancelled", operation_id=str(chosen)))


@router.post("/{operation_id}/retry", response_model=OperationChanged, responses=_NOT_IN_THAT_STATUS | NO_SUCH_ID)
async def retry_operation(api: Api, bank_id: BankId, operation_id: str) -> Response:
    """Queues a failed or cancelled operation again, with all its retries; one that waits for a time runs now."""
    chosen = _operation_id(operation_id)
    await require_operation(api, bank_id, str(chosen))
    await api.command(api.service.operations.retry, api.by_user("POST retry"), bank_id, chosen)
    return respond(OperationChanged(message=f"Operation {chosen} queued for retry", operation_id=str(chosen)))


@router.delete("/{operation_id}/delete", response_model=OperationChanged, responses=_NOT_IN_THAT_STATUS | NO_SUCH_ID)
async def delete_operation(api: Api, bank_id: BankId, operation_id: str) -> Response:
    """Deletes an operation that has ended, and what it did not retain. The events of it stay in the log."""
    chosen = _operation_id(operation_id)
    await require_operation(api, bank_id, str(chosen))
    await api.command(api.service.operations.delete, api.by_user("DELETE ended operation"), bank_id, chosen)
    return respond(OperationChanged(message=f"Operation {chosen} deleted", operation_id=str(chosen)))


def _operation_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise HTTPException(
            400, f"'{text}' is not an operation id; it is the UUID that the request was answered with"
        ) from error


def _list_item(row: OperationRow) -> OperationResponse:
    return OperationResponse(**_shared(row), items_count=row.items_count, document_id=row.document_id)


def _shared(row: OperationRow) -> dict[str, Any]:
    return {
        "id": row.operation_id,
        "operation_id": row.operation_id,
        "task_type": row.operation_type,
        "operation_type": row.operation_type,
        "mental_model_id": row.mental_model_id,
        "details": _details(row),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
        "status": row.status,
        "error_message": row.error_message,
        "retry_count": row.retry_count,
        "next_retry_at": iso_or_none(row.next_retry_at),
        "park_reason": row.park_reason,
        "progress": _progress(row),
    }


def _progress(row: OperationRow) -> OperationProgress | None:
    """Times are written here as everywhere else."""
    if row.progress is None:
        return None
    return OperationProgress(**{**row.progress, "at": iso(datetime.fromisoformat(row.progress["at"]))})


def _details(row: OperationRow) -> RefreshDetails | None:
    """What the last attempt came to; nothing while one runs."""
    if row.result is None or row.status == "processing":
        return None
    result = _RESULT.validate_python(row.result)
    return RefreshDetails.of(result) if isinstance(result, RefreshDone) else None
