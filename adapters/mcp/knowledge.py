"""Tools of the knowledge base: folders, and pages whose documents keep themselves current."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from adapters.mcp.arguments import NodeId, Tags, Text, TokenBudget
from adapters.mcp.call import Call, given
from adapters.mcp.tool import ADDS, DESTROYS, READS, SETS, Tools
from adapters.mcp.trigger import LegacyAutomatic, TriggerInput, trigger_body

TOOLS = Tools()
PATH = "knowledge-base"
ROOT = "root"

Parent = Annotated[str | None, Field(description="The folder it is put in; default: the top.")]


@TOOLS.tool("Tree of the knowledge base", READS)
async def get_knowledge_base_tree(
    call: Call, include_triggers: Annotated[bool, Field(description="With the trigger of each page.")] = False
) -> Any:
    """Gives the folders and pages of the knowledge base, and which pages are stale; no content."""
    tree = await call.ask("GET", PATH, "tree")
    return tree if include_triggers else {**tree, "roots": [_without_triggers(node) for node in tree["roots"]]}


@TOOLS.tool("Search the knowledge base", READS)
async def search_knowledge_base(
    call: Call, query: Text, limit: Annotated[int, Field(ge=1, le=50, description="Pages at most.")] = 10
) -> Any:
    """Finds pages by words and meaning, best first."""
    told = await call.ask("GET", PATH, "search", params={"q": query, "limit": limit})
    results = [{name: value for name, value in each.items() if name != "highlights"} for each in told["results"]]
    return {**told, "results": results}


@TOOLS.tool("Get a knowledge page", READS)
async def get_knowledge_page(call: Call, page_id: NodeId) -> Any:
    """Gives a page with its text."""
    told = await call.ask("GET", PATH, "pages", page_id)
    return {name: value for name, value in told.items() if name != "markdown"}  # all of that is in the other fields


@TOOLS.tool("Create a knowledge folder", ADDS)
async def create_knowledge_folder(call: Call, name: Text, parent_id: Parent = None) -> Any:
    """Creates a folder for pages."""
    return await call.ask("POST", PATH, "folders", body=given(name=name, parent_id=parent_id))


@TOOLS.tool("Create a knowledge page", ADDS)
async def create_knowledge_page(
    call: Call,
    name: Text,
    source_query: Annotated[str, Field(min_length=1, description="The question that the page answers.")],
    parent_id: Parent = None,
    tags: Annotated[Tags | None, Field(description="Of it, and of the memories that it reads.")] = None,
    max_tokens: TokenBudget | None = None,
    trigger: TriggerInput | None = None,
    refresh_after_consolidation: LegacyAutomatic | None = None,
) -> Any:
    """Creates a page that answers a question over the memory and keeps itself current; it is written in the background.
    By default it reads observations only, leaves other documents out and is edited (delta) after memory was written:
    `trigger` changes any of that, `{"fact_types": null}` has it read all facts."""
    body = given(
        name=name,
        source_query=source_query,
        parent_id=parent_id,
        tags=tags,
        max_tokens=max_tokens,
        trigger=trigger_body(trigger, refresh_after_consolidation=refresh_after_consolidation),
    )
    return await call.ask("POST", PATH, "pages", body=body)


@TOOLS.tool("Change a folder or page", SETS)
async def update_knowledge_node(
    call: Call,
    node_id: NodeId,
    name: str | None = None,
    parent_id: Annotated[str | None, Field(description=f'The folder to move it to; "{ROOT}": to the top.')] = None,
    source_query: str | None = None,
    tags: Annotated[Tags | None, Field(description="Replace those it has; [] takes all away.")] = None,
    max_tokens: TokenBudget | None = None,
    trigger: TriggerInput | None = None,
    refresh_after_consolidation: LegacyAutomatic | None = None,
) -> Any:
    """Renames or moves a folder or page, or changes what is given of a page, and leaves the rest, in `trigger` too: its
    fields that are named replace the stored ones, null clears one."""
    body = given(
        name=name,
        source_query=source_query,
        tags=tags,
        max_tokens=max_tokens,
        trigger=trigger_body(trigger, refresh_after_consolidation=refresh_after_consolidation),
    )
    if parent_id is not None:
        body["parent_id"] = None if parent_id == ROOT else parent_id
    return await call.ask("PATCH", PATH, "nodes", node_id, body=body)


@TOOLS.tool("Delete a folder or page", DESTROYS)
async def delete_knowledge_node(call: Call, node_id: NodeId) -> Any:
    """Deletes a page, or a folder with all that is in it."""
    return await call.ask("DELETE", PATH, "nodes", node_id)


@TOOLS.tool("Export the knowledge base", READS)
async def export_knowledge_base(call: Call) -> Any:
    """Gives the whole knowledge base as markdown files with their paths."""
    return await call.ask("GET", PATH, "export")


def _without_triggers(node: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in node.items() if name != "trigger"}
    return kept | {"children": [_without_triggers(child) for child in node.get("children", [])]}
