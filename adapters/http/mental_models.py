"""The endpoints of mental models."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from adapters.http import mental_model_wire
from adapters.http.backend import Api
from adapters.http.fields import BankId, Offset, TagFilter
from adapters.http.mental_model_reads import as_it_stands, as_it_was, in_full, unless_known
from adapters.http.moments import AsOf, moment_of
from adapters.http.preconditions import MOVED_ON, IfMatch, IfNoneMatch, expected_version
from adapters.http.requests import (
    DEFAULT_MAX_TOKENS,
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
    respond_with,
)
from adapters.http.visibility import require_whole_life, require_writable_model, visible_models
from adapters.http.wire_route import WireRoute
from domain.mental_model.trigger import Trigger
from domain.refusals import MentalModelNotFound
from projections import documents, history, staleness, timeline
from projections.documents import Detail, ListMatch

EVERY_ENTRY = 2**31 - 1

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/mental-models",
    tags=["Mental Models"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank or mental model"}},
)


@router.get("", response_model=MentalModelListResponse)
async def list_mental_models(
    api: Api,
    bank_id: BankId,
    tags: TagFilter = None,
    tags_match: ListMatch = "any",
    detail: Detail = "metadata",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Offset = 0,
    exclude_knowledge_pages: bool = False,
) -> Response:
    """Mental models of a bank, last refreshed first. With `tags`, untagged ones never match."""
    rows, total = await api.ask(
        documents.page(
            bank_id,
            tags=tags or (),
            match=tags_match,
            detail=detail,
            limit=limit,
            offset=offset,
            exclude_pages=exclude_knowledge_pages,
            among=await visible_models(api, bank_id),
        )
    )
    if not rows and not total:
        await api.require_bank(bank_id)
    asked = staleness.of_models(bank_id, [row.mental_model_id for row in rows], observations=api.makes_observations)
    stale = await api.ask(asked) if rows else {}
    return respond_with(mental_model_wire.listed(rows, stale, total=total, limit=limit, offset=offset))


@router.post("", response_model=CreateMentalModelResponse)
async def create_mental_model(api: Api, bank_id: BankId, body: CreateMentalModelRequest) -> Response:
    """Defines a mental model and asks for its first refresh. Creates the bank when there is none.

    `content`, which the contract does not have, is a document to begin with: in mode delta the first refresh edits it,
    in mode full it replaces it."""
    api.principal.require_writable(body.tags or (), "The mental model")
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
        content=body.content,
        held_to=api.principal.groups,
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
        await require_whole_life(api, bank_id, mental_model_id)
        body = await as_it_was(api, bank_id, mental_model_id, moment_of(as_of), detail)
    else:
        body = await as_it_stands(api, bank_id, mental_model_id, detail)
    return unless_known(body, if_none_match)


@router.patch(
    "/{mental_model_id}",
    response_model=MentalModelResponse,
    responses={412: MOVED_ON},
)
async def update_mental_model(
    api: Api, bank_id: BankId, mental_model_id: str, body: UpdateMentalModelRequest, if_match: IfMatch = None
) -> Response:
    """Changes what is given. Null is as absent, except in `trigger`, where it sets; `tags: []` clears the tags.

    `content`, which the contract does not have, is the document written by hand."""
    await require_writable_model(api, bank_id, mental_model_id)
    if body.tags is not None:
        api.principal.require_writable(body.tags, f"Mental model '{mental_model_id}'")
    expected = await expected_version(api, bank_id, mental_model_id, if_match)
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
        content=body.content,
        held_to=api.principal.groups,
    )
    return await in_full(api, bank_id, mental_model_id)


@router.delete("/{mental_model_id}", response_model=Deleted)
async def delete_mental_model(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """Deletes it; its events stay readable."""
    await require_writable_model(api, bank_id, mental_model_id)
    await api.command(api.service.mental_models.delete, api.by_user("DELETE mental model"), bank_id, mental_model_id)
    return respond(Deleted())


@router.post("/{mental_model_id}/clear", response_model=MentalModelResponse)
async def clear_mental_model(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """Empties the document; its history keeps what it said."""
    await require_writable_model(api, bank_id, mental_model_id)
    await api.command(api.service.mental_models.clear, api.by_user("POST clear"), bank_id, mental_model_id)
    return await in_full(api, bank_id, mental_model_id)


@router.post("/{mental_model_id}/refresh", response_model=AsyncOperationSubmitResponse)
async def refresh_mental_model(
    api: Api, bank_id: BankId, mental_model_id: str, body: RefreshMentalModelRequest | None = None
) -> Response:
    """Asks for a refresh in the background. `mode` full rewrites the document this once, whatever its trigger says."""
    await require_writable_model(api, bank_id, mental_model_id)
    asked = await api.command(
        api.service.refresh_requests.refresh,
        api.by_user("POST refresh"),
        bank_id,
        mental_model_id,
        body.mode if body else None,
    )
    folded = asked.status == "folded"
    return respond(AsyncOperationSubmitResponse(operation_id=str(asked.operation_id), folded=folded))


@router.get("/{mental_model_id}/history", response_model=list[HistoryEntry])
async def get_mental_model_history(api: Api, bank_id: BankId, mental_model_id: str) -> Response:
    """What the document said before each change, and the refreshes that failed; newest first. Empty where it is
    disabled."""
    await require_whole_life(api, bank_id, mental_model_id)
    at_most = api.service.settings.history_max_entries
    asked = history.entries(bank_id, mental_model_id, per_kind=at_most if at_most > 0 else EVERY_ENTRY)
    entries = await api.ask(asked) if api.service.settings.history_enabled else []
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
    await require_whole_life(api, bank_id, mental_model_id)
    entries, total = await api.ask(timeline.page(bank_id, mental_model_id, limit, offset))
    if not total:
        raise MentalModelNotFound(bank_id, mental_model_id)
    payloads = {}
    if detail == "full" and entries:
        events = await api.command(api.service.mental_models.events, bank_id, mental_model_id)
        payloads = {each.version: each.event.model_dump(mode="json", by_alias=True) for each in events}
    items = [mental_model_wire.event(entry, payloads.get(entry.version)) for entry in entries]
    return respond(EventListResponse(items=items, total=total, limit=limit, offset=offset))
