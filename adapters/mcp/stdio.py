"""MCP over standard input and output: a process that a client starts, which calls a service over HTTP."""

from __future__ import annotations

import asyncio

from mcp.server.stdio import stdio_server

from adapters.api_client import AsyncApi
from adapters.mcp.call import Call
from adapters.mcp.catalogue import Offered, warn_of_unknown
from adapters.mcp.protocol import protocol_server
from adapters.settings import Settings


def serve_stdio(settings: Settings, address: str, key: str | None, bank_id: str | None) -> None:
    """Serves until standard input ends; with `bank_id`, that bank alone. Nothing else is written to standard output."""
    asyncio.run(_serve(settings, address, key, bank_id))


async def _serve(settings: Settings, address: str, key: str | None, bank_id: str | None) -> None:
    warn_of_unknown(settings)
    offered = Offered.by(settings, single=bank_id is not None)
    async with AsyncApi(address, key) as api, stdio_server() as (incoming, outgoing):
        call = Call(api, bank_id or settings.mcp_bank_id)
        server = protocol_server(lambda _: (call, offered))
        await server.run(incoming, outgoing, server.create_initialization_options())
