"""Whether a draft is read as it was built, and what finding that out may cost.

A construct is read from its first line on, whatever stands before it, and what follows it directly decides where it
ends. So where a draft changed, it is enough to read what is new and what is beside that: an operation that is read
differently is found without reading the whole text. A few things reach further (front matter may be closed far below;
of a text with very many cells, not all tables are read as such), so the last word is with a reading of everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from domain.document.edits.draft import Draft, Opening, Piece, document_of
from domain.document.edits.gaps import text_of
from domain.document.model import Heading, ids_of
from domain.document.parsing import identified

_MOST_READINGS: Final = 16
"""What may be spent, in readings of the whole text."""

_SMALLEST_TEXT: Final = 50_000
"""In characters: a smaller text may be read for as long as one of this size."""

_FRESH_START: Final = (Opening(None), Opening("\0", Heading("#", "\n", "", 1, "atx")))
"""Comes before pieces that do not begin a text, as only a beginning can be front matter. No stored text has its id."""


class Verification:
    """Has the parser read drafts: all of them, or only what changed, until its means are spent."""

    def __init__(self, *, of_everything: bool) -> None:
        self._of_everything = of_everything
        self._readings = 0.0

    @property
    def is_spent(self) -> bool:
        """Whether it has read as much as it may. It still finishes what it is asked for."""
        return self._readings >= _MOST_READINGS

    def passes(self, before: Draft, after: Draft) -> bool:
        """Whether `after`, which came of `before`, is read as it was built; what did not change is."""
        pieces = after.closed()
        spans = list(_changes(before.pieces, after.pieces))
        if spans and self._of_everything:
            spans = [(0, len(pieces))]
        length = max(len(text_of(pieces)), _SMALLEST_TEXT)
        return all(self._is_read(pieces, start, stop, length) for start, stop in spans)

    def _is_read(self, pieces: Sequence[Piece], start: int, stop: int, length: int) -> bool:
        read = pieces[:stop] if start < 2 else [*_FRESH_START, *pieces[start:stop]]  # front matter begins the text
        built = document_of(read)
        text = built.render()
        self._readings += len(text) / length
        return identified(text, ids_of(built)) == built


def _changes(before: Sequence[Piece], after: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """From where to where `after` has to be read: what is new there or has another piece behind it than before, and one
    piece more."""
    followers = {id(piece): id(follower) for piece, follower in pairwise([*before, None])}
    start = None
    for place, (piece, follower) in enumerate(pairwise([*after, None])):
        if followers.get(id(piece)) != id(follower):
            start = place if start is None else start
        elif start is not None:
            yield start, place + 1
            start = None
    if start is not None:
        yield start, len(after)
