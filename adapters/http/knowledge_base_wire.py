"""Bodies of the knowledge base, in the shapes of the wire contract.

What the contract does not have, all of it optional to a client: `sort_order`, `stale_reasons`, `highlights`,
`by_meaning`, and the import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from adapters.http.fields import Name, SourceQuery, Tags, TokenBudget
from adapters.http.knowledge_base_markdown import page_markdown, page_type, without_type
from adapters.http.mental_model_wire import without_nulls
from adapters.http.requests import Body, TriggerInput, example
from adapters.http.times import iso
from application.knowledge_base import PageOptions
from projections.knowledge_tree import NodeRow
from projections.staleness import Staleness

ROOT = ""
"""Stands for what is in no folder."""
NODE_ID_LENGTH = 128
ParentId = Annotated[str, Field(max_length=NODE_ID_LENGTH)]
SortOrder = Annotated[int, Field(ge=-(2**31), le=2**31 - 1)]

SORT_ORDER = "Its place among its siblings, lowest first; by name where it is the same (not in the contract)."
SCOPES = (
    "Tags that say which memories the page is made from: one with tags reads memories that have all of them. None: the"
    " whole bank. `trigger.tags_match` sets another way of matching."
)


class CreateFolderRequest(Body):
    model_config = example(name="People")

    name: Name
    parent_id: ParentId | None = None
    sort_order: SortOrder | None = Field(default=None, description=SORT_ORDER)


class CreatePageRequest(Body):
    model_config = example(name="Communication", source_query="How does the team communicate?")

    name: Name
    source_query: SourceQuery
    parent_id: ParentId | None = None
    tags: Tags | None = Field(default=None, description=SCOPES)
    max_tokens: TokenBudget | None = Field(default=None, description="Length aimed at; 4096 when not given.")
    trigger: TriggerInput | None = Field(
        default=None, description="Fields named replace those of the default for pages; the others stay."
    )
    sort_order: SortOrder | None = Field(default=None, description=SORT_ORDER)


class UpdateNodeRequest(Body):
    model_config = example(name="How we talk")

    name: Name | None = None
    parent_id: ParentId | None = Field(default=None, description="The folder to move it to; null is the root.")
    source_query: SourceQuery | None = None
    tags: Tags | None = Field(default=None, description="[] clears the tags.")
    max_tokens: TokenBudget | None = None
    trigger: TriggerInput | None = Field(
        default=None, description="Fields named replace the stored ones, null included; the others stay."
    )
    sort_order: SortOrder | None = Field(default=None, description=SORT_ORDER)


def options_of(body: CreatePageRequest | UpdateNodeRequest) -> PageOptions:
    return PageOptions(
        body.source_query,
        None if body.tags is None else tuple(body.tags),
        body.max_tokens,
        body.trigger.given() if body.trigger else None,
    )


class KnowledgeNode(BaseModel):
    """A folder or a page. What only a page has is absent on a folder."""

    id: str
    kind: Literal["folder", "page"]
    name: str
    parent_id: str | None = None
    mental_model_id: str | None = None
    managed: bool = False
    description: str | None = Field(default=None, description="The question that the page answers.")
    tags: list[str] = []
    timestamp: str | None = Field(default=None, description="Of a page: last refreshed; of a folder: last changed.")
    sort_order: int = 0
    is_stale: bool | None = Field(default=None, description="In the tree only, of pages.")
    stale_reasons: list[str] | None = Field(default=None, description="As of a mental model.")
    last_refresh_failed_at: str | None = None
    trigger: dict[str, Any] | None = Field(default=None, description="The whole trigger; what is null is left out.")
    children: list[KnowledgeNode] = []


class KnowledgeTreeResponse(BaseModel):
    roots: list[KnowledgeNode]


class CreateKnowledgePageResponse(BaseModel):
    page_id: str
    mental_model_id: str
    operation_id: str | None = None


class KnowledgePageResponse(BaseModel):
    id: str
    name: str
    type: str
    description: str | None = None
    tags: list[str] = []
    timestamp: str | None = None
    body: str | None = Field(default=None, description="The document as it is stored; empty until it is written.")
    markdown: str = Field(description="The document below its front matter; an empty one says so in words.")


class Highlight(BaseModel):
    text: str
    match: bool = Field(description="Whether this is what was searched for.")


class KnowledgePageSearchResult(BaseModel):
    id: str
    name: str
    mental_model_id: str | None = None
    source_query: str | None = None
    snippet: str
    highlights: list[Highlight] = Field(description="The snippet in pieces: joined, their texts are the snippet.")
    score: float = Field(
        description="How well the page meets the query, from 0 to 1: half of it for the words of the query that it has,"
        " rare ones counting more, half for how near its meaning is (cosine similarity). What one of the two does not"
        " find has 0.5 at most."
    )
    updated_at: str | None = None


class KnowledgePageSearchResponse(BaseModel):
    results: list[KnowledgePageSearchResult]
    total: int = Field(description="How many pages were found; `results` are the best of them.")
    by_meaning: bool = Field(description="False when pages could be looked for by their words only.")


def fields_of(row: NodeRow, stale: Staleness | None = None) -> dict[str, Any]:
    """The fields of a KnowledgeNode without children, and without nulls."""
    told: dict[str, Any] = {"id": row.node_id, "kind": row.kind, "name": row.name}
    if row.parent_id is not None:
        told["parent_id"] = row.parent_id
    if row.mental_model_id is not None:
        told["mental_model_id"] = row.mental_model_id
    told |= {"managed": False, "tags": list(row.tags), "timestamp": iso(row.timestamp), "sort_order": row.sort_order}
    if row.kind == "page":
        told |= {"description": row.source_query, "trigger": without_nulls(row.trigger)}
    if stale is not None:
        told["is_stale"] = stale.is_stale
        if stale.reasons:
            told["stale_reasons"] = stale.reasons
    if row.last_refresh_failed_at is not None:
        told["last_refresh_failed_at"] = iso(row.last_refresh_failed_at)
    told["children"] = []
    return told


def page_of(row: NodeRow) -> dict[str, Any]:
    """The fields of a KnowledgePageResponse."""
    return {
        "id": row.node_id,
        "name": row.name,
        "type": page_type(row.tags),
        "description": row.source_query,
        "tags": without_type(row.tags),
        "timestamp": iso(row.timestamp),
        "body": row.content or "",
        "markdown": page_markdown(row),
    }


def nested(rows: Sequence[NodeRow], stale: Mapping[str, Staleness], *, kept: set[str] | None) -> list[dict[str, Any]]:
    """Nodes as a tree. With `kept`, only those pages, and the folders on the way to them."""
    if kept is not None:
        wanted = _with_ancestors(kept, {row.node_id: row.parent_id for row in rows})
        rows = [row for row in rows if row.node_id in wanted]
    told = {row.node_id: fields_of(row, stale.get(row.mental_model_id or "")) for row in rows}
    inside = places(rows)
    for folder_id, children in inside.items():
        if folder_id != ROOT:
            told[folder_id]["children"] = [told[child.node_id] for child in children]
    return [told[row.node_id] for row in inside.get(ROOT, ())]


def places(rows: Sequence[NodeRow]) -> dict[str, list[NodeRow]]:
    """What is in each folder, and at the ROOT, siblings in their order.

    Every node has one place, also of rows that hold a loop: what the root does not lead to is at the root."""
    ids = {row.node_id for row in rows}
    ordered = sorted(rows, key=_in_order)
    children: dict[str, list[NodeRow]] = {ROOT: []}
    for row in ordered:
        children.setdefault(row.parent_id if row.parent_id in ids and row.parent_id else ROOT, []).append(row)
    placed: dict[str, list[NodeRow]] = {}
    seen: set[str] = set()
    waiting = [*children[ROOT], *ordered]
    for start in waiting:
        if start.node_id in seen:
            continue
        placed.setdefault(ROOT, []).append(start)
        seen.add(start.node_id)
        walk = [start.node_id]
        for node_id in walk:  # it grows while it is walked
            new = [child for child in children.get(node_id, ()) if child.node_id not in seen]
            if new:
                placed[node_id] = new
                seen.update(child.node_id for child in new)
                walk.extend(child.node_id for child in new)
    return placed


def _in_order(row: NodeRow) -> tuple[int, str, str, int]:
    return row.sort_order, row.name.casefold(), row.name, row.created_version


def _with_ancestors(kept: set[str], parents: Mapping[str, str | None]) -> set[str]:
    wanted: set[str] = set()
    for node_id in kept:
        at: str | None = node_id
        while at is not None and at in parents and at not in wanted:
            wanted.add(at)
            at = parents[at]
    return wanted
