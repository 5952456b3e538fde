"""What a log may tell of an error: enough to act on, and nothing of what people stored or models answered.

The text of an error often quotes its input. It is told only where it is known to be of the machinery: a database or an
endpoint that cannot be reached, a file that cannot be used. Everybody with a right to it finds the rest with the
operation or in the answer to the request.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from itertools import pairwise
from types import TracebackType

import psycopg

from adapters.postgres.unavailable import DatabaseUnavailable
from application.ports import MindFailed

_OF_CONNECTIONS = frozenset({"httpx2", "openai", "builtins"})
"""The packages of errors whose reason a MindFailed tells in its own words, unless the endpoint had answered."""


def described(error: BaseException) -> str:
    """One line."""
    kind = type(error).__name__
    told = " ".join(_told(error).split())
    return f"{kind}: {told}" if told else kind


def _told(error: BaseException) -> str:
    if isinstance(error, MindFailed):
        return _of_a_mind(error)
    if isinstance(error, psycopg.Error):
        if error.sqlstate is None:  # of the connection or its pool
            return str(error) if isinstance(error, psycopg.OperationalError) else ""
        at = error.diag.constraint_name or error.diag.table_name
        return f"SQLSTATE {error.sqlstate}{f' at {at}' if at else ''}"
    if isinstance(error, DatabaseUnavailable):
        return str(error)
    if isinstance(error, OSError):
        return error.strerror or ""
    return ""


def _of_a_mind(failed: MindFailed) -> str:
    cause = failed.__cause__
    status = getattr(cause, "status_code", None)
    if isinstance(status, int):
        return f"the endpoint answered {status}"
    if not failed.raw and cause is not None and type(cause).__module__.partition(".")[0] in _OF_CONNECTIONS:
        return str(failed)
    return f"not told here ({failed.reason})"


def traced(error: BaseException) -> str:
    """The stack of the error and of those that led to it, in the order in which they came."""
    chain = list(_chain(error))[::-1]
    parts = [_stack(chain[0])]
    for earlier, later in pairwise(chain):
        parts.append("which led to" if later.__cause__ is earlier else "while that was handled came")
        parts.append(_stack(later))
    return "\n".join(parts)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _stack(error: BaseException) -> str:
    lines = [*_frames(error.__traceback__), described(error)]
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            lines += [f"  | {line}" for line in traced(each).splitlines()]
    return "\n".join(lines)


def _frames(trace: TracebackType | None) -> Iterator[str]:
    if trace is not None:
        yield "Traceback (most recent call last):"
        for frame in traceback.extract_tb(trace):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}"
