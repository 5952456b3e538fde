"""Tools of mental models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.mcp.arguments import (
    AsOf,
    Detail,
    Limit,
    ListMatch,
    MentalModelId,
    Offset,
    Tags,
    Text,
    TokenBudget,
    Version,
)
from adapters.mcp.call import Call, given
from adapters.mcp.tool import ADDS, DESTROYS, READS, SETS, Tools, WrongArguments
from adapters.mcp.trigger import LegacyAutomatic, LegacyMatch, TriggerInput, trigger_body

TOOLS = Tools()
PATH = "mental-models"


@TOOLS.tool("List mental models", READS)
async def list_mental_models(
    call: Call, tags: Tags | None = None, tags_match: ListMatch | None = None, limit: Limit = 100, offset: Offset = 0
) -> Any:
    """Lists mental models (documents that answer a standing question) with their metadata and whether they are stale,
    last refreshed first; no content. With `tags`, untagged ones are left out."""
    params = given(tags=tags, tags_match=tags_match, limit=limit, offset=offset)
    return await call.ask("GET", PATH, params=params)


@TOOLS.tool("Get a mental model", READS)
async def get_mental_model(
    call: Call,
    mental_model_id: MentalModelId,
    detail: Annotated[Detail, Field(description="full: also the facts that it rests on.")] = "content",
    as_of: AsOf | None = None,
    version: Version | None = None,
) -> Any:
    """Gives a document with its question, its trigger and whether it is stale, now or as it was (`as_of` or
    `version`)."""
    if as_of is not None and version is not None:
        raise WrongArguments("as_of and version both say when: give one of them")
    then = str(version) if version is not None else as_of
    asked = "metadata" if detail == "metadata" else "full"  # only with all details it is told whether it is stale
    told = await call.ask("GET", PATH, mental_model_id, params=given(detail=asked, as_of=then))
    return told if detail == "full" else lean(told)


@TOOLS.tool("Create a mental model", ADDS)
async def create_mental_model(
    call: Call,
    name: Text,
    source_query: Annotated[str, Field(min_length=1, description="The question that the document answers.")],
    mental_model_id: Annotated[str | None, Field(description="a-z, 0-9 and hyphens; made up when left out.")] = None,
    tags: Annotated[Tags | None, Field(description="Of it, and of the memories that it reads.")] = None,
    max_tokens: TokenBudget = 2048,
    trigger: TriggerInput | None = None,
    tags_match: LegacyMatch | None = None,
    trigger_refresh_after_consolidation: LegacyAutomatic | None = None,
) -> Any:
    """Creates a document that answers a question over the memory, and has it written in the background: get_operation
    tells when that is done. `trigger` says when and how it is refreshed later: mode full or delta, after memory was
    written or by cron, which facts and tags it reads. By default it is written anew (full) only when asked to."""
    body = given(
        id=mental_model_id,
        name=name,
        source_query=source_query,
        tags=tags,
        max_tokens=max_tokens,
        trigger=trigger_body(
            trigger, tags_match=tags_match, refresh_after_consolidation=trigger_refresh_after_consolidation
        ),
    )
    return await call.ask("POST", PATH, body=body)


@TOOLS.tool("Change a mental model", SETS)
async def update_mental_model(
    call: Call,
    mental_model_id: MentalModelId,
    name: str | None = None,
    source_query: str | None = None,
    max_tokens: TokenBudget | None = None,
    tags: Annotated[Tags | None, Field(description="Replace those it has; [] takes all away.")] = None,
    trigger: TriggerInput | None = None,
    tags_match: LegacyMatch | None = None,
    trigger_refresh_after_consolidation: LegacyAutomatic | None = None,
) -> Any:
    """Changes what is given and leaves the rest, in `trigger` too: its fields that are named replace the stored ones,
    null clears one. Nothing is refreshed by this."""
    body = given(
        name=name,
        source_query=source_query,
        max_tokens=max_tokens,
        tags=tags,
        trigger=trigger_body(
            trigger, tags_match=tags_match, refresh_after_consolidation=trigger_refresh_after_consolidation
        ),
    )
    return lean(await call.ask("PATCH", PATH, mental_model_id, body=body))


@TOOLS.tool("Delete a mental model", DESTROYS)
async def delete_mental_model(call: Call, mental_model_id: MentalModelId) -> Any:
    """Deletes a mental model; its events stay readable."""
    return await call.ask("DELETE", PATH, mental_model_id)


@TOOLS.tool("Refresh a mental model", ADDS)
async def refresh_mental_model(
    call: Call,
    mental_model_id: MentalModelId,
    mode: Annotated[
        Literal["full"] | None, Field(description="full: write it anew this once, whatever its trigger says.")
    ] = None,
) -> Any:
    """Has a document brought up to date in the background; get_operation tells when that is done and what it came
    to."""
    return await call.ask("POST", PATH, mental_model_id, "refresh", body=given(mode=mode))


@TOOLS.tool("Clear a mental model", DESTROYS)
async def clear_mental_model(call: Call, mental_model_id: MentalModelId) -> Any:
    """Empties a document; its history keeps what it said, and the next refresh writes it anew."""
    return lean(await call.ask("POST", PATH, mental_model_id, "clear"))


def lean(told: dict[str, Any]) -> dict[str, Any]:
    """A mental model without what its last refresh read: that is for those who ask for all details."""
    return {name: value for name, value in told.items() if name != "reflect_response"}
