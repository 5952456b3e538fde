"""The login page: plain HTML without a script. A key goes in, a session comes out."""

from __future__ import annotations

from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from adapters.api_client import ApiFailure, AsyncApi
from adapters.console.sessions import COOKIE, Sessions

KEY_LENGTH = 1000
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in · Palimpsest</title>
<link rel="icon" href="/console/icon.svg">
<link rel="stylesheet" href="/console/theme.css">
<link rel="stylesheet" href="/console/console.css">
</head>
<body class="login">
<main>
<form method="post" action="/login" class="panel">
<p class="brand"><img src="/console/icon.svg" alt="" width="28" height="28"> Palimpsest</p>
<h1>Log in</h1>
<p class="muted">This service asks for an API key. Make one where it runs: <code>palimpsest keys create</code></p>
{failure}<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus maxlength="{length}">
<button type="submit">Log in</button>
</form>
</main>
</body>
</html>
"""


class Login:
    """`GET /login`, `POST /login` and `POST /logout`."""

    def __init__(self, sessions: Sessions, api: AsyncApi) -> None:
        self._sessions = sessions
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.url.path == "/logout":
            self._sessions.end(request.cookies.get(COOKIE))
            answer = RedirectResponse("/login", 303)
            answer.delete_cookie(COOKIE)
            return answer
        return await self._log_in(request) if request.method == "POST" else _page()

    async def _log_in(self, request: Request) -> Response:
        async with request.form(max_files=0, max_fields=5) as form:
            given = form.get("key")
        key = given.strip() if isinstance(given, str) else ""
        if not key or len(key) > KEY_LENGTH or not key.isascii() or not key.isprintable():
            return _page("This is no API key: it is one word of letters, digits and signs.", 422)
        try:
            await self._api.ask("GET", BANKS, params={"limit": 1}, headers={"Authorization": f"Bearer {key}"})
        except ApiFailure as failure:
            return _page(str(failure), 401 if failure.status in (401, 403) else 503)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            COOKIE,
            self._sessions.begin(key),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer


BANKS = "/v1/default/banks"


def _page(failure: str | None = None, status: int = 200) -> HTMLResponse:
    told = f'<p class="failure" role="alert">{escape(failure)}</p>\n' if failure else ""
    return HTMLResponse(_PAGE.format(failure=told, length=KEY_LENGTH), status, {"Cache-Control": "no-store"})
