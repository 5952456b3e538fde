"""Line breaks that an editor made to fit a line, told from those that the author meant."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from adapters.offline.sentences import ends_like_a_sentence, is_cjk

_NARROWEST_WRAP = 40
"""Shorter lines were broken on purpose: nobody wraps prose this narrow."""


def wrap_width(lines: Sequence[str]) -> float:
    """The width a text was wrapped at, judged by the lines that break in the middle of a sentence; 0 for one that was
    not wrapped."""
    broken = [
        len(before.strip()) for before, line in pairwise(lines) if _breaks_a_sentence(before.strip(), line.strip())
    ]
    return median(broken) if broken else 0


def unwrapped(paragraph: Sequence[str], width: float) -> list[str]:
    """The lines of a paragraph (stripped, none blank), joined where the break between them is a wrap: it stands in the
    middle of a sentence, or in a wrapped text the next word would not have fitted. Every other break is kept."""
    runs: list[str] = []
    parts: list[str] = []
    for number, line in enumerate(paragraph):
        before = paragraph[number - 1] if number else ""
        if before and _is_wrap(before, line, width):
            parts.append(line if is_cjk(before[-1]) and is_cjk(line[0]) else f" {line}")
        else:
            runs.append("".join(parts))
            parts = [line]
    runs.append("".join(parts))
    return [run for run in runs if run]


def _is_wrap(before: str, line: str, width: float) -> bool:
    if _breaks_a_sentence(before, line) or (before[-1] in ",;，、" and (line[0].islower() or is_cjk(line[0]))):
        return True
    return 0 < width < len(before) + len(line.split(" ", 1)[0]) + 1


def _breaks_a_sentence(before: str, line: str) -> bool:
    if len(before) < _NARROWEST_WRAP or not line or not line[0].islower():
        return False
    return before[-1] not in ":：" and not ends_like_a_sentence(before)
