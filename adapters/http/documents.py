"""The endpoints of a bank's documents and their chunks."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BeforeValidator, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import AnyLimit, BankId, Offset, TagFilter, Tags, moment, uuid_or_none
from adapters.http.memory_responses import (
    ChunkResponse,
    DeleteDocumentResponse,
    DocumentResponse,
    ListChunksResponse,
    ListDocumentsResponse,
    ReprocessDocumentResponse,
    UpdateDocumentResponse,
    chunk_response,
    document_list_item,
    document_response,
)
from adapters.http.requests import Body, example
from adapters.http.responses import Problem, respond
from adapters.http.tag_filters import scope_of
from adapters.http.visibility import require_document, require_writable_document, require_writable_scopes
from adapters.http.wire_route import WireRoute
from adapters.postgres import document_listing
from adapters.postgres.document_listing import TimeField
from domain.curation import DocumentEdit
from domain.refusals import ChunkNotFound, DocumentNotFound, NotFound
from domain.scope import TagsMatch

router = APIRouter(prefix="/v1/default/banks/{bank_id}/documents", tags=["Documents"], route_class=WireRoute)
chunks_router = APIRouter(prefix="/v1/default/chunks", tags=["Documents"], route_class=WireRoute)

NO_SUCH_DOCUMENT = {"model": Problem, "description": "No such bank or document"}
DocumentPath = Annotated[
    str,
    Path(description="Percent-encoded; it may have slashes. A last part that reads like one of these paths: as %2F."),
]
When = Annotated[datetime | None, BeforeValidator(moment), Query()]
ChunkLimit = Annotated[int, Query(ge=1, le=1000)]


class UpdateDocumentRequest(Body):
    model_config = example(tags=["handbook"])

    tags: Tags | None = Field(
        default=None, description="All tags that the document and its memories are to have; [] takes all away."
    )
    observation_scopes: (
        Literal["per_tag", "combined", "all_combinations", "shared"]
        | Annotated[list[Tags], Field(max_length=100)]
        | None
    ) = None

    def edit(self) -> DocumentEdit:
        given: dict[str, object] = {}
        if self.tags is not None:
            given["tags"] = tuple(self.tags)
        if self.observation_scopes is not None:
            scopes = self.observation_scopes
            given["observation_scopes"] = scopes if isinstance(scopes, str) else tuple(map(tuple, scopes))
        return DocumentEdit.model_validate(given)


@router.get("", response_model=ListDocumentsResponse, responses={404: NO_SUCH_DOCUMENT})
async def list_documents(
    api: Api,
    bank_id: BankId,
    q: Annotated[str | None, Query(description="Part of the id or the text, in any case.")] = None,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any_strict",
    time_field: TimeField = "updated_at",
    start_date: When = None,
    end_date: When = None,
    limit: AnyLimit = 100,
    offset: Offset = 0,
) -> Response:
    """Documents of a bank, the last written first."""
    scope, held_to = scope_of(tags, tags_match), api.principal.tags
    listed, total = await api.ask(
        document_listing.page(bank_id, scope, q, time_field, start_date, end_date, limit, offset, held_to)
    )
    if not total:
        await api.require_bank(bank_id)
    items = [document_list_item(bank_id, each) for each in listed]
    return respond(ListDocumentsResponse(items=items, total=total, limit=limit, offset=offset))


@router.get("/{document_id:path}/chunks", response_model=ListChunksResponse, responses={404: NO_SUCH_DOCUMENT})
async def list_document_chunks(
    api: Api,
    request: Request,
    bank_id: BankId,
    document_id: DocumentPath,
    limit: ChunkLimit = 100,
    offset: Offset = 0,
) -> Response:
    """The parts that a document was read in, in their order; none when its text is not stored."""
    if not _asks_for(request, "chunks"):
        return await get_document(api, bank_id, f"{document_id}/chunks")
    await require_document(api, bank_id, document_id)
    listed, total = await api.ask(document_listing.chunks(bank_id, document_id, limit, offset))
    if not total and await api.ask(document_listing.find(bank_id, document_id)) is None:
        await api.require_bank(bank_id)
        raise DocumentNotFound(bank_id, document_id)
    items = [chunk_response(each) for each in listed]
    return respond(ListChunksResponse(items=items, total=total, limit=limit, offset=offset))


@router.post(
    "/{document_id:path}/reprocess",
    response_model=ReprocessDocumentResponse,
    responses={
        404: NO_SUCH_DOCUMENT,
        409: {"model": Problem, "description": "Its text was not stored: retain it again"},
    },
)
async def reprocess_document(api: Api, request: Request, bank_id: BankId, document_id: DocumentPath) -> Response:
    """Reads a document anew, in the background, as if none of its chunks had been read before."""
    if not _asks_for(request, "reprocess"):
        raise HTTPException(405, headers={"Allow": "GET, PATCH, DELETE"})
    await require_writable_document(api, bank_id, document_id)
    operation_id = await api.command(
        api.service.memories.reprocess_later, api.by_user("POST reprocess"), bank_id, document_id
    )
    return respond(ReprocessDocumentResponse(success=True, operation_id=str(operation_id), items_count=1))


@router.get("/{document_id:path}", response_model=DocumentResponse, responses={404: NO_SUCH_DOCUMENT})
async def get_document(api: Api, bank_id: BankId, document_id: DocumentPath) -> Response:
    """A document with its text."""
    await require_document(api, bank_id, document_id)
    found = await api.ask(document_listing.find(bank_id, document_id))
    if found is None:
        await api.require_bank(bank_id)
        raise DocumentNotFound(bank_id, document_id)
    return respond(document_response(bank_id, found), keep_nulls=True)


@router.patch("/{document_id:path}", response_model=UpdateDocumentResponse, responses={404: NO_SUCH_DOCUMENT})
async def update_document(
    api: Api, bank_id: BankId, document_id: DocumentPath, body: UpdateDocumentRequest
) -> Response:
    """Other tags, or other scopes of observations, for a document and all its memories."""
    await require_writable_document(api, bank_id, document_id)
    edit = body.edit()
    if body.tags is not None:
        api.principal.require_writable(body.tags, f"Document '{document_id}'")
    require_writable_scopes(api, edit.observation_scopes)
    changed = await api.command(
        api.service.curation.edit_document, api.by_user("PATCH document"), bank_id, document_id, edit
    )
    return respond(UpdateDocumentResponse(memory_units_updated=changed))


@router.delete("/{document_id:path}", response_model=DeleteDocumentResponse, responses={404: NO_SUCH_DOCUMENT})
async def delete_document(api: Api, bank_id: BankId, document_id: DocumentPath) -> Response:
    """Deletes a document with its memories."""
    await require_writable_document(api, bank_id, document_id)
    erased = await api.command(
        api.service.curation.delete_document, api.by_user("DELETE document"), bank_id, document_id
    )
    return respond(
        DeleteDocumentResponse(
            success=True,
            message=f"Document '{document_id}' and {erased.facts} memories deleted",
            document_id=document_id,
            memory_units_deleted=erased.facts,
        )
    )


@chunks_router.get(
    "/{chunk_id}",
    response_model=ChunkResponse,
    responses={404: {"model": Problem, "description": "No such chunk"}},
)
async def get_chunk(api: Api, chunk_id: str) -> Response:
    """A chunk of any bank that the caller knows of."""
    known = uuid_or_none(chunk_id)
    found = None if known is None else await api.ask(document_listing.chunk(known))
    if found is None or not api.principal.may_enter(found.bank_id):
        raise ChunkNotFound(chunk_id)
    try:
        await require_document(api, found.bank_id, found.document_id)
    except NotFound:
        raise ChunkNotFound(chunk_id) from None
    return respond(chunk_response(found))


def _asks_for(request: Request, name: str) -> bool:
    """Whether the path ends with this name; encoded as a whole, `%2F` before it, it is the end of the document's id."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return raw.partition(b"?")[0].endswith(b"/" + name.encode())
