"""What is seen from outside of a request: an id that its lines of the log carry and its answer tells, a line of access,
and a span.

The line names the route and not the path: what stands in a path or a query may be of what people stored.
"""

from __future__ import annotations

import logging
import re
import time
import uuid

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.log_context import logged_about
from adapters.metrics import METHODS, UNMATCHED
from adapters.tracing import Span, Tracing

REQUEST_ID = "X-Request-Id"
_SANE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}", re.ASCII)

logger = logging.getLogger(__name__)


class WatchRequests:
    """Takes the id that the caller gives, when it is a plain word of 128 characters at most, else makes one."""

    def __init__(self, app: ASGIApp, *, tracing: Tracing) -> None:
        self._app = app
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(REQUEST_ID, "")
        request_id = given if _SANE.fullmatch(given) else uuid.uuid4().hex
        with logged_about(request_id=request_id), self._tracing.request(headers) as span:
            answer = _Answer(scope, send, request_id)
            try:
                await self._app(scope, receive, answer.send)
            finally:
                answer.told(span)


class _Answer:
    """Adds the id to the answer, and tells what it was."""

    def __init__(self, scope: Scope, send: Send, request_id: str) -> None:
        self._scope, self._send, self._request_id = scope, send, request_id
        self._status = 500
        self._began = time.perf_counter()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID] = self._request_id
        await self._send(message)

    def told(self, span: Span | None) -> None:
        method = self._scope["method"] if self._scope["method"] in METHODS else "other"
        route = getattr(self._scope.get("route"), "path", UNMATCHED)
        if span is not None:
            span.name(f"{method} {route}")
            span.set(
                {"http.request.method": method, "http.route": route, "http.response.status_code": self._status}
                | {"palimpsest.request_id": self._request_id}
            )
            if self._status >= 500:
                span.failed(str(self._status))
        if logger.isEnabledFor(logging.INFO):
            bank_id = self._scope.get("path_params", {}).get("bank_id")
            with logged_about(**({"bank_id": bank_id} if isinstance(bank_id, str) else {})):
                logger.info("%s %s %d %.1f ms", method, route, self._status, self._milliseconds())

    def _milliseconds(self) -> float:
        return (time.perf_counter() - self._began) * 1000
