"""The REST API as a page asks it: in the name of who is logged in, and with failures told to the reader."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, ParamSpec
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.api_client import ApiFailure, bank_path
from adapters.console.elements import empty
from adapters.console.frame import frame
from adapters.console.mounting import SCOPE_KEY, Console
from adapters.console.sessions import COOKIE

logger = logging.getLogger(__name__)

P = ParamSpec("P")
FAILED_AUTHENTICATION = 401
FORBIDDEN = 403


class PageApi:
    """Asks the API with the key of the session, looked up for each question: after a logout there is none."""

    def __init__(self, request: Request) -> None:
        self._console: Console = request.scope[SCOPE_KEY]
        self._token = request.cookies.get(COOKIE)

    @property
    def is_logged_in(self) -> bool:
        return self._console.sessions.key_of(self._token) is not None

    async def ask(
        self, method: str, path: str, *, params: Any = None, body: Any = None, if_match: int | None = None
    ) -> Any:
        """The JSON of an answer. Raises ApiFailure."""
        key = self._console.sessions.key_of(self._token)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        if if_match is not None:
            headers["If-Match"] = f'"{if_match}"'
        return await self._console.api.ask(method, path, params=params, body=body, headers=headers)

    async def get(self, path: str, **params: Any) -> Any:
        return await self.ask("GET", path, params=params)


class Bank:
    """One bank: its API, and the addresses of its pages."""

    def __init__(self, api: PageApi, bank_id: str) -> None:
        self.api = api
        self.id = bank_id
        self.page = f"/banks/{quote(bank_id, safe='')}"

    async def get(self, *parts: str, **params: Any) -> Any:
        return await self.api.get(bank_path(self.id, *parts), **params)

    async def get_if_allowed(self, *parts: str, **params: Any) -> Any:
        """None when the key may not read it."""
        try:
            return await self.get(*parts, **params)
        except ApiFailure as failure:
            if failure.status != FORBIDDEN:
                raise
            return None

    async def ask(self, method: str, *parts: str, **more: Any) -> Any:
        return await self.api.ask(method, bank_path(self.id, *parts), **more)

    def model_page(self, mental_model_id: str, *more: str) -> str:
        return "/".join((self.page, "models", quote(mental_model_id, safe=""), *more))


Builder = Callable[..., Awaitable[None]]


def page(path: str, title: str) -> Callable[[Builder], None]:
    """Serves what the builder builds. A builder takes a PageApi and what the path names. Failures of the API become a
    page that says so; who is not logged in is sent to do it."""

    def serve(build: Builder) -> None:
        async def built(request: Request) -> Response | None:
            api = PageApi(request)
            ui.page_title(f"{title} · Palimpsest")
            try:
                await build(api, **request.path_params, **_known(build, request))
            except ApiFailure as failure:
                if failure.status == FAILED_AUTHENTICATION:
                    return RedirectResponse("/login", 303)
                _failed(api, failure, request.path_params.get("bank_id"))
            except Exception as error:
                reference = uuid.uuid4().hex[:8]
                logger.error("unexpected error %s in a page of the console", reference, exc_info=error)
                told_where = f"The log of the service explains it under reference {reference}."
                _failed(api, ApiFailure(500, told_where), None)
            return None

        ui.page(path, response_timeout=30)(built)

    return serve


def _known(build: Builder, request: Request) -> dict[str, str]:
    """Parameters of the address that the builder takes by keyword."""
    names = build.__kwdefaults__ or {}
    return {name: request.query_params[name] for name in names if name in request.query_params}


def _failed(api: PageApi, failure: ApiFailure, bank_id: str | None) -> None:
    client = ui.context.client
    client.content.clear()
    client.status_code = failure.status if failure.status >= 400 else 503
    with client.content, frame(api, Bank(api, bank_id) if bank_id and failure.status != 404 else None):
        title = "There is nothing here" if failure.status == 404 else "This page could not be made"
        empty(title, str(failure), ("Back to the banks", "/"))


def told(handler: Callable[P, Awaitable[None]]) -> Callable[P, Awaitable[None]]:
    """An event handler whose failures of the API are told in a notification."""

    @wraps(handler)
    async def handle(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await handler(*args, **kwargs)
        except ApiFailure as failure:
            if failure.status == FAILED_AUTHENTICATION:
                ui.navigate.to("/login")
            else:
                ui.notify(str(failure), type="negative", multi_line=True, close_button="Close", timeout=12_000)

    return handle
