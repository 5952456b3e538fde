"""A client's JSON schema in the plain form that model providers take, beside the original that decides.

Providers differ in what they refuse. Left is what all of them know: types, properties, items, enumerations, choices and
descriptions. What is dropped is said in words in the description, so that the model can still keep to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

_TYPES = {"string", "number", "integer", "boolean", "array", "object"}
_SAID_IN_WORDS = (
    "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
)  # fmt: skip
_SAME_TYPE = 2
"""How often a type that contains itself is written out inside itself; deeper, any value is asked for."""
_DEEPEST = 24
_MOST_NODES = 2_000
"""A schema of nested references can grow without end; what is beyond this is any value."""


def provider_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object without references, unions with null, and keywords that some provider refuses.

    It asks for no more than the original. Total: what it cannot follow (a remote or broken reference) is any value.
    """
    plain = _Writer(schema).plain(schema, ())
    return {**plain, "type": "object", "properties": plain.get("properties", {})}


class _Writer:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._nodes = 0

    def plain(self, schema: Any, inside: tuple[str, ...]) -> dict[str, Any]:
        """`inside` are the references followed to get here, and "" for each step into a schema."""
        self._nodes += 1
        if not isinstance(schema, Mapping) or self._nodes > _MOST_NODES or len(inside) > _DEEPEST:
            return {}
        whole, inside = self._joined(schema, (*inside, ""))
        choices, nullable = self._choices(whole, inside)
        plain = self._typed(whole, inside)
        if len(choices) == 1:
            plain = {**choices[0], **plain}
        elif choices:
            plain["anyOf"] = choices
        words = [str(whole["description"])] if isinstance(whole.get("description"), str) else []
        words += ["May be null."] if nullable else []
        words += [f"{key}: {json.dumps(whole[key], ensure_ascii=False)}." for key in _SAID_IN_WORDS if key in whole]
        return {**plain, "description": " ".join(words)} if words else plain

    def _joined(self, schema: Mapping[str, Any], inside: tuple[str, ...]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """The schema with its reference and all of `allOf` written into it; what it says itself counts more."""
        whole: dict[str, Any] = {}
        reference = schema.get("$ref")
        if isinstance(reference, str) and inside.count(reference) < _SAME_TYPE and len(inside) <= _DEEPEST:
            meant, inside = self._joined(self._referenced(reference), (*inside, reference))
            whole = _merged(whole, meant)
        for part in schema["allOf"] if isinstance(schema.get("allOf"), list) else []:
            if isinstance(part, Mapping) and len(inside) <= _DEEPEST:
                joined, _ = self._joined(part, (*inside, ""))
                whole = _merged(whole, joined)
        return _merged(whole, {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}), inside

    def _referenced(self, reference: str) -> Mapping[str, Any]:
        """What a local reference points at, an empty schema for any other."""
        found: Any = self._root
        if not reference.startswith("#"):
            return {}
        for step in filter(None, reference.removeprefix("#").split("/")):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        return found if isinstance(found, Mapping) else {}

    def _choices(self, whole: Mapping[str, Any], inside: tuple[str, ...]) -> tuple[list[dict[str, Any]], bool]:
        """The alternatives other than null, and whether null is one."""
        given: list[Any] = []
        for key in ("anyOf", "oneOf"):
            given += whole[key] if isinstance(whole.get(key), list) else []
        types = whole.get("type")
        if isinstance(types, list):
            given += [{"type": each} for each in types] if len([each for each in types if each != "null"]) > 1 else []
        real = [each for each in given if not _only_null(each)]
        nullable = len(real) < len(given) or types == "null" or (isinstance(types, list) and "null" in types)
        return [self.plain(each, inside) for each in real], nullable

    def _typed(self, whole: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
        """Type, enumeration, properties and items."""
        plain: dict[str, Any] = {}
        kind = _kind(whole)
        if kind:
            plain["type"] = kind
        values = [whole["const"]] if "const" in whole else whole.get("enum")
        if isinstance(values, list):
            plain["enum"] = [value for value in values if value is not None]
        if isinstance(whole.get("properties"), Mapping):
            plain["properties"] = {str(name): self.plain(each, inside) for name, each in whole["properties"].items()}
            required = whole.get("required")
            named = [name for name in plain["properties"] if name in required] if isinstance(required, list) else []
            plain |= {"required": named} if named else {}
        if kind == "array":
            plain["items"] = self.plain(whole.get("items", {}), inside)
        return plain


def _kind(whole: Mapping[str, Any]) -> str | None:
    """The one type other than null that a schema names or implies."""
    given = whole.get("type")
    names = [each for each in (given if isinstance(given, list) else [given]) if isinstance(each, str)]
    known = [each for each in names if each in _TYPES]
    if len(known) == 1:
        return known[0]
    if given is None:
        return "object" if "properties" in whole else "array" if "items" in whole else None
    return None


def _only_null(schema: Any) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") == "null" or schema.get("enum") == [None])


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Both schemas in one: properties and required names of both, everything else from `above` where it has it."""
    merged = {**below, **above}
    if isinstance(below.get("properties"), Mapping) and isinstance(above.get("properties"), Mapping):
        merged["properties"] = {**below["properties"], **above["properties"]}
    if isinstance(below.get("required"), list) and isinstance(above.get("required"), list):
        names = [*below["required"], *above["required"]]
        merged["required"] = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    return merged
