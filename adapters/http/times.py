"""Times on the wire: ISO 8601 out, in UTC; in, any ISO 8601, without an offset read as UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_LOST_PLUS = re.compile(r" (?=\d\d:?\d\d$)")
"""In a query string an unescaped "+" of an offset arrives as a blank."""


def iso(moment: datetime) -> str:
    return (moment if moment.tzinfo is UTC else moment.astimezone(UTC)).isoformat()


def iso_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def to_utc(text: str) -> datetime:
    """Raises ValueError for what is no ISO 8601 date or time, or has no place in UTC's years 1 to 9999."""
    stripped = text.strip()
    try:
        moment = datetime.fromisoformat(stripped)
    except ValueError:
        moment = datetime.fromisoformat(_LOST_PLUS.sub("+", stripped))
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{text} is outside the years 1 to 9999") from error
