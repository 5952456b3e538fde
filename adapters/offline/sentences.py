"""Prose into sentences: cut by sentencex, which knows the abbreviations of many languages; what markdown puts around
and into a sentence is put right here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from sentencex import segment

from adapters.offline.languages import ENGLISH

LONGEST_SENTENCE = 1000
"""Characters of a sentence at most; a longer one is cut at clauses, so that one fact stays a thing one can read."""

_WIDE = "。！？｡．।॥؟۔።"
"""Marks that end a sentence whether or not a space follows."""
_CLOSERS = "\"'”’»)\\]）］」』】》〉*_"
_CLOSING = re.compile(rf"[{_CLOSERS}]+(?=\s|$)")
_CODE = re.compile(r"`[^`]{1,200}`")
_NO_PROSE = re.compile(r"[`\ud800-\udfff]")
_OPENERS = re.compile(r"[\s\"'“‘«(\[（「『【《*_]*")
_RUN_IN = re.compile(r"\s*\*\*\w+(?:\s\w+){0,2}[.:]\*\*\s*")
_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s*")
_AFTER_BRACKET = re.compile(r"(?<=[.!?][)\]])\s+(?![a-z])")
_TITLES = re.compile(r"(?:^|[\s(\"“«])(?:dr|prof|mr|mrs|ms|m|mme|mgr|inż|sig|sr|sra|av|डॉ)\.\s*$", re.IGNORECASE)
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_WINDOW = 10_000
"""Characters of a run of prose that are looked at together: some texts take time by the square of their length."""


def split_sentences(prose: str, language: str = ENGLISH) -> list[str]:
    """Sentences of a run of prose in a language (its code) in order, without the space around them; together they hold
    every character that is not space. What stands in code ends no sentence, nor does a mark before a small letter."""
    sentences: list[str] = []
    start = 0
    while start < len(prose):
        end = min(len(prose), start + _WINDOW)
        pieces = _joined(list(_segments(prose[start:end], language)))
        if end < len(prose) and len(pieces) > 1:
            pieces.pop()  # it may go on
        sentences.extend(pieces)
        start += sum(map(len, pieces))
    return [stripped for sentence in sentences if (stripped := sentence.strip())]


def _segments(prose: str, language: str) -> Iterator[str]:
    """The parts of a text as the library cuts it, which joined are the text."""
    shown = _NO_PROSE.sub("x", _CODE.sub(lambda code: "x" * len(code[0]), prose))
    start = 0
    for piece in segment(language, shown):
        for cut in (*(start + match.end() for match in _AFTER_BRACKET.finditer(piece)), start + len(piece)):
            yield prose[start:cut]
            start = cut
    if start < len(prose):
        yield prose[start:]


def _joined(pieces: list[str]) -> list[str]:
    """The parts with what belongs together joined: marks that close a sentence, the label or number it begins with, a
    title and its name."""
    joined: list[str] = []
    for piece in pieces:
        if not joined:
            joined.append(piece)
            continue
        closing = _CLOSING.match(piece) if not joined[-1][-1:].isspace() else None
        if closing is not None:
            joined[-1] += closing[0]
            piece = piece[closing.end() :]
        if not piece:
            continue
        if _belong_together(joined[-1], piece):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def _belong_together(before: str, piece: str) -> bool:
    if not before.strip() or _RUN_IN.fullmatch(before) or _NUMBER.fullmatch(before) or not piece.strip():
        return True
    mark = before.rstrip()[-1]
    if mark == "．" and piece[:1].isdigit():
        return True
    if mark in _WIDE:
        return False
    opening = _OPENERS.match(piece)
    first = piece[opening.end() if opening else 0 :][:1]
    return first.islower() or (mark == "." and bool(_TITLES.search(before[-12:])))


def is_cjk(character: str) -> bool:
    """Whether a character is of a script that sets no space between words."""
    return bool(_CJK.match(character))


def ends_like_a_sentence(text: str) -> bool:
    """Whether a text closes with a mark that ends a sentence."""
    return text.rstrip(_CLOSERS.replace("\\", "")).endswith((*".!?…", *_WIDE))


# --- sentences that are too long --------------------------------------------------------------------------------------

_CLAUSE_ENDS = (("; ", "；", ": ", "："), (", ", "，", "、"), (" — ", " – ", " - "), (" ",))


def split_long(sentence: str, longest: int = LONGEST_SENTENCE) -> list[str]:
    """The sentence in pieces of at most `longest` characters, cut after clauses where it has some, else between words,
    else inside a word but never inside a character made of several."""
    pieces: list[str] = []
    start = 0
    while len(sentence) - start > longest:
        cut = _clause_end(sentence, start, start + longest)
        pieces.append(sentence[start:cut].strip())
        start = cut
    pieces.append(sentence[start:].strip())
    return [piece for piece in pieces if piece]


def _clause_end(sentence: str, start: int, limit: int) -> int:
    # A cut in the first quarter would leave a piece too short to mean anything.
    earliest = start + (limit - start) // 4
    for marks in _CLAUSE_ENDS:
        cut = max(_last_end(sentence, mark, earliest, limit) for mark in marks)
        if cut > earliest:
            return cut
    cut = limit
    while cut > earliest and _joins(sentence[cut - 1], sentence[cut]):
        cut -= 1
    return cut if cut > earliest else limit


def _last_end(sentence: str, mark: str, earliest: int, limit: int) -> int:
    at = sentence.rfind(mark, earliest, limit)
    return -1 if at < 0 else at + len(mark)


def _joins(before: str, after: str) -> bool:
    return before == "\u200d" or after in "\u200d\ufe0f" or unicodedata.combining(after) != 0
