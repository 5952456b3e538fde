"""Directives: hard rules of a bank for its answers, for all of them or for those asked with certain tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from domain.scope import Scope, admits
from domain.value import Value

DIRECTIVES_AT_MOST = 1000
LOWEST_PRIORITY, HIGHEST_PRIORITY = -(2**31), 2**31 - 1


class Rule(Value):
    """What a directive says. One with a higher `priority` is told first; without `tags` it is for every answer."""

    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: tuple[str, ...] = ()


class Directive(Rule):
    """A rule of a bank. Names are no identities: several may have one."""

    directive_id: UUID


def applicable(directives: Sequence[Directive], scope: Scope, *, apply_all: bool = False) -> tuple[Directive, ...]:
    """The directives that an answer in a scope keeps to, by priority, then as they were given: active ones, untagged
    always, tagged ones only where the scope asks for tags and admits theirs; with `apply_all` whatever their tags.

    Source: spec of the system of reference, reflect: "Setup"."""
    chosen = (each for each in directives if each.is_active and (apply_all or _is_for(each, scope)))
    return tuple(sorted(chosen, key=lambda each: -each.priority))


def _is_for(directive: Directive, scope: Scope) -> bool:
    if not directive.tags:
        return True
    asks_for_tags = bool(scope.tags) or bool(scope.tag_groups) or scope.tags_match == "exact"
    return asks_for_tags and admits(scope.model_copy(update={"fact_types": None}), directive.tags, "world")


def by_told_name(directives: Sequence[Directive]) -> Mapping[str, Directive]:
    """Directives by name, in order. Of several with one name the first has it, others are told with a number."""
    told: dict[str, Directive] = {}
    taken = {each.name for each in directives}
    for each in directives:
        name, number = each.name, 1
        while name in told or (number > 1 and name in taken):
            number += 1
            name = f"{each.name} ({number})"
        told[name] = each
    return told
