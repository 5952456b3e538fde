"""Tools of a document's past and future: its history, events, differences, blame, a way back, and a dry run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.mcp.arguments import AsOf, Limit, MentalModelId, Offset, Version
from adapters.mcp.call import Call, given
from adapters.mcp.mental_models import PATH, lean
from adapters.mcp.tool import DESTROYS, READS, Tools

TOOLS = Tools()


@TOOLS.tool("History of a mental model", READS)
async def get_mental_model_history(
    call: Call,
    mental_model_id: MentalModelId,
    limit: Limit = 10,
    offset: Offset = 0,
    include_based_on: Annotated[bool, Field(description="Also the facts that each version rested on.")] = False,
) -> Any:
    """What a document said before each change, and refreshes that failed, newest first."""
    entries = await call.ask("GET", PATH, mental_model_id, "history")
    shown = entries[offset : offset + limit]
    if not include_based_on:
        shown = [{name: value for name, value in each.items() if name != "previous_reflect_response"} for each in shown]
    return {"items": shown, "total": len(entries), "limit": limit, "offset": offset}


@TOOLS.tool("Events of a mental model", READS)
async def list_mental_model_events(
    call: Call,
    mental_model_id: MentalModelId,
    limit: Limit = 50,
    offset: Offset = 0,
    detail: Annotated[Literal["summary", "full"], Field(description="full: with the whole of each event.")] = "summary",
) -> Any:
    """The audit of a document: everything that ever happened to it, oldest first, with who, why and at what cost. Of
    deleted ones too."""
    params = {"limit": limit, "offset": offset, "detail": detail}
    return await call.ask("GET", PATH, mental_model_id, "events", params=params)


@TOOLS.tool("Differences of two versions", READS)
async def diff_mental_model(
    call: Call,
    mental_model_id: MentalModelId,
    from_version: Annotated[Version | None, Field(description="Default: the last one with another text.")] = None,
    to_version: Annotated[Version | None, Field(description="Default: the version it is at.")] = None,
    context: Annotated[int | None, Field(ge=0, description="Lines around each change.")] = None,
) -> Any:
    """What changed in a document from one version to another: a unified diff, and each edit with the facts it rests
    on."""
    params = {"from": from_version, "to": to_version, "context": context}
    return await call.ask("GET", PATH, mental_model_id, "diff", params=params)


@TOOLS.tool("Blame of a mental model", READS)
async def blame_mental_model(call: Call, mental_model_id: MentalModelId, as_of: AsOf | None = None) -> Any:
    """Where each heading, block and item of a document comes from: which version wrote it, who made that, and the facts
    it rests on."""
    told = await call.ask("GET", PATH, mental_model_id, "blame", params=given(as_of=as_of))
    return {name: value for name, value in told.items() if name != "structured_content"}


@TOOLS.tool("Revert a mental model", DESTROYS)
async def revert_mental_model(call: Call, mental_model_id: MentalModelId, version: Version) -> Any:
    """Puts a document back to what it said at a version. That is a new version: nothing is lost."""
    return lean(await call.ask("POST", PATH, mental_model_id, "revert", body={"version": version}))


@TOOLS.tool("Dry run of a refresh", READS)
async def dry_run_refresh_mental_model(
    call: Call,
    mental_model_id: MentalModelId,
    include_based_on: Annotated[bool, Field(description="Also the facts that it would rest on.")] = False,
    include_trace: Annotated[bool, Field(description="Also how it came about.")] = False,
) -> Any:
    """What a refresh would change, and why, without writing anything. It costs what a refresh costs."""
    told = await call.ask("POST", PATH, mental_model_id, "dry-run-refresh")
    left_out = {"current_content", "candidate_content", "delta_operations", "retraction"}
    if not include_based_on:
        left_out.add("based_on")
    if include_trace:
        left_out -= {"candidate_content", "delta_operations", "retraction"}
    else:
        left_out.add("trace")
    return {name: value for name, value in told.items() if name not in left_out}
