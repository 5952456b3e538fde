"""What an extractor says about the labels of a fact, held to the labels that its bank knows.

A label is kept as one name, `key:value`; a field of a map as `key:field:value` (the system of reference, entity
labels). What the bank does not allow is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from domain.bank_labels import LabelField, LabelGroup
from domain.entities import LONGEST

NOTHING = frozenset({"", "n/a", "none", "null", "not applicable", "unknown", "-"})
"""Values (casefolded) by which it is said that there is none."""


class Labels(NamedTuple):
    """The labels of one fact as names, and those of them that are its tags too."""

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def labels_of(groups: Sequence[LabelGroup], given: Mapping[str, Any]) -> Labels:
    """Labels in the order of the bank's groups, each once. `given` has a value, a list of values, or for a map an
    object of them or a list of objects, by key; anything may be in it."""
    by_group = [(group, dict.fromkeys(_names(group.key, group, given.get(group.key)))) for group in groups]
    return Labels(
        names=tuple(name for _, names in by_group for name in names),
        tags=tuple(name for group, names in by_group if group.tag for name in names),
    )


def missing_labels(groups: Sequence[LabelGroup], given: Mapping[str, Any]) -> tuple[LabelGroup, ...]:
    """The groups that have to be answered and are not."""
    return tuple(
        group
        for group in groups
        if not group.optional and next(_names(group.key, group, given.get(group.key)), None) is None
    )


def _names(prefix: str, kind: LabelGroup | LabelField, given: Any) -> Iterator[str]:
    if kind.type == "map":
        for each in given if isinstance(given, list) else [given]:
            if isinstance(each, Mapping):
                for name, field in kind.fields.items():
                    yield from _names(f"{prefix}:{name}", field, each.get(name))
        return
    values = [value for value in map(_text, given if isinstance(given, list) else [given]) if value]
    if kind.type in ("value", "multi-values"):
        spelled = {_text(allowed.value).casefold(): allowed.value for allowed in kind.values}
        values = [spelled[value.casefold()] for value in values if value.casefold() in spelled]
    for value in values if kind.type.startswith("multi") else values[:1]:
        yield f"{prefix}:{value}"[:LONGEST].rstrip()


def _text(given: Any) -> str:
    """The value in one line; empty for what is none."""
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        return ""
    line = " ".join(str(given).split())
    return "" if line.casefold() in NOTHING else line
