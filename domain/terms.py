"""Search terms of a text: the same rule for facts and for queries, so that a word of one finds the other.

Words are folded (NFKC, case), English ones to their stem. Compounds such as `v1.2`, `foo_bar` or `2026-03-01` count
whole and in parts. Scripts that do not separate words give overlapping pairs of characters. The names that a fact is
about are terms of their own, `e=ada_lovelace`, which no word can be.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from snowballstemmer.english_stemmer import EnglishStemmer

TERMS_RULE = 2
"""Counts the changes of what this module makes of a text: stored terms of another rule are made anew."""
LONGEST_TEXT = 32_768
"""Characters of a text that are read; what follows adds no terms."""
LONGEST_TERM = 64
MOST_TERMS = 1_024
"""Distinct terms of one text."""
NAME_MARK = "e="
MOST_NAME_WORDS = 4
MOST_NAME_CHARACTERS = 6
MOST_POSSIBLE_NAMES = 512

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
_ENGLISH = re.compile(r"[a-z]{3,}")
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
    """Terms under which a fact is found: its text, the names in it, its dates as numbers and in words, and its names
    as such."""
    spelled = [f"{MONTHS[date.month - 1]} {date.date().isoformat()}" for date in dates if date is not None]
    names = (name_term(entity) for entity in entities)
    return tuple(dict.fromkeys((*terms("\n".join((text, *entities, *spelled))), *filter(None, names))))


@lru_cache(maxsize=16_384)
def name_term(name: str) -> str:
    """The term of a name, the same for all its spellings; empty for a name without letters and digits."""
    words = "_".join(piece for piece, _ in _plain_words(name))
    return f"{NAME_MARK}{words}"[:LONGEST_TERM] if words else ""


def possible_name_terms(text: str) -> tuple[str, ...]:
    """The terms of all names that a short text may hold: each run of a few words, and of characters where nothing
    separates words. A little word alone is no name."""
    words = _plain_words(text[:LONGEST_TEXT])
    found: dict[str, None] = {}
    for start, (word, paired) in enumerate(words):
        if paired:
            for length in range(2, MOST_NAME_CHARACTERS + 1):
                for begin in range(len(word) - length + 1):
                    found.setdefault(word[begin : begin + length])
        for count in range(1, MOST_NAME_WORDS + 1):
            if start + count <= len(words) and not (count == 1 and word in STOP_WORDS):
                found.setdefault("_".join(piece for piece, _ in words[start : start + count]))
    return tuple(f"{NAME_MARK}{name}"[:LONGEST_TERM] for name in list(found)[:MOST_POSSIBLE_NAMES])


def opens_with(text: str, name: str) -> bool:
    """Whether a text begins with a name, whatever its spelling."""
    opening = _plain_words(text[: len(name) + 8])
    wanted = [piece for piece, _ in _plain_words(name)]
    begun = [piece for piece, _ in opening[: len(wanted)]]
    if not wanted or len(begun) < len(wanted):
        return False
    in_a_run = opening[len(wanted) - 1][1]
    return begun[:-1] == wanted[:-1] and (begun[-1].startswith(wanted[-1]) if in_a_run else begun[-1] == wanted[-1])


def _plain_words(text: str) -> list[tuple[str, bool]]:
    """The words of a text, folded, compounds in parts; with each whether it is of a script that separates none."""
    folded = _folded(text)
    runs = re.finditer("w+|p+", folded.translate(_CLASSES))
    return [(folded[run.start() : run.end()], run.group()[0] == _PAIRED) for run in runs]


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
            yield _stem(word[:LONGEST_TERM])


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """Forms of an English word share a stem (Snowball's, "Porter 2"); other words stay."""
    # A stemmer holds the word it works on, so threads must not share one.
    return EnglishStemmer().stemWord(word) if _ENGLISH.fullmatch(word) else word
