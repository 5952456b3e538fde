"""For which sets of tags observations are made of a fact (the system of reference, "Scope resolution")."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import chain, combinations

from domain.memory import ObservationScopes

Tags = tuple[str, ...]
"""A set of tags: sorted, each once. Empty: what is untagged."""

MOST_COMBINED_TAGS = 6
"""A fact with more tags has no scope for every combination: their number doubles with each tag, and each scope is asked
about by itself. It has those of each tag alone, and of all together."""


def resolved_scopes(
    tags: Collection[str], own: ObservationScopes | None, of_bank: ObservationScopes | None = None
) -> frozenset[Tags]:
    """The scopes of a fact with these tags: as it says itself, else as its bank, else its tags together. Never none.

    Of scopes that are named one by one, a `*` stands for any text in tags that the fact has; a tag without one is taken
    as it is. A scope of which nothing is left is none; without any, the tags together are the scope. A scope named as
    empty is that of what is untagged."""
    combined = _tags(tags)
    wanted = own if own is not None else of_bank
    match wanted:
        case None | "combined":
            return frozenset({combined})
        case "shared":
            return frozenset({()})
        case "per_tag":
            return frozenset((tag,) for tag in combined) or frozenset({()})
        case "all_combinations":
            return _combinations(combined)
        case _:
            found = {_found(scope, combined) for scope in wanted} - {None}
            return frozenset(scope for scope in found if scope is not None) or frozenset({combined})


def is_asked_for(tags: Collection[str], scopes: Sequence[Collection[str]] | None) -> bool:
    """Whether a consolidation of these scopes is for a fact with these tags: it has all tags of one of them."""
    return scopes is None or any(set(scope) <= set(tags) for scope in scopes)


def _tags(tags: Iterable[str]) -> Tags:
    return tuple(sorted(set(tags)))


def _combinations(tags: Tags) -> frozenset[Tags]:
    if not tags:
        return frozenset({()})
    if len(tags) > MOST_COMBINED_TAGS:
        return frozenset({tags, *((tag,) for tag in tags)})
    return frozenset(chain.from_iterable(combinations(tags, size) for size in range(1, len(tags) + 1)))


def _found(scope: Tags, tags: Tags) -> Tags | None:
    """The scope for a fact; None when nothing of it is left."""
    if not scope:
        return ()
    named = {tag for tag in scope if "*" not in tag}
    globs = [_glob(tag) for tag in scope if "*" in tag]
    found = named | {tag for tag in tags if any(fnmatchcase(tag, glob) for glob in globs)}
    return _tags(found) if found else None


def _glob(pattern: str) -> str:
    """As `fnmatch` reads it, to which other signs mean something too. It never tries all ways to match."""
    return re.sub(r"[?\[]", r"[\g<0>]", pattern)
