"""Moments in the life of a mental model: versions of its stream, and times."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import Query

from adapters.http import errors
from adapters.http.times import to_utc

LAST_VERSION = 2**31 - 1

AsOf = Annotated[
    str | None,
    Query(description="As it was: a version, or a time in ISO 8601 (UTC without an offset). Deleted ones included."),
]


def moment_of(as_of: str) -> int | datetime:
    """A version or a time; raises a 422 for what is neither."""
    if as_of.isascii() and as_of.isdigit() and len(as_of) < 10:
        return int(as_of)
    try:
        return to_utc(as_of)
    except ValueError as error:
        message = "is neither a version (a number) nor a time in ISO 8601 (2024-01-15T10:30:00Z)"
        raise errors.unprocessable(("query", "as_of"), message) from error
