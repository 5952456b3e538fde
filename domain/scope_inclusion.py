"""Whether all that one scope admits is admitted by another: may one who is held to the outer be told what was made
from the inner?

A search for tags of a memory that the inner scope admits and the outer does not. The tags that neither names are alike,
so that one stands for all of them. Some tags are set to be there or not, the others are open: bounds of both scopes
then tell most branches apart early. When it takes too long the answer is no.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, assert_never

from domain.scope import FACT_TYPES, Scope, TagAnd, TagGroup, TagLeaf, TagNot, TagOr, TagsMatch

MOST_STEPS = 600
"""Of the search. Filters as people write them take some two for each tag."""
_UNNAMED = "\0"
"""Stands for a tag that neither scope names; no tag has this name."""


class _Bounds(NamedTuple):
    """Of a condition, whichever of the open tags are there: whether it holds in any case, and whether it may hold."""

    must: bool
    may: bool


class _Tags(NamedTuple):
    """The tags of a memory: `there` in any case, and those that `may` be, them included."""

    there: frozenset[str]
    may: frozenset[str]


@lru_cache(maxsize=4096)
def within(inner: Scope, outer: Scope) -> bool:
    """True only if the outer scope admits every memory that the inner one admits. False when it does not, and when
    that cannot be told in reasonable time."""
    types = FACT_TYPES if inner.fact_types is None else inner.fact_types
    if outer.fact_types is not None and not set(types) <= set(outer.fact_types):
        return False
    named = {*_named_by(outer), *_named_by(inner), _UNNAMED}
    branches = [_Tags(frozenset(), frozenset(named))]
    for _ in range(MOST_STEPS):
        if not branches:
            return True
        tags = branches.pop()
        read, seen = _scope(inner, tags), _scope(outer, tags)
        if not read.may or seen.must:
            continue
        if read.must and not seen.may:
            return False
        tag = max(tags.may - tags.there)  # the unnamed one last: it seldom matters
        branches += [_Tags(tags.there | {tag}, tags.may), _Tags(tags.there, tags.may - {tag})]
    return False


def _named_by(scope: Scope) -> Iterator[str]:
    yield from scope.tags
    waiting = list(scope.tag_groups or ())
    while waiting:
        match waiting.pop():
            case TagLeaf(tags=tags):
                yield from tags
            case TagAnd() | TagOr() | TagNot() as group:
                waiting += group.children()


def _scope(scope: Scope, tags: _Tags) -> _Bounds:
    flat = scope.tags or scope.tags_match == "exact"
    own = [_leaf(frozenset(scope.tags), scope.tags_match, tags)] if flat else []
    return _all([*own, *(_group(group, tags) for group in scope.tag_groups or ())])


def _group(group: TagGroup, tags: _Tags) -> _Bounds:
    match group:
        case TagLeaf(tags=wanted, match=match):
            group.require_exact()
            return _leaf(frozenset(wanted), match, tags)
        case TagAnd(all_of=children):
            return _all(_group(child, tags) for child in children)
        case TagOr(any_of=children):
            return _any(_group(child, tags) for child in children)
        case TagNot(none_of=child):
            inside = _group(child, tags)
            return _Bounds(not inside.may, not inside.must)
        case _:
            assert_never(group)


def _leaf(wanted: frozenset[str], match: TagsMatch, tags: _Tags) -> _Bounds:
    untagged = _Bounds(not tags.may, not tags.there)
    overlaps = _Bounds(bool(wanted & tags.there), bool(wanted & tags.may))
    has_all = _Bounds(wanted <= tags.there, wanted <= tags.may)
    match match:
        case "any":
            return _any((untagged, overlaps))
        case "any_strict":
            return overlaps
        case "all":
            return _any((untagged, has_all))
        case "all_strict":
            return _all((has_all, _Bounds(bool(tags.there), bool(tags.may))))
        case "exact":
            return _all((has_all, _Bounds(tags.may <= wanted, tags.there <= wanted)))
        case _:
            assert_never(match)


def _all(bounds: Iterable[_Bounds]) -> _Bounds:
    each = list(bounds)
    return _Bounds(all(one.must for one in each), all(one.may for one in each))


def _any(bounds: Iterable[_Bounds]) -> _Bounds:
    each = list(bounds)
    return _Bounds(any(one.must for one in each), any(one.may for one in each))
