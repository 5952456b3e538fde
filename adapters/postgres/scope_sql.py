"""A scope as an SQL condition: it selects exactly the rows that `domain.scope.admits` admits.

The columns it reads, `tags` (sorted, distinct, never null) and `fact_type`, are in `fact_versions` and `scope_clock`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, assert_never

from psycopg import sql

from domain.scope import Scope, TagAnd, TagGroup, TagLeaf, TagNot, TagOr, TagsMatch

_FLAT: dict[TagsMatch, sql.SQL] = {
    "any": sql.SQL("({tags} = '{{}}' OR {tags} && {wanted})"),
    "any_strict": sql.SQL("{tags} && {wanted}"),
    "all": sql.SQL("({tags} = '{{}}' OR {tags} @> {wanted})"),
    "all_strict": sql.SQL("({tags} <> '{{}}' AND {tags} @> {wanted})"),
    "exact": sql.SQL("{tags} = {wanted}"),
}
_AND, _OR = sql.SQL(" AND "), sql.SQL(" OR ")


def sorted_tags(tags: Iterable[str]) -> list[str]:
    """Tags as they are stored: sorted and distinct."""
    return sorted(set(tags))


@dataclass
class ScopeCondition:
    """The condition of a scope, to be written for one or more tables of a statement; they share `parameters`.
    Two scopes in one statement need a `name` each, with which their parameters begin."""

    scope: Scope
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str = "scope"

    def on(self, table: str) -> sql.Composable:
        """The condition on the rows of `table` (its alias in the statement)."""
        return _Writer(table, self.parameters, self.name).scope(self.scope)


class _Writer:
    def __init__(self, table: str, parameters: dict[str, Any], name: str) -> None:
        self._tags = sql.Identifier(table, "tags")
        self._fact_type = sql.Identifier(table, "fact_type")
        self._parameters = parameters
        self._name = name
        self._names = 0

    def scope(self, scope: Scope) -> sql.Composable:
        conditions: list[sql.Composable] = []
        if scope.fact_types is not None:
            conditions.append(sql.SQL("{} = ANY({})").format(self._fact_type, self._list(scope.fact_types)))
        if scope.tags or scope.tags_match == "exact":
            conditions.append(self._flat(scope.tags, scope.tags_match))
        conditions.extend(self._group(group) for group in scope.tag_groups or ())
        return _joined(_AND, conditions) if conditions else sql.SQL("TRUE")

    def _flat(self, wanted: Iterable[str], match: TagsMatch) -> sql.Composable:
        return _FLAT[match].format(tags=self._tags, wanted=self._list(sorted_tags(wanted)))

    def _group(self, group: TagGroup) -> sql.Composable:
        match group:
            case TagLeaf(tags=tags, match=match):
                group.require_exact()
                return self._flat(tags, match)
            case TagAnd(all_of=children):
                return _joined(_AND, map(self._group, children))
            case TagOr(any_of=children):
                return _joined(_OR, map(self._group, children))
            case TagNot(none_of=child):
                return sql.SQL("NOT ({})").format(self._group(child))
            case _:
                assert_never(group)

    def _list(self, values: Iterable[str]) -> sql.Composable:
        name = f"{self._name}_{self._names}"
        self._names += 1
        self._parameters[name] = list(values)
        return sql.SQL("{}::text[]").format(sql.Placeholder(name))


def _joined(word: sql.SQL, conditions: Iterable[sql.Composable]) -> sql.Composable:
    return sql.SQL("({})").format(word.join(conditions))
