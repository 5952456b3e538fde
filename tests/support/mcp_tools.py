"""The tools of MCP as a client of the official SDK calls them, over HTTP or by a process of its own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool

from tests.support.eventually import eventually

ROOT = Path(__file__).parent.parent.parent
ENDED = ("completed", "failed", "cancelled")


class McpTools:
    """One connection; `bank_id` is given with each call when there is one."""

    def __init__(self, portal: BlockingPortal, client: Client, bank_id: str | None = None) -> None:
        self._portal = portal
        self._client = client
        self.bank_id = bank_id

    def of(self, bank_id: str) -> McpTools:
        return McpTools(self._portal, self._client, bank_id)

    def listed(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self._portal.call(self._client.list_tools).tools}

    def ask(self, name: str, /, **arguments: Any) -> CallToolResult:
        bank = {} if self.bank_id is None else {"bank_id": self.bank_id}
        return self._portal.call(self._client.call_tool, name, bank | arguments)

    def call(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """What a tool told, which it has to tell in text as well."""
        result = self.ask(name, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        assert json.loads(_text(result)) == result.structured_content
        return result.structured_content

    def refused(self, name: str, /, **arguments: Any) -> str:
        """Why a call came to nothing: an error of the tool, in words for who called it."""
        result = self.ask(name, **arguments)
        assert result.is_error, result.structured_content
        assert "Traceback" not in _text(result)
        return _text(result)

    def finished(self, operation_id: str) -> dict[str, Any]:
        def ended() -> dict[str, Any] | None:
            operation = self.call("get_operation", operation_id=operation_id)
            return operation if operation["status"] in ENDED else None

        return eventually(ended, timeout=20)


def _text(result: CallToolResult) -> str:
    (content,) = result.content
    assert content.type == "text"
    return content.text


@contextmanager
def over_http(address: str, path: str = "/mcp", *, mode: str = "auto", **headers: str) -> Iterator[McpTools]:
    with start_blocking_portal() as portal:
        http = httpx2.AsyncClient(headers=headers, timeout=30)
        client = Client(streamable_http_client(f"{address}{path}", http_client=http), mode=mode)
        with portal.wrap_async_context_manager(http), portal.wrap_async_context_manager(client):
            yield McpTools(portal, client)


@contextmanager
def over_stdio(address: str, *options: str, **environment: str) -> Iterator[McpTools]:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "adapters.cli", "mcp", *options],
        env={"PYTHONPATH": str(ROOT), "PATH": os.defpath, "PALIMPSEST_SERVER": address, **environment},
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(command)) as client:
        yield McpTools(portal, client)


Connected = Callable[..., Any]
TRANSPORTS: Mapping[str, Connected] = {"http": over_http, "stdio": over_stdio}
