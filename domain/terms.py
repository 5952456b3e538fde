"""Search terms of a text: the same rule for facts and for queries, so that a word of one finds the other.

Words are folded (NFKC, case). Compounds such as `v1.2`, `foo_bar` or `2026-03-01` count whole and in parts. Scripts
that do not separate words give overlapping pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime

LONGEST_TEXT = 32_768
"""Characters of a text that are read; what follows adds no terms."""
LONGEST_TERM = 64
MOST_TERMS = 1_024
"""Distinct terms of one text."""

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_LITTLE_WORDS = (
    "a about after all also am an and any are as at be been before being but by can could did do does doing for "
    "from had has have having he her here hers him his how i if in into is it its just me more most my no nor not "
    "of on once only or other our ours out over own s same she should so some such t than that the their theirs "
    "them then there these they this those through to too under until up very was we were what when where which "
    "while who whom why will with would you your yours"
)
STOP_WORDS = frozenset(_LITTLE_WORDS.split())

_WORD, _PAIRED, _JOINER, _GAP = "wpj "
_JOINERS = frozenset("._-/:@")
# Thai and Lao, Myanmar, Khmer, kana, Han (with extensions and compatibility forms), Hangul.
_PAIRED_SCRIPTS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3040, 0x30FF), (0x31F0, 0x31FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip
_ENGLISH = re.compile(r"[a-z]{4,}")
_RUN = re.compile("w+(?:jw+)*|p+")


class _Classes(dict[int, str]):
    """What each character is to the search, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _class_of(chr(code))
        return found


def _class_of(character: str) -> str:
    if character in _JOINERS:
        return _JOINER
    if not (character.isalnum() or unicodedata.category(character) in ("Mn", "Mc")):
        return _GAP
    code = ord(character)
    return _PAIRED if any(first <= code <= last for first, last in _PAIRED_SCRIPTS) else _WORD


_CLASSES = _Classes()


def terms(text: str) -> tuple[str, ...]:
    """Distinct search terms of a text, in order of appearance. What is no character (lone surrogates) gives none."""
    found: dict[str, None] = {}
    for term in _terms(_folded(text[:LONGEST_TEXT])):
        found.setdefault(term)
        if len(found) == MOST_TERMS:
            break
    return tuple(found)


def fact_terms(text: str, entities: Sequence[str] = (), *dates: datetime | None) -> tuple[str, ...]:
    """Terms under which a fact is found: its text, the names in it, and its dates as numbers and in words."""
    spelled = [f"{MONTHS[date.month - 1]} {date.date().isoformat()}" for date in dates if date is not None]
    return terms("\n".join((text, *entities, *spelled)))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _terms(text: str) -> Iterator[str]:
    # One class per character: the two strings have the same positions.
    for run in _RUN.finditer(text.translate(_CLASSES)):
        piece = text[run.start() : run.end()]
        if run.group()[0] == _PAIRED:
            yield from _pairs(piece)
        else:
            yield from _words(piece, run.group())


def _pairs(piece: str) -> Iterator[str]:
    if len(piece) == 1:
        yield piece
    for start in range(len(piece) - 1):
        yield piece[start : start + 2]


def _words(piece: str, classes: str) -> Iterator[str]:
    if _JOINER in classes:
        yield piece[:LONGEST_TERM]
    start = 0
    for part in classes.split(_JOINER):
        word = piece[start : start + len(part)]
        start += len(part) + 1
        if word not in STOP_WORDS:
            yield _singular(word)[:LONGEST_TERM]


def _singular(word: str) -> str:
    """English plurals and third persons lose their ending, much as in Harman's S-stemmer; other words stay."""
    if not _ENGLISH.fullmatch(word):
        return word
    if word.endswith(("sses", "shes", "xes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    # "policies" and "movies" have lost their "s" only; "policy" and "movie" must meet them.
    return word[:-2] + "y" if word.endswith("ie") and len(word) > 3 else word
