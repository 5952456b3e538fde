"""How long a refresh may take in all, whatever it reads and whomever it asks."""

from __future__ import annotations

import time
from collections.abc import Callable

from application.ports import MindFailed


class DeadlinePassed(MindFailed):
    """The time for a refresh is used up. Another try would take as long: it is not transient."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the refresh took longer than {seconds:g} s", reason="unexpected_error", transient=False)


class Deadline:
    """`seconds` from now, as the stopwatch counts them."""

    def __init__(self, seconds: float, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._stopwatch = stopwatch
        self._end = stopwatch() + seconds

    def remaining(self) -> float:
        """Seconds left, 0 when it has passed."""
        return max(0.0, self._end - self._stopwatch())

    def check(self) -> None:
        """Raises DeadlinePassed when no time is left."""
        if not self.remaining():
            raise DeadlinePassed(self._seconds)
