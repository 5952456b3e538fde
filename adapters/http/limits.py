"""The largest request body: refused by its declared length, or as soon as more than that was read."""

from __future__ import annotations

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_DIGITS = 18
"""A longer Content-Length is beyond any limit, and need not be read as a number."""


ARCHIVES_GO_TO = "/transfer/import"
BESIDE_AN_ARCHIVE = 64 * 1024
"""Bytes of a form beside the file that it sends."""


class BodyLimit:
    """Answers 413 and the limit. A body without a declared length is read to the limit and no further. Archives of
    banks have a limit of their own: they are not held in memory."""

    def __init__(self, app: ASGIApp, *, max_bytes: int, max_archive_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_archive_bytes = max_archive_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._max_bytes
        if scope["path"].endswith(ARCHIVES_GO_TO):
            most = max(most, self._max_archive_bytes + BESIDE_AN_ARCHIVE)
        detail = f"The request body is larger than {most} bytes; send less at a time"
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and (len(declared) > MOST_DIGITS or int(declared) > most):
            await JSONResponse({"detail": detail}, 413)(scope, receive, send)
            return
        await self._app(scope, _counting(receive, most, detail), send)


def _counting(receive: Receive, most: int, detail: str) -> Receive:
    read = 0

    async def receive_within_limit() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, detail)
        return message

    return receive_within_limit
