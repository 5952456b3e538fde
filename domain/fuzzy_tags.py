"""Tags that are not quite known: each is resolved to the tags of the memory that are like it, when a request asks.

Rules: spec of the system of reference, "Fuzzy leaves": trigrams, as PostgreSQL's pg_trgm counts them, at least 0.45
alike; what stands before a colon is a namespace, in which alone a tag that names it is looked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from math import prod
from typing import assert_never

from domain.refusals import InvalidInput
from domain.scope import Scope, TagAnd, TagGroup, TagLeaf, TagNot, TagOr

LEAST_ALIKE = 0.45
MOST_KNOWN_TAGS = 5_000
MOST_COMBINATIONS = 1_000

_WORD = re.compile(r"[^\W_]+")


def is_fuzzy(scope: Scope) -> bool:
    return any(_is_fuzzy(group) for group in scope.tag_groups or ())


def resolved(scope: Scope, known: Sequence[str]) -> Scope:
    """The scope with exact leaves alone; `known` are the tags of the memory. A tag that none is like admits nothing
    that is tagged. Raises InvalidInput for more than MOST_KNOWN_TAGS tags, or MOST_COMBINATIONS sets of them."""
    if len(known) > MOST_KNOWN_TAGS:
        raise InvalidInput(
            "tag_groups", f"a bank with more than {MOST_KNOWN_TAGS} tags is not searched for similar ones; name them"
        )
    return scope.model_copy(update={"tag_groups": tuple(_resolved(group, known) for group in scope.tag_groups or ())})


def alike(asked: str, tag: str) -> float:
    """How alike two tags are, from 0 to 1."""
    namespace, name = _parts(asked)
    of_tag, other = _parts(tag)
    if asked == tag:
        return 1.0
    if namespace and namespace != of_tag:
        return 0.0
    one, two = _trigrams(name), _trigrams(other)
    together = len(one | two)
    return len(one & two) / together if together else 0.0


def _is_fuzzy(group: TagGroup) -> bool:
    match group:
        case TagLeaf(resolve=resolve):
            return resolve == "fuzzy"
        case TagNot(none_of=child):
            return _is_fuzzy(child)
        case _:
            return any(_is_fuzzy(child) for child in group.children())


def _resolved(group: TagGroup, known: Sequence[str]) -> TagGroup:
    match group:
        case TagLeaf():
            return _exact(group, known) if group.resolve == "fuzzy" else group
        case TagAnd(all_of=children):
            return TagAnd(all_of=tuple(_resolved(child, known) for child in children))
        case TagOr(any_of=children):
            return TagOr(any_of=tuple(_resolved(child, known) for child in children))
        case TagNot(none_of=child):
            return TagNot(none_of=_resolved(child, known))
        case _:
            assert_never(group)


def _exact(leaf: TagLeaf, known: Sequence[str]) -> TagGroup:
    found = [tuple(tag for tag in known if alike(asked, tag) >= LEAST_ALIKE) for asked in leaf.tags]
    if not found:
        return TagLeaf(tags=(), match=leaf.match)
    match leaf.match:
        case "any" | "any_strict":
            return TagLeaf(tags=tuple(dict.fromkeys(tag for each in found for tag in each)), match=leaf.match)
        case "all":
            return TagAnd(all_of=tuple(TagLeaf(tags=each, match="any") for each in found))
        case "all_strict":
            return TagAnd(all_of=tuple(TagLeaf(tags=each, match="any_strict") for each in found))
        case "exact":
            return _one_of(found)
        case _:
            assert_never(leaf.match)


def _one_of(found: Sequence[tuple[str, ...]]) -> TagGroup:
    count = prod(map(len, found))
    if count > MOST_COMBINATIONS:
        raise InvalidInput("tag_groups", f"the tags are like {count} sets of tags, more than {MOST_COMBINATIONS}")
    if not count:
        return TagLeaf(tags=(), match="any_strict")
    sets = dict.fromkeys(tuple(sorted(set(each))) for each in product(*found))
    return TagOr(any_of=tuple(TagLeaf(tags=each, match="exact") for each in sets))


def _parts(tag: str) -> tuple[str, str]:
    """The namespace, empty when there is none, and the name in it."""
    namespace, colon, name = tag.casefold().partition(":")
    return (namespace, name) if colon else ("", namespace)


@lru_cache(maxsize=MOST_KNOWN_TAGS)
def _trigrams(name: str) -> frozenset[str]:
    padded = [f"  {word} " for word in _WORD.findall(name)]
    return frozenset(each[at : at + 3] for each in padded for at in range(len(each) - 2))
