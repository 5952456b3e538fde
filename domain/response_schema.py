"""The schema a mental model's structured output must follow: what is taken as one, and what in a value does not fit.

Source of the rules: spec of the system of reference, refresh pipeline, section "structured output": an object with
named properties, of the six types. Beyond it, a schema must be one of JSON Schema 2020-12, hold all it refers to, and
be cheap to check a value with: it comes from a caller, the value from a language model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pydantic_core import SchemaError, SchemaValidator, core_schema

from domain.subschemas import Place, Schemas, subschemas, target, too_far

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError  # below imported when used: it costs a tenth of a second

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
MOST_BYTES: Final = 64 * 1024
"""Of a schema, as JSON in UTF-8."""
MOST_NESTED: Final = 64
"""Lists and objects inside each other, in a schema (32 objects that are properties of each other) or a value."""
MOST_FAULTS: Final = 10
MOST_STEPS: Final = 100_000
"""Keywords applied to parts of one value. Through references a small schema can ask for any number of them."""

_LONGEST_QUOTE: Final = 80
_LONGEST_MESSAGE: Final = 300
_OF_THE_ROOT: Final = ("$schema", "$id")
_REFUSED: Final = {
    "patternProperties": "is not supported; name the properties",
    "$dynamicRef": "is not supported; use $ref",
    "$recursiveRef": "is not supported; use $ref",
}


def check(schema: Any) -> None:
    """Raises ValueError when `schema` cannot be a response schema: the faults found, at most ten, each as
    `response_schema.<path>: <what is wrong>`, joined by "; "."""
    if not isinstance(schema, Mapping):
        raise ValueError("response_schema: must be an object")
    if _nested_deeper(schema, MOST_NESTED):
        raise ValueError(f"response_schema: is nested deeper than {MOST_NESTED} levels")
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except TypeError as error:
        raise ValueError(f"response_schema: cannot be written as JSON: {error}") from error
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise ValueError(f"response_schema: has {size} bytes as JSON, at most {MOST_BYTES} are allowed")
    faults = _faults_of(text)
    if faults:
        raise ValueError("; ".join(faults))


def errors_of(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    """What in `value` (parsed JSON) does not fit `schema`: at most ten of `<path>: <what is wrong>`, none when it fits.

    Formats (`date`, `email` ...) are notes to the writer and not checked. Raises ValueError as `check` does.
    """
    from jsonschema.exceptions import best_match

    check(schema)
    if _nested_deeper(value, MOST_NESTED):
        return (f"the value: is nested deeper than {MOST_NESTED} levels",)
    found: list[str] = []
    try:
        for error in _validator(_root(schema)).iter_errors(value):
            found.append(_told(best_match([error])))
            if len(found) == MOST_FAULTS:
                break
    except (_TooManySteps, RecursionError):
        found.append("the value: takes too many steps to check; make the schema simpler")
    except OverflowError:
        found.append("the value: holds a number too large to check")
    return tuple(found)


# --- is it a response schema? -----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _faults_of(text: str) -> tuple[str, ...]:
    """Of a schema as JSON text. Kept, because events that hold a schema are read much more often than written."""
    root = _root(json.loads(text))
    schemas = subschemas(root)
    faults = [
        _fault(place, problem) for at, schema in schemas.items() for place, problem in _problems_of(schema, at, schemas)
    ]
    if not faults:
        faults = [_fault(*problem) for problem in _against_the_standard(json.loads(text))]
    if not faults and (problem := too_far(schemas)) is not None:
        faults = [_fault(*problem)]
    return tuple(faults[:MOST_FAULTS])


def _root(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without its dialect and address: every schema is read as 2020-12, every reference inside it."""
    return {name: value for name, value in schema.items() if name not in _OF_THE_ROOT}


def _problems_of(schema: Mapping[str, Any], at: Place, schemas: Schemas) -> Iterator[tuple[Place, str]]:
    """What is wrong with one schema, by our own rules, without the schemas inside it."""
    yield from (((*at, name), problem) for name, problem in _REFUSED.items() if name in schema)
    yield from (((*at, name), "is for the whole schema only") for name in _OF_THE_ROOT if name in schema)
    if "type" in schema and (problem := _problem_of_type(schema["type"], at)):
        yield (*at, "type"), problem
    yield from _problems_of_properties(schema, at)
    if isinstance(schema.get("$ref"), str) and (problem := _problem_of_reference(schema["$ref"], schemas)):
        yield (*at, "$ref"), problem
    if isinstance(schema.get("pattern"), str) and (problem := _problem_of_pattern(schema["pattern"])):
        yield (*at, "pattern"), problem
    if schema.get("enum") == []:
        yield (*at, "enum"), "must not be empty"


def _problem_of_type(given: Any, at: Place) -> str | None:
    if not at:
        return None if given == "object" else "must be 'object' or absent"
    names = given if isinstance(given, list) else [given]
    known = all(isinstance(name, str) and name in (*TYPES, "null") for name in names)
    only_null = set(names) == {"null"} if known else False
    is_property = at[-2:-1] == ("properties",)
    if known and names and not (only_null and is_property):
        return None
    return f"must be one of {', '.join(TYPES)}, or a list of these and null"


def _problems_of_properties(schema: Mapping[str, Any], at: Place) -> Iterator[tuple[Place, str]]:
    properties, required = schema.get("properties"), schema.get("required", [])
    if not at and not (isinstance(properties, dict) and properties):
        yield ("properties",), "must be a non-empty object"
        return
    if isinstance(properties, dict):
        for name, definition in properties.items():
            if not isinstance(definition, dict):
                yield (*at, "properties", name), "must be an object"
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield (*at, "required"), "must be a list of names of its properties"
    elif isinstance(properties, dict) and not {"$ref", "allOf"} & schema.keys():  # these may bring more properties
        for unknown in [name for name in required if name not in properties][:1]:
            yield (*at, "required"), f"must be a list of names of its properties, {_quoted(unknown)} is none"


def _problem_of_reference(reference: str, schemas: Schemas) -> str | None:
    if not reference.startswith("#"):
        return f"must refer to a part of this schema, as '#/$defs/Name' does; {_quoted(reference)} does not"
    if target(reference, schemas) is None:
        return f"refers to {_quoted(reference)}, and there is no schema"
    return None


def _problem_of_pattern(pattern: str) -> str | None:
    try:
        _matcher(pattern)
    except SchemaError as error:
        reason = str(error).rsplit("error:", 1)[-1].rsplit("SchemaError:", 1)[-1].strip()
        return f"must be a regular expression, {_quoted(pattern)} is none: {reason}"
    return None


def _against_the_standard(schema: Mapping[str, Any]) -> Iterator[tuple[Place, str]]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError as NoSchema

    try:
        Draft202012Validator.check_schema(schema, format_checker=None)
    except NoSchema as error:
        yield tuple(error.absolute_path), _message_of(error)


def _fault(place: Place, problem: str) -> str:
    return f"response_schema{_steps(place)}: {problem}"


# --- does a value fit? ------------------------------------------------------------------------------------------------


class _TooManySteps(Exception):
    """The schema asks for more work than any value is worth."""


def _validator(schema: Mapping[str, Any]) -> Any:
    """A validator for one value: it counts its steps, and matches patterns in linear time (those of Python's `re` can
    take for ever)."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError
    from jsonschema.validators import extend

    left = MOST_STEPS

    def counted(keyword: Callable[..., Any]) -> Callable[..., Any]:
        def applied(*arguments: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise _TooManySteps
            return keyword(*arguments)

        return applied

    def pattern(_validator: Any, expected: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
        if isinstance(value, str) and not _matcher(expected).isinstance_python(value):
            yield ValidationError(f"{value!r} does not match {expected!r}")

    keywords = {**Draft202012Validator.VALIDATORS, "pattern": pattern}
    return extend(Draft202012Validator, {name: counted(keyword) for name, keyword in keywords.items()})(schema)


@lru_cache(maxsize=256)
def _matcher(pattern: str) -> SchemaValidator:
    """Takes the strings in which `pattern` is found. Raises SchemaError for what is no regular expression; look-around
    and references to groups are none here."""
    return SchemaValidator(core_schema.str_schema(pattern=pattern))


def _told(error: ValidationError) -> str:
    path = _steps(tuple(error.absolute_path)).removeprefix(".")
    return f"{path or 'the value'}: {_message_of(error)}"


def _message_of(error: Any) -> str:
    """The library's message, the value in it shortened."""
    instance = repr(error.instance)
    message = str(error.message)
    if len(instance) > _LONGEST_QUOTE:
        message = message.replace(instance, instance[:_LONGEST_QUOTE] + "…")
    return _cut(message, _LONGEST_MESSAGE)


# --- how places and values are told -----------------------------------------------------------------------------------


def _steps(place: Place) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_cut(step, _LONGEST_QUOTE)}" for step in place)


def _quoted(text: str) -> str:
    return f"'{_cut(text, _LONGEST_QUOTE)}'"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "…"


def _nested_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels + 1):
        level = [
            part
            for each in level
            if isinstance(each, Mapping | list | tuple)
            for part in (each.values() if isinstance(each, Mapping) else each)
        ]
        if not level:
            return False
    return True
