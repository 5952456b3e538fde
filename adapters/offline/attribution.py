"""Which chunk of an item a fact was read from: the passages of a text are looked up where they stand in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from domain.memory import Chunk

_LOOKED_AT = 40
"""Characters of a sentence, without blanks, that tell where it stands."""
_AHEAD = 4000
"""Characters beyond its passage in which a sentence is looked for."""


class Places:
    """Where sentences of a text stand, asked in their order. Line breaks and runs of blanks do not count; one that
    stands nowhere as it is (a table row as it is read) stands where its passage begins."""

    def __init__(self, text: str) -> None:
        self._at = [place for place, char in enumerate(text) if not char.isspace()]
        self._dense = "".join(text.split())
        self._next = 0

    def of(self, sentence: str, passage_begin: int) -> int:
        wanted = "".join(sentence.split())
        start = max(self._next, bisect_right(self._at, passage_begin - 1))
        found = self._dense.find(wanted[:_LOOKED_AT], start, start + _AHEAD + len(wanted))
        if found < 0:
            return passage_begin
        self._next = found + len(wanted)
        return self._at[found]


class Chunks:
    """The chunks of a text by where they stand in it; those that do not stand there are `elsewhere`."""

    def __init__(self, text: str, chunks: Sequence[Chunk]) -> None:
        self._spans: list[tuple[int, int, int]] = []
        elsewhere: list[Chunk] = []
        end = 0
        for chunk in chunks:
            begin = text.find(chunk.text, end)
            if begin < 0:
                elsewhere.append(chunk)
            else:
                end = begin + len(chunk.text)
                self._spans.append((begin, end, chunk.number))
        self._begins = [begin for begin, _, _ in self._spans]
        self.elsewhere = tuple(elsewhere)

    def at(self, place: int) -> int | None:
        """The number of the chunk that holds the place; None when it is in none of those given."""
        number = bisect_right(self._begins, place) - 1
        if number < 0:
            return None
        _, end, chunk = self._spans[number]
        return chunk if place < end else None
