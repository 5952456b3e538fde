"""A span of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time in UTC, both ends inside it. A day ends at its last microsecond; an instant has equal ends."""

    start: datetime
    end: datetime
