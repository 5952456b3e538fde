"""What changed between two texts, for a reader: by lines, and within lines that were changed by words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from typing import Literal

Kind = Literal["same", "removed", "added", "gap"]
CONTEXT_LINES = 3
LEAST_ALIKE = 0.4
"""Two lines that share less than this are told as one line gone and another come."""
MOST_WORK = 1_000_000
"""Pairs of lines, and pairs of words in all, that are looked at. What would take more is told as gone and come whole:
the time it takes grows with the pairs, and a document may be made to have very many."""
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True)
class Part:
    """Some text of a line; `changed` within a line that is otherwise as before."""

    text: str
    changed: bool = False


@dataclass(frozen=True)
class Line:
    """A line of a comparison. A `gap` stands for `skipped` lines that are the same."""

    kind: Kind
    parts: tuple[Part, ...] = ()
    skipped: int = 0

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


def compare(before: str, after: str, context: int = CONTEXT_LINES) -> list[Line]:
    """The lines that differ with `context` lines around them; none when the texts are the same."""
    blocks = list(_blocks(before.splitlines(), after.splitlines()))
    if all(tag == "equal" for tag, _, _ in blocks):
        return []
    lines: list[Line] = []
    words = _Words()
    for number, (tag, removed, added) in enumerate(blocks):
        if tag == "equal":
            lines += _unchanged(removed, context, first=number == 0, last=number == len(blocks) - 1)
        else:
            lines += _changed(removed, added, words)
    return lines


Block = tuple[str, Sequence[str], Sequence[str]]


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[Block]:
    """Stretches that are equal, or not: the same at both ends first, which are most of most documents."""
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
    if head:
        yield "equal", old[:head], new[:head]
    if len(removed) * len(added) > MOST_WORK:
        yield "replace", removed, added
    elif removed or added:
        codes = SequenceMatcher(None, removed, added, autojunk=False).get_opcodes()
        yield from ((tag, removed[a:b], added[c:d]) for tag, a, b, c, d in codes)
    if tail:
        yield "equal", old[len(old) - tail :], new[len(new) - tail :]


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    """How many of them are the same at the beginning."""
    for number, (before, after) in enumerate(zip(old, new, strict=False)):
        if before != after:
            return number
    return min(len(old), len(new))


def _unchanged(lines: Sequence[str], context: int, *, first: bool, last: bool) -> Iterator[Line]:
    head = 0 if first else min(context, len(lines))
    tail = 0 if last else min(context, len(lines) - head)
    skipped = len(lines) - head - tail
    yield from (Line("same", (Part(text),)) for text in lines[:head])
    if skipped:
        yield Line("gap", skipped=skipped)
    yield from (Line("same", (Part(text),)) for text in lines[len(lines) - tail :])


def _changed(removed: Sequence[str], added: Sequence[str], words: _Words) -> Iterator[Line]:
    """Lines in pairs as far as they are alike, so that each is read beside what it became."""
    for old, new in zip_longest(removed, added):
        codes = None if old is None or new is None else words.compare(old, new)
        if codes is not None:
            yield from codes
            continue
        if old is not None:
            yield Line("removed", (Part(old),))
        if new is not None:
            yield Line("added", (Part(new),))


class _Words:
    """Compares lines by words, as long as there is work left to do."""

    def __init__(self) -> None:
        self._work = MOST_WORK

    def compare(self, old: str, new: str) -> tuple[Line, Line] | None:
        """None for lines that have little in common, or that would take too long."""
        old_words, new_words = _WORD.findall(old), _WORD.findall(new)
        work = len(old_words) * len(new_words)
        if work > self._work:
            return None
        self._work -= work
        matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
        if matcher.ratio() < LEAST_ALIKE:
            return None
        codes = matcher.get_opcodes()
        removed = (Part("".join(old_words[a:b]), tag != "equal") for tag, a, b, _, _ in codes if b > a)
        added = (Part("".join(new_words[c:d]), tag != "equal") for tag, _, _, c, d in codes if d > c)
        return Line("removed", tuple(removed)), Line("added", tuple(added))


def as_html(lines: Sequence[Line]) -> str:
    """A comparison as HTML; texts are escaped. Removed and added lines differ in sign and in colour."""
    return f'<div class="diff">{"".join(map(_line, lines))}</div>'


_SIGNS: dict[Kind, str] = {"same": " ", "removed": "−", "added": "+", "gap": "⋯"}


def _line(line: Line) -> str:
    if line.kind == "gap":
        told = f"{line.skipped} unchanged {'line' if line.skipped == 1 else 'lines'}"
    else:
        tag = "del" if line.kind == "removed" else "ins"
        told = "".join(_part(part, tag) for part in line.parts)
    sign = f'<span class="number">{_SIGNS[line.kind]}</span>'
    return f'<div class="line {line.kind}">{sign}<span>{told or " "}</span></div>'


def _part(part: Part, tag: str) -> str:
    return f"<{tag}>{escape(part.text)}</{tag}>" if part.changed else escape(part.text)
