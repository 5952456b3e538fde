"""Text that no database or JSON reader takes: NUL characters, lone surrogates, numbers that are not finite."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

Location = tuple[str | int, ...]


class Unstorable(NamedTuple):
    """Where it is and what it is."""

    at: Location
    what: str


def find_unstorable(value: Any, at: Location) -> Unstorable | None:
    """The first piece of parsed JSON below `at` that cannot be stored; None when all can."""
    pending: list[tuple[Location, Any]] = [(at, value)]
    while pending:
        here, part = pending.pop()
        if isinstance(part, str):
            if what := _wrong_with(part):
                return Unstorable(here, what)
        elif isinstance(part, dict):
            for name in part:
                if what := _wrong_with(name):
                    return Unstorable((*here, printable(name)), f"{what} in a name")
            pending.extend(_below(here, part.items()))
        elif isinstance(part, list):
            pending.extend(_below(here, enumerate(part)))
        elif isinstance(part, float) and not math.isfinite(part):
            return Unstorable(here, "a number that is not finite")
    return None


def _below(here: Location, parts: Iterable[tuple[str | int, Any]]) -> list[tuple[Location, Any]]:
    return [((*here, name), part) for name, part in parts][::-1]


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
