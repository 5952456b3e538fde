"""What a browser is told of every page of the console: run and load nothing but what the service itself wrote.

What the framework asks for, and nothing else is allowed:
- `'unsafe-eval'` for scripts: Vue compiles templates in the browser. No inline script runs without the page's nonce.
- inline styles carry the nonce too; styles that scripts set on elements need no permission.
"""

from __future__ import annotations

import re
import secrets

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NONCE_BYTES = 18
_INLINE = re.compile(rb"<(script|style)(?=[\s>])")

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def content_security_policy(nonce: str) -> str:
    """For a page whose inline scripts and styles carry the nonce."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
            f"style-src 'self' 'nonce-{nonce}'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "object-src 'none'",
            "frame-ancestors 'none'",
        )
    )


def with_nonce(page: bytes, nonce: str) -> bytes:
    """The page with the nonce on its inline scripts and styles. Texts in it are escaped: only real tags match."""
    page = page.replace(b' style="display: none"', b" hidden")  # the one inline style of the framework's own page
    return _INLINE.sub(rb"<\1 nonce=" + f'"{nonce}"'.encode(), page)


class SecurityHeaders:
    """Adds the headers to every answer, and the nonce to pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        await self._app(_uncompressed(scope), receive, _Answer(send, secrets.token_urlsafe(NONCE_BYTES)))


class _Answer:
    """Sends an answer on; a page once it is complete."""

    def __init__(self, send: Send, nonce: str) -> None:
        self._send = send
        self._nonce = nonce
        self._start: Message | None = None
        self._page = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            await self._begin(message)
        elif self._start is not None and message["type"] == "http.response.body":
            self._page += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page(self._start)
        else:
            await self._send(message)

    async def _begin(self, message: Message) -> None:
        headers = MutableHeaders(raw=message["headers"])
        for name, value in ALWAYS.items():
            headers[name] = value
        headers["Content-Security-Policy"] = content_security_policy(self._nonce)
        if headers.get("content-type", "").startswith("text/html"):
            self._start = message
        else:
            await self._send(message)

    async def _send_page(self, start: Message) -> None:
        body = with_nonce(bytes(self._page), self._nonce)
        headers = MutableHeaders(raw=start["headers"])
        headers["Content-Length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _uncompressed(scope: Scope) -> Scope:
    """Pages are changed on their way; files of the framework may be compressed."""
    if scope["path"].startswith("/_nicegui/"):
        return scope
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]}
