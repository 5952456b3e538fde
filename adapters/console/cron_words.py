"""Cron expressions of five fields in words, and when they fire next. All times are UTC."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from croniter import CroniterError, croniter

WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
MOST_TIMES = 4
"""As many times of a day are named one by one."""
_NUMBERS = re.compile(r"\d+(,\d+)*")
_STEP = re.compile(r"(?:\*|0)/(\d+)")


class NotCron(ValueError):
    """No cron expression of five fields, or one that never fires; the text says which."""


def next_runs(expression: str, now: datetime, number: int = 3) -> list[datetime]:
    """The next times it fires, in UTC. Raises NotCron."""
    fields = expression.split()
    if len(fields) != 5:
        raise NotCron("needs five fields: minute, hour, day of month, month, day of week")
    try:
        times = croniter(expression, now)
        return [times.get_next(datetime) for _ in range(number)]
    except CroniterError as error:
        raise NotCron(f"is no cron expression, or never fires: {error}") from error


def in_words(expression: str) -> str:
    """For instance “At 06:00, on Monday” or “Every 15 minutes”. Fields with no simple words are quoted."""
    minute, hour, day, month, weekday = expression.split()
    when = _time(minute, hour)
    days = _days(day, weekday)
    months = "" if month == "*" else f"in {_named(month, MONTHS, 1)}"
    told = ", ".join(part for part in (when, days, months) if part)
    return told[0].upper() + told[1:]


def _time(minute: str, hour: str) -> str:
    if _NUMBERS.fullmatch(minute) and _NUMBERS.fullmatch(hour):
        times = [f"{int(each_hour):02}:{int(each):02}" for each_hour in hour.split(",") for each in minute.split(",")]
        if len(times) <= MOST_TIMES:
            return f"at {_listed(times)}"
    return f"{_minutes(minute)}{_hours(hour, minute)}"


def _minutes(minute: str) -> str:
    if minute == "*":
        return "every minute"
    if step := _STEP.fullmatch(minute):
        return f"every {step[1]} minutes" if step[1] != "1" else "every minute"
    return f"at minute {_numbers(minute)}"


def _hours(hour: str, minute: str) -> str:
    if hour == "*":
        return "" if minute == "*" or _STEP.fullmatch(minute) else " of every hour"
    if step := _STEP.fullmatch(hour):
        return f" of every {_ordinal(int(step[1]))} hour" if step[1] != "1" else " of every hour"
    return f" of hour {_numbers(hour)}"


def _days(day: str, weekday: str) -> str:
    """A day of the month and a day of the week together: either of them fires, as cron has it."""
    parts = []
    if day != "*":
        parts.append("on the last day of the month" if day in ("l", "L") else f"on day {_numbers(day)} of the month")
    if weekday != "*":
        parts.append("from Monday to Friday" if weekday in ("1-5", "mon-fri", "MON-FRI") else _weekdays(weekday))
    return " or ".join(parts) or "every day"


def _weekdays(field: str) -> str:
    return f"on {_named(field, WEEKDAYS, 0)}"


def _named(field: str, names: tuple[str, ...], first: int) -> str:
    """Numbers or short names of days and months in full."""

    def name(text: str) -> str:
        if text.isdecimal() and 0 <= int(text) - first < len(names):
            return names[int(text) - first]
        return next((each for each in names if len(text) == 3 and each.lower().startswith(text.lower())), text)

    def part(text: str) -> str:
        begin, dash, end = text.partition("-")
        return f"{name(begin)} to {name(end)}" if dash else name(text)

    return _listed(map(part, field.split(",")))


def _numbers(field: str) -> str:
    def part(text: str) -> str:
        if step := _STEP.fullmatch(text):
            return f"every {_ordinal(int(step[1]))}"
        begin, dash, end = text.partition("-")
        return f"{begin} to {end}" if dash and "/" not in text else text

    return _listed(map(part, field.split(",")))


def _listed(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
