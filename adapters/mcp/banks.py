"""Tools of banks, their directives and their tags."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.mcp.arguments import Limit, ListMatch, Offset, Tags, Text
from adapters.mcp.call import BANKS, Call, given
from adapters.mcp.tool import ADDS, DESTROYS, READS, SETS, Tools

TOOLS = Tools()
LARGEST_PAGE = 1000


@TOOLS.tool("List banks", READS, of_bank=False, beyond=True)
async def list_banks(
    call: Call,
    q: Annotated[str | None, Field(description="Part of the id or the name, in any case.")] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """Lists the banks there are, each a memory of its own."""
    return await call.ask_server("GET", BANKS, params=given(q=q, limit=limit, offset=offset))


@TOOLS.tool("Create a bank", SETS, of_bank=False, beyond=True)
async def create_bank(
    call: Call,
    bank_id: Annotated[str, Field(min_length=1, description="Its id from now on.")],
    name: Annotated[str | None, Field(description="What it is called.")] = None,
    mission: Annotated[str | None, Field(description="Who it answers for, and what counts in its answers.")] = None,
) -> Any:
    """Creates a bank; one that is there gets the name and mission that are given."""
    return await call.of(bank_id).ask("PUT", body=given(name=name, reflect_mission=mission))


@TOOLS.tool("Numbers of a bank", READS, beyond=True)
async def get_bank_stats(call: Call) -> Any:
    """What a bank holds, and what is under way in it."""
    return await call.ask("GET", "stats")


@TOOLS.tool("Get a bank", READS)
async def get_bank(
    call: Call,
    include_config: Annotated[
        bool, Field(description="With every key of its config, not only those that it sets itself.")
    ] = False,
) -> Any:
    """Gives a bank: its name, mission and disposition, and what it sets of its config."""
    config = await call.ask("GET", "config")
    listed = await _listed(call)
    told = {name: listed[name] for name in ("name", "mission", "disposition") if listed.get(name) is not None}
    whole = {"config": config["config"]} if include_config else {}
    return {"bank_id": call.bank_id, **told, "overrides": config["overrides"], **whole}


@TOOLS.tool("Change a bank", SETS)
async def update_bank(
    call: Call,
    config_updates: Annotated[
        dict[str, Any] | None,
        Field(description="Keys of the config to set, as get_bank tells them; null takes the bank's own value away."),
    ] = None,
    name: Annotated[str | None, Field(description="What it is called.")] = None,
) -> Any:
    """Sets keys of a bank's config, all of them or none, and its name."""
    before = await call.ask("GET", "config")  # a bank that is not there is not made by a change
    if name is not None or not config_updates:
        await call.ask("PATCH", body=given(name=name))
    if config_updates:
        before = await call.ask("PATCH", "config", body={"updates": config_updates})
    return {**given(name=name), "bank_id": call.bank_id, "overrides": before["overrides"]}


@TOOLS.tool("Delete a bank", DESTROYS)
async def delete_bank(call: Call) -> Any:
    """Deletes a bank with its memory and its mental models, for good."""
    return await call.ask("DELETE")


@TOOLS.tool("List directives", READS)
async def list_directives(
    call: Call,
    tags: Tags | None = None,
    tags_match: ListMatch | None = None,
    active_only: bool = True,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """Lists the directives of a bank: rules that its answers and documents keep to."""
    params = given(tags=tags, tags_match=tags_match, active_only=active_only, limit=limit, offset=offset)
    return await call.ask("GET", "directives", params=params)


@TOOLS.tool("Create a directive", ADDS)
async def create_directive(
    call: Call,
    name: Text,
    content: Annotated[str, Field(min_length=1, description="The rule.")],
    priority: Annotated[int, Field(description="The higher one is told first.")] = 0,
    is_active: bool = True,
    tags: Annotated[Tags | None, Field(description="Which answers it is for; default: all.")] = None,
) -> Any:
    """Adds a rule that the answers and documents of a bank keep to."""
    body = given(name=name, content=content, priority=priority, is_active=is_active, tags=tags)
    return await call.ask("POST", "directives", body=body)


@TOOLS.tool("Delete a directive", DESTROYS)
async def delete_directive(call: Call, directive_id: Text) -> Any:
    """Takes a rule away."""
    return await call.ask("DELETE", "directives", directive_id)


@TOOLS.tool("List tags", READS)
async def list_tags(
    call: Call,
    q: Annotated[str | None, Field(description="`*` stands for any characters.")] = None,
    source: Annotated[Literal["memories", "mental_models"], Field(description="Tags of which things.")] = "memories",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """Lists tags with how many bear them, the most frequent first."""
    return await call.ask("GET", "tags", params=given(q=q, source=source, limit=limit, offset=offset))


async def _listed(call: Call) -> dict[str, Any]:
    """The bank as the list of banks tells it: there is its name."""
    offset, total = 0, 1
    while offset < total:
        params = {"q": call.bank_id, "limit": LARGEST_PAGE, "offset": offset}
        page = await call.ask_server("GET", BANKS, params=params)
        for bank in page["banks"]:
            if bank["bank_id"] == call.bank_id:
                found: dict[str, Any] = bank
                return found
        offset, total = offset + LARGEST_PAGE, page["total"]
    return {}
