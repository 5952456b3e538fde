"""The tools as a server of the Model Context Protocol: the official SDK lists and calls them, the API decides."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as Listed

from adapters.api_client import ApiFailure
from adapters.mcp.call import Call
from adapters.mcp.catalogue import ALL, Offered
from adapters.mcp.tool import BANK_ID, Tool, WrongArguments
from adapters.version import own_version

logger = logging.getLogger(__name__)

Context: TypeAlias = ServerRequestContext[Any, Any]
Connect = Callable[[Context], tuple[Call, Offered]]
"""What a request is to call with, and the tools it may call; the bank of the call may be another by an argument."""

ABOUT = (
    "Palimpsest is a long-term memory. Retain what is worth remembering, recall facts, reflect to have a question"
    " answered. Mental models and knowledge pages are documents over the memory that keep themselves current: read them"
    " first, for they answer standing questions at once."
)


def protocol_server(connect: Connect) -> Server[Any]:
    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        call, offered = connect(context)
        if offered.single:
            offered = await _of_bank(call, offered)
        return ListToolsResult(tools=[_listed(tool, offered) for tool in offered.tools().values()])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        call, offered = connect(context)
        return await _called(call, offered, params.name, dict(params.arguments or {}))

    return Server(
        "palimpsest",
        version=own_version(),
        title="Palimpsest",
        instructions=ABOUT,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _called(call: Call, offered: Offered, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """What the tool told; whatever went wrong is told to the model that called it, which may do better."""
    tool = offered.tools().get(name)
    if tool is None:
        return _problem(_not_there(name, offered))
    try:
        call = _with_bank(call, offered, tool, arguments)
        if tool.of_bank and name not in (await _of_bank(call, offered)).tools():
            return _problem(f"bank '{call.bank_id}' does not offer {name}: its mcp_enabled_tools leave it out")
        return _told(await tool.run(call, arguments))
    except WrongArguments as wrong:
        return _problem(str(wrong))
    except ApiFailure as failure:
        return _problem(str(failure), failure.status)
    except Exception:  # the call is one of many of a connection, which goes on
        logger.exception("the tool %s failed", name)
        return _problem(f"{name} failed unexpectedly; the log of the server says why", 500)


def _with_bank(call: Call, offered: Offered, tool: Tool, arguments: dict[str, Any]) -> Call:
    """The call in the bank that an argument names, if it may name one; the argument is taken out."""
    if offered.single or not tool.of_bank or BANK_ID not in arguments:
        return call
    bank_id = arguments.pop(BANK_ID)
    if bank_id is None:
        return call
    if not isinstance(bank_id, str) or not bank_id:
        raise WrongArguments(f"{BANK_ID}: is the id of a bank, a text")
    return call.of(bank_id)


async def _of_bank(call: Call, offered: Offered) -> Offered:
    """Without the tools that the bank leaves out. A config that cannot be read leaves none out: the API decides."""
    try:
        told = await call.ask("GET", "config")
    except ApiFailure:
        return offered
    return offered.narrowed(told["config"].get("mcp_enabled_tools"))


def _not_there(name: str, offered: Offered) -> str:
    if name in ALL:
        return f"{name} is not offered here"
    return f"there is no tool '{name}'; there are {', '.join(offered.tools())}"


def _listed(tool: Tool, offered: Offered) -> Listed:
    return Listed(
        name=tool.name,
        title=tool.title,
        description=offered.description(tool),
        input_schema=tool.schema(with_bank=not offered.single),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.effect.reads,
            destructive_hint=tool.effect.destroys,
            idempotent_hint=tool.effect.repeatable,
            open_world_hint=False,
        ),
    )


def _told(answer: Any) -> CallToolResult:
    """As structured content, and as the same in text for clients that read only that."""
    structured: Mapping[str, Any] = answer if isinstance(answer, dict) else {"result": answer}
    text = json.dumps(structured, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=dict(structured))


def _problem(message: str, status: int = 422) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=message)],
        structured_content={"error": message, "status": status},
        is_error=True,
    )
