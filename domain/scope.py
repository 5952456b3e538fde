"""Which memories a document (or a recall) may see: one pure matcher for retrieval, staleness and visibility.

Rules: spec of the system of reference, "Tags": the truth table of flat filters, the literal reading of an empty leaf in
tag groups, and the default of `all_strict` for tagged mental models.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, Self, assert_never

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from domain.refusals import InvalidInput
from domain.value import Value

TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]
FactType = Literal["world", "experience", "observation"]
FACT_TYPES: tuple[FactType, ...] = ("world", "experience", "observation")

STRICT: dict[TagsMatch, TagsMatch] = {
    "any": "any_strict",
    "all": "all_strict",
    "any_strict": "any_strict",
    "all_strict": "all_strict",
    "exact": "exact",
}

DEEPEST_GROUP = 32
"""Levels of tag groups inside each other. What is deeper than some 200 levels could be stored, but not read again."""


class _Group(Value):
    model_config = ConfigDict(populate_by_name=True)

    def children(self) -> tuple[TagGroup, ...]:
        return ()

    @model_validator(mode="after")
    def _is_shallow(self) -> Self:
        if _depth(self) > DEEPEST_GROUP:
            raise ValueError(f"tag groups may be nested {DEEPEST_GROUP} levels deep at most")
        return self


def _depth(group: _Group) -> int:
    return 1 + max(map(_depth, group.children()), default=0)


class TagLeaf(_Group):
    """Rows whose tags match `tags` by `match`; an empty list is taken literally, never as "no filter". A leaf that is
    to be resolved by likeness is none of a scope yet: `domain.fuzzy_tags` makes it one."""

    tags: tuple[str, ...]
    match: TagsMatch = "any_strict"
    resolve: Literal["exact", "fuzzy"] = "exact"

    def require_exact(self) -> None:
        """Raises InvalidInput where tags are not looked for by likeness."""
        if self.resolve != "exact":
            raise InvalidInput(
                "tag_groups", 'resolve "fuzzy" is for recall, reflect and entities; name the tags exactly here'
            )


class TagAnd(_Group):
    """Rows that every child admits."""

    all_of: tuple[TagGroup, ...] = Field(alias="and", min_length=1)

    def children(self) -> tuple[TagGroup, ...]:
        return self.all_of


class TagOr(_Group):
    """Rows that some child admits."""

    any_of: tuple[TagGroup, ...] = Field(alias="or", min_length=1)

    def children(self) -> tuple[TagGroup, ...]:
        return self.any_of


class TagNot(_Group):
    """Rows that the child does not admit, untagged ones included."""

    none_of: TagGroup = Field(alias="not")

    def children(self) -> tuple[TagGroup, ...]:
        return (self.none_of,)


_KEYS: dict[str, Collection[str]] = {
    "leaf": ("tags",),
    "and": ("and", "all_of"),
    "or": ("or", "any_of"),
    "not": ("not", "none_of"),
}


def _kind_of_group(value: object) -> str | None:
    names: Collection[str] = ()
    if isinstance(value, dict):
        names = value.keys()
    elif isinstance(value, BaseModel):
        names = type(value).model_fields
    return next((kind for kind, keys in _KEYS.items() if any(key in names for key in keys)), None)


TagGroup = Annotated[
    Annotated[TagLeaf, Tag("leaf")]
    | Annotated[TagAnd, Tag("and")]
    | Annotated[TagOr, Tag("or")]
    | Annotated[TagNot, Tag("not")],
    Discriminator(
        _kind_of_group,
        custom_error_type="tag_group",
        custom_error_message='a tag group is {"tags": [...]}, {"and": [...]}, {"or": [...]} or {"not": {...}}',
    ),
]
TagAnd.model_rebuild()
TagOr.model_rebuild()
TagNot.model_rebuild()


class Scope(Value):
    """What is readable. Empty `tags` are no filter in any mode but `exact`, where they ask for untagged memories;
    `tag_groups` are all required; `fact_types` None is all types."""

    tags: tuple[str, ...] = ()
    tags_match: TagsMatch = "any"
    tag_groups: tuple[TagGroup, ...] | None = None
    fact_types: tuple[FactType, ...] | None = None


EVERYTHING = Scope()


def admits(scope: Scope, memory_tags: Collection[str], fact_type: str) -> bool:
    """Whether a memory with these tags and this type is inside the scope."""
    if scope.fact_types is not None and fact_type not in scope.fact_types:
        return False
    have = frozenset(memory_tags)
    if (scope.tags or scope.tags_match == "exact") and not _flat(frozenset(scope.tags), scope.tags_match, have):
        return False
    return all(_group(group, have) for group in scope.tag_groups or ())


def _flat(wanted: frozenset[str], match: TagsMatch, have: frozenset[str]) -> bool:
    match match:
        case "any":
            return not have or bool(wanted & have)
        case "any_strict":
            return bool(wanted & have)
        case "all":
            return not have or wanted <= have
        case "all_strict":
            return bool(have) and wanted <= have
        case "exact":
            return wanted == have
        case _:
            assert_never(match)


def _group(group: TagGroup, have: frozenset[str]) -> bool:
    match group:
        case TagLeaf(tags=tags, match=match):
            group.require_exact()
            return _flat(frozenset(tags), match, have)
        case TagAnd(all_of=children):
            return all(_group(child, have) for child in children)
        case TagOr(any_of=children):
            return any(_group(child, have) for child in children)
        case TagNot(none_of=child):
            return not _group(child, have)
        case _:
            assert_never(group)


def refresh_scope(
    tags: tuple[str, ...],
    tags_match: TagsMatch | None,
    tag_groups: tuple[TagGroup, ...] | None,
    fact_types: tuple[FactType, ...] | None,
) -> Scope:
    """What a mental model reads: groups replace tags; a tagged model without a mode reads `all_strict`."""
    if tag_groups is not None:
        return Scope(tag_groups=tag_groups, fact_types=fact_types)
    if tags_match is not None:
        return Scope(tags=tags, tags_match=tags_match, fact_types=fact_types)
    return Scope(tags=tags, tags_match="all_strict" if tags else "any", fact_types=fact_types)


def staleness_scope(scope: Scope) -> Scope:
    """Where a write makes a document stale: as the scope reads, but an untagged write never counts for a tagged one."""
    groups = scope.tag_groups if scope.tag_groups is None else tuple(_strict(group) for group in scope.tag_groups)
    match = STRICT[scope.tags_match] if scope.tags else scope.tags_match
    return scope.model_copy(update={"tags_match": match, "tag_groups": groups})


def _strict(group: TagGroup) -> TagGroup:
    match group:
        case TagLeaf(tags=tags, match=match):
            return TagLeaf(tags=tags, match=STRICT[match])
        case TagAnd(all_of=children):
            return TagAnd(all_of=tuple(_strict(child) for child in children))
        case TagOr(any_of=children):
            return TagOr(any_of=tuple(_strict(child) for child in children))
        case TagNot(none_of=child):
            return TagNot(none_of=_strict(child))
        case _:
            assert_never(group)


def same(one: Scope, other: Scope) -> bool:
    """Whether two scopes are the same: the order of tags and types, and naming all types, mean nothing."""
    return _canonical(one) == _canonical(other)


def _canonical(scope: Scope) -> Scope:
    types = set(FACT_TYPES if scope.fact_types is None else scope.fact_types)
    return scope.model_copy(
        update={
            "tags": tuple(sorted(set(scope.tags))),
            "fact_types": None if types == set(FACT_TYPES) else tuple(sorted(types)),
        }
    )
