"""Names of entities: how they are written, and when two are the same.

A name keeps the spelling it is first written in. Another spelling is taken for it only when it cannot well be anything
else: a person whose name differs by a letter may be another person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

LONGEST = 256
LEAST_NEARNESS = 0.5
"""Share of trigrams in common from which on names are compared at all."""
_FEWEST_LETTERS = 7
"""A word of fewer letters that differs in one is another word."""
_WORDS = re.compile(r"\w+")


def cleaned(names: Iterable[str]) -> tuple[str, ...]:
    """The names with runs of blanks as one, without those that show nothing; of those that are the same but for case
    the first."""
    spelled: dict[str, str] = {}
    for name in names:
        line = " ".join(name.split())[:LONGEST].rstrip()
        if any(char.isprintable() and not char.isspace() for char in line):
            spelled.setdefault(folded(line), line)
    return tuple(spelled.values())


def folded(name: str) -> str:
    """The name as it is compared: without case."""
    return name.lower()


def meant(name: str, known: Sequence[str]) -> str | None:
    """The known name that is meant by a spelling: the same but for case, else the only one that is spelled nearly so.
    None when there is none, or more than one."""
    same = next((each for each in known if folded(each) == folded(name)), None)
    if same is not None:
        return same
    near = [each for each in known if is_near(name, each)]
    return near[0] if len(near) == 1 else None


def is_near(name: str, other: str) -> bool:
    """Whether two names differ in no more than marks, accents and blanks, or by one slip inside one long word. Numbers
    are never near each other, nor is a label (`key:value`) near anything."""
    if ":" in name or ":" in other:
        return False
    one, two = _words(name), _words(other)
    if not one or not two:
        return False
    if "".join(one) == "".join(two):
        return True
    if len(one) != len(two):
        return False
    differing = [(a, b) for a, b in zip(one, two, strict=True) if a != b]
    return len(differing) == 1 and _is_slip(*differing[0])


def _words(name: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", folded(name))
    return _WORDS.findall("".join(char for char in plain if not unicodedata.combining(char)))


def _is_slip(one: str, two: str) -> bool:
    """One letter too many, too few or wrong, or two swapped, between the first and the last letter of a long word."""
    if min(len(one), len(two)) < _FEWEST_LETTERS or not (one.isalpha() and two.isalpha()):
        return False
    if one[0] != two[0] or one[-1] != two[-1]:
        return False
    start = next(place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    a, b = one[start:], two[start:]
    swapped = a[:2] == b[:2][::-1] and a[2:] == b[2:]
    return swapped or a[1:] == b[1:] or a[1:] == b or a == b[1:]
