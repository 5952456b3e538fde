"""Ids at birth: readable for sections, derived from content for blocks and items, never the same twice."""

import hashlib
import unicodedata
from collections.abc import Iterable
from typing import Final, Self

LONGEST_SLUG: Final = 64
PREAMBLE_SLUG: Final = "preamble"
BLOCK_PREFIX: Final = "b"
ITEM_PREFIX: Final = "i"
_NAMELESS_SLUG: Final = "section"
_TITLE_CHARACTERS_READ: Final = 4 * LONGEST_SLUG
_VARIATION_SELECTORS: Final = range(0xFE00, 0xFE10)


def slug(title: str) -> str:
    """The id a section with this title would like: lower-cased words joined by `-`, at most 64 characters.

    A word is a run of letters, digits and the marks that follow them in any script, so an ASCII title gives the same
    slug as in the system of reference, and a title in another script a readable one. Without any word: `section`.
    """
    lowered = unicodedata.normalize("NFKC", title[:_TITLE_CHARACTERS_READ]).lower()
    words = "".join(_spaced(lowered)).split()
    joined = "-".join(words)
    if len(joined) > LONGEST_SLUG:
        whole_words = joined[: LONGEST_SLUG + 1].rpartition("-")[0]
        joined = whole_words or joined[:LONGEST_SLUG]
    return joined or _NAMELESS_SLUG


def _spaced(text: str) -> Iterable[str]:
    """The characters of words, and a space for each other one."""
    in_word = False
    for character in text:
        in_word = character.isalnum() or (in_word and _is_mark(character))
        yield character if in_word else " "


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc") and ord(character) not in _VARIATION_SELECTORS


def fingerprint(prefix: str, source: str) -> str:
    """The id content would like: `prefix` and the first 8 hexadecimal digits of the SHA-1 of its UTF-8 bytes."""
    digest = hashlib.sha1(source.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return prefix + digest[:8]


class Ids:
    """The ids of one document: each is given out once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)
        self._next_suffix: dict[str, int] = {}

    def copy(self) -> Self:
        """The same ids given out; what either gives from now on, the other may give too."""
        copied = type(self)(self._taken)
        copied._next_suffix.update(self._next_suffix)
        return copied

    def give(self, wanted: str) -> str:
        """`wanted`, or where that is taken the first of `wanted-2`, `wanted-3`, ... that is free."""
        candidate = wanted
        suffix = self._next_suffix.get(wanted, 2)
        while candidate in self._taken:
            candidate = f"{wanted}-{suffix}"
            suffix += 1
        self._next_suffix[wanted] = suffix
        self._taken.add(candidate)
        return candidate
