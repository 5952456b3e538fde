"""The time that one operation may take, and who knows of it."""

from __future__ import annotations

import threading
from contextlib import suppress
from contextvars import copy_context
from uuid import UUID

import pytest

from application.current_operation import check_deadline, current_operation, working_on
from application.deadline import Deadline, DeadlinePassed

ONE, TWO = UUID(int=1), UUID(int=2)


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_what_remains_shrinks_to_nothing() -> None:
    stopwatch = Stopwatch()
    deadline = Deadline(30, stopwatch)

    assert deadline.remaining() == 30
    stopwatch.seconds += 29
    deadline.check()
    assert deadline.remaining() == 1
    stopwatch.seconds += 2
    assert deadline.remaining() == 0


def test_a_deadline_that_has_passed_says_how_long_was_allowed_and_is_not_tried_again() -> None:
    stopwatch = Stopwatch()
    with working_on(ONE, deadline=Deadline(30, stopwatch)):
        check_deadline()
        stopwatch.seconds += 30
        with pytest.raises(DeadlinePassed, match=r"^the refresh took longer than 30 s$") as passed:
            check_deadline()

    assert passed.value.reason == "unexpected_error"
    assert not passed.value.transient


def test_without_an_operation_or_a_deadline_there_is_all_the_time() -> None:
    check_deadline()
    with working_on(ONE):
        check_deadline()


def known() -> UUID | None:
    current = current_operation()
    return current.operation_id if current else None


def test_the_operation_is_known_inside_and_the_one_before_afterwards() -> None:
    seen = [known()]
    with working_on(ONE):
        with suppress(ZeroDivisionError), working_on(TWO):
            seen.append(known())
            _ = 1 / 0
        seen.append(known())

    assert [*seen, known()] == [None, TWO, ONE, None]


def test_a_thread_knows_it_in_a_copy_of_the_context_and_counts_with_the_others() -> None:
    counts: list[int] = []

    def ask() -> None:
        current = current_operation()
        assert current is not None
        counts.append(current.times_asked("the same"))

    with working_on(ONE):
        threads = [threading.Thread(target=copy_context().run, args=(ask,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert sorted(counts) == [1, 2, 3, 4]
