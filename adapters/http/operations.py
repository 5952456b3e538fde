"""The endpoints of operations: work asked for over REST that runs in the background."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import BankId, Offset
from adapters.http.responses import (
    OperationResponse,
    OperationsListResponse,
    OperationStatusResponse,
    Problem,
    RefreshDetails,
    UnknownOperation,
    respond,
)
from adapters.http.times import iso, iso_or_none
from adapters.http.wire_route import WireRoute
from domain.operation import RefreshDone, Result
from domain.refusals import BankNotFound
from projections import banks, operations
from projections.operations import OperationRow, Status

_RESULT: TypeAdapter[Any] = TypeAdapter(Result)

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/operations",
    tags=["Operations"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank"}},
)


@router.get("", response_model=OperationsListResponse)
async def list_operations(
    api: Api,
    bank_id: BankId,
    status: Annotated[Status | None, Query()] = None,
    type: Annotated[str | None, Query(description="`retain`, `refresh_mental_model`")] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Offset = 0,
    exclude_parents: bool = False,  # noqa: ARG001 - part of the contract; no operation here has children
) -> Response:
    """Operations of a bank, newest first."""
    asked = operations.page(bank_id, status=status, operation_type=type, limit=limit, offset=offset)
    (rows, total), bank = await api.ask_both(asked, banks.find(bank_id))
    if bank is None:  # operations outlive their bank, but not for those who ask
        raise BankNotFound(bank_id)
    body = OperationsListResponse(
        bank_id=bank_id, total=total, limit=limit, offset=offset, operations=[_list_item(row) for row in rows]
    )
    return respond(body, keep_nulls=True)


@router.get("/{operation_id}", response_model=OperationStatusResponse)
async def get_operation_status(api: Api, bank_id: BankId, operation_id: str, include_payload: bool = False) -> Response:
    """One operation. One that is not known has the status `not_found`."""
    try:
        known_as = UUID(operation_id)
    except ValueError as error:
        raise HTTPException(
            400, f"'{operation_id}' is not an operation id; it is the UUID that the request was answered with"
        ) from error
    row, bank = await api.ask_both(operations.find(bank_id, str(known_as)), banks.find(bank_id))
    if bank is None:
        raise BankNotFound(bank_id)
    if row is None:
        return respond(UnknownOperation(operation_id=operation_id))
    body = OperationStatusResponse(
        **_shared(row),
        completed_at=iso_or_none(row.completed_at),
        result_metadata=row.result,
        task_payload=row.work if include_payload else None,
    )
    return respond(body)


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
    }


def _details(row: OperationRow) -> RefreshDetails | None:
    """What the last attempt came to; nothing while one runs."""
    if row.result is None or row.status == "processing":
        return None
    result = _RESULT.validate_python(row.result)
    return RefreshDetails.of(result) if isinstance(result, RefreshDone) else None
