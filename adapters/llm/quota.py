"""When an endpoint that takes no more requests says it will take them again.

Endpoints say it in many ways: in seconds, as a duration, a date of HTTP, an ISO time or a Unix time, in a header or in
words. What cannot be read is not known, never guessed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

SOON = timedelta(seconds=60)
"""A wait shorter than this is one that a retry waits for anyway."""
AT_MOST = timedelta(hours=24)
"""What is further ahead is tried after this: quotas are raised, and keys changed."""

_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit-(?:.+-)?reset(?:-.+)?")
_UNIX_SECONDS, _UNIX_MILLISECONDS = 1e9, 1e12
"""Numbers from here on are times, smaller ones are seconds to wait."""
_MOST_READ = 4000

_AMOUNT = (
    r"\d+(?:\.\d+)?\s*"
    r"(?:ms|milliseconds?|d(?:ays?)?|h(?:ours?|rs?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)(?![a-z])"
)
_DURATION = rf"{_AMOUNT}(?:(?:,?\s*(?:and\s+)?){_AMOUNT})*"
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?(?:Z|UTC|[+-]\d\d:?\d\d))?"
_BEFORE = r"(?:resets?|again|available|retry)"
_LINK = r"[ _-]?(?:at|on|in|after|delay)"
_TOLD = re.compile(
    rf"{_BEFORE}(?:{_LINK})?[\s\"':=]*(?P<when>{_ISO}|{_DURATION})"
    rf"|{_BEFORE}{_LINK}(?:[ _-]?seconds)?[\s\"':=]*(?P<number>\d+(?:\.\d+)?)"
    rf"|{_BEFORE}[\s\"':=]*(?P<unix>\d{{10,13}})",
    re.IGNORECASE,
)
_PARTS = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|mil|d|h|m|s)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "mil": 0.001, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


def come_back_at(headers: Mapping[str, str], body: object, now: datetime) -> datetime | None:
    """The time (UTC, `AT_MOST` ahead) that the endpoint named; None when it named none, or one that is over.

    `Retry-After` counts before the resets of rate limits, and these before words. Of several limits that are used up
    the last one to be reset counts.
    """
    resets = [moment for value in _used_up(headers) if (moment := _moment(value, now))]
    return retry_after(headers, now) or max(resets, default=None) or told_in(body, now)


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """The same by `Retry-After` alone, which a server that is overloaded sends too."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    return _moment(f"{milliseconds}ms", now) or _moment(headers.get("retry-after", ""), now)


def told_in(body: object, now: datetime) -> datetime | None:
    """The time that the words or fields of an error body name, such as "resets at 2026-05-01T00:00:00Z"."""
    text = body if isinstance(body, str) else json.dumps(body, default=str, ensure_ascii=False)
    for found in _TOLD.finditer(text[:_MOST_READ]):
        if moment := _moment(found["when"] or found["number"] or found["unix"], now):
            return moment
    return None


def _used_up(headers: Mapping[str, str]) -> Iterator[str]:
    """When limits are reset, as said, without those of which something remains."""
    for name, value in headers.items():
        if not _RESET.fullmatch(name.lower()):
            continue
        left = headers.get(name.lower().replace("reset", "remaining"), "0")
        if not re.fullmatch(r"[\d.]*[1-9][\d.]*", left.strip()):
            yield value


def _moment(said: str, now: datetime) -> datetime | None:
    """A time in any of the forms; None for one that is over or no time at all."""
    try:
        moment = _read(said.strip(), now)
    except (ValueError, OverflowError, OSError):
        return None
    if moment is None or moment <= now:
        return None
    return min(moment, now + AT_MOST)


def _read(said: str, now: datetime) -> datetime | None:
    if re.fullmatch(r"\d+(?:\.\d+)?", said):
        number = float(said)
        if number >= _UNIX_MILLISECONDS:
            return datetime.fromtimestamp(number / 1000, UTC)
        if number >= _UNIX_SECONDS:
            return datetime.fromtimestamp(number, UTC)
        return now + timedelta(seconds=number)
    if re.fullmatch(_DURATION, said, re.IGNORECASE):
        parts = ((float(amount), _SECONDS[unit.lower()]) for amount, unit in _PARTS.findall(said))
        return now + timedelta(seconds=sum(amount * seconds for amount, seconds in parts))
    if re.fullmatch(_ISO, said, re.IGNORECASE):
        plain = re.sub(r"\s?(?:Z|UTC)$", "Z", said, flags=re.IGNORECASE)
        return _in_utc(datetime.fromisoformat(re.sub(r"\s(?=[+-]\d\d:?\d\d$)", "", plain)))
    return _in_utc(parsedate_to_datetime(said))


def _in_utc(moment: datetime) -> datetime:
    """A time without a zone is taken for UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
