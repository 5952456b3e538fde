"""Input that no database or JSON reader takes: NUL characters, lone surrogates, numbers that are not finite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

Location = tuple[str | int, ...]
VALUES_AT_MOST = 200_000
"""In one body: what is wrong with each of millions of values could not be told, nor kept in memory."""


class Unstorable(NamedTuple):
    """Where it is, what it is and what to do."""

    at: Location
    problem: str


def find_unstorable(value: Any, at: Location) -> Unstorable | None:
    """The first piece of parsed JSON at and below `at` that cannot be stored; None when all can."""
    inside = list(at[:-1])
    levels: list[Iterator[tuple[str | int, Any]]] = [iter([(at[-1], value)])]
    left = VALUES_AT_MOST
    while levels:
        for name, part in levels[-1]:
            left -= 1
            if left < 0:
                return Unstorable(at, f"contains more than {VALUES_AT_MOST} values; send less at a time")
            if problem := _problem_of(part):
                return Unstorable((*inside, name), problem)
            if isinstance(name, str) and (problem := _problem_of(name)):
                return Unstorable((*inside, printable(name)), f"in its name, {problem}")
            if isinstance(part, dict | list):
                inside.append(name)
                levels.append(iter(part.items()) if isinstance(part, dict) else enumerate(part))
                break
        else:
            levels.pop()
            inside = inside[: len(at) - 2 + len(levels)]
    return None


def _problem_of(part: Any) -> str | None:
    if isinstance(part, str):
        what = _wrong_with(part)
        return f"contains {what}; remove it" if what else None
    if isinstance(part, float) and not math.isfinite(part):
        return "contains a number that is not finite; remove it"
    return None


def _wrong_with(text: str) -> str | None:
    if "\x00" in text:
        return "a NUL character"
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a lone surrogate (half of a UTF-16 pair)"
    return None


def printable(text: str, at_most: int = 200) -> str:
    """The text as an error may quote it: cut, and with every character that cannot be encoded replaced."""
    shown = text if len(text) <= at_most else f"{text[:at_most]}…"
    return shown.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{SYMBOL FOR NULL}")
