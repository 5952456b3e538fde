"""Schemas of structured output: which are taken, what is told of the others, and how a value is checked."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from domain.mental_model.trigger import Trigger
from domain.response_schema import MOST_BYTES, check, errors_of

Schema = dict[str, Any]


def with_property(definition: Any, **more: Any) -> Schema:
    return {"type": "object", "properties": {"team": definition}, **more}


def nested(levels: int) -> Schema:
    """`levels` objects inside each other."""
    schema: Schema = {"type": "object", "properties": {"end": {"type": "string"}}}
    for _ in range(levels - 1):
        schema = {"type": "object", "properties": {"next": schema}}
    return schema


class Member(BaseModel):
    name: str = Field(pattern=r"^\w+$")
    reports: list[Member] = []


class Team(BaseModel):
    lead: Member | None = Field(description="Who leads it.")
    kind: str = Field(json_schema_extra={"enum": ["core", "platform"]})
    budget: dict[str, float] = {}


MEMBER = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
VALID: dict[str, Schema] = {
    "untyped": {"properties": {"team": {}}},
    "six types": {
        "type": "object",
        "properties": {kind: {"type": kind} for kind in ("string", "number", "integer", "boolean", "array", "object")},
        "required": ["string", "object"],
    },
    "nullable": with_property({"type": ["string", "null"]}),
    "nullable by choice": with_property({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    "array without items": with_property({"type": "array"}),
    "bounded array": with_property({"type": "array", "items": MEMBER, "minItems": 1, "maxItems": 3}),
    "tuple": with_property({"type": "array", "prefixItems": [{"type": "string"}, MEMBER], "items": False}),
    "enum": with_property({"enum": ["a", 1, None]}),
    "nested objects": with_property({"type": "object", "properties": {"lead": MEMBER}, "additionalProperties": False}),
    "reference": with_property({"$ref": "#/$defs/Member"}, **{"$defs": {"Member": MEMBER}}),
    "reference with description": with_property(
        {"$ref": "#/$defs/Member", "description": "Who leads it"}, **{"$defs": {"Member": MEMBER}}
    ),
    "older definitions": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.org/team",
        **with_property({"$ref": "#/definitions/Member"}, definitions={"Member": MEMBER}),
    },
    "escaped names": with_property({"$ref": "#/$defs/a~1b~0c"}, **{"$defs": {"a/b~c": MEMBER}}),
    "reference to a branch": with_property({"anyOf": [MEMBER, {"$ref": "#/properties/team/anyOf/0"}]}),
    "recursive": with_property(
        {"$ref": "#/$defs/Node"},
        **{"$defs": {"Node": {"properties": {"nodes": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}}},
    ),
    "recursive to the root": with_property({"$ref": "#"}),
    "required of a part that is combined": with_property({"allOf": [MEMBER], "properties": {}, "required": ["name"]}),
    "required alone": with_property({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
    "properties named like keywords": {
        "properties": {
            "type": {"type": "string"},
            "$ref": {"type": "string"},
            "pattern": {"type": "object", "properties": {"items": {"type": "integer"}}},
            "patternProperties": {},
        }
    },
    "pattern": with_property({"type": "string", "pattern": r"^\p{L}+/\d{4}-(?<month>\d{2})$"}),
    "unknown keywords": with_property({"type": "string", "x-order": 1, "nullable": True, "format": "date"}),
    "schema in a default": with_property({"default": {"type": "date", "$ref": "https://example.org"}}),
    "from pydantic": Team.model_json_schema(),
    "as deep as allowed": nested(31),
}


@pytest.mark.parametrize("schema", VALID.values(), ids=VALID.keys())
def test_so_03_a_valid_schema_is_kept_verbatim(schema: Schema) -> None:
    before = json.dumps(schema)
    check(schema)
    assert json.dumps(Trigger(response_schema=schema).model_dump(mode="json")["response_schema"]) == before


TYPES = "must be one of array, boolean, integer, number, object, string, or a list of these and null"
INVALID: list[tuple[Any, str]] = [
    ([], ": must be an object"),
    ("object", ": must be an object"),
    ({"type": "array", "items": {}}, ".type: must be 'object' or absent"),
    ({"type": ["object"], "properties": {"a": {}}}, ".type: must be 'object' or absent"),
    ({"type": {}, "properties": {"a": {}}}, ".type: must be 'object' or absent"),
    ({}, ".properties: must be a non-empty object"),
    ({"properties": {}}, ".properties: must be a non-empty object"),
    ({"properties": ["a"]}, ".properties: must be a non-empty object"),
    ({"$ref": "#/$defs/M", "$defs": {"M": MEMBER}}, ".properties: must be a non-empty object"),
    (with_property("string"), ".properties.team: must be an object"),
    (with_property(True), ".properties.team: must be an object"),
    (with_property({"properties": {"a": 5}}), ".properties.team.properties.a: must be an object"),
    (with_property({"properties": []}), ".properties.team.properties: [] is not of type 'object'"),
    (with_property({"type": "date"}), f".properties.team.type: {TYPES}"),
    (with_property({"type": "null"}), f".properties.team.type: {TYPES}"),
    (with_property({"type": ["null"]}), f".properties.team.type: {TYPES}"),
    (with_property({"type": []}), f".properties.team.type: {TYPES}"),
    (with_property({"type": [["string"]]}), f".properties.team.type: {TYPES}"),
    (with_property({"type": None}), f".properties.team.type: {TYPES}"),
    (with_property({"type": ["string", "string"]}), ".properties.team.type: ['string', 'string'] "),
    (with_property({"type": "array", "items": {"type": "text"}}), f".properties.team.items.type: {TYPES}"),
    (with_property({"anyOf": [{}, {"type": "text"}]}), f".properties.team.anyOf[1].type: {TYPES}"),
    (with_property({}, **{"$defs": {"M": {"type": "text"}}}), f".$defs.M.type: {TYPES}"),
    (with_property({"items": [{}]}), ".properties.team.items: [{}] is not of type 'object', 'boolean'"),
    (with_property({"allOf": []}), ".properties.team.allOf: [] should be non-empty"),
    (with_property({"enum": []}), ".properties.team.enum: must not be empty"),
    (with_property({"enum": "a"}), ".properties.team.enum: 'a' is not of type 'array'"),
    (with_property({"maxItems": "3"}), ".properties.team.maxItems: '3' is not of type 'integer'"),
    (with_property({"minItems": -1}), ".properties.team.minItems: -1 is less than the minimum of 0"),
    (with_property({"description": 5}), ".properties.team.description: 5 is not of type 'string'"),
    (with_property({}, required="team"), ".required: must be a list of names of its properties"),
    (with_property({}, required=[["team"]]), ".required: must be a list of names of its properties"),
    (with_property({}, required=["b"]), ".required: must be a list of names of its properties, 'b' is none"),
    (with_property({}, required=["team", "team"]), ".required: ['team', 'team'] has non-unique elements"),
    (
        with_property({"items": {"properties": {"a": {}}, "required": ["b"]}}),
        ".properties.team.items.required: must be a list of names of its properties, 'b' is none",
    ),
    (with_property({"$ref": "#/$defs/M"}), ".properties.team.$ref: refers to '#/$defs/M', and there is no schema"),
    (with_property({"$ref": "#/properties"}), ".properties.team.$ref: refers to '#/properties', and there is no"),
    (with_property({"$ref": "#/anyOf/" + "9" * 5000}), ".properties.team.$ref: refers to '#/anyOf/999"),
    (with_property({"$ref": "https://example.org/a"}), ".properties.team.$ref: must refer to a part of this schema"),
    (with_property({"$ref": "file:///a"}), ".properties.team.$ref: must refer to a part of this schema"),
    (with_property({"$ref": 7}), ".properties.team.$ref: 7 is not of type 'string'"),
    (with_property({"$ref": "#/properties/team"}), ".properties.team.$ref: refers to itself without"),
    (
        with_property(
            {"anyOf": [{"$ref": "#/$defs/A"}]},
            **{"$defs": {"A": {"not": {"$ref": "#/$defs/B"}}, "B": {"allOf": [{"$ref": "#/$defs/A"}]}}},
        ),
        ".$ref: refers to itself without going to a part of the value",
    ),
    (
        with_property(
            {"$ref": "#/$defs/0"},
            **{"$defs": {**{str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(1000)}, "1000": {}}},
        ),
        ": leads through more than 32 schemas for one value",
    ),
    (
        with_property({"pattern": "[a"}),
        ".properties.team.pattern: must be a regular expression, '[a' is none: unclosed",
    ),
    (with_property({"pattern": "a(?=b)"}), ".properties.team.pattern: must be a regular expression, 'a(?=b)' is none"),
    (with_property({"pattern": r"(\w{1000}){1000}"}), ".properties.team.pattern: must be a regular expression"),
    (with_property({"pattern": 5}), ".properties.team.pattern: 5 is not of type 'string'"),
    (with_property({"patternProperties": {"(a+)+": {}}}), ".properties.team.patternProperties: is not supported"),
    (with_property({"$dynamicRef": "#a"}), ".properties.team.$dynamicRef: is not supported; use $ref"),
    (with_property({"$id": "https://example.org"}), ".properties.team.$id: is for the whole schema only"),
    (with_property({"description": "x" * MOST_BYTES}), f" bytes as JSON, at most {MOST_BYTES} are allowed"),
    (nested(33), ": is nested deeper than 64 levels"),
    (with_property({"default": {1, 2}}), ": cannot be written as JSON"),
]


@pytest.mark.parametrize(("schema", "told"), INVALID, ids=[str(number) for number in range(len(INVALID))])
def test_so_03_a_fault_is_told_with_its_path(schema: Any, told: str) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^response_schema") as refused:
            check(schema)
        assert told in str(refused.value)


def test_all_faults_are_told_at_once_up_to_ten() -> None:
    with pytest.raises(ValueError, match=r"\.a\.type: .*; response_schema\.properties\.b\.pattern: "):
        check({"properties": {"a": {"type": "date"}, "b": {"pattern": "("}}})
    with pytest.raises(ValueError, match="response_schema") as refused:
        check({"properties": {str(number): {"type": "date"} for number in range(50)}})
    assert str(refused.value).count("response_schema.properties.") == 10


def test_a_schema_that_holds_itself_is_refused() -> None:
    schema: Schema = with_property({})
    schema["properties"]["team"]["default"] = schema
    with pytest.raises(ValueError, match="is nested deeper"):
        check(schema)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["#", "#/properties/a", "object"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "$ref",
                    "$defs",
                    "anyOf",
                    "not",
                    "required",
                    "enum",
                    "pattern",
                    "a",
                    "if",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(_JSON, _JSON)
def test_every_schema_is_taken_or_refused_with_a_reason_and_every_value_checked(schema: Any, value: Any) -> None:
    schema = {"properties": {"a": schema, "b": {}}}
    try:
        check(schema)
    except ValueError as error:
        assert str(error).startswith("response_schema.")  # noqa: PT017
        return
    assert isinstance(errors_of(value, schema), tuple)


# --- values -----------------------------------------------------------------------------------------------------------

TEAM: Schema = {
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z]"},
        "members": {"type": "array", "items": {"anyOf": [MEMBER, {"type": "null"}]}},
        "since": {"type": ["integer", "null"], "minimum": 1800},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Core"},
        {"name": "Core", "members": [], "since": None},
        {"name": "Core", "members": [{"name": "Ada", "more": 1}, None], "since": 1815},
    ],
)
def test_a_value_that_fits_has_no_errors(value: Any) -> None:
    assert errors_of(value, TEAM) == ()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (5, ("the value: 5 is not of type 'object'",)),
        ({}, ("the value: 'name' is a required property",)),
        ({"name": "core"}, ("name: 'core' does not match '^[A-Z]'",)),
        ({"name": "Core", "size": 3}, ("the value: Additional properties are not allowed ('size' was unexpected)",)),
        (
            {"name": 3, "members": [{"name": "Ada"}, {"name": 5}], "since": 1700},
            (
                "name: 3 is not of type 'string'",
                "members[1].name: 5 is not of type 'string'",
                "since: 1700 is less than the minimum of 1800",
            ),
        ),
    ],
)
def test_what_does_not_fit_is_told_with_its_path(value: Any, told: tuple[str, ...]) -> None:
    assert errors_of(value, {"type": "object", **TEAM}) == told


def test_ten_errors_are_enough_and_long_values_are_shortened() -> None:
    schema = with_property({"type": "array", "items": {"type": "integer"}})
    errors = errors_of({"team": ["x" * 10_000] * 50}, schema)
    assert len(errors) == 10
    assert errors[9].startswith("team[9]: 'xxx")
    assert errors[9].endswith("… is not of type 'integer'")
    assert len(errors[9]) < 150


def test_a_schema_at_fault_is_told_before_any_value_is_checked() -> None:
    with pytest.raises(ValueError, match=r"response_schema\.properties\.team\.\$ref: must refer to a part"):
        errors_of({"team": 1}, with_property({"$ref": "https://example.org/schema"}))


def test_the_dialect_named_changes_nothing() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "$id": "https://example.org/a"}
    schema |= with_property({"$ref": "#"}, required=["name"])
    schema["properties"] |= {"name": {"const": "Ada"}}  # type: ignore[operator]  # const is unknown to that dialect
    assert errors_of({"name": "Ada", "team": {"name": "Ada"}}, schema) == ()
    assert errors_of({"name": "Ada", "team": {"name": "Bob"}}, schema) == ("team.name: 'Ada' was expected",)


def test_recursion_goes_as_deep_as_the_value() -> None:
    schema = with_property({"$ref": "#"}, required=["name"])
    schema["properties"]["name"] = {"type": "string"}
    value: dict[str, Any] = {"name": 5}
    for _ in range(20):
        value = {"name": "Ada", "team": value}
    assert errors_of(value, schema) == (f"{'team.' * 20}name: 5 is not of type 'string'",)
    for _ in range(100):
        value = {"name": "Ada", "team": value}
    assert errors_of(value, schema) == ("the value: is nested deeper than 64 levels",)


def test_patterns_that_take_for_ever_elsewhere_are_matched_at_once() -> None:
    start = time.perf_counter()
    (error,) = errors_of({"team": "a" * 5000 + "!"}, with_property({"pattern": "^(a+)+$"}))
    assert time.perf_counter() - start < 5
    assert error.endswith("does not match '^(a+)+$'")


def test_a_schema_that_asks_for_more_and_more_work_is_given_up() -> None:
    doubling = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(9)}
    schema = with_property(
        {"type": "array", "items": {"$ref": "#/$defs/0"}}, **{"$defs": {**doubling, "9": {"type": "string"}}}
    )
    assert errors_of({"team": ["Ada"]}, schema) == ()
    assert errors_of({"team": ["Ada"] * 1000}, schema) == (
        "the value: takes too many steps to check; make the schema simpler",
    )


def test_a_number_beyond_all_bounds_is_an_error_of_the_value() -> None:
    assert errors_of({"team": 10**400}, with_property({"multipleOf": 0.1})) == (
        "the value: holds a number too large to check",
    )


def test_the_library_is_loaded_when_a_schema_is_checked_and_not_before() -> None:
    code = (
        "import sys, domain.mental_model.trigger as t; t.Trigger(mode='delta');"
        "print('jsonschema' in sys.modules); t.Trigger(response_schema={'properties': {'a': {}}});"
        "print('jsonschema' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["False", "True"]
