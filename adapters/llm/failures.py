"""What went wrong at a model endpoint, in one line for the person who must act, and whether waiting may help."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from adapters.llm.quota import SOON, come_back_at, retry_after, told_in
from application.ports import MindFailed
from domain.mental_model.record import FailureReason
from domain.storable import storable

if TYPE_CHECKING:
    from openai import APIStatusError

_TRANSIENT_STATUS = {408, 409, 425, 429}
_QUOTA_STATUS = {402, 403}
"""How some endpoints say that a quota is used up; only with a time at which it is reset does it mean that."""
_STATUS_ON_REQUEST = {500, 502, 504}
"""Errors that a single request may cause, unlike those of an endpoint that takes no more for now."""
_QUOTED = 300
_SHORTEST_SECRET = 6
"""Shorter keys are placeholders such as "none"; hiding them would blot out ordinary words."""


class ParameterRefused(MindFailed):
    """The endpoint refused one field of the request, `parameter`."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message, reason="unexpected_error", transient=False)
        self.parameter = parameter


class UnusableReply(MindFailed):
    """The model answered, and its answer cannot be used: cut off, refused, or no answer at all."""

    def __init__(self, message: str, *, raw: str) -> None:
        super().__init__(message, reason="unexpected_error", transient=False, raw=raw)


class CutOff(UnusableReply):
    """The answer reached the number of tokens allowed before its end."""


def explain(error: Exception, target: str, *, timeout_seconds: float, secret: str, now: datetime) -> MindFailed:
    """MindFailed for an error of the HTTP client. `target` names model and endpoint; `secret` is never quoted."""
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return _of_response(error, target, secret, now)
    if isinstance(error, (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError)):
        late = f"{target} gave no complete answer within {timeout_seconds:g} s"
        return unusable(late, transient=True, on_request=True)
    if isinstance(error, httpx2.RemoteProtocolError):
        return unusable(f"{target} closed the connection in the middle of its answer", transient=True, on_request=True)
    cause = one_line(str(error.__cause__ or error), secret)
    return unusable(f"{target} cannot be reached ({cause}); check that it runs and its base URL", transient=True)


def of_status(status: int, said: str, target: str, *, now: datetime, back_at: datetime | None = None) -> MindFailed:
    """MindFailed for an error status; `said` is what the endpoint said about it, `back_at` when it takes requests
    again. A time that is not soon is when to resume."""
    wait = back_at - now if back_at else None
    if status == 429 or (status in _QUOTA_STATUS and wait):
        text = f"{target} takes no more requests for now ({status}{_until(wait, now)}): {said}"
    elif status in (401, 403):
        text = f"{target} does not accept the API key ({status}): {said}; check the key and what it may use"
    elif status == 404:
        text = f"{target} does not know this model or path (404): {said}; check the model's name and the base URL"
    elif status >= 500:
        text = f"{target} failed ({status}{_until(wait, now)}): {said}"
    else:
        text = f"{target} refused the request ({status}): {said}"
    transient = status in _TRANSIENT_STATUS or status >= 500 or wait is not None
    return unusable(
        text,
        transient=transient,
        resume_at=back_at if wait and wait >= SOON else None,
        on_request=status in _STATUS_ON_REQUEST and wait is None,
    )


def _until(wait: timedelta | None, now: datetime) -> str:
    if wait is None:
        return ""
    if wait < SOON:
        return f", retry after {wait.total_seconds():g} s"
    return f", until {now + wait:%Y-%m-%d %H:%M:%S} UTC"


def of_error_body(error: object, target: str, now: datetime) -> MindFailed:
    """MindFailed for the `error` in the body of a 200: so gateways report a failure of the model behind them."""
    code = error.get("code") if isinstance(error, Mapping) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 500
    back_at = told_in(error, now) if status == 429 or status in _QUOTA_STATUS else None
    return of_status(status, one_line(error_text(error)), target, now=now, back_at=back_at)


def unusable(
    message: str,
    *,
    reason: FailureReason = "unexpected_error",
    transient: bool = False,
    raw: str = "",
    resume_at: datetime | None = None,
    on_request: bool = False,
) -> MindFailed:
    """The call failed or its answer, `raw`, cannot be used."""
    return MindFailed(message, reason=reason, transient=transient, raw=raw, resume_at=resume_at, on_request=on_request)


def one_line(text: str, secret: str = "", limit: int = _QUOTED) -> str:
    """The text as it may be quoted in a message: one line, without the secret, at most `limit` characters."""
    shown = " ".join(storable(without(secret, text)).split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def without(secret: str, text: str) -> str:
    return text.replace(secret, "***") if len(secret) >= _SHORTEST_SECRET else text


def error_text(body: object) -> str:
    """The words of an error body in any of the shapes endpoints use."""
    for key in ("error", "message", "detail"):
        if isinstance(body, Mapping) and body.get(key):
            return error_text(body[key])
    return str(body)


def _of_response(error: APIStatusError, target: str, secret: str, now: datetime) -> MindFailed:
    said = one_line(error_text(error.body) if error.body else "no reason given", secret)
    failure = of_status(error.status_code, said, target, now=now, back_at=_back_at(error, now))
    if error.status_code == 400 and isinstance(error.param, str):
        return ParameterRefused(str(failure), error.param)
    return failure


def _back_at(error: APIStatusError, now: datetime) -> datetime | None:
    """When the endpoint takes requests again. The resets of rate limits come with answers of all kinds: only where one
    of them is the reason do they count."""
    headers = error.response.headers
    if error.status_code == 429:
        return come_back_at(headers, error.body, now)
    if error.status_code in _QUOTA_STATUS:
        return told_in(error.body, now)
    return retry_after(headers, now) if error.status_code >= 500 else None
