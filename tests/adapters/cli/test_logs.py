"""Warnings as an operator reads them."""

from __future__ import annotations

import logging
import sys

from adapters.cli.logs import OneLine


def logged(message: str, error: BaseException | None = None) -> str:
    trace = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord("adapters.jobs", logging.WARNING, __file__, 1, message, None, trace)
    return OneLine("%(levelname)s %(name)s: %(message)s").format(record)


def test_a_message_of_several_lines_becomes_one() -> None:
    assert logged("lost its database (\n    Database error.\n    ); trying again") == (
        "WARNING adapters.jobs: lost its database ( Database error. ); trying again"
    )


def test_a_stack_trace_keeps_its_lines() -> None:
    try:
        raise ValueError("why")
    except ValueError:
        lines = logged("it failed", sys.exception()).splitlines()
    assert lines[0] == "WARNING adapters.jobs: it failed"
    assert lines[-1] == "ValueError: why"
