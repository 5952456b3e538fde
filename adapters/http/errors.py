"""Every error a client can meet, and its status. One table for refusals, one function for all that can go wrong.

Details are for the caller: what was wrong and what to do. What only the operator can mend is logged.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from adapters.http.unstorable import Location, printable
from adapters.postgres.event_mapper import UnstorableEvent
from adapters.postgres.unavailable import DatabaseUnavailable
from application.deadline import DeadlinePassed
from application.ports import MindFailed
from domain.api_keys import Forbidden
from domain.refusals import Conflict, Invalid, InvalidInput, NotFound, Refusal, StaleVersion, Unfit

logger = logging.getLogger(__name__)

STATUS_OF_REFUSALS: tuple[tuple[type[Refusal], int], ...] = (
    (Unfit, 400),
    (NotFound, 404),
    (Conflict, 409),
    (Invalid, 422),
    (Forbidden, 403),
)
"""First match wins. A StaleVersion that answers an If-Match is 412."""

RETRY_AFTER_SECONDS = "1"
CLIENT_CLOSED_REQUEST = 499
CANNOT_SERVE_NOW = frozenset({"08", "25", "40", "53", "57"})
"""Classes of SQLSTATE that pass: connection lost, read-only, conflict of transactions, out of resources, shut down."""


class ServiceStopping(Exception):
    """The service stops before the request is done."""


def unprocessable(at: Location, message: str, kind: str = "value_error") -> RequestValidationError:
    """A 422 that names the input at fault."""
    return RequestValidationError([{"loc": at, "msg": message, "type": kind}])


def answer_to(error: Exception) -> Response:
    """The response for an error that a request ran into; logs the ones that are not the caller's."""
    match error:
        case RequestValidationError():
            return JSONResponse({"detail": validation_details(error.errors())}, 422)
        case Refusal():
            return _refused(error)
        case HTTPException():
            return JSONResponse({"detail": printable(str(error.detail), 1000)}, error.status_code, error.headers)
        case UnstorableEvent():
            return JSONResponse({"detail": str(error)}, 422)
        case DeadlinePassed():
            return JSONResponse({"detail": f"{error}; ask for less, or repeat the request later"}, 504)
        case MindFailed():
            return _mind_failed(error)
        case ClientDisconnect():
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        case ServiceStopping():
            return _later("The service is stopping; repeat the request when it is up again")
        case DatabaseUnavailable() | psycopg.OperationalError() if passes(error):
            return _unavailable(error)
        case _:
            return _unexpected(error)


def passes(error: Exception) -> bool:
    """Whether the database cannot serve just now; an error without SQLSTATE comes from the connection or its pool."""
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    return state is None or state[:2] in CANNOT_SERVE_NOW


def status_of(refusal: Refusal) -> int:
    if isinstance(refusal, StaleVersion) and refusal.expected is not None:
        return 412
    return next(status for kind, status in STATUS_OF_REFUSALS if isinstance(refusal, kind))


def _refused(refusal: Refusal) -> JSONResponse:
    status = status_of(refusal)
    message = printable(str(refusal), 1000)
    if status != 422:
        return JSONResponse({"detail": message}, status)
    location = ["body", *refusal.field.split(".")] if isinstance(refusal, InvalidInput) else ["body"]
    kind = "nothing_to_change" if not isinstance(refusal, InvalidInput) else "value_error"
    return JSONResponse({"detail": [{"loc": location, "msg": message, "type": kind}]}, status)


def validation_details(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Errors of pydantic or of ours in the wire shape. `input` is told when it is small and plain."""
    return [_validation_detail(each) for each in errors[:100]]


def _validation_detail(error: Mapping[str, Any]) -> dict[str, Any]:
    detail: dict[str, Any] = {
        "loc": [part if isinstance(part, int) else printable(str(part)) for part in error["loc"]],
        "msg": printable(str(error["msg"]).removeprefix("Value error, "), 1000),
        "type": error["type"],
    }
    given = error.get("input")
    if isinstance(given, str):
        detail["input"] = printable(given)
    elif isinstance(given, bool | int) and -(2**63) <= given < 2**63:
        detail["input"] = given
    return detail


def _mind_failed(error: MindFailed) -> JSONResponse:
    logger.warning("a model failed: %s", error)
    message = printable(str(error), 1000)
    if error.transient:
        return _later(f"{message}; repeat the request later")
    return JSONResponse({"detail": message}, 502)


def _unavailable(error: Exception) -> JSONResponse:
    logger.warning("the database cannot serve: %s", error)
    return _later("The database cannot serve just now; repeat the request in a moment")


def _later(detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, 503, {"Retry-After": RETRY_AFTER_SECONDS})


def _unexpected(error: Exception) -> JSONResponse:
    reference = uuid.uuid4().hex[:8]
    logger.error("unexpected error %s", reference, exc_info=error)
    detail = f"Unexpected error; the log of the service explains it under reference {reference}"
    return JSONResponse({"detail": detail}, 500)
