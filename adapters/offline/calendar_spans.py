"""Days, weeks, months and years as spans of UTC time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from domain.period import Period


def day(of: date) -> Period:
    """The whole day."""
    return days(of, of)


def week(of: date) -> Period:
    """Monday to Sunday of the week that holds the day."""
    monday = of - timedelta(days=of.weekday())
    return days(monday, monday + timedelta(days=6))


def month(year_number: int, month_number: int) -> Period:
    """The whole month."""
    first = date(year_number, month_number, 1)
    following = date(year_number + month_number // 12, month_number % 12 + 1, 1)
    return days(first, following - timedelta(days=1))


def year(number: int) -> Period:
    """The whole year."""
    return days(date(number, 1, 1), date(number, 12, 31))


def days(first: date, last: date) -> Period:
    """From the begin of the first day to the end of the last."""
    return Period(datetime.combine(first, time.min, UTC), datetime.combine(last, time.max, UTC))
