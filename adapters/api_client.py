"""The REST API as the command line, the MCP server and the console call it: one request, its JSON, or an ApiFailure.

All of them go through the API itself, so what it checks, it checks for them too: input, keys, scopes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

import httpx2

DEFAULT_ADDRESS = "http://127.0.0.1:8888"
SECONDS = 300.0
"""As long as the official clients wait: an answer may ask a model several times."""

Params = Mapping[str, Any]


class ApiFailure(Exception):
    """The API answered with an error, or nothing answered (`status` 0). The text is for the person who asked."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Api:
    """Blocking calls of a server at `address`. Raises ApiFailure."""

    def __init__(self, address: str = DEFAULT_ADDRESS, key: str | None = None, seconds: float = SECONDS) -> None:
        self._address = address
        self._client = httpx2.Client(base_url=address, headers=_headers(key), timeout=seconds)

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON of the answer, or its text when it is no JSON. Parameters that are None are left out."""
        try:
            response = self._client.request(method, path, params=_given(params), headers=headers, **_body(body))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unreachable(self._address, error) from error
        return _answer(response)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncApi:
    """The same for an event loop; with `app`, the application itself is called, without a connection."""

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        key: str | None = None,
        seconds: float = SECONDS,
        *,
        app: Any = None,
    ) -> None:
        self._address = address
        transport = httpx2.ASGITransport(app=app) if app is not None else None
        self._client = httpx2.AsyncClient(base_url=address, headers=_headers(key), timeout=seconds, transport=transport)

    async def ask(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON of the answer, or its text when it is no JSON. Parameters that are None are left out."""
        try:
            response = await self._client.request(method, path, params=_given(params), headers=headers, **_body(body))
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _unreachable(self._address, error) from error
        return _answer(response)

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def bank_path(bank_id: str, *parts: str) -> str:
    """The path of a bank, or of something in it; ids are encoded."""
    return "/".join(("/v1/default/banks", *(_encoded(part) for part in (bank_id, *parts))))


def _encoded(part: str) -> str:
    """An id as a part of a path, dots too: as they are, `..` would be taken for the way up, to another resource."""
    return quote(part, safe="") if part.strip(".") else part.replace(".", "%2E")


def _headers(key: str | None) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _given(params: Params | None) -> dict[str, Any]:
    return {name: value for name, value in (params or {}).items() if value is not None}


def _body(body: Any) -> dict[str, Any]:
    return {} if body is None else {"json": body}


def _unreachable(address: str, error: Exception) -> ApiFailure:
    if isinstance(error, httpx2.TimeoutException):
        return ApiFailure(0, f"{address} did not answer in time")
    return ApiFailure(0, f"nothing answers at {address} ({error or type(error).__name__}); is the service running?")


def _answer(response: httpx2.Response) -> Any:
    try:
        told = response.json() if response.content else None
    except (json.JSONDecodeError, UnicodeDecodeError):
        told = response.text
    if response.is_success:
        return told
    detail = told.get("detail", told) if isinstance(told, Mapping) else told
    raise ApiFailure(response.status_code, _message(detail) or f"the server answered {response.status_code}")


def _message(detail: Any) -> str:
    """A sentence of an error: its detail, or for each input at fault where it is and what is wrong."""
    if isinstance(detail, Sequence) and not isinstance(detail, str):
        return "; ".join(_fault(each) for each in detail)
    return detail if isinstance(detail, str) else json.dumps(detail)


def _fault(fault: Any) -> str:
    if not isinstance(fault, Mapping):
        return str(fault)
    where = ".".join(str(part) for part in fault.get("loc", ()) if part not in ("body", "query", "path"))
    return f"{where}: {fault.get('msg')}" if where else str(fault.get("msg"))
