"""Where the console meets the application: which paths are its, and when the framework behind it is loaded.

The framework is imported when the first page is asked for: a service that nobody looks at does not pay for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.api_client import AsyncApi
from adapters.console.assets import ASSETS_BY_NAME
from adapters.console.headers import SecurityHeaders
from adapters.console.login import Login
from adapters.console.sessions import Sessions

logger = logging.getLogger(__name__)

PAGES = "/banks/"
ASSETS = "/console/"
LIVE = "/_nicegui_ws/"
FORMS = ("/login", "/logout")
FRAMEWORK = ("/_nicegui/", LIVE)
SCOPE_KEY = "palimpsest.console"
POLICY_VIOLATION = 1008
"""Why a connection is closed that a page of another address asked for."""


class Console:
    """One for each application: its sessions, its way to the API, and the framework's application once it is needed."""

    def __init__(self, app: FastAPI) -> None:
        self.sessions = Sessions()
        self.api = AsyncApi(app=app)
        self._login = Login(self.sessions, self.api)
        self._started = AsyncExitStack()
        self._starting = asyncio.Lock()
        self._pages: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path in FORMS:
            await self._login(scope, receive, send)
        elif path.startswith(ASSETS):
            await _asset(path)(scope, receive, send)
        else:
            pages = await self._when_started()
            await pages({**scope, SCOPE_KEY: self}, receive, send)

    async def _when_started(self) -> ASGIApp:
        async with self._starting:
            if self._pages is None:
                # It takes half a second; requests of programs go on meanwhile.
                nicegui_host = await asyncio.to_thread(import_module, "adapters.console.nicegui_host")
                await self._started.enter_async_context(nicegui_host.running())
                self._pages = nicegui_host.pages()
                logger.info("the console is ready")
            return self._pages

    async def close(self) -> None:
        await self._started.aclose()
        await self.api.close()


class ConsoleRoute(BaseRoute):
    """The paths of the console, and no other: what nobody serves is still answered by the application itself."""

    path = "/ (console)"

    def __init__(self, console: Console) -> None:
        self._console = SecurityHeaders(console)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        path = scope["path"]
        if not (is_console_path(path) if scope["type"] == "http" else path.startswith(LIVE)):
            return Match.NONE, {}
        allowed = scope["type"] == "websocket" or scope["method"] in _methods(path)
        return Match.FULL if allowed else Match.PARTIAL, {"route": self}

    def url_path_for(self, name: str, /, **_: Any) -> Any:
        raise NoMatchFound(name, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _methods(scope["path"]):
            raise HTTPException(405, headers={"Allow": ", ".join(_methods(scope["path"]))})
        if scope["path"].startswith(LIVE) and not is_same_origin(Headers(scope=scope)):
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": POLICY_VIOLATION})
                return
            raise HTTPException(403, "The console only talks to pages of its own address")
        if scope["path"] in FORMS and scope["method"] == "POST" and not is_own_form(Headers(scope=scope)):
            raise HTTPException(403, "Log in and out on the pages of the console itself")
        await self._console(scope, receive, send)


def serve_beside(app: FastAPI) -> None:
    """Serves the console at the paths that are its, while the application runs."""
    around = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[Any]:
        async with around(app) as state:
            console = Console(app)
            route = ConsoleRoute(console)
            app.router.routes.append(route)
            try:
                yield state
            finally:
                app.router.routes.remove(route)
                await console.close()

    app.router.lifespan_context = lifespan


def is_console_path(path: str) -> bool:
    return path in ("/", "/login", "/logout", "/banks") or path.startswith((PAGES, ASSETS, *FRAMEWORK))


def is_same_origin(headers: Headers) -> bool:
    """Whether a page of this address asks, or no page at all: browsers always say from where."""
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host")


def is_own_form(headers: Headers) -> bool:
    """Whether no page of another address sent it. Its origin does not tell: pages of the console tell nobody theirs."""
    return headers.get("sec-fetch-site") in (None, "none", "same-origin")


def _methods(path: str) -> tuple[str, ...]:
    if path == "/logout":
        return ("POST",)
    return ("GET", "HEAD", "POST") if path == "/login" or path.startswith(LIVE) else ("GET", "HEAD")


def _asset(path: str) -> ASGIApp:
    found = ASSETS_BY_NAME.get(path.removeprefix(ASSETS))
    if found is None:
        raise HTTPException(404)
    return FileResponse(found.file, media_type=found.media_type, headers={"Cache-Control": "max-age=3600"})
