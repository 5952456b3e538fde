"""What of an OpenAPI document clients depend on, in a form that two documents can be compared by.

An operation is a map of places to facts. A place is one of

- `path`, `method`, `body` (whether it must be sent), `statuses` (those of success)
- `query limit`, `path bank_id`, `header if-match`: a parameter
- `request items[].tags`, `response items[].id`: a field of the body of the request or of the answer

and its facts are its types, whether it is required, its default, its values and its bounds. Parts of a union are laid
over each other; a schema inside itself (groups of tags) ends at its name.

`python -m tests.support.wire_contract` writes tests/contract/hindsight-1.1.0.json anew from the document of the
contract: all that is compared, and of operations that are not served their paths.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.support.contract_absences import NOT_SERVED

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT.parent / "shared" / "contract" / "hindsight-1.1.0.openapi.json"
EXTRACT = ROOT / "tests" / "contract" / "hindsight-1.1.0.json"
METHODS = ("get", "post", "put", "patch", "delete")
BOUNDS = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)
AUTHORIZATION = "authorization"
"""Told by the contract as a parameter of each route; a key in its header is the same however a document tells it."""

Facts = dict[str, Any]
Operation = dict[str, Any]


def operations(document: Mapping[str, Any]) -> dict[str, Operation]:
    """All operations of an OpenAPI document by their ids, those without one by `METHOD path`."""
    described: dict[str, Operation] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                told = methods[method]
                described[told.get("operationId", f"{method.upper()} {path}")] = _operation(
                    document, method, path, told
                )
    return described


def written(extracted: Mapping[str, Operation]) -> str:
    """One place a line, in the order of the document."""
    told = []
    for name, places in extracted.items():
        lines = [f"  {json.dumps(place)}: {json.dumps(facts, ensure_ascii=False)}" for place, facts in places.items()]
        told.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(told) + "\n}\n"


def contract() -> dict[str, Operation]:
    """The extract that is kept with the tests."""
    kept: dict[str, Operation] = json.loads(EXTRACT.read_text(encoding="utf-8"))
    return kept


def extract() -> str:
    """What the extract has to be, from the document of the contract."""
    described = operations(json.loads(DOCUMENT.read_text(encoding="utf-8")))
    for name in NOT_SERVED:
        described[name] = {place: described[name][place] for place in ("method", "path")}
    return written(described)


def _operation(document: Mapping[str, Any], method: str, path: str, told: Mapping[str, Any]) -> Operation:
    places: Operation = {"method": method.upper(), "path": path}
    for parameter in told.get("parameters", ()):
        if parameter["name"].lower() != AUTHORIZATION:
            facts = _facts(document, parameter.get("schema", {}))
            place = f"{parameter['in']} {parameter['name'].lower()}"
            places[place] = {"required": parameter.get("required", False), **facts}
    body = told.get("requestBody")
    if body is not None:
        places["body"] = {"required": body.get("required", False), "media": sorted(body["content"])}
        for content in body["content"].values():
            places.update(_fields(document, content.get("schema", {}), "request "))
    succeeded = {status: answer for status, answer in told["responses"].items() if status.startswith("2")}
    places["statuses"] = sorted(succeeded)
    for answer in succeeded.values():
        for content in answer.get("content", {}).values():
            fields = _fields(document, content.get("schema", {}), "response ")
            places.update({place: _answered(facts) for place, facts in fields.items()})
    return places


def _answered(facts: Facts) -> Facts:
    """Of a field of an answer: a default that is not null is always told, bounds are of no use to who reads."""
    always = facts["required"] or "default" in facts
    kept = {name: facts[name] for name in ("types", "values") if name in facts}
    return {"required": always, **kept}


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any], prefix: str) -> dict[str, Facts]:
    """Every field below a schema by its place; what stands in a list has `[]` before it, in a map of any names `{}`."""
    found: dict[str, Facts] = {}
    for place, facts in _walk(document, schema, prefix, frozenset()):
        found[place] = _laid_over(found[place], facts) if place in found else facts
    return found


def _walk(
    document: Mapping[str, Any], schema: Mapping[str, Any], place: str, inside: frozenset[str]
) -> Iterator[tuple[str, Facts]]:
    for name, variant in _variants(document, schema):
        if name and name in inside:
            continue
        within = inside | {name} if name else inside
        required = variant.get("required", ())
        for field, told in variant.get("properties", {}).items():
            here = f"{place}{field}" if place.endswith(" ") else f"{place}.{field}"
            yield here, {"required": field in required, **_facts(document, told)}
            yield from _walk(document, told, here, within)
        if isinstance(variant.get("items"), Mapping):
            yield from _walk(document, variant["items"], f"{place}[]", within)
        if isinstance(variant.get("additionalProperties"), Mapping):
            yield from _walk(document, variant["additionalProperties"], f"{place}{{}}", within)


def _variants(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The schemas that a schema stands for, with the name of each that has one."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        for inner, variant in _variants(document, document["components"]["schemas"][name]):
            yield inner or _family(name), variant
        return
    parts = [part for key in ("anyOf", "oneOf", "allOf") for part in schema.get(key, ())]
    if not parts:
        yield "", schema
    for part in parts:
        yield from _variants(document, part)


def _family(name: str) -> str:
    """A group of tags holds groups of other kinds: all of them are one schema that is inside itself."""
    return "TagGroup" if name.startswith("TagGroup") else name


def _facts(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Facts:
    facts: Facts = {"types": []}
    variants = [variant for _, variant in _variants(document, schema)]
    listed = [_values(variant) for variant in variants if variant.get("type") != "null"]
    if listed and all(listed):
        facts["values"] = sorted({value for values in listed for value in values}, key=str)
    for variant in variants:
        facts["types"] = sorted({*facts["types"], *_types(variant)})
        facts.update({bound: variant[bound] for bound in BOUNDS if bound in variant})
        items = variant.get("items")
        if isinstance(items, Mapping):
            facts["items"] = _facts(document, items)
    if schema.get("default") is not None:
        facts["default"] = schema["default"]
    return facts


def _values(schema: Mapping[str, Any]) -> list[Any]:
    """The values that a schema lists; none when it takes others too."""
    return schema.get("enum") or ([schema["const"]] if "const" in schema else [])


def _types(schema: Mapping[str, Any]) -> set[str]:
    told = schema.get("type")
    if told is not None:
        return {told} if isinstance(told, str) else set(told)
    if isinstance(schema.get("const"), str):
        return {"string"}
    return {"object"} if "properties" in schema else {"any"}


def _laid_over(one: Facts, other: Facts) -> Facts:
    """The facts of a field that several parts of a union have."""
    types = sorted({*one["types"], *other["types"]})
    merged = {**other, **one, "types": types, "required": one["required"] and other["required"]}
    values = sorted({*one.get("values", ()), *other.get("values", ())}, key=str)
    return {**merged, "values": values} if values else merged


if __name__ == "__main__":
    EXTRACT.write_text(extract(), encoding="utf-8")
