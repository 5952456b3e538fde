"""JSON schemas in the plain form that every endpoint reads: several know no references and no unions with null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its references written out, optional values as their plain type, titles and defaults left out.

    It asks for no more than the original; replies are still checked against that. Raises ValueError for a type that
    contains itself.
    """
    return _plain(schema, schema.get("$defs", {}), ())


def _plain(schema: Mapping[str, Any], types: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        name = str(reference).rpartition("/")[2]
        if name in inside:
            raise ValueError(f"{name} contains itself; such a type cannot be written out")
        described = {key: value for key, value in schema.items() if key == "description"}
        return {**_plain(types[name], types, (*inside, name)), **described}
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: _plain(each, types, inside) for name, each in value.items()}
        elif key == "items":
            plain[key] = _plain(value, types, inside)
        elif key == "anyOf":
            choices = [_plain(each, types, inside) for each in value if each != {"type": "null"}]
            plain |= choices[0] if len(choices) == 1 else {key: choices}
        elif key not in ("$defs", "title", "default"):
            plain[key] = value
    return plain
