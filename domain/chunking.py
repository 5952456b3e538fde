"""Cutting a text into chunks that are read in one go.

A text that was read before is cut where it was cut then, as far as it is still the same: what did not change need not
be read again. A conversation in JSON is cut between turns, and inside one only where it is too long for one reading.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from domain.memory import Chunk

CHUNK_SIZE = 3000
"""Characters, as in the system of reference."""
LONGEST_TURN = 10
"""Times the size of a chunk that a turn may have: a longer one is cut as any text."""
_FEWEST_KNOWN = 40
"""A shorter chunk of before is not looked for inside a text: it may stand anywhere."""

_BORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\r?\n[ \t]*\r?\n\s*",  # paragraphs
        r"\r?\n",  # lines
        r"[.!?…][\"'”’)\]]*\s+|[。！？]",  # sentences
        r"\s+",  # words
    )
)


def chunks_of(
    text: str, size: int = CHUNK_SIZE, structured_size: int | None = None, known: Sequence[str] = ()
) -> tuple[Chunk, ...]:
    """The chunks of a text, which joined are the text. Each has `size` characters at most, or is a `known` one; of a
    conversation in JSON `structured_size` at most (None: `size`), or is one turn, up to LONGEST_TURN times as long.
    `known` are the chunks of an earlier text, in their order."""
    turns = _turns(text)
    parts = _packed(turns, structured_size or size) if turns else _parts_beside(text, known, size)
    return tuple(Chunk(number=number, text=part) for number, part in enumerate(parts))


def _parts(text: str, size: int) -> Iterator[str]:
    """Parts of at most `size` characters that joined are the text; cut at the best border not too early in each."""
    start = 0
    while len(text) - start > size:
        end = _cut(text, start, start + size)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    earliest = start + (limit - start) // 3
    for border in _BORDERS:
        ends = [found.end() for found in border.finditer(text, start, limit) if found.end() >= earliest]
        if ends:
            return ends[-1]
    return limit


# --- what was read before ---------------------------------------------------------------------------------------------


def _parts_beside(text: str, known: Sequence[str], size: int) -> list[str]:
    """The known chunks that the text begins and ends with, those found in their order in what is between, and the rest
    cut anew."""
    start, first = 0, 0
    while first < len(known) and _stands_at(text, start, known[first], last=first == len(known) - 1):
        start += len(known[first])
        first += 1
    end, last = len(text), len(known)
    while last > first and end - len(known[last - 1]) >= start and text.endswith(known[last - 1], start, end):
        if not _stands_at(text, end - len(known[last - 1]), known[last - 1]):
            break
        end -= len(known[last - 1])
        last -= 1
    middle = _between(text[start:end], known[first:last], size, goes_on=last < len(known))
    return [*known[:first], *middle, *known[last:]]


def _between(text: str, known: Sequence[str], size: int, *, goes_on: bool) -> list[str]:
    parts: list[str] = []
    start = 0
    for number, chunk in enumerate(known, start=1):
        found = text.find(chunk, start) if len(chunk) >= _FEWEST_KNOWN else -1
        if found >= 0 and _stands_at(text, found, chunk, last=number == len(known) and not goes_on):
            parts.extend(_parts(text[start:found], size))
            parts.append(chunk)
            start = found + len(chunk)
    parts.extend(_parts(text[start:], size))
    return parts


def _stands_at(text: str, place: int, chunk: str, *, last: bool = False) -> bool:
    """Whether the chunk stands there without a word being cut. The last one of a text was not cut at its end: there the
    line must end, too."""
    end = place + len(chunk)
    if not chunk or not text.startswith(chunk, place) or not _is_between(text, place) or not _is_between(text, end):
        return False
    return not last or end == len(text) or "\n" in text[end - 1 : end + 1]


def _is_between(text: str, place: int) -> bool:
    """Whether no word is cut there."""
    return not (0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum())


# --- conversations ----------------------------------------------------------------------------------------------------


def _turns(text: str) -> list[str]:
    """The turns of a conversation in JSON: the objects of a list, or of one line each. Joined they are the text, with
    what stands between them; none for any other text."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped.startswith("["):
        starts = _starts_in_list(text)
    elif stripped.startswith("{"):
        starts = _starts_of_lines(text)
    else:
        return []
    if len(starts) < 2:
        return []
    cuts = [0, *starts[1:], len(text)]
    return [text[start:end] for start, end in pairwise(cuts)]


def _starts_in_list(text: str) -> list[int]:
    decoder = json.JSONDecoder()
    place = _after_blanks(text, text.index("[") + 1)
    starts: list[int] = []
    while place < len(text) and text[place] == "{":
        try:
            _, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return []
        starts.append(place)
        place = _after_blanks(text, end)
        if place < len(text) and text[place] == ",":
            place = _after_blanks(text, place + 1)
        else:
            break
    return starts if text[place:].strip() == "]" else []


def _starts_of_lines(text: str) -> list[int]:
    starts: list[int] = []
    place = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            try:
                turn = json.loads(line)
            except (ValueError, RecursionError):
                return []
            if not isinstance(turn, dict):
                return []
            starts.append(place)
        place += len(line)
    return starts


def _after_blanks(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place


def _packed(turns: Sequence[str], size: int) -> Iterator[str]:
    """As many turns together as fit; one that does not fit alone is a chunk all the same, up to LONGEST_TURN."""
    together = ""
    for turn in turns:
        if together and len(together) + len(turn) > size:
            yield together
            together = ""
        if len(turn) > LONGEST_TURN * size:
            yield from _parts(turn, size)
        else:
            together += turn
    if together:
        yield together
