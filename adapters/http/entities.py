"""The endpoints of the names that a bank's memories bear."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import AnyLimit, BankId, Offset, TagFilter, uuid_or_none
from adapters.http.memory_responses import EntityDetailResponse, EntityListResponse, entity_detail, entity_list_item
from adapters.http.responses import Problem, respond
from adapters.http.tag_filters import TagGroupsText, exact, scope_of
from adapters.http.wire_route import WireRoute
from adapters.postgres import entity_listing
from domain.refusals import EntityNotFound
from domain.scope import TagsMatch

router = APIRouter(prefix="/v1/default/banks/{bank_id}/entities", tags=["Entities"], route_class=WireRoute)

NO_SUCH_ENTITY = {"model": Problem, "description": "No such bank or entity"}
OBSERVATIONS_SHOWN = 100


@router.get("", response_model=EntityListResponse, responses={404: NO_SUCH_ENTITY})
async def list_entities(
    api: Api,
    bank_id: BankId,
    limit: AnyLimit = 100,
    offset: Offset = 0,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any",
    tag_groups: TagGroupsText = None,
) -> Response:
    """Names in current memories, the most mentioned first; with a filter, those that memories in it mention."""
    scope = api.principal.narrowed(await exact(api, bank_id, scope_of(tags, tags_match, tag_groups)))
    listed, total = await api.ask(entity_listing.page(bank_id, scope, limit, offset))
    if not total:
        await api.require_bank(bank_id)
    items = [entity_list_item(each) for each in listed]
    return respond(EntityListResponse(items=items, total=total, limit=limit, offset=offset))


@router.get("/{entity_id}", response_model=EntityDetailResponse, responses={404: NO_SUCH_ENTITY})
async def get_entity(
    api: Api,
    bank_id: BankId,
    entity_id: str,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any",
    tag_groups: TagGroupsText = None,
) -> Response:
    """A name, and what was observed of it."""
    scope = api.principal.narrowed(await exact(api, bank_id, scope_of(tags, tags_match, tag_groups)))
    found = None
    if (known := uuid_or_none(entity_id)) is not None:
        found = await api.ask(entity_listing.find(bank_id, scope, known))
    if found is None:
        await api.require_bank(bank_id)
        raise EntityNotFound(bank_id, entity_id)
    observed = await api.ask(entity_listing.observations(bank_id, scope, found.name, OBSERVATIONS_SHOWN))
    return respond(entity_detail(found, list(observed)))


@router.post(
    "/{entity_id}/regenerate",
    response_model=EntityDetailResponse,
    responses={410: {"model": Problem, "description": "Retired"}},
    deprecated=True,
)
async def regenerate_entity_observations(bank_id: BankId, entity_id: str) -> Response:
    """Retired: observations are made by consolidation."""
    raise HTTPException(
        410, f"What is observed of entity '{entity_id}' in bank '{bank_id}' is made by POST .../consolidate"
    )
