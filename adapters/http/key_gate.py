"""The gate in front of all that is served: who asks is found out here, once, and how often they may ask."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from adapters.http import errors
from adapters.http.access import CHALLENGE, NO_KEY, PRINCIPAL
from adapters.http.key_ring import KeyRing
from domain.api_keys import ANYBODY, Principal

OPEN_PATHS = frozenset(
    {
        "/health",
        "/health/live",
        "/health/ready",
        "/version",
        "/docs",
        "/docs/oauth2-redirect",
        "/redoc",
        "/openapi.json",
    }
)
"""Tell nothing of what is kept: probes and load balancers have no key, and the API is no secret."""
MOST_BUCKETS = 10_000
POLICY_VIOLATION = 1008
"""Why a connection is closed that came without a key."""


class RequestRate:
    """A bucket of tokens for each caller, in this process only: `per_minute` of them at once, and as many more each
    minute. Of very many callers the one that has not asked for longest begins anew."""

    def __init__(self, per_minute: int, seconds: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._per_second = per_minute / 60
        self._seconds = seconds
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_seconds(self, caller: str) -> float:
        """Takes a token: 0. Or takes none: how long until there is one."""
        now = self._seconds()
        left, at = self._buckets.pop(caller, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - at) * self._per_second)
        wait = 0.0 if left >= 1 else (1 - left) / self._per_second
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return wait


class RequireKey:
    """Wraps an application: a request goes on with who asks in its scope, or is answered 401 or 429.

    `shows_itself`: paths that let a person log in; what they show they ask of the API, with the person's key.
    `asks_on`: paths whose requests ask the API in turn, where they are counted."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        requests_per_minute: int | None = None,
        shows_itself: Callable[[str], bool] = lambda _path: False,
        asks_on: Callable[[str], bool] = lambda _path: False,
    ) -> None:
        self._app = app
        self._rate = RequestRate(requests_per_minute) if requests_per_minute else None
        self._shows_itself = shows_itself
        self._asks_on = asks_on

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        if self._shows_itself(path):  # as nobody: a route of the API would not answer there
            await self._app(scope, receive, send)
            return
        if path in OPEN_PATHS:
            scope[PRINCIPAL] = ANYBODY
            await self._app(scope, receive, send)
            return
        try:
            principal = await _authenticated(scope)
        except Exception as error:  # noqa: BLE001 - whatever went wrong becomes an answer, as in a route
            await errors.answer_to(error)(scope, receive, send)
            return
        if principal is None:
            await _refuse(scope, receive, send)
            return
        scope[PRINCIPAL] = principal
        if self._rate is not None and not self._asks_on(path):
            wait = self._rate.wait_seconds(principal.key_id or _address(scope))
            if wait:
                await _too_many(wait)(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _authenticated(scope: Scope) -> Principal | None:
    keys: KeyRing = scope["app"].state.keys
    return await keys.authenticate(_header(scope))


def _header(scope: Scope) -> str | None:
    """What is no ASCII is no key; of several headers none is taken: another reader might take the other one."""
    given: list[bytes] = [value for name, value in scope["headers"] if name == b"authorization"]
    return given[0].decode("ascii", "replace") if len(given) == 1 else None


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else ""


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        return
    await JSONResponse({"detail": NO_KEY}, 401, CHALLENGE)(scope, receive, send)


def _too_many(wait: float) -> JSONResponse:
    seconds = max(1, math.ceil(wait))
    detail = f"Too many requests; the next one is taken in {seconds} s"
    return JSONResponse({"detail": detail}, 429, {"Retry-After": str(seconds)})
