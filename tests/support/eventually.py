"""Waiting for a condition, with a deadline, instead of sleeping and hoping."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def eventually(condition: Callable[[], Result], timeout: float = 10.0, pause: float = 0.01) -> Result:
    """The first true result of the condition, asked again and again for at most `timeout` seconds.

    Raises AssertionError when it never is.
    """
    deadline = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout} seconds: {condition!r} still answers {result!r}")
        time.sleep(pause)
