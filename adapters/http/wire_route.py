"""The route all endpoints share: who asks may ask that, input is checked before it is validated, errors become answers,
and names that were ignored are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters.http import access, errors, ignored, statuses
from adapters.http.unstorable import Unstorable, find_unstorable


class WireRoute(APIRoute):
    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        methods: Iterable[str] | None = None,
        responses: statuses.Statuses | None = None,
        **options: Any,
    ) -> None:
        taken = sorted(methods or ["GET"])
        told = {**statuses.of_kind(endpoint, taken), **(responses or {})}
        super().__init__(path, endpoint, methods=taken, responses=told, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        known = {parameter.alias for parameter in self.dependant.query_params}
        takes_body = self.body_field is not None
        takes_slashes = ":path}" in self.path
        name = self.endpoint.__name__

        async def answer(request: Request) -> Response:
            with ignored.collecting() as names:
                try:
                    access.require(name, request)
                    _check_url(request, takes_slashes=takes_slashes)
                    if takes_body:
                        await _check_body(request)
                    response = await handle(request)
                except Exception as error:  # noqa: BLE001 - whatever went wrong becomes an answer, in one place
                    response = errors.answer_to(error)
            names.extend(name for name in request.query_params if name not in known)
            if names:
                response.headers[ignored.IGNORED_HEADER] = ignored.header_value(names)
            return response

        return answer


def has_encoded_slash(request: Request) -> bool:
    """Whether an id in the path holds a '/': decoded, it would read as another path."""
    raw: bytes = request.scope.get("raw_path") or b""
    return b"%2f" in raw.lower()


def encoded_slash() -> Exception:
    return errors.unprocessable(("path",), "an id in a URL cannot contain '/' (%2F); choose another id")


def _check_url(request: Request, *, takes_slashes: bool) -> None:
    if has_encoded_slash(request) and not takes_slashes:
        raise encoded_slash()
    if found := find_unstorable(dict(request.path_params), ("path",)):
        raise _refusal(found)
    for name, value in request.query_params.multi_items():
        if found := find_unstorable({name: value}, ("query",)):
            raise _refusal(found)


async def _check_body(request: Request) -> None:
    """The body is JSON, said to be JSON, and holds nothing that cannot be stored. An empty one is left to validation.

    Starlette keeps what is read and parsed here for the validation that follows."""
    if not await request.body():
        return
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        raise HTTPException(415, "The body must be JSON; send it with the header Content-Type: application/json")
    try:
        body = await request.json()
    except json.JSONDecodeError as error:
        raise errors.unprocessable(
            ("body", error.pos), f"The body is not valid JSON: {error.msg}", "json_invalid"
        ) from error
    except (ValueError, RecursionError) as error:
        raise errors.unprocessable(("body",), f"The body cannot be read as JSON: {error}", "json_invalid") from error
    if found := find_unstorable(body, ("body",)):
        raise _refusal(found)


def _refusal(found: Unstorable) -> Exception:
    return errors.unprocessable(found.at, found.problem, "unstorable")
