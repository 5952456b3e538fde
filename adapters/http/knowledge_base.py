"""The endpoints of the knowledge base: folders and pages as a tree."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic_core import to_json
from starlette.responses import Response

from adapters.http import etag, knowledge_base_wire
from adapters.http.backend import Api, Backend
from adapters.http.fields import BankId, TagFilter
from adapters.http.knowledge_base_markdown import NOTHING_YET
from adapters.http.knowledge_base_wire import (
    CreateFolderRequest,
    CreateKnowledgePageResponse,
    CreatePageRequest,
    KnowledgeNode,
    KnowledgePageResponse,
    KnowledgePageSearchResponse,
    KnowledgeTreeResponse,
    UpdateNodeRequest,
    options_of,
)
from adapters.http.preconditions import IfNoneMatch
from adapters.http.responses import Deleted, Problem, respond, respond_with
from adapters.http.tag_filters import TagGroupsText, scope_of
from adapters.http.times import iso
from adapters.http.visibility import visible_models
from adapters.http.wire_route import WireRoute
from application.page_search import PageScore
from domain import fuzzy_tags
from domain.knowledge_base import MoveTo
from domain.knowledge_base.refusals import NodeNotFound, NotAPage
from domain.knowledge_base.snippets import snippet
from domain.scope import Scope, TagsMatch, admits
from projections import knowledge_tree
from projections.knowledge_tree import NodeRow

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/knowledge-base",
    tags=["Knowledge Base"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such bank, folder or page"}},
)
TAKEN: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "It says what cannot be: too deep, its own parent, or nothing to change"},
    409: {"model": Problem, "description": "The tree as it stands does not allow it: a name twice, a loop, no folder"},
}
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "It is as If-None-Match says"}}


@router.get("/tree", response_model=KnowledgeTreeResponse, responses=UNCHANGED)
async def get_knowledge_base_tree(
    api: Api,
    bank_id: BankId,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any",
    tag_groups: TagGroupsText = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """All folders and pages. With tags or groups, or both, the pages that match all of them, and the folders on the way
    to them. Its ETag changes with everything that is told, staleness included."""
    scope = scope_of(tags, tags_match, tag_groups, both=True)
    rows, stale = await api.ask(knowledge_tree.tree(bank_id, observations=api.makes_observations))
    if not rows:
        await api.require_bank(bank_id)
    pages, seen = await _seen(api, bank_id, rows)
    kept = {row.node_id for row in _admitted(pages, scope)} if _filters(scope) or seen is not None else None
    return _unless_same({"roots": knowledge_base_wire.nested(rows, stale, kept=kept)}, if_none_match)


@router.post("/folders", status_code=201, response_model=KnowledgeNode, responses=TAKEN)
async def create_knowledge_folder(api: Api, bank_id: BankId, body: CreateFolderRequest) -> Response:
    """Makes a folder. Creates the bank when there is none. Folders may share their names."""
    folder_id = await api.command(
        api.service.knowledge_bases.create_folder,
        api.by_user("POST knowledge folder"),
        bank_id,
        name=body.name,
        parent_id=body.parent_id,
        sort_order=body.sort_order or 0,
    )
    return await _node(api, bank_id, folder_id, status=201)


@router.post("/pages", status_code=201, response_model=CreateKnowledgePageResponse, responses=TAKEN)
async def create_knowledge_page(api: Api, bank_id: BankId, body: CreatePageRequest) -> Response:
    """Makes a page with its mental model, and asks for its first refresh. Creates the bank when there is none.

    A page refreshes itself after consolidation, in mode delta, from observations, and reads no other pages, unless the
    bank (`knowledge_page_default_trigger`) or `trigger` says otherwise. Its name is unique in its folder, whatever its
    case."""
    made = await api.command(
        api.service.knowledge_bases.create_page,
        api.by_user("POST knowledge page"),
        bank_id,
        name=body.name,
        options=options_of(body),
        parent_id=body.parent_id,
        sort_order=body.sort_order or 0,
    )
    return respond(
        CreateKnowledgePageResponse(
            page_id=made.page_id, mental_model_id=made.mental_model_id, operation_id=str(made.operation_id)
        ),
        status=201,
    )


@router.get("/pages/{page_id}", response_model=KnowledgePageResponse, responses=UNCHANGED)
async def get_knowledge_page(api: Api, bank_id: BankId, page_id: str, if_none_match: IfNoneMatch = None) -> Response:
    """A page: its text as it is stored, and as a markdown document with front matter."""
    row = await _found(api, bank_id, page_id)
    if row.kind == "folder":
        raise NotAPage(bank_id, page_id)
    return _unless_same(knowledge_base_wire.page_of(row), if_none_match)


@router.get("/search", response_model=KnowledgePageSearchResponse)
async def search_knowledge_base(
    api: Api,
    bank_id: BankId,
    q: Annotated[str, Query(min_length=1, description="What to look for.")],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    tags: TagFilter = None,
    tags_match: TagsMatch = "any",
    tag_groups: TagGroupsText = None,
) -> Response:
    """Pages by their words and their meaning, name and text, the best first.

    Words are found as soon as they are written; the meaning of a text is known a few seconds after it was."""
    scope = scope_of(tags, tags_match, tag_groups, both=True)
    rows = await api.ask(knowledge_tree.every(bank_id))
    if not rows:
        await api.require_bank(bank_id)
    rows, _ = await _seen(api, bank_id, rows)
    pages = {row.mental_model_id: row for row in _admitted(rows, scope) if row.mental_model_id is not None}
    if not pages or not q.strip():
        return respond_with({"results": [], "total": 0, "by_meaning": True})
    found = await api.with_model(api.service.page_finder.find, bank_id, q, set(pages))
    best = found.pages[:limit]
    texts = await api.ask(knowledge_tree.texts(bank_id, [each.mental_model_id for each in best]))
    results = [_result(pages[each.mental_model_id], each, texts.get(each.mental_model_id, "")) for each in best]
    return respond_with({"results": results, "total": len(found.pages), "by_meaning": found.by_meaning})


@router.patch("/nodes/{node_id}", response_model=KnowledgeNode, responses=TAKEN)
async def update_knowledge_node(api: Api, bank_id: BankId, node_id: str, body: UpdateNodeRequest) -> Response:
    """Renames, moves, or sets the options of a page: all of it, or nothing. Null is as absent, but a `parent_id` of
    null moves to the root, and in `trigger` null sets. Another question queues a refresh."""
    await api.command(
        partial(
            api.service.knowledge_bases.change,
            name=body.name,
            move=MoveTo(body.parent_id) if "parent_id" in body.model_fields_set else None,
            sort_order=body.sort_order,
            options=options_of(body),
        ),
        api.by_user("PATCH knowledge node"),
        bank_id,
        node_id,
    )
    return await _node(api, bank_id, node_id)


@router.delete("/nodes/{node_id}", response_model=Deleted)
async def delete_knowledge_node(api: Api, bank_id: BankId, node_id: str) -> Response:
    """Deletes a page, or a folder with all that is in it, and their mental models; what happened to those stays
    readable."""
    await api.command(api.service.knowledge_bases.delete, api.by_user("DELETE knowledge node"), bank_id, node_id)
    return respond(Deleted())


async def _found(api: Backend, bank_id: str, node_id: str) -> NodeRow:
    row = await api.ask(knowledge_tree.node(bank_id, node_id))
    if row is None or (api.principal.tags is not None and not (await _seen(api, bank_id, [row]))[0]):
        raise NodeNotFound(bank_id, node_id)
    return row


async def _seen(api: Backend, bank_id: str, rows: list[NodeRow]) -> tuple[list[NodeRow], list[str] | None]:
    """The pages that the caller sees, and their mental models; None where that is all, folders included."""
    seen = await visible_models(api, bank_id)
    return (rows, None) if seen is None else ([row for row in rows if row.mental_model_id in seen], seen)


async def _node(api: Backend, bank_id: str, node_id: str, status: int = 200) -> Response:
    return respond_with(knowledge_base_wire.fields_of(await _found(api, bank_id, node_id)), status=status)


def _filters(scope: Scope) -> bool:
    return bool(scope.tags or scope.tag_groups) or scope.tags_match == "exact"


def _admitted(rows: list[NodeRow], scope: Scope) -> list[NodeRow]:
    """The pages whose tags the scope admits. Tags that are asked for by likeness are looked up among those of pages."""
    if fuzzy_tags.is_fuzzy(scope):
        scope = fuzzy_tags.resolved(scope, sorted({tag for row in rows for tag in row.tags}))
    return [row for row in rows if row.kind == "page" and admits(scope, row.tags, "observation")]


def _unless_same(fields: Mapping[str, Any], if_none_match: str | None) -> Response:
    """The fields with an ETag of their bytes, or 304 when the caller has them."""
    content = to_json(fields)
    digest = hashlib.sha256(content).hexdigest()[:32]
    headers = {"ETag": etag.of(digest)}
    if etag.already_has(if_none_match, digest):
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type="application/json")


def _result(row: NodeRow, scored: PageScore, text: str) -> dict[str, Any]:
    pieces = snippet(text, scored.terms)
    return {
        "id": row.node_id,
        "name": row.name,
        "mental_model_id": row.mental_model_id,
        "source_query": row.source_query,
        "snippet": "".join(piece.text for piece in pieces) or NOTHING_YET,
        "highlights": [piece._asdict() for piece in pieces] or [{"text": NOTHING_YET, "match": False}],
        "score": round(scored.score, 6),
        "updated_at": iso(row.timestamp),
    }
