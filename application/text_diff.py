"""Unified diffs of texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

CONTEXT = 3
"""Lines around a change, unless told."""
WITHOUT_BREAK = "\\ No newline at end of file"


def unified_diff(before: str, after: str, *, names: tuple[str, str], context: int = CONTEXT) -> str:
    """The lines that differ, with `context` lines around them; "" when there are none.

    Lines end at line feeds only: other line breaks are part of a line, and a carriage return that changed is a change.
    A last line without a line feed is told as other tools do."""
    lines = difflib.unified_diff(_lines(before), _lines(after), *names, n=context, lineterm="")
    return "\n".join(_told(lines))


def _lines(text: str) -> list[str]:
    """With their line feeds."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _told(lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        is_of_text = number > 1 and not line.startswith("@")
        yield line.removesuffix("\n")
        if is_of_text and not line.endswith("\n"):
            yield WITHOUT_BREAK
