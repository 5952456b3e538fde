"""Dates as they are written out: in digits, or with the name of their month in some language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache

from adapters.offline.calendar_spans import day, days, month, year
from adapters.offline.date_words import MONTHS, date_words
from domain.period import Period


@dataclass(frozen=True, slots=True)
class Mention:
    """A date as it stands in a text, at `[begin, end)`."""

    begin: int
    end: int
    period: Period


_YEAR = r"(?P<year>[12]\d{3})"
_ORDINAL = r"(?:st|nd|rd|th|er|\.|º|ª)?"
_DAYS = rf"(?P<day>\d{{1,2}}){_ORDINAL}(?:\s?[-–—]\s?(?P<last>\d{{1,2}}){_ORDINAL})?"
_OF = r"(?:of\s|de\s|del\s|do\s|di\s|d['’]\s?)?"
_CLOCK = (
    r"(?:[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?\s?(?P<zone>Z|[+-]\d{2}:?\d{2})?)"
)
# Digits, letters and joints of ASCII only, because in "于2024-05-12发布" a date stands between letters.
_NOT_INSIDE = r"(?<![A-Za-z0-9_./-])"
_NOT_GOING_ON = r"(?![0-9]|[-/][0-9])"

# Each with the characters one of which it needs: most sentences are spared most patterns.
_IN_DIGITS = tuple(
    (needed, re.compile(pattern, re.IGNORECASE))
    for needed, pattern in (
        ("-", rf"{_NOT_INSIDE}{_YEAR}-(?P<month>\d{{2}})(?:-(?P<day>\d{{2}}){_CLOCK}?)?{_NOT_GOING_ON}"),
        ("/", rf"{_NOT_INSIDE}{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}}){_CLOCK}?{_NOT_GOING_ON}"),
        (".", rf"{_NOT_INSIDE}(?P<day>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?{_YEAR}{_NOT_GOING_ON}"),
        (
            "年년",
            rf"(?<!\d){_YEAR}\s?[年년](?:\s?(?P<month>\d{{1,2}})\s?[月월](?:\s?(?P<day>\d{{1,2}})\s?[日号號일])?)?",
        ),
        ("Qq", rf"\bQ(?P<quarter>[1-4])[\s/-]{_YEAR}\b"),
        (" ", rf"\b(?:in|during|since|en|em|nel|im\sJahr)\s{_YEAR}(?=\s*(?:[.,;:!?)]|$))"),
    )
)
_SOME_YEAR = re.compile(_YEAR)


@lru_cache(maxsize=64)
def _in_words(language: str) -> tuple[tuple[re.Pattern[str], Mapping[str, int]], ...]:
    """Patterns of dates whose month is named, with the months of the language."""
    months = date_words(language).months
    if not months:
        return ()
    name = _month_pattern(months)
    patterns = (
        rf"(?<![A-Za-z0-9.,/-]){_DAYS}\s{_OF}{name},?\s{_OF}{_YEAR}\b",
        rf"(?<!\w){name}\s{_DAYS},?\s{_YEAR}\b",
        rf"(?<!\w){name},?\s{_OF}{_YEAR}\b",
    )
    return tuple((re.compile(pattern, re.IGNORECASE), months) for pattern in patterns)


@lru_cache(maxsize=64)
def _yearless(language: str) -> tuple[tuple[re.Pattern[str], Mapping[str, int]], ...]:
    """Patterns of days and months without a year."""
    months = date_words(language).months
    patterns = [r"(?<![年년\d])(?P<month>\d{1,2})[月월]\s?(?P<day>\d{1,2})[日号號일]"]
    if months:
        name = _month_pattern(months)
        end = r"(?![\w/-])(?!,?\s(?:de\s)?\d{4})"
        patterns += [
            rf"(?<![\w.,/-])(?P<day>\d{{1,2}}){_ORDINAL}\s{_OF}{name}{end}",
            rf"(?<!\w){name}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{end}",
            rf"(?<!\w)(?:in|im|en|em|during|since)\s{name}{end}(?!\s\d)",
        ]
    return tuple((re.compile(pattern, re.IGNORECASE), months) for pattern in patterns)


def _month_pattern(months: Mapping[str, int]) -> str:
    return rf"(?P<month>{'|'.join(map(re.escape, sorted(months, key=len, reverse=True)))})\.?"


def written_dates(text: str, languages: Sequence[str]) -> Iterator[Mention]:
    """Dates with their year; one may stand inside another."""
    if not _SOME_YEAR.search(text):
        return
    patterns = [(pattern, _NO_MONTHS) for needed, pattern in _IN_DIGITS if any(letter in text for letter in needed)]
    if " " in text:
        patterns += [pair for language in languages for pair in _in_words(language)]
    for pattern, months in patterns:
        for match in pattern.finditer(text):
            period = _explicit_period(match.groupdict(), months)
            if period is not None:
                yield Mention(match.start(), match.end(), period)


_NO_MONTHS: Mapping[str, int] = {}


def _explicit_period(parts: Mapping[str, str | None], months: Mapping[str, int]) -> Period | None:
    """None for a date that no calendar has, such as 30 February."""
    year_number, month_name, day_number = int(parts["year"] or 0), parts.get("month"), parts.get("day")
    try:
        if quarter := parts.get("quarter"):
            return Period(month(year_number, 3 * int(quarter) - 2).start, month(year_number, 3 * int(quarter)).end)
        if month_name is None:
            return year(year_number)
        month_number = months.get(month_name.lower()) or int(month_name)
        if day_number is None:
            return month(year_number, month_number)
        first = date(year_number, month_number, int(day_number))
        if parts.get("hour") is not None:
            return _moment(first, parts)
        return days(first, max(first, first.replace(day=int(parts.get("last") or day_number))))
    except (ValueError, OverflowError):
        return None


def _moment(on: date, parts: Mapping[str, str | None]) -> Period:
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


def nearest_dates(text: str, today: date, languages: Sequence[str]) -> Iterator[Mention]:
    """A day or month without its year is the one nearest to today."""
    for pattern, months in (pair for language in languages for pair in _yearless(language)):
        for match in pattern.finditer(text):
            name = match["month"]
            # "may" and "mar" are words, too
            if name.isdigit() or name[0].isupper() or (len(name) > 3 and name.lower() not in MONTHS):
                number = months.get(name.lower()) or int(name)
                period = _nearest(today, number, match.groupdict().get("day"))
                if period is not None:
                    yield Mention(match.start(), match.end(), period)


def _nearest(today: date, month_number: int, day_number: str | None) -> Period | None:
    found: list[Period] = []
    for year_number in (today.year - 1, today.year, today.year + 1):
        with suppress(ValueError, OverflowError):
            if day_number is None:
                found.append(month(year_number, month_number))
            else:
                found.append(day(date(year_number, month_number, int(day_number))))
    return min(found, key=lambda it: abs((it.start.date() - today).days), default=None)
