"""What a text claims, in a form that can be compared: its words in order, and what it says of a thing that can only be
one way at a time."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

from adapters.offline.consolidation_words import (
    ATTRIBUTES,
    AUXILIARIES,
    CLAUSE_SIGNS,
    CONNECTORS,
    CONTRACTED,
    COPULAS,
    COUNTED,
    HEDGES,
    LIGHT,
    NEGATIONS,
    NUMBER_WORDS,
    PHRASES,
    PRONOUNS,
    STATES,
)
from adapters.offline.sentences import is_cjk
from domain.terms import MONTHS, terms

FEWEST_SAID = 4
"""Words of a statement at least that a longer one can say as well."""
_LONGEST_SUBJECT = 8
_LONGEST_VALUE = 8
_LONGEST_LABELLED = 5
"""Words behind the colon of a label; what is longer is a text under a heading, or several labels."""
_NUMBER_WITHIN = 5
"""Words behind its verb in which a number counts something."""

Words = tuple[str, ...]

_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*(?!\w)|\w+(?:['@./&-]\w+)*[+#]*|[^\w\s]")
_EMPHASIS = re.compile(r"(?<![\w*])\*{1,3}(?=\w)|(?<=[\w.,;:!?])\*{1,3}(?![\w*])")
_QUOTES = frozenset("`\"'“”‘«»")
_SILENT = _QUOTES | {"!"}
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTHS = frozenset(MONTHS) | {month[:3] for month in MONTHS}


@dataclass(frozen=True, slots=True)
class Facet:
    """What a claim is about (`key`), and how that is (`value`): two claims of one key and other values exclude each
    other. `lasting` tells that it is a state and no event."""

    key: tuple[object, ...]
    value: Words
    language: str
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class Claim:
    """`words` as they are compared; `ends` are the numbers of words after which a complete statement may end."""

    words: Words
    ends: tuple[int, ...]
    facets: tuple[Facet, ...]

    @property
    def lasts(self) -> bool:
        return any(facet.lasting for facet in self.facets)

    def parts(self) -> Iterator[Words]:
        """Shorter statements that this one makes too."""
        return (self.words[:end] for end in self.ends)

    def contains(self, other: Claim) -> bool:
        """Whether it says all that the other says, in the same words."""
        return self.words == other.words or (
            len(other.words) in self.ends and self.words[: len(other.words)] == other.words
        )

    def excluded_by(self, other: Claim) -> Facet | None:
        """The facet of the other in which both cannot hold at one time."""
        mine = {facet.key: facet.value for facet in self.facets}
        return next((each for each in other.facets if mine.get(each.key, each.value) != each.value), None)


@lru_cache(maxsize=4096)
def claim_of(text: str) -> Claim:
    tokens = list(_tokens(text))
    words = tuple(token.word for token in tokens)
    ends = tuple(_ends(tokens))
    return Claim(words, ends, tuple(_facets(tokens, words)))


# --- words ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Token:
    """A word as it is compared, and as it is written but for case; whether it is written as names are; whether a clause
    ends before it."""

    word: str
    written: str
    named: bool
    after_sign: bool
    is_light: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it has a capital; in scripts that have some, `named` says no more."""
        return self.named and self.word[0].isalpha() and self.word != self.word.upper()


def _tokens(text: str) -> Iterator[_Token]:
    """Words in order, without those that say nothing, unless that leaves none."""
    tokens = list(_all_tokens(text))
    return iter([token for token in tokens if not token.is_light] or tokens)


def _all_tokens(text: str) -> Iterator[_Token]:
    plain = _EMPHASIS.sub("", unicodedata.normalize("NFKC", text)).replace("’", "'")
    written = [piece for match in _TOKEN.finditer(plain) for piece in _pieces(match[0])]
    while written and written[-1] in ".。":
        written.pop()
    after_sign = after_quote = False
    for piece in written:
        if piece in CLAUSE_SIGNS:
            after_sign = True
        elif piece not in _SILENT:
            is_light = not after_quote and piece.casefold() in LIGHT
            for word in _compared(piece.casefold()):
                yield _Token(word, piece.casefold(), not piece[0].islower(), after_sign, is_light)
                after_sign = after_sign and is_light
        after_quote = piece in _QUOTES


def _pieces(token: str) -> Iterable[str]:
    """Scripts without space between words give their characters one by one, numbers stay whole."""
    if token.isascii() or not any(map(is_cjk, token)):
        return (token,)
    return re.findall(r"\d+|[a-zA-Z]+|.", token)


def _compared(word: str) -> tuple[str, ...]:
    if word in CONTRACTED:
        return CONTRACTED[word]
    if word.endswith("n't"):
        return (_singular(word[:-3]), "not")
    return (_singular(word),)


@lru_cache(maxsize=16_384)
def _singular(word: str) -> str:
    if len(word) < 4 or not word.isascii() or not word.endswith("s"):
        return word
    return next(iter(terms(word)), word)


def _phrase(text: str) -> Words:
    return tuple(token.word for token in _tokens(text))


def _ends(tokens: Sequence[_Token]) -> Iterator[int]:
    """After how many words a complete statement may end, if nothing behind takes it back."""
    doubtful = len(tokens)
    for number in reversed(range(len(tokens))):
        if tokens[number].word in HEDGES or tokens[number].word in NEGATIONS:
            doubtful = number
            break
    else:
        doubtful = -1
    said = 0.0
    for number, token in enumerate(tokens):
        if number > doubtful and said >= FEWEST_SAID and (token.after_sign or token.word in CONNECTORS):
            yield number
        # Who speaks says nothing yet; a word of a script without spaces is about two characters.
        said = 0.0 if token.word == ":" else said + _length(token.word)


def _length(word: str) -> float:
    return (0.5 if is_cjk(word[0]) else 1) if word[0].isalnum() else 0


# --- facets -----------------------------------------------------------------------------------------------------------


def _by_first_word(phrases: Iterable[tuple[tuple[str, ...], str]]) -> dict[str, list[tuple[Words, tuple[str, ...]]]]:
    """Phrases by the word they begin with, longest first."""
    found: dict[str, list[tuple[Words, tuple[str, ...]]]] = defaultdict(list)
    for about, phrase in phrases:
        words = _phrase(phrase)
        found[words[0]].append((words, about))
    return {first: sorted(each, key=lambda it: -len(it[0])) for first, each in found.items()}


_PREDICATES = _by_first_word(((attribute, language), phrase) for attribute, language, phrase in PHRASES)
_IS = _by_first_word(((language,), phrase) for language, phrase in COPULAS)
_ATTRIBUTES_ALONE = frozenset(map(_phrase, ATTRIBUTES))
_FAVOURITE = frozenset(("favourite", "favorite"))
_STATE_GROUPS = {"".join(_phrase(state)): number for number, group in enumerate(STATES) for state in group}


def _facets(tokens: Sequence[_Token], words: Words) -> list[Facet]:
    """None for a statement about "it" or "her", which may be anything."""
    return [*_lasting(tokens, words), _polarity(words)] if words and words[0] not in PRONOUNS else []


def _lasting(tokens: Sequence[_Token], words: Words) -> list[Facet]:
    """What a statement says of a lasting thing: one facet at most."""
    for start in range(1, min(len(words), _LONGEST_SUBJECT + 1)):
        if words[start - 1] in HEDGES or words[start - 1] in NEGATIONS:
            return []
        found = next(chain(_attribute(tokens, words, start), _predicate(tokens, words, start)), None)
        if found or (found := _number(tokens, words, start)):
            return [found]
    return []


def _matching(
    known: dict[str, list[tuple[Words, tuple[str, ...]]]], words: Words, at: int
) -> Iterator[tuple[int, tuple[str, ...]]]:
    for phrase, about in known.get(words[at], ()):
        if words[at : at + len(phrase)] == phrase:
            yield at + len(phrase), about


def _attribute(tokens: Sequence[_Token], words: Words, at: int) -> Iterator[Facet]:
    """`the deadline of X is Y`, `X is closed`; not `the deadline is Y`, for there are many."""
    subject = words[:at]
    for end, (language,) in _matching(_IS, words, at):
        value = _value(tokens, end)
        if not value or value[0] in NEGATIONS:
            continue
        is_text = words[at] == ":" and (len(words) > at + _LONGEST_LABELLED or ":" in words[end:])
        if at > 1 and not is_text and _names_an_attribute(tokens[:at]):
            yield Facet(("attribute", subject), value, language)
        elif (at > 1 or tokens[0].named) and (group := _STATE_GROUPS.get("".join(value))) is not None:
            yield Facet(("state", subject, group), value, language)


def _names_an_attribute(subject: Sequence[_Token]) -> bool:
    """Whether the last noun, or the one before "of" and "for", is something a thing has one of."""
    written = [token.written for token in subject]
    if is_cjk(written[0][0]) or is_cjk(written[-1][0]):
        return "".join(written).endswith(tuple(ATTRIBUTES))
    heads = [written[-1], *(word for word, after in pairwise(written) if after in ("of", "for"))]
    return any(head in ATTRIBUTES for head in heads) or not _FAVOURITE.isdisjoint(written)


def _predicate(tokens: Sequence[_Token], words: Words, at: int) -> Iterator[Facet]:
    """`X lives in Y`: X and Y are named."""
    subject = words[:at]
    if not any(token.named for token in tokens[:at]):
        return
    for end, (attribute, language) in _matching(_PREDICATES, words, at):
        value = _value(tokens, end)
        if value and tokens[end].named and not HEDGES.intersection(words[end:]):
            yield Facet((attribute, subject), value, language)


def _value(tokens: Sequence[_Token], start: int) -> Words:
    """The words up to where a complete statement may end; none when there are too many."""
    value: list[str] = []
    for token in tokens[start:]:
        if value and (token.after_sign or token.word in CONNECTORS):
            break
        value.append(token.word)
    return tuple(value) if len(value) <= _LONGEST_VALUE or is_cjk("".join(value)[0]) else ()


def _number(tokens: Sequence[_Token], words: Words, at: int) -> Facet | None:
    """`X has 5 Y`: one number, soon behind a verb of states, that is no date and no part of a name."""
    if words[at] not in COUNTED or words[:at] in _ATTRIBUTES_ALONE or _MONTHS.intersection(words[at:]):
        return None
    counted = [NUMBER_WORDS.get(word, word) for word in words[at + 1 :]]
    numbers = [number for number, word in enumerate(counted) if any(map(str.isdigit, word))]
    if len(numbers) != 1 or numbers[0] >= _NUMBER_WITHIN:
        return None
    value, before = counted[numbers[0]], tokens[at + numbers[0]]
    if not _NUMBER.fullmatch(value) or _YEAR.fullmatch(value) or before.is_name:
        return None
    counted[numbers[0]] = "#"
    return Facet(("number", words[: at + 1], tuple(counted)), (value,), "zh" if is_cjk(words[at][0]) else "en")


def _polarity(words: Words) -> Facet:
    """Whether it is said or denied."""
    denied = any(word in NEGATIONS for word in words)
    about = tuple(word for word in words if word not in NEGATIONS and word not in AUXILIARIES)
    language = "zh" if any(map(is_cjk, "".join(words[:1]))) else "en"
    return Facet(("denied", about), ("no",) if denied else ("yes",), language, lasting=False)
