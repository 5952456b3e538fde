"""Requests made from an OpenAPI document: one that an operation takes, and ones with a name that nobody knows."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote
from uuid import UUID

METHODS = ("get", "post", "put", "patch", "delete")
UNKNOWN = "surprise"
NO_ID = str(UUID(int=7))
"""Of nothing."""

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Asked:
    """One operation of a document. `body` is a schema, None when it takes none in JSON."""

    name: str
    method: str
    path: str
    parameters: tuple[Mapping[str, Any], ...] = ()
    body: Mapping[str, Any] | None = None
    document: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        return self.name

    def url(self, **known: str) -> str:
        """The path with the names that are known in it, and for others the id of nothing."""
        path = self.path
        for parameter in self.parameters:
            if parameter["in"] == "path":
                name = parameter["name"]
                told = known.get(name) or ("1" if parameter["schema"].get("type") == "integer" else NO_ID)
                path = path.replace(f"{{{name}}}", quote(told, safe="")).replace(
                    f"{{{name}:path}}", quote(told, safe="")
                )
        return path

    def query(self) -> dict[str, Any]:
        """What has to be asked for."""
        return {
            each["name"]: _sample(self.document, each["schema"])
            for each in self.parameters
            if each["in"] == "query" and each.get("required")
        }

    def sample(self) -> Any:
        """The example that the document gives, or the smallest body that is taken."""
        if self.body is None:
            return None
        schema = _resolved(self.document, self.body)
        return copy.deepcopy(schema["examples"][0]) if "examples" in schema else _sample(self.document, schema)

    def with_unknown_names(self) -> Iterator[tuple[Place, Any]]:
        """Bodies that are right but for a name that nobody knows: one for each object in them, with its place."""
        if self.body is None:
            return
        for place, around in _objects(self.document, self.body, (), frozenset()):
            body = _merged(self.sample(), around)
            inside = body
            for step in place:
                inside = inside[step]
            inside[UNKNOWN] = 1
            yield place, body


def asked_of(document: Mapping[str, Any]) -> list[Asked]:
    """All operations of a document, in its order."""
    found = []
    for path, methods in document["paths"].items():
        for method in METHODS:
            if (told := methods.get(method)) is not None:
                content = told.get("requestBody", {}).get("content", {})
                body = content.get("application/json", {}).get("schema")
                parameters = tuple(told.get("parameters", ()))
                found.append(Asked(told["operationId"], method.upper(), path, parameters, body, document))
    return found


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that is meant: what a name stands for, and of several the first that is not null."""
    while True:
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        elif parts := [
            each for key in ("anyOf", "oneOf") for each in schema.get(key, ()) if each.get("type") != "null"
        ]:
            schema = parts[0]
        else:
            return schema


def _sample(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    told = _resolved(document, schema)
    if "const" in told:
        return told["const"]
    if "enum" in told:
        return told["enum"][0]
    match told.get("type"):
        case "object":
            properties = told.get("properties", {})
            return {name: _sample(document, properties[name]) for name in told.get("required", ())}
        case "array":
            return [_sample(document, told["items"])] * told.get("minItems", 0)
        case "integer" | "number":
            return max(1, told.get("minimum", 1))
        case "boolean":
            return True
    if told.get("format") in ("uuid", "date-time"):
        return NO_ID if told["format"] == "uuid" else "2024-03-01T10:00:00Z"
    return "ada"


def _objects(
    document: Mapping[str, Any], schema: Mapping[str, Any], place: Place, inside: frozenset[int]
) -> Iterator[tuple[Place, Any]]:
    """Each object with names of its own below a schema: where it is, and the least that it stands in."""
    told = _resolved(document, schema)
    if id(told) in inside:
        return
    within = inside | {id(told)}
    if told.get("type") == "object" and "properties" in told:
        yield place, _sample(document, told)
        for name, part in told["properties"].items():
            for below, value in _objects(document, part, (*place, name), within):
                yield below, {**_sample(document, told), name: value}
    elif told.get("type") == "array":
        for below, value in _objects(document, told["items"], (*place, 0), within):
            yield below, [value]


def _merged(one: Any, other: Any) -> Any:
    """Both in one: objects and the first entries of lists part by part, else the one."""
    if isinstance(one, dict) and isinstance(other, dict):
        both = {name: _merged(one[name], other[name]) for name in one.keys() & other.keys()}
        return {**one, **other, **both}
    if isinstance(one, list) and isinstance(other, list):
        return [_merged(one[0], other[0]), *one[1:]] if one and other else copy.deepcopy(one or other)
    return copy.deepcopy(one)
