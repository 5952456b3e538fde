"""What the lines of a log are about: the request that is answered, the operation that is worked on, its bank."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("log_context", default={})  # noqa: B039 - it is never changed


@contextmanager
def logged_about(**about: str) -> Iterator[None]:
    """Lines that the block logs, and threads it starts in a copy of its context, carry these too. Names are
    `request_id`, `operation_id` and `bank_id`."""
    token = _ABOUT.set({**_ABOUT.get(), **about})
    try:
        yield
    finally:
        _ABOUT.reset(token)


def log_context() -> Mapping[str, str]:
    return _ABOUT.get()
