"""One answer for every kind of error, and details that can always be written as JSON."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from fastapi.exceptions import RequestValidationError
from psycopg_pool import PoolTimeout
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from adapters.http.errors import ServiceStopping, answer_to, status_of, unprocessable, validation_details
from adapters.postgres.unavailable import DatabaseUnavailable
from application.ports import MindFailed
from domain import refusals
from domain.refusals import (
    BankNotFound,
    InvalidInput,
    MentalModelAlreadyExists,
    NothingToChange,
    Refusal,
    StaleVersion,
)


def _kinds_of(kind: type[Refusal]) -> list[type[Refusal]]:
    return [kind, *(leaf for child in kind.__subclasses__() for leaf in _kinds_of(child))]


def test_every_refusal_has_a_status() -> None:
    named = {each for each in vars(refusals).values() if isinstance(each, type) and issubclass(each, Refusal)}
    assert set(_kinds_of(Refusal)) >= named
    for kind in set(_kinds_of(Refusal)) - {Refusal}:
        refusal = kind.__new__(kind)
        refusal.expected = None  # type: ignore[attr-defined]  # what StaleVersion has, on all of them alike
        assert status_of(refusal) in (400, 403, 404, 409, 422), kind


@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (BankNotFound("a"), 404, "Bank 'a' not found"),
        (MentalModelAlreadyExists("a", "m"), 409, "already exists"),
        (StaleVersion("'m'"), 409, "read it again"),
        (StaleVersion("'m'", 1, 2), 412, "If-Match says 1"),
        (NothingToChange(), 422, "changes nothing"),
        (InvalidInput("trigger.mode", "no such mode"), 422, "no such mode"),
        (HTTPException(413, "too large"), 413, "too large"),
        (MindFailed("429", reason="unexpected_error", transient=True), 503, "429; repeat the request later"),
        (MindFailed("401", reason="unexpected_error", transient=False), 502, "401"),
        (DatabaseUnavailable("gone"), 503, "in a moment"),
        (PoolTimeout("no connection"), 503, "in a moment"),
        (psycopg.errors.AdminShutdown("terminating"), 503, "in a moment"),
        (psycopg.errors.DeadlockDetected("deadlock"), 503, "in a moment"),
        (ServiceStopping(), 503, "stopping"),
        (psycopg.errors.ProgramLimitExceeded("row too large"), 500, "Unexpected error"),
        (psycopg.errors.UndefinedTable("no such table"), 500, "Unexpected error"),
        (KeyError("secret"), 500, "Unexpected error"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_becomes_a_status_and_a_detail(error: Exception, status: int, told: str) -> None:
    response = answer_to(error)
    assert response.status_code == status
    assert told in str(json.loads(bytes(response.body))["detail"])
    assert ("retry-after" in response.headers) == (status == 503)


def test_an_unexpected_error_says_nothing_of_itself() -> None:
    assert b"secret" not in bytes(answer_to(KeyError("secret")).body)


def test_a_caller_that_went_away_is_answered_with_nothing() -> None:
    gone = answer_to(ClientDisconnect())
    assert (gone.status_code, gone.body) == (499, b"")


def test_a_refused_field_is_located_in_the_body() -> None:
    detail = json.loads(bytes(answer_to(InvalidInput("trigger.mode", "no such mode")).body))["detail"]
    assert detail == [{"loc": ["body", "trigger", "mode"], "msg": "no such mode", "type": "value_error"}]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("short", "short"),
        ("x" * 1000, "x" * 200 + "…"),
        ("half \ud83d pair", "half ? pair"),
        ("a\x00b", "a␀b"),
        (True, True),
        (7, 7),
        (10**400, None),
        (float("nan"), None),
        ({"a": 1}, None),
        (b"\xff", None),
        (None, None),
    ],
    ids=ascii,
)
def test_an_input_is_quoted_when_it_is_small_and_plain(given: Any, told: Any) -> None:
    (detail,) = validation_details(
        [{"loc": ("body", "a\ud83d", 0), "msg": "Value error, bad", "type": "t", "input": given}]
    )
    assert detail.get("input") == told
    assert (detail["loc"], detail["msg"]) == (["body", "a?", 0], "bad")
    json.dumps(detail, ensure_ascii=False, allow_nan=False).encode()


def test_no_more_than_a_hundred_faults_are_told() -> None:
    many = RequestValidationError([{"loc": ("body", n), "msg": "bad", "type": "t"} for n in range(5000)])
    assert len(json.loads(bytes(answer_to(many).body))["detail"]) == 100


def test_an_input_at_fault_is_named() -> None:
    (detail,) = json.loads(bytes(answer_to(unprocessable(("query", "as_of"), "no moment")).body))["detail"]
    assert detail == {"loc": ["query", "as_of"], "msg": "no moment", "type": "value_error"}
