"""The statuses that every route may answer with, by its kind; what one adds of its own stands at the route."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel

from adapters.http.responses import Problem

Statuses = dict[int | str, dict[str, Any]]


class ValidationError(BaseModel):
    """One thing that is wrong with the request: where, and what."""

    loc: list[str | int]
    msg: str
    type: str
    input: Any = None
    ctx: dict[str, Any] | None = None


class HTTPValidationError(BaseModel):
    """All that is wrong with the request."""

    detail: list[ValidationError]


ANY_ROUTE: Statuses = {
    401: {"model": Problem, "description": "The service asks for an API key, and this is none"},
    403: {"model": Problem, "description": "The API key may not do this"},
    429: {"model": Problem, "description": "Too many requests; see Retry-After"},
    422: {"model": HTTPValidationError, "description": "The request is not understood; each error names its place"},
    500: {"model": Problem, "description": "An error of the service, logged under the reference that is told"},
    503: {"model": Problem, "description": "The database, or a model, cannot serve just now; see Retry-After"},
}
TAKING_A_BODY: Statuses = {
    413: {"model": Problem, "description": "The body is larger than the service takes"},
    415: {"model": Problem, "description": "The body is not JSON, or its Content-Type does not say so"},
}
CHANGING: Statuses = {
    409: {"model": Problem, "description": "It contradicts what is there, or someone else changed it meanwhile"},
}
ASKED_BY_POST = frozenset(
    {
        "recall_memories",
        "reflect",
        "dry_run_extract_memories",
        "dry_run_refresh_mental_model",
        "preview_consolidation_strategies",
    }
)
"""Routes that change nothing, though they take a POST."""


def of_kind(endpoint: Callable[..., Any], methods: Iterable[str]) -> Statuses:
    """The statuses of a route by its methods, and by what its function takes: `body` is what was sent."""
    changes = not {*methods} <= {"GET", "HEAD"} and endpoint.__name__ not in ASKED_BY_POST
    takes_body = "body" in inspect.signature(endpoint).parameters
    return ANY_ROUTE | (TAKING_A_BODY if takes_body else {}) | (CHANGING if changes else {})
