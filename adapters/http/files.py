"""The endpoint that retains files: each becomes a document, read in the background like any other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.http import errors
from adapters.http.backend import Api
from adapters.http.fields import CONTEXT_LENGTH, BankId, DocumentId, Metadata, TagsOrJson, Timestamp
from adapters.http.file_texts import READ, text_of
from adapters.http.requests import Body, Scopes
from adapters.http.responses import Problem, respond
from adapters.http.retained_items import moment_of
from adapters.http.unstorable import find_unstorable
from adapters.http.visibility import require_writable_items
from adapters.http.wire_route import WireRoute
from domain.memory import RetainItem

FILES_AT_MOST = 10

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/files",
    tags=["Files"],
    route_class=WireRoute,
    responses={
        400: {"model": Problem, "description": "The parts of the body cannot be told apart"},
        413: {"model": Problem, "description": "The request is larger than the service takes"},
        415: {"model": Problem, "description": "A file of a kind that is not read"},
    },
)


class FileMetadata(Body):
    """What one file is retained with; as for an item of a retain."""

    INSIDE = "files_metadata."

    context: str | None = Field(default=None, max_length=CONTEXT_LENGTH)
    document_id: DocumentId | None = None
    tags: TagsOrJson | None = None
    metadata: Metadata | None = None
    timestamp: Timestamp = Field(default=None, description='When it was said; null is now, "unset" is no time.')
    observation_scopes: Scopes | None = None
    strategy: str | None = None


class FileRetainRequest(Body):
    files_metadata: list[FileMetadata] | None = Field(default=None, max_length=FILES_AT_MOST)
    document_tags: TagsOrJson | None = None


class FileRetainResponse(BaseModel):
    operation_ids: list[str]


_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "contentMediaType": "application/octet-stream"},
                            "description": f"Read are {READ}, in UTF-8.",
                        },
                        "request": {
                            "type": "string",
                            "description": 'JSON: {"files_metadata": [...]}, an entry for each file in their order:'
                            " context, document_id, tags, metadata, timestamp, observation_scopes, strategy.",
                        },
                    },
                }
            }
        },
    }
}


@router.post("/retain", response_model=FileRetainResponse, openapi_extra=_BODY)
async def file_retain(api: Api, bank_id: BankId, request: Request) -> Response:
    """Takes files in and retains each as a document in the background. Files of one document id are one document, in
    their order. Nothing is taken in when one of them cannot be read. Creates the bank when there is none."""
    context = api.by_user("POST files")
    _require_multipart(request)
    async with request.form(max_files=FILES_AT_MOST, max_fields=10) as form:
        files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
        if not files:
            raise errors.unprocessable(("body", "files"), "send at least one file, in a part named 'files'", "missing")
        asked = _asked(form, len(files))
        texts = [
            text_of(await file.read(), file.filename or "", file.content_type, ("body", "files", number))
            for number, file in enumerate(files)
        ]
    given = asked.files_metadata or [FileMetadata() for _ in files]
    items = [
        _item(text, each, asked.document_tags or (), moment_of(each.timestamp, context.now))
        for text, each in zip(texts, given, strict=True)
    ]
    await require_writable_items(api, bank_id, items)
    operation_ids = await api.command(api.service.memories.retain_each_later, context, bank_id, _by_document(items))
    return respond(FileRetainResponse(operation_ids=[str(each) for each in operation_ids]))


def _require_multipart(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "multipart/form-data":
        raise HTTPException(415, "Files are sent as multipart/form-data, in parts named 'files'")


def _asked(form: FormData, files: int) -> FileRetainRequest:
    """What the part `request` says. Raises a 422 for what is wrong with it."""
    told = form.get("request")
    if not isinstance(told, str) or not told.strip():
        return FileRetainRequest()
    try:
        value = json.loads(told)
    except (ValueError, RecursionError) as error:
        raise errors.unprocessable(("body", "request"), f"not valid JSON: {error}", "json_invalid") from error
    if found := find_unstorable(value, ("body", "request")):
        raise errors.unprocessable(found.at, found.problem, "unstorable")
    try:
        asked = FileRetainRequest.model_validate(value)
    except ValidationError as error:
        raise errors.unprocessable(
            ("body", "request", *error.errors()[0]["loc"]), error.errors()[0]["msg"], error.errors()[0]["type"]
        ) from error
    if asked.files_metadata is not None and len(asked.files_metadata) != files:
        raise errors.unprocessable(
            ("body", "request", "files_metadata"),
            f"has {len(asked.files_metadata)} entries for {files} files; give one for each, in their order",
        )
    return asked


def _item(text: str, given: FileMetadata, tags: Sequence[str], timestamp: Any) -> RetainItem:
    scopes = given.observation_scopes
    return RetainItem(
        content=text,
        context=given.context,
        timestamp=timestamp,
        document_id=given.document_id,
        tags=tuple(dict.fromkeys([*(given.tags or ()), *tags])),
        metadata=tuple((given.metadata or {}).items()),
        observation_scopes=tuple(map(tuple, scopes)) if isinstance(scopes, list) else scopes,
        strategy=given.strategy,
    )


def _by_document(items: Sequence[RetainItem]) -> list[list[RetainItem]]:
    documents: dict[str, list[RetainItem]] = {}
    for number, item in enumerate(items):
        documents.setdefault(item.document_id or f"\x00{number}", []).append(item)
    return list(documents.values())
