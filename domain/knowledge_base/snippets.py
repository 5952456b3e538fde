"""The part of a page to show for a search: where the words that were asked for stand closest together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from domain.terms import LONGEST_TEXT, terms

SNIPPET_CHARACTERS = 280
LEAD_CHARACTERS = 40
"""Of the text before the first word that was asked for."""
ELLIPSIS = "…"

_WORD = re.compile(r"\w+(?:[._\-/:@]\w+)*")
_UNSEPARATED = 0x0E00
"""Scripts from here on may not separate words: of those the part that was asked for is shown, not the whole run."""


class Segment(NamedTuple):
    """A piece of a snippet; `match`: it is what was asked for."""

    text: str
    match: bool


class _Hit(NamedTuple):
    start: int
    end: int
    terms: frozenset[str]


def snippet(text: str, asked: Collection[str]) -> tuple[Segment, ...]:
    """About SNIPPET_CHARACTERS of a plain text, in pieces that make it when they are joined: around the words whose
    search terms are among `asked`, or its beginning when there are none. White space is told as single blanks."""
    flat = " ".join(text[:LONGEST_TEXT].split())
    hits = list(_hits(flat, frozenset(asked)))
    start = _start(flat, hits)
    end = _end(flat, start)
    return tuple(_segments(flat, start, end, hits))


def _hits(text: str, asked: frozenset[str]) -> Iterator[_Hit]:
    known: dict[str, frozenset[str]] = {}
    for word in _WORD.finditer(text) if asked else ():
        said = word.group()
        found = known.get(said)
        if found is None:
            known[said] = found = asked.intersection(terms(said))
        if found:
            yield from _of_word(word.start(), said, found)


def _of_word(start: int, word: str, found: frozenset[str]) -> Iterator[_Hit]:
    if all(ord(character) < _UNSEPARATED for character in word):
        yield _Hit(start, start + len(word), found)
        return
    folded = word.casefold()
    places = (
        sorted((at.start(), at.end(), term) for term in found for at in re.finditer(re.escape(term), folded))
        if len(folded) == len(word)
        else []
    )
    if not places:
        yield _Hit(start, start + len(word), found)
    covered = 0
    for begin, end, term in places:
        if end > covered:
            yield _Hit(start + max(begin, covered), start + end, frozenset((term,)))
            covered = end


def _start(text: str, hits: list[_Hit]) -> int:
    """Of the window with the most different terms, then the most hits; the first of those."""
    if not hits or len(text) <= SNIPPET_CHARACTERS:
        return 0
    best, start = (0, 0), 0
    for number, first in enumerate(hits):
        last = first.start + SNIPPET_CHARACTERS - LEAD_CHARACTERS
        inside = [hit for hit in hits[number : number + 50] if hit.end <= last]
        worth = (len(frozenset[str]().union(*(hit.terms for hit in inside))), len(inside))
        if worth > best:
            best, start = worth, first.start
    if start <= LEAD_CHARACTERS:
        return 0
    blank = text.find(" ", start - LEAD_CHARACTERS, start)
    return blank + 1 if blank >= 0 else start


def _end(text: str, start: int) -> int:
    end = start + SNIPPET_CHARACTERS
    if end >= len(text):
        return len(text)
    blank = text.rfind(" ", start + SNIPPET_CHARACTERS // 2, end)
    return blank if blank >= 0 else end


def _segments(text: str, start: int, end: int, hits: list[_Hit]) -> Iterator[Segment]:
    at = start
    before = ELLIPSIS if start > 0 else ""
    for hit in hits:
        if hit.start < at or hit.end > end:
            continue
        if before or hit.start > at:
            yield Segment(before + text[at : hit.start], False)
        yield Segment(text[hit.start : hit.end], True)
        at, before = hit.end, ""
    rest = before + text[at:end] + (ELLIPSIS if end < len(text) else "")
    if rest:
        yield Segment(rest, False)
