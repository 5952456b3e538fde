"""The largest request body: refused by its declared length, or as soon as more than that was read."""

from __future__ import annotations

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_DIGITS = 18
"""A longer Content-Length is beyond any limit, and need not be read as a number."""


class BodyLimit:
    """Answers 413 and the limit. A body without a declared length is read to the limit and no further."""

    def __init__(self, app: ASGIApp, *, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._detail = f"The request body is larger than {max_bytes} bytes; send less at a time"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and (len(declared) > MOST_DIGITS or int(declared) > self._max_bytes):
            await JSONResponse({"detail": self._detail}, 413)(scope, receive, send)
            return
        await self._app(scope, self._counting(receive), send)

    def _counting(self, receive: Receive) -> Receive:
        read = 0

        async def receive_within_limit() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_bytes:
                raise HTTPException(413, self._detail)
            return message

        return receive_within_limit
