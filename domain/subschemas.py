"""The schemas inside a JSON Schema: where they are, and what their references lead to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, Final

Place = tuple[str | int, ...]
Schemas = Mapping[Place, Mapping[str, Any]]
"""All schemas inside a schema that are objects, by their place: the steps to it, none for the schema itself."""

_MAPS: Final = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_ONES: Final = frozenset(
    {
        "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
        "not", "if", "then", "else", "contentSchema",
    }
)  # fmt: skip
_SAME_VALUE: Final = frozenset({"allOf", "anyOf", "oneOf", "dependentSchemas", "not", "if", "then", "else"})

MOST_CHAINED: Final = 32
"""Schemas applied to the same value one through the other."""


def subschemas(schema: Mapping[str, Any]) -> Schemas:
    """The schema itself and all inside it, outer ones first."""
    return dict(_inside(schema, ()))


def _inside(schema: Any, at: Place) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    if not isinstance(schema, dict):
        return
    yield at, schema
    for name, value in schema.items():
        if name in _ONES:
            yield from _inside(value, (*at, name))
        elif (name in _MAPS and isinstance(value, dict)) or (name in _LISTS and isinstance(value, list)):
            for key, each in value.items() if isinstance(value, dict) else enumerate(value):
                yield from _inside(each, (*at, name, key))


def target(reference: str, schemas: Schemas) -> Place | None:
    """The place that a JSON pointer such as `#/$defs/Name` names; None when no schema is there."""
    if reference == "#":
        return ()
    if not reference.startswith("#/") or "%" in reference:
        return None
    steps = [step.replace("~1", "/").replace("~0", "~") for step in reference.split("/")[1:]]
    exact = tuple(steps)
    numbered = tuple(
        int(step) if before in _LISTS and step.isdecimal() and len(step) < 6 else step
        for before, step in zip(["", *steps], steps, strict=False)
    )
    return next((place for place in (exact, numbered) if place in schemas), None)


def too_far(schemas: Schemas) -> tuple[Place, str] | None:
    """The first place from which references and combinations lead too far without going to a part of the value, and how
    far: back to itself, so that nothing could ever be checked, or through more than MOST_CHAINED schemas."""
    ahead = {place: [*_combined(place, schema, schemas)] for place, schema in schemas.items()}
    depth: dict[Place, int] = {}
    try:
        for place in TopologicalSorter(ahead).static_order():  # what is ahead of a place comes before it
            depth[place] = 1 + max((depth[each] for each in ahead[place]), default=0)
            if depth[place] > MOST_CHAINED:
                return place, f"leads through more than {MOST_CHAINED} schemas for one value"
    except CycleError as error:
        place = next(place for place in error.args[1] if "$ref" in schemas[place])
        return (*place, "$ref"), "refers to itself without going to a part of the value"
    return None


def _combined(place: Place, schema: Mapping[str, Any], schemas: Schemas) -> Iterator[Place]:
    """The schemas that look at the value that the schema at `place` looks at, not at a part of it."""
    if "$ref" in schema and (referred := target(schema["$ref"], schemas)) is not None:
        yield referred
    for name in _SAME_VALUE & schema.keys():
        inner = schema[name]
        keys = inner.keys() if name == "dependentSchemas" else range(len(inner)) if name in _LISTS else [None]
        for key in keys:
            at = (*place, name) if key is None else (*place, name, key)
            if at in schemas:  # true and false are not
                yield at
