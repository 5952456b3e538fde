"""When two observations say the same, so that one of them is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

NEAR_DUPLICATE = 0.97
"""Cosine similarity from which two observations of a scope are taken for one (the system of reference)."""

_WORD = re.compile(r"[^\W_]+(?:[.,:/'’-][^\W_]+)*")
_NEGATIONS = frozenset({"no", "not", "never", "none", "nobody", "nothing", "without", "cannot", "neither", "nor"})


@lru_cache(maxsize=2_000)
def bare(text: str) -> str:
    """The words alone, in lower case. Kept: each new text is compared with all that are shown beside it."""
    return " ".join(_WORD.findall(text)).casefold()


def says_the_same(one: str, other: str) -> bool:
    """Whether texts that are near in meaning may be taken for one. Vectors hardly tell numbers, names and negations
    apart, in which all of the difference may lie: texts that differ in one of these are kept apart."""
    words, others = _words(one), _words(other)
    return not any(_tells_apart(words.get(key) or others[key]) for key in words.keys() ^ others.keys())


def about_the_same(names: Iterable[str], others: Iterable[str]) -> bool:
    """Whether texts may be about the same: names that have nothing in common tell two things apart, even if the same is
    said of them. Where none are known nothing does."""
    one, other = ({name.casefold() for name in each} for each in (names, others))
    return not one or not other or not one.isdisjoint(other)


def joined(one: str, other: str) -> str:
    """Both texts; one alone when it has the other in it."""
    if other in one:
        return one
    return other if one in other else f"{one}\n{other}"


def _words(text: str) -> dict[str, str]:
    return {word.casefold(): word for word in _WORD.findall(text)}


def _tells_apart(word: str) -> bool:
    folded = word.casefold()
    if any(character.isdigit() for character in word) or folded in _NEGATIONS or folded.endswith(("n't", "n’t")):
        return True
    return word != folded
