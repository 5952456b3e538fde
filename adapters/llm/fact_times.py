"""When a fact was, as a model reads it."""

from __future__ import annotations

from datetime import datetime

from domain.memory import Fact


def occurred(fact: Fact) -> str:
    """When it happened: a time, or two joined by `/`; empty when that is not known."""
    first, last = moment(fact.occurred_start), moment(fact.occurred_end)
    return f"{first}/{last}" if first and last and first != last else first or last


def moment(time: datetime | None) -> str:
    """The day, and the time of day when it has one."""
    if time is None:
        return ""
    at_midnight = (time.hour, time.minute, time.second) == (0, 0, 0)
    return time.date().isoformat() if at_midnight else time.isoformat(timespec="seconds")
