"""When something happened, as a text says it: the first date in it, as a span of UTC time.

Explicit dates need nothing else; words such as "yesterday" need the moment the text was said. No clock is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time in UTC, both ends inside it. A day ends at its last microsecond; an instant has equal ends."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class _Mention:
    """A date as it stands in a text, at `[begin, end)`."""

    begin: int
    end: int
    period: Period


def first_period(text: str, said_at: datetime | None) -> Period | None:
    """The first date in a text, extended to a range when another one follows with "to", "until" and the like.

    `said_at` is what "yesterday" or "two weeks ago" count from; with None such words give no date."""
    explicit = list(_explicit_mentions(text))
    relative = _first_relative(text, said_at.astimezone(UTC).date()) if said_at is not None else None
    first = min([*explicit, *([relative] if relative else [])], key=lambda it: (it.begin, -it.end), default=None)
    if first is None:
        return None
    return _extended(text, first, explicit)


def instant(text: str) -> Period | None:
    """The period that a text names when it is a date and nothing else, as in the stamp of a chat line."""
    stripped = text.strip()
    for mention in _explicit_mentions(stripped):
        if mention.begin == 0 and mention.end == len(stripped):
            return mention.period
    return None


def day(of: date) -> Period:
    """The whole day."""
    return _between(of, of)


def week(of: date) -> Period:
    """Monday to Sunday of the week that holds the day."""
    monday = of - timedelta(days=of.weekday())
    return _between(monday, monday + timedelta(days=6))


def month(year_number: int, month_number: int) -> Period:
    """The whole month."""
    first = date(year_number, month_number, 1)
    following = date(year_number + month_number // 12, month_number % 12 + 1, 1)
    return _between(first, following - timedelta(days=1))


def year(number: int) -> Period:
    """The whole year."""
    return _between(date(number, 1, 1), date(number, 12, 31))


def _between(first: date, last: date) -> Period:
    return Period(datetime.combine(first, time.min, UTC), datetime.combine(last, time.max, UTC))


# --- explicit dates -------------------------------------------------------------------------------------------------

_MONTH_NAMES = "january february march april may june july august september october november december"
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES.split(), 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_YEAR = r"(?P<year>[12]\d{3})"
_DAYS = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s?[-–—]\s?(?P<last>\d{1,2})(?:st|nd|rd|th)?)?"
_CLOCK = (
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?\s?(?P<zone>Z|[+-]\d{2}:?\d{2})?)"
)
# Digits, letters and joints of ASCII only, because in "于2024-05-12发布" a date stands between letters.
_NOT_INSIDE = r"(?<![A-Za-z0-9_./-])"
_NOT_GOING_ON = r"(?![0-9]|[-/][0-9])"

# Each with the characters one of which it needs: most sentences are spared most patterns.
_EXPLICIT = tuple(
    (needed, re.compile(pattern, re.IGNORECASE))
    for needed, pattern in (
        ("-", rf"{_NOT_INSIDE}{_YEAR}-(?P<month>\d{{2}})(?:-(?P<day>\d{{2}}){_CLOCK}?)?{_NOT_GOING_ON}"),
        ("/", rf"{_NOT_INSIDE}{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}}){_CLOCK}?{_NOT_GOING_ON}"),
        (
            "年년",
            rf"(?<!\d){_YEAR}\s?[年년](?:\s?(?P<month>\d{{1,2}})\s?[月월](?:\s?(?P<day>\d{{1,2}})\s?[日号號일])?)?",
        ),
        (" ", rf"(?<![A-Za-z0-9.,/-]){_DAYS}\s(?:of\s)?{_MONTH},?\s{_YEAR}\b"),
        (" ", rf"\b{_MONTH}\s{_DAYS},?\s{_YEAR}\b"),
        (" ", rf"\b{_MONTH},?\s(?:of\s)?{_YEAR}\b"),
    )
)
_SOME_YEAR = re.compile(_YEAR)


def _explicit_mentions(text: str) -> Iterator[_Mention]:
    if not _SOME_YEAR.search(text):
        return
    for needed, pattern in _EXPLICIT:
        if any(character in text for character in needed):
            for match in pattern.finditer(text):
                period = _explicit_period(match.groupdict())
                if period is not None:
                    yield _Mention(match.start(), match.end(), period)


def _explicit_period(parts: dict[str, str | None]) -> Period | None:
    """None for a date that no calendar has, such as 30 February."""
    year_number, month_name, day_number = int(parts["year"] or 0), parts.get("month"), parts.get("day")
    try:
        if month_name is None:
            return year(year_number)
        month_number = _MONTHS.get(month_name.lower()) or int(month_name)
        if day_number is None:
            return month(year_number, month_number)
        first = date(year_number, month_number, int(day_number))
        if parts.get("hour") is not None:
            return _moment(first, parts)
        return _between(first, max(first, first.replace(day=int(parts.get("last") or day_number))))
    except (ValueError, OverflowError):
        return None


def _moment(on: date, parts: dict[str, str | None]) -> Period:
    clock = time(int(parts["hour"] or 0), int(parts["minute"] or 0), int(parts["second"] or 0))
    at = datetime.combine(on, clock, _zone(parts["zone"])).astimezone(UTC)
    return Period(at, at)


def _zone(written: str | None) -> timezone:
    """A time without a zone is taken as UTC."""
    if written is None or written in "Zz":
        return UTC
    digits = written[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if written[0] == "-" else offset)


_TO = re.compile(r"\s*(?:[-–—~〜～至到]|to|until|till|through)\s*|\s+(?P<pair>and)\s+", re.IGNORECASE)


def _extended(text: str, first: _Mention, explicit: list[_Mention]) -> Period:
    joint = _TO.match(text, first.end)
    if joint is None or (joint["pair"] and not text[: first.begin].rstrip().lower().endswith("between")):
        return first.period
    ends = [it.period.end for it in explicit if it.begin == joint.end() and it.period.end > first.period.start]
    return Period(first.period.start, max(ends)) if ends else first.period


# --- dates relative to when it was said -------------------------------------------------------------------------------

_UNITS: dict[str, Callable[[date, int], Period]] = {
    "day": lambda today, shift: day(today + timedelta(days=shift)),
    "week": lambda today, shift: week(today + timedelta(weeks=shift)),
    "month": lambda today, shift: _month_away(today, shift),
    "year": lambda today, shift: year(today.year + shift),
}


def _month_away(today: date, shift: int) -> Period:
    years, months = divmod(today.month - 1 + shift, 12)
    return month(today.year + years, months + 1)


_PHRASES: dict[str, tuple[str, int]] = {
    "day before yesterday": ("day", -2),
    "day after tomorrow": ("day", 2),
    "yesterday": ("day", -1),
    "last night": ("day", -1),
    "today": ("day", 0),
    "tonight": ("day", 0),
    "this morning": ("day", 0),
    "this afternoon": ("day", 0),
    "this evening": ("day", 0),
    "tomorrow": ("day", 1),
}
# Chinese and Japanese have no spaces to tell a word by, so only words that seldom are part of another one are here.
_CJK_PHRASES: dict[str, tuple[str, int]] = {
    "前天": ("day", -2),
    "昨天": ("day", -1),
    "昨日": ("day", -1),
    "今天": ("day", 0),
    "今日": ("day", 0),
    "明天": ("day", 1),
    "明日": ("day", 1),
    "后天": ("day", 2),
    "後天": ("day", 2),
    "上周": ("week", -1),
    "本周": ("week", 0),
    "下周": ("week", 1),
    "上个月": ("month", -1),
    "本月": ("month", 0),
    "下个月": ("month", 1),
    "去年": ("year", -1),
    "今年": ("year", 0),
    "明年": ("year", 1),
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNTS |= {"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
_SHIFTS = {"last": -1, "previous": -1, "this": 0, "next": 1}

_RELATIVE = re.compile(
    rf"\b(?:(?P<phrase>{'|'.join(_PHRASES)})"
    # "the last week of May" is not counted from today
    rf"|(?P<which>last|previous|this|next)\s(?P<unit>week|month|year|{'|'.join(_WEEKDAYS)})(?!\s+of\b)"
    rf"|(?P<count>\d{{1,4}}|{'|'.join(_COUNTS)})\s(?P<units>day|week|month|year)s?\sago)\b"
    rf"|(?P<cjk>{'|'.join(_CJK_PHRASES)})",
    re.IGNORECASE,
)


_RELATIVE_HINT = re.compile(
    r"\bago\b|\b(?:last|previous|this|next)\s|day\b|tonight|tomorrow|[今昨明前后後上本下去][天日周个月年]",
    re.IGNORECASE,
)


def _first_relative(text: str, today: date) -> _Mention | None:
    if not _RELATIVE_HINT.search(text):
        return None
    for match in _RELATIVE.finditer(text):
        try:
            return _Mention(match.start(), match.end(), _relative_period(match, today))
        except (ValueError, OverflowError):  # before year 1 or after year 9999
            continue
    return None


def _relative_period(match: re.Match[str], today: date) -> Period:
    if match["cjk"]:
        unit, shift = _CJK_PHRASES[match["cjk"]]
    elif match["phrase"]:
        unit, shift = _PHRASES[match["phrase"].lower()]
    elif match["which"]:
        unit, shift = match["unit"].lower(), _SHIFTS[match["which"].lower()]
    else:
        count = match["count"].lower()
        unit, shift = match["units"].lower(), -(_COUNTS.get(count) or int(count))
    return _weekday(today, unit, shift) if unit in _WEEKDAYS else _UNITS[unit](today, shift)


def _weekday(today: date, name: str, shift: int) -> Period:
    """Of a Friday, "last" is the latest before today, "next" the first after it, "this" that of the running week."""
    ahead = _WEEKDAYS.index(name) - today.weekday()
    if shift < 0:
        ahead = ahead % 7 - 7
    elif shift > 0:
        ahead = (ahead - 1) % 7 + 1
    return day(today + timedelta(days=ahead))
