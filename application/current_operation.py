"""The operation that is being worked on, known to all that runs for it without being handed through.

A thread that is started for a part of the work knows it only when it runs in a copy of the context.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from application.deadline import Deadline
from application.ports import Progress
from domain.usage import ModelCall

REPORTS_AT_ONCE = 5
"""Reports that may follow each other quickly; beyond them, one each second is shown."""


class CurrentOperation:
    """One attempt at an operation; safe to share between threads. `show` is told of its progress; it may report as
    often as it likes: of what changes in quick succession some is left out, unless the stage is another."""

    def __init__(
        self,
        operation_id: UUID,
        deadline: Deadline | None,
        bank_id: str = "",
        show: Callable[[Progress], None] | None = None,
        stopwatch: Callable[[], float] = time.monotonic,
    ) -> None:
        self.operation_id = operation_id
        self.bank_id = bank_id
        self.deadline = deadline
        self._show = show
        self._stopwatch = stopwatch
        self._asked: Counter[str] = Counter()
        self._used: dict[str, ModelCall] = {}
        self._shared = threading.Lock()
        self._reporting = threading.Lock()
        self._shown: Progress | None = None
        self._allowed: float = REPORTS_AT_ONCE
        self._looked_at = stopwatch()

    def times_asked(self, request: str) -> int:
        """How often this attempt makes a request, this time included."""
        with self._shared:
            self._asked[request] += 1
            return self._asked[request]

    def uses(self, key: str, call: ModelCall) -> None:
        """This attempt has the reply that is kept under a key, and `call` is how it tells what that cost."""
        with self._shared:
            self._used[key] = call

    @property
    def used(self) -> dict[str, ModelCall]:
        """By key of the kept replies that this attempt asked for, or found again uncounted: how it tells their cost."""
        with self._shared:
            return dict(self._used)

    def report(self, progress: Progress) -> None:
        with self._reporting:
            if self._show is not None and self._is_worth_showing(progress):
                self._shown = progress
                self._show(progress)

    def _is_worth_showing(self, progress: Progress) -> bool:
        now = self._stopwatch()
        self._allowed = min(REPORTS_AT_ONCE, self._allowed + now - self._looked_at)
        self._looked_at = now
        if progress == self._shown:
            return False
        if self._shown is not None and progress.stage == self._shown.stage and self._allowed < 1:
            return False
        self._allowed = max(0.0, self._allowed - 1)
        return True


_CURRENT: ContextVar[CurrentOperation | None] = ContextVar("current_operation", default=None)


@contextmanager
def working_on(
    operation_id: UUID,
    *,
    deadline: Deadline | None = None,
    bank_id: str = "",
    show: Callable[[Progress], None] | None = None,
    stopwatch: Callable[[], float] = time.monotonic,
) -> Iterator[CurrentOperation]:
    """The block is one attempt at an operation: replies of models are kept under it, none is waited for longer than to
    the deadline, and `show` is told how far it is."""
    current = CurrentOperation(operation_id, deadline, bank_id, show, stopwatch)
    token = _CURRENT.set(current)
    try:
        yield current
    finally:
        _CURRENT.reset(token)


def current_operation() -> CurrentOperation | None:
    return _CURRENT.get()


_REQUEST_DEADLINE: ContextVar[Deadline | None] = ContextVar("request_deadline", default=None)


@contextmanager
def answering_within(deadline: Deadline) -> Iterator[None]:
    """The block answers a request, outside of any operation: no model is waited for longer than to the deadline."""
    token = _REQUEST_DEADLINE.set(deadline)
    try:
        yield
    finally:
        _REQUEST_DEADLINE.reset(token)


def current_deadline() -> Deadline | None:
    """Of the current operation, or of the request that is answered."""
    current = _CURRENT.get()
    return current.deadline if current is not None else _REQUEST_DEADLINE.get()


def check_deadline() -> None:
    """Raises DeadlinePassed when the time for the current work is used up; does nothing where it has no end."""
    deadline = current_deadline()
    if deadline is not None:
        deadline.check()


def report(
    stage: str, processed: int | None = None, total: int | None = None, detail: Mapping[str, int] | None = None
) -> None:
    """Tells how far the current operation is: what is being done, and its units of work, done and in all; `detail` are
    counters of its own. Does nothing outside of an operation, never fails, and may be called as often as one likes."""
    current = _CURRENT.get()
    if current is not None:
        current.report(Progress(stage, processed, total, detail))
