"""How long a refresh or an answer may take in all, whatever it reads and whomever it asks."""

from __future__ import annotations

import time
from collections.abc import Callable

from application.ports import MindFailed


class DeadlinePassed(MindFailed):
    """The time is used up. Another try would take as long: it is not transient."""

    def __init__(self, seconds: float, work: str = "the refresh") -> None:
        super().__init__(f"{work} took longer than {seconds:g} s", reason="unexpected_error", transient=False)


class Deadline:
    """`seconds` from now, as the stopwatch counts them; `work` is what they are for."""

    def __init__(
        self, seconds: float, stopwatch: Callable[[], float] = time.monotonic, work: str = "the refresh"
    ) -> None:
        self._seconds = seconds
        self._work = work
        self._stopwatch = stopwatch
        self._end = stopwatch() + seconds

    def remaining(self) -> float:
        """Seconds left, 0 when it has passed."""
        return max(0.0, self._end - self._stopwatch())

    def pass_now(self) -> None:
        """Nobody waits any more."""
        self._end = self._stopwatch()

    def check(self) -> None:
        """Raises DeadlinePassed when no time is left."""
        if not self.remaining():
            raise DeadlinePassed(self._seconds, self._work)
