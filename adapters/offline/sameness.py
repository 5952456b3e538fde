"""When two texts say the same in the same words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from domain.memory import Fact

_DECORATION = str.maketrans("", "", "*_`\"'“”‘’«»")


def bare(text: str) -> str:
    """What two near-identical texts have in common: case, space, emphasis, quotes and the full stop say nothing. All
    other signs stay, for "C" is not "C++" and "done?" not "done"."""
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_DECORATION)
    return " ".join(plain.split()).rstrip(".。")


def said_once(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without those that a newer one says in the same words, where the best of them stood. The same words
    about different times are different facts."""
    newest: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        key = (bare(fact.text), fact.occurred_start, fact.occurred_end)
        if key not in newest or fact.position > newest[key].position:
            newest[key] = fact
    return list(newest.values())
