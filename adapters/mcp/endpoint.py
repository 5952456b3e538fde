"""MCP over HTTP, in the process of the service: `/mcp` for all banks, `/mcp/{bank_id}` for one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.settings import Settings

if TYPE_CHECKING:
    from starlette.requests import Request

    from adapters.api_client import AsyncApi
    from adapters.mcp.call import Call
    from adapters.mcp.catalogue import Offered
    from adapters.mcp.protocol import Context


LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
ONLY_POST = {
    "detail": "MCP is spoken by POST here (and DELETE, to end a session); nothing is sent that was not asked for, so"
    " there is no stream to GET"
}


def is_mcp_path(path: str) -> bool:
    return path == "/mcp" or path.startswith("/mcp/")


class McpEndpoint:
    """Serves MCP by calling `app`, the REST API, in process: what it decides, it decides for tools as well.

    The SDK takes memory and time: it is imported when the first client comes. While `running`, requests are
    answered; sessions end with it."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._api: AsyncApi | None = None
        self._settings = settings
        paths = ("/mcp", "/mcp/", "/mcp/{bank_id}", "/mcp/{bank_id}/")
        self._routes = [Route(path, self, include_in_schema=False) for path in paths]
        self._stopping = asyncio.Event()
        self._starting: asyncio.Task[Any] | None = None
        self._serving: asyncio.Task[None] | None = None

    def mount(self, router: Router) -> None:
        """Puts it on its paths."""
        router.routes.extend(self._routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self._routes[2 if scope["path_params"] else 0]  # what it is counted as
        if scope["method"] not in ("POST", "DELETE"):
            await JSONResponse(ONLY_POST, 405, headers={"Allow": "POST, DELETE"})(scope, receive, send)
            return
        if self._starting is None:
            self._starting = asyncio.create_task(self._start(), name="MCP starts")
        sessions = await asyncio.shield(self._starting)
        await sessions.handle_request(scope, receive, send)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            self._stopping.set()
            if self._starting is not None:
                await asyncio.wait({self._starting})
            if self._serving is not None:
                await asyncio.wait({self._serving})
            if self._api is not None:
                await self._api.close()

    async def _start(self) -> Any:
        """The session manager of the SDK, kept running by a task of its own until the service stops."""
        sessions = await asyncio.to_thread(self._sessions)
        ready = asyncio.Event()

        async def serve() -> None:
            async with sessions.run():
                ready.set()
                await self._stopping.wait()

        self._serving = asyncio.create_task(serve(), name="MCP sessions")
        await ready.wait()
        return sessions

    def _sessions(self) -> Any:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
        from mcp.server.transport_security import TransportSecuritySettings

        from adapters.api_client import AsyncApi
        from adapters.mcp.catalogue import warn_of_unknown
        from adapters.mcp.protocol import protocol_server

        warn_of_unknown(self._settings)
        api = self._api = AsyncApi(app=self._app)
        hosts = self._allowed_hosts()
        return StreamableHTTPSessionManager(
            protocol_server(partial(self._connected, api)),
            json_response=True,
            stateless=self._settings.mcp_stateless,
            max_request_body_size=self._settings.max_body_bytes,
            security_settings=TransportSecuritySettings(
                enable_dns_rebinding_protection=bool(hosts),
                allowed_hosts=hosts,
                allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
            ),
        )

    def _allowed_hosts(self) -> list[str]:
        """What a request may call this server by, so that no web page reaches it under a name of its own that was made
        to point here. Empty: by any name, where keys are asked for anyway, for the page has none."""
        named = self._settings.mcp_allowed_hosts
        if not named and not self._settings.only_for_this_machine:
            return []
        own = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        return [each for host in dict.fromkeys((*LOOPBACK, own, *named)) for each in (host, f"{host}:*")]

    def _connected(self, api: AsyncApi, context: Context) -> tuple[Call, Offered]:
        from adapters.mcp.call import Call
        from adapters.mcp.catalogue import Offered

        request: Request | None = context.request
        assert request is not None, "over HTTP each message comes with its request"
        only = request.path_params.get("bank_id")
        bank_id = only or _header(request, "x-bank-id") or self._settings.mcp_bank_id
        key = request.headers.get("authorization")
        headers = {} if key is None else {"Authorization": key}
        return Call(api, bank_id, headers), Offered.by(self._settings, single=only is not None)


def _header(request: Request, name: str) -> str | None:
    """A header with its UTF-8 read as such: ids are not only Latin."""
    value = request.headers.get(name)
    with contextlib.suppress(UnicodeError):
        return value and value.encode("latin-1").decode()
    return value
