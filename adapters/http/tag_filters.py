"""Scopes that a query string asks for: tags with a mode, and groups of tags as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query
from pydantic import TypeAdapter, ValidationError

from adapters.http import errors
from adapters.http.backend import Backend
from adapters.postgres import memory_statistics
from domain import fuzzy_tags
from domain.scope import FactType, Scope, TagGroup, TagsMatch

TagGroupsText = Annotated[str | None, Query(description="Groups of tags, as a JSON list; all of them must match.")]

_GROUPS = TypeAdapter(tuple[TagGroup, ...])


def scope_of(
    tags: Sequence[str] | None,
    tags_match: TagsMatch,
    tag_groups: str | None = None,
    fact_types: Sequence[FactType] | None = None,
    *,
    both: bool = False,
) -> Scope:
    """Raises a 422 that says what is wrong with the groups, or unless `both` may be given that there are tags as well.
    An empty list of groups is no filter."""
    if tags and tag_groups and not both:
        raise errors.unprocessable(
            ("query", "tag_groups"), "tags and tag_groups exclude each other: put the tags in a group"
        )
    groups: tuple[TagGroup, ...] | None = None
    if tag_groups:
        try:
            groups = _GROUPS.validate_json(tag_groups) or None
        except ValidationError as error:
            first = error.errors()[0]
            raise errors.unprocessable(("query", "tag_groups", *first["loc"]), first["msg"], first["type"]) from error
    return Scope(
        tags=tuple(tags or ()),
        tags_match=tags_match,
        tag_groups=groups,
        fact_types=tuple(fact_types) if fact_types else None,
    )


async def exact(backend: Backend, bank_id: str, scope: Scope) -> Scope:
    """The scope with the tags that are asked for by likeness looked up among those of the memory. Raises InvalidInput
    when there are too many of them."""
    if not fuzzy_tags.is_fuzzy(scope):
        return scope
    page = memory_statistics.tags_page(bank_id, None, fuzzy_tags.MOST_KNOWN_TAGS + 1, 0)
    counted, _ = await backend.ask(page)
    own = backend.principal.tags  # the others' are not even likened to: what is found is told
    return fuzzy_tags.resolved(scope, [tag for tag, _ in counted if own is None or tag in own])
