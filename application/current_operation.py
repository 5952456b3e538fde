"""The operation that is being worked on, known to all that runs for it without being handed through.

A thread that is started for a part of the work knows it only when it runs in a copy of the context.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from application.deadline import Deadline


class CurrentOperation:
    """One attempt at an operation; safe to share between threads."""

    def __init__(self, operation_id: UUID, deadline: Deadline | None) -> None:
        self.operation_id = operation_id
        self.deadline = deadline
        self._asked: Counter[str] = Counter()
        self._counting = threading.Lock()

    def times_asked(self, request: str) -> int:
        """How often this attempt makes a request, this time included."""
        with self._counting:
            self._asked[request] += 1
            return self._asked[request]


_CURRENT: ContextVar[CurrentOperation | None] = ContextVar("current_operation", default=None)


@contextmanager
def working_on(operation_id: UUID, *, deadline: Deadline | None = None) -> Iterator[None]:
    """The block is one attempt at an operation: replies of models are kept under it, and none is waited for longer than
    to the deadline."""
    token = _CURRENT.set(CurrentOperation(operation_id, deadline))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_operation() -> CurrentOperation | None:
    return _CURRENT.get()


def check_deadline() -> None:
    """Raises DeadlinePassed when the time for the current operation is used up; does nothing outside of one."""
    current = _CURRENT.get()
    if current is not None and current.deadline is not None:
        current.deadline.check()
