"""The endpoints of mental models."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.http import errors, etag, mental_model_wire
from adapters.http.backend import Api, Backend
from adapters.http.fields import BankId, Offset, TagFilter
from adapters.http.requests import (
    CreateMentalModelRequest,
    RefreshMentalModelRequest,
    UpdateMentalModelRequest,
)
from adapters.http.responses import (
    AsyncOperationSubmitResponse,
    CreateMentalModelResponse,
    Deleted,
    EventListResponse,
    HistoryEntry,
    MentalModelListResponse,
    MentalModelResponse,
    Problem,
    respond,
)
from adapters.http.times import to_utc
from adapters.http.wire_route import WireRoute
from domain.mental_model.trigger import Trigger
from domain.refusals import MentalModelNotFound
from projections import documents, history, staleness, timeline
from projections.documents import Detail, ListMatch

DEFAULT_MAX_TOKENS = 2048
EVERY_ENTRY = 2**31 - 1

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/mental-models",
    tags=["Mental Models"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank or mental model"}},
)

IfMatch = Annotated[str | None, Header(description="Change it only while it is at this version (an ETag); else 412.")]
IfNoneMatch = Annotated[str | None, Header(description="Answer 304 when it is still at this version (an ETag).")]
AsOf = Annotated[
    str | None,
    Query(description="As it was: a version, or a time in ISO 8601 (UTC without an offset). Deleted ones included."),
]


@router.get("", response_model=MentalModelListResponse)
async def list_mental_models(
    api: Api,
    bank_id: BankId,
    tags: TagFilter = None,
    tags_match: ListMatch = "any",
    detail: Detail = "metadata",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Offset = 0,
    exclude_knowledge_pages: bool = False,  # noqa: ARG001 - part of the contract; there are no knowledge pages yet
) -> Response:
    """Mental models of a bank, last refreshed first. With `tags`, untagged ones never match."""
    rows, total = await api.ask(
        documents.page(bank_id, tags=tags or (), match=tags_match, detail=detail, limit=limit, offset=offset)
    )
    if not rows and not total:
        await api.require_bank(bank_id)
    stale = await api.ask(staleness.of_models(bank_id, [row.mental_model_id for row in rows])) if rows else {}
    items = [mental_model_wire.of_row(row, stale.get(row.mental_model_id)) for row in rows]
    return respond(MentalModelListResponse(items=items, total=total, limit=limit, offset=offset))


@router.post("", response_model=CreateMentalModelResponse)
async def create_mental_model(api: Api, bank_id: BankId, body: CreateMentalModelRequest) -> Response:
    """Defines a mental model and asks for its first refresh. Creates the bank when there is none."""
    created = await api.command(
        api.service.mental_models.create,
        api.by_user("POST mental model"),
        bank_id,
        mental_model_id=body.id,
        name=body.name,
        source_query=body.source_query,
        tags=tuple(body.tags or ()),
        max_tokens=body.max_tokens or DEFAULT_MAX_TOKENS,
        trigger=body.trigger.complete() if body.trigger else Trigger(),
    )
    return respond(
        CreateMentalModelResponse(mental_model_id=created.mental_model_id, operation_id=str(created.operation_id))
    )


@router.get("/{mental_model_id}", response_model=MentalModelResponse)
async def get_mental_model(
    api: Api,
    bank_id: BankId,
    mental_model_id: str,
    detail: Detail = "full",
    as_of: AsOf = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """One mental model, now or as it was. Its ETag is its version."""
    if as_of is not None:
        body = await _as_it_was(api, bank_id, mental_model_id, _moment(as_of), detail)
    else:
        body = await _now(api, bank_id, mental_model_id, detail)
    headers = {"ETag": etag.of(body.version)}
    if not body.is_stale and etag.already_has(if_none_match, body.version):
        # A document turns stale without an event of its own, so a stale one is always told anew.
        return Response(status_code=304, headers=headers)
    return respond(body, headers=headers)


@router.patch(
    "/{mental_model_id}",
    response_model=MentalModelResponse,
    responses={412: {"model": Problem, "description": "It is no longer at the version of If-Match"}},
)
async def update_mental_model(
    api: Api, bank_id: BankId, mental_model_id: str, body: UpdateMentalModelRequest, if_match: IfMatch = None
) -> Response:
    """Changes what is given. Null is as absent, except in `trigger`, where it sets; `tags: []` clears the tags."""
    expected = await _expected_version(api, bank_id, mental_model_id, if_match)
    await api.command(
        api.service.mental_models.change,
        api.by_user("PATCH mental model"),
        bank_id,
        mental_model_id,
        expected=expected,
        name=body.name,
        source_query=body.source_query,
        tags=tuple(body.tags) if body.tags is not None else None,
        max_tokens=body.max_tokens,
        trigger=body.trigger.given() if body.trigger else None,
    )
    return await _full(api, bank_id, mental_model_id)


@router.delete("/{mental_model_id}", response_model=Deleted)
async def delete_mental_model(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """Deletes it; its events stay readable."""
    await api.command(api.service.mental_models.delete, api.by_user("DELETE mental model"), bank_id, mental_model_id)
    return respond(Deleted())


@router.post("/{mental_model_id}/clear", response_model=MentalModelResponse)
async def clear_mental_model(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """Empties the document; its history keeps what it said."""
    await api.command(api.service.mental_models.clear, api.by_user("POST clear"), bank_id, mental_model_id)
    return await _full(api, bank_id, mental_model_id)


@router.post("/{mental_model_id}/refresh", response_model=AsyncOperationSubmitResponse)
async def refresh_mental_model(
    api: Api, bank_id: BankId, mental_model_id: str, body: RefreshMentalModelRequest | None = None
) -> Response:
    """Asks for a refresh in the background. `mode` full rewrites the document this once, whatever its trigger says."""
    operation_id = await api.command(
        api.service.mental_models.refresh,
        api.by_user("POST refresh"),
        bank_id,
        mental_model_id,
        body.mode if body else None,
    )
    return respond(AsyncOperationSubmitResponse(operation_id=str(operation_id)))


@router.get("/{mental_model_id}/history", response_model=list[HistoryEntry])
async def get_mental_model_history(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """What the document said before each change, and the refreshes that failed; newest first."""
    at_most = api.service.settings.history_max_entries
    entries = await api.ask(history.entries(bank_id, mental_model_id, per_kind=at_most if at_most > 0 else EVERY_ENTRY))
    if not entries and await api.ask(documents.find(bank_id, mental_model_id, "metadata")) is None:
        raise MentalModelNotFound(bank_id, mental_model_id)
    told = [mental_model_wire.history_entry(entry) for entry in entries]
    return Response(json.dumps(told, ensure_ascii=False), media_type="application/json")


@router.get("/{mental_model_id}/events", response_model=EventListResponse)
async def list_mental_model_events(
    api: Api,
    bank_id: BankId,
    mental_model_id: str,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Offset = 0,
    detail: Literal["summary", "full"] = "summary",
) -> Response:
    """Everything that ever happened to a mental model, oldest first; of deleted ones too."""
    entries, total = await api.ask(timeline.page(bank_id, mental_model_id, limit, offset))
    if not total:
        raise MentalModelNotFound(bank_id, mental_model_id)
    payloads = {}
    if detail == "full" and entries:
        events = await api.command(api.service.mental_models.events, bank_id, mental_model_id)
        payloads = {each.version: each.event.model_dump(mode="json", by_alias=True) for each in events}
    items = [mental_model_wire.event(entry, payloads.get(entry.version)) for entry in entries]
    return respond(EventListResponse(items=items, total=total, limit=limit, offset=offset))


async def _now(api: Backend, bank_id: str, mental_model_id: str, detail: Detail) -> MentalModelResponse:
    """As it stands; how stale it is only with all details. Raises MentalModelNotFound."""
    find = documents.find(bank_id, mental_model_id, detail)
    stale: dict[str, staleness.Staleness] = {}
    if detail == "full":
        row, stale = await api.ask_both(find, staleness.of_models(bank_id, [mental_model_id]))
    else:
        row = await api.ask(find)
    if row is None:
        raise MentalModelNotFound(bank_id, mental_model_id)
    return mental_model_wire.of_row(row, stale.get(mental_model_id))


async def _full(api: Backend, bank_id: str, mental_model_id: str) -> Response:
    body = await _now(api, bank_id, mental_model_id, "full")
    return respond(body, headers={"ETag": etag.of(body.version)})


async def _as_it_was(
    api: Backend, bank_id: str, mental_model_id: str, moment: int | datetime, detail: Detail
) -> MentalModelResponse:
    then = await api.command(api.service.mental_models.as_of, bank_id, mental_model_id, moment)
    events = await api.command(api.service.mental_models.events, bank_id, mental_model_id)
    return mental_model_wire.as_it_was(then.model, then.version, events, detail)


def _moment(as_of: str) -> int | datetime:
    """A version or a time; raises a 422 for what is neither."""
    if as_of.isascii() and as_of.isdigit() and len(as_of) < 10:
        return int(as_of)
    try:
        return to_utc(as_of)
    except ValueError as error:
        message = "is neither a version (a number) nor a time in ISO 8601 (2024-01-15T10:30:00Z)"
        raise errors.unprocessable(("query", "as_of"), message) from error


async def _expected_version(api: Backend, bank_id: str, mental_model_id: str, if_match: str | None) -> int | None:
    """The version that a change must find, given If-Match; None when any will do. Raises a 412 when it has moved on."""
    if if_match is None:
        return None
    now = await api.command(api.service.mental_models.load, bank_id, mental_model_id)
    if not etag.allows(if_match, now.version):
        raise HTTPException(
            412,
            f"If-Match is {if_match}, but mental model '{mental_model_id}' is at version {etag.of(now.version)};"
            " read it again and repeat the change",
        )
    return None if if_match.strip() == "*" else now.version
