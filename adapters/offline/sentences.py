"""Prose into sentences, by its punctuation; no dictionary of a language, one linear pass."""

from __future__ import annotations

import re
import unicodedata

from adapters.offline.common_words import word_set

LONGEST_SENTENCE = 1000
"""Characters of a sentence at most; a longer one is cut at clauses, so that one fact stays a thing one can read."""

_WIDE = "。！？｡．।॥؟۔።"
"""Marks that end a sentence whether or not a space follows."""
_CLOSERS = "\"'”’»)\\]）］」』】》〉*_"
_MARK = re.compile(rf"(?P<mark>[.!?…{_WIDE}]+)[{_CLOSERS}]*")
_CODE = re.compile(r"`[^`]{1,200}`")
_OPENERS = re.compile(r"[\s\"'“‘«(\[（「『【《*_`]*")
_RUN_IN = re.compile(r"\s*\*\*\w+(?:\s\w+){0,2}[.:]\*\*")
_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")

_NEVER_LAST = word_set(
    "dr mr mrs ms mx prof rev hon gen col sgt lt capt gov sen rep messrs mme mlle st mt vs e.g i.e cf viz approx ca"
    " bzw z.b d.h u.a p.ex resp incl excl"
)
_BEFORE_A_NUMBER = word_set(
    "no nos nr fig figs vol p pp sec ch art eq ver v ext tel op para jan feb mar apr jun jul aug sep sept oct nov dec"
)
_SOMETIMES_LAST = word_set("inc ltd co corp llc bros jr sr al dept est ave blvd rd a.m p.m ph.d")
_STARTERS = word_set(
    "the a an this that these those it he she they we i you in on at by for from with without after before when while"
    " if as since because but and or so then there here however meanwhile also now today yesterday tomorrow what who"
    " how why where which our my his her their its no not all some many most each every another both"
)
_INITIALS = re.compile(r"(?:[A-Za-z]\.)*[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]")


def split_sentences(prose: str) -> list[str]:
    """Sentences of a run of prose in order, without the space around them; together they hold every character that is
    not space. A full stop after an abbreviation, inside a number, name or code, or before a small letter ends none."""
    sentences: list[str] = []
    spans = (match.span() for match in _CODE.finditer(prose))
    code = next(spans, None)
    start = 0
    for match in _MARK.finditer(prose):
        while code is not None and code[1] <= match.start():
            code = next(spans, None)
        inside_code = code is not None and code[0] < match.start()
        if not inside_code and _ends_sentence(prose, start, match):
            sentences.append(prose[start : match.end()].strip())
            start = match.end()
    sentences.append(prose[start:].strip())
    return [sentence for sentence in sentences if sentence]


def is_cjk(character: str) -> bool:
    """Whether a character is of a script that sets no space between words."""
    return bool(_CJK.match(character))


def ends_like_a_sentence(text: str) -> bool:
    """Whether a text closes with a mark that ends a sentence."""
    return text.rstrip(_CLOSERS.replace("\\", "")).endswith((*".!?…", *_WIDE))


def _ends_sentence(prose: str, start: int, match: re.Match[str]) -> bool:
    mark, end = match["mark"], match.end()
    if _RUN_IN.fullmatch(prose, start, end):
        return False  # "**Decision.** We keep events." is one thing said
    following = prose[end : end + 1]
    if not following:
        return True
    if any(character in _WIDE for character in mark):
        return not (mark == "．" and following.isdigit())
    if not following.isspace():
        return mark[-1] in "!?" and (is_cjk(following) or is_cjk(prose[match.start() - 1 : match.start()]))
    opening = _OPENERS.match(prose, end)
    begin = opening.end() if opening else end
    if prose[begin : begin + 1].islower() and prose[begin - 1] != "`":
        return False  # inside code a small letter says nothing
    return mark != "." or not _is_abbreviation(prose, start, match.start(), begin)


def _is_abbreviation(prose: str, start: int, stop: int, following: int) -> bool:
    """Whether the full stop at `stop` belongs to the word before it; `following` is where the next word begins."""
    written = _word_before(prose, start, stop)
    word = written.lower()
    if word.isdigit() and len(word) <= 3 and stop - len(word) == start + _spaces(prose, start):
        return True  # the number of a list
    if word in _NEVER_LAST:
        return True
    if word in _BEFORE_A_NUMBER and prose[following : following + 1].isdigit():
        return True
    if word in _SOMETIMES_LAST or (_INITIALS.fullmatch(written) and written != "I"):
        after = _WORD.match(prose, following)
        return after is not None and after[0].lower() not in _STARTERS
    return False


def _spaces(prose: str, start: int) -> int:
    return len(prose[start : start + 8]) - len(prose[start : start + 8].lstrip())


def _word_before(prose: str, start: int, stop: int) -> str:
    begin = stop
    while begin > start and stop - begin < 20 and (prose[begin - 1].isalnum() or prose[begin - 1] == "."):
        begin -= 1
    return prose[begin:stop]


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
