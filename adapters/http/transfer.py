"""The endpoints that export a bank, import it and clone it, and the download of what was exported."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from adapters.http import errors, ignored
from adapters.http.backend import Api
from adapters.http.fields import BankId, OtherBankId
from adapters.http.responses import Problem, respond
from adapters.http.wire_route import WireRoute
from adapters.postgres import transfer_files
from domain.refusals import ArchiveNotFound
from domain.transfer import Parts

NO_SUCH_BANK: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "The bank does not exist"}}
REFUSED_ARCHIVE: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The archive, or a mode that is not served, is refused"},
    413: {"model": Problem, "description": "The archive is larger than the service takes"},
    415: {"model": Problem, "description": "It is not sent as multipart/form-data"},
}
NOT_SERVED = (
    "Documents are not transferred one by one here: POST .../transfer/export takes the whole bank, and POST"
    " .../transfer/import makes it a bank again"
)

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}", tags=["Bank Transfer"], route_class=WireRoute, responses=NO_SUCH_BANK
)
downloads_router = APIRouter(prefix="/v1/default/files", tags=["Bank Transfer"], route_class=WireRoute)

Included = Annotated[bool, Query()]
IncludedOrNot = Annotated[bool | None, Query()]
DocumentIds = Annotated[list[str] | None, Query(max_length=100)]


class BankTransferSubmitResponse(BaseModel):
    """It is done in the background; the operation's `result_metadata` tells what it came to."""

    operation_id: str
    status: str = "pending"


@router.post(
    "/transfer/export",
    status_code=202,
    response_model=BankTransferSubmitResponse,
    responses={400: {"model": Problem, "description": "Single documents are not exported"}},
)
async def export_bank_transfer(
    api: Api,
    bank_id: BankId,
    include_data: Included = True,
    include_bank_config: Included = True,
    include_history: Included = False,
    document_id: DocumentIds = None,
) -> Response:
    """Exports a bank into one archive: its memory with all versions, its documents and pages with their history, its
    config and directives. The operation's `result_metadata` has the `download_url`. The history of documents goes with
    them; logs of operations and of requests stay where the work was done, whatever `include_history` says."""
    if document_id:
        raise HTTPException(400, f"{NOT_SERVED}; omit document_id")
    _tell_history(include_history)
    context = api.by_user("POST transfer/export")
    parts = Parts(include_data, include_bank_config)
    return _accepted(await api.command(api.service.transfers.requests.export, context, bank_id, parts))


@router.post("/clone", status_code=202, response_model=BankTransferSubmitResponse)
async def clone_bank(
    api: Api,
    bank_id: BankId,
    target_bank_id: Annotated[OtherBankId, Query(description="The bank to make; it must not be there yet")],
    include_data: Included = True,
    include_bank_config: Included = True,
    include_history: Included = False,
) -> Response:
    """Copies a bank, as it stands when that is done, into a new one. No model is asked. The operation is one of the
    source."""
    _tell_history(include_history)
    context = api.by_user("POST clone")
    parts = Parts(include_data, include_bank_config)
    return _accepted(await api.command(api.service.transfers.requests.clone, context, bank_id, target_bank_id, parts))


_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "string",
                            "contentMediaType": "application/octet-stream",
                            "description": "The archive that an export made.",
                        }
                    },
                }
            }
        },
    }
}


@router.post(
    "/transfer/import",
    status_code=202,
    response_model=BankTransferSubmitResponse,
    responses=REFUSED_ARCHIVE,
    openapi_extra=_BODY,
)
async def import_bank_transfer(
    api: Api,
    bank_id: BankId,
    request: Request,
    mode: Annotated[Literal["restore", "merge"], Query(description="Only `restore` is served")] = "restore",
    target_bank_id: Annotated[
        OtherBankId | None,
        Query(description="The bank to make: new, or one in which nothing happened yet. None: as the archive says."),
    ] = None,
    document_conflict: Annotated[Literal["skip", "replace", "new-id"], Query(description="Of merges only")] = "skip",
    include_data: IncludedOrNot = None,
    include_bank_config: IncludedOrNot = None,
    include_history: IncludedOrNot = None,
) -> Response:
    """Makes an archive into a bank, with ids of its own. The operation is one of the bank in the path, which has to be
    there; it fails, with nothing left of the bank, when the archive is not what it says."""
    if mode != "restore":
        raise HTTPException(400, "Banks are not merged: import the archive as a bank of its own (mode=restore)")
    if document_conflict != "skip":
        ignored.note({"document_conflict": document_conflict})
    _tell_history(include_history)
    context = api.by_user("POST transfer/import")
    parts = Parts(include_data is not False, include_bank_config is not False)
    _require_multipart(request)
    async with request.form(max_files=1, max_fields=10) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise errors.unprocessable(("body", "file"), "send the archive in a part named 'file'", "missing")
        requests = api.service.transfers.requests
        operation_id = await api.command(
            requests.import_archive, context, bank_id, target_bank_id, file.file, file.size or 0, parts
        )
    return _accepted(operation_id)


@router.get(
    "/document-transfer",
    deprecated=True,
    responses={410: {"model": Problem, "description": "No longer served"}},
)
async def export_documents_sync_removed(api: Api, bank_id: BankId) -> Response:
    """Was removed from the contract."""
    await api.require_bank(bank_id)
    raise HTTPException(410, f"This was removed. {NOT_SERVED}")


@downloads_router.get(
    "/download/{key}",
    response_class=Response,
    responses={
        200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}},
        404: {"model": Problem, "description": "No such file, or it is no longer kept"},
    },
)
async def download_file(api: Api, key: str) -> Response:
    """An archive, by the key that its export was answered with."""
    found = await api.ask(transfer_files.find(key, api.service.clock.now()))
    if found is None:
        raise ArchiveNotFound
    headers = {
        "Content-Length": str(found.byte_size),
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.filename)}",
        "ETag": f'"{found.sha256}"',
        "Cache-Control": "private, no-store",
    }
    return StreamingResponse(transfer_files.parts(api.reader, key), headers=headers, media_type="application/zip")


def _accepted(operation_id: object) -> Response:
    return respond(BankTransferSubmitResponse(operation_id=str(operation_id)), status=202)


def _tell_history(asked: bool | None) -> None:
    if asked:
        ignored.note({"include_history": asked})


def _require_multipart(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "multipart/form-data":
        raise HTTPException(415, "An archive is sent as multipart/form-data, in a part named 'file'")
