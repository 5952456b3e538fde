"""Labels of entities: a vocabulary of a bank's own, by which facts are labelled when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from domain.value import Value

LabelType = Literal["value", "multi-values", "text", "multi-text", "map"]
Key = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class LabelValue(Value):
    """One value a label may have."""

    value: Annotated[str, Field(min_length=1)]
    description: str = ""


DEEPEST_MAP = 8
"""Levels of labels that are maps of labels: what is deeper could be stored, but not read again."""


class LabelField(Value):
    """A field of a label that is a map."""

    type: LabelType = "text"
    description: str = ""
    values: tuple[LabelValue, ...] = ()
    fields: dict[str, LabelField] = Field(default_factory=dict)


def _shallow(fields: dict[str, LabelField]) -> dict[str, LabelField]:
    if _depth(fields) > DEEPEST_MAP:
        raise ValueError(f"maps may be nested {DEEPEST_MAP} levels deep at most")
    return fields


def _depth(fields: Mapping[str, LabelField]) -> int:
    return 1 + max((_depth(each.fields) for each in fields.values()), default=0) if fields else 0


class LabelGroup(Value):
    """A label: its key, and what its values may be. `tag` makes each of them a tag `key:value` of the fact; one that
    is not `optional` has to be answered for every fact."""

    key: Key
    description: str = ""
    type: LabelType = "value"
    optional: bool = True
    tag: bool = False
    values: tuple[LabelValue, ...] = ()
    fields: Annotated[dict[str, LabelField], AfterValidator(_shallow)] = Field(default_factory=dict)
