"""A client's schema in the form that every provider takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.llm.client_schema import provider_schema


def plain(definition: Any, **more: Any) -> Any:
    """The plain form of one property."""
    return provider_schema({"properties": {"x": definition}, **more})["properties"]["x"]


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"type": "string", "title": "X", "default": "a", "examples": ["a"]}, {"type": "string"}),
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "integer"}}),
        ({"type": ["string", "null"]}, {"type": "string", "description": "May be null."}),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A name."},
            {"type": "string", "description": "A name. May be null."},
        ),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        (
            {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"const": 1}}}]},
            {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"enum": [1]}}}]},
        ),
        ({"type": "string", "enum": ["a", "b", None]}, {"type": "string", "enum": ["a", "b"]}),
        (
            {"type": "array", "items": {"type": "string", "format": "date"}, "maxItems": 3},
            {
                "type": "array",
                "items": {"type": "string", "description": 'format: "date".'},
                "description": "maxItems: 3.",
            },
        ),
        ({"properties": {"a": True}, "additionalProperties": False}, {"type": "object", "properties": {"a": {}}}),
        (
            {"allOf": [{"type": "object", "properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
        ),
        ({"type": "foo"}, {}),
    ],
)
def test_what_some_provider_refuses_is_dropped_or_said_in_words(definition: Any, expected: Any) -> None:
    assert plain(definition) == expected


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ({"$ref": "#/$defs/City"}, {"type": "string", "description": "A city."}),
        ({"$ref": "#/$defs/City", "description": "Home."}, {"type": "string", "description": "Home."}),
        ({"$ref": "#/$defs/Alias"}, {"type": "string", "description": "A city."}),
        ({"$ref": "#/$defs/a~1b%20c"}, {"type": "integer"}),
        ({"$ref": "#/$defs/Missing"}, {}),
        ({"$ref": "https://example.org/schema"}, {}),
        ({"$ref": "#/$defs/Self"}, {}),
    ],
)
def test_references_are_written_out(definition: Any, expected: Any) -> None:
    defs = {
        "City": {"type": "string", "description": "A city."},
        "Alias": {"$ref": "#/$defs/City"},
        "a/b c": {"type": "integer"},
        "Self": {"$ref": "#/$defs/Self"},
    }
    assert plain(definition, **{"$defs": defs}) == expected


def test_a_type_that_contains_itself_is_written_out_twice() -> None:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#/$defs/Node"}}}

    written = plain({"$ref": "#/$defs/Node"}, **{"$defs": {"Node": node}})

    assert written["properties"]["child"]["properties"]["child"] == {}
    assert "$" not in json.dumps(written)


def test_references_that_multiply_end_somewhere() -> None:
    defs = {f"T{n}": {"properties": {c: {"$ref": f"#/$defs/T{n + 1}"} for c in "abcdefgh"}} for n in range(20)}

    assert len(json.dumps(plain({"$ref": "#/$defs/T0"}, **{"$defs": defs}))) < 1_000_000


def test_the_whole_is_an_object_with_properties_and_the_names_required() -> None:
    schema = {"properties": {"a": {"type": "string"}, "type": {"type": "string"}}, "required": ["a"]}

    assert provider_schema(schema) == {"type": "object", **schema}
    assert provider_schema({}) == {"type": "object", "properties": {}}


KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "required",
        "$ref",
        "$defs",
        "description",
    ]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["string", "null", "object", "array", "#", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | st.just("a"), inner, max_size=4),
    max_leaves=25,
)


@given(st.dictionaries(KEYWORDS, VALUES, max_size=6))
@example({"required": [[]], "allOf": [{"required": []}]})
def test_any_schema_gives_one_of_plain_keywords(schema: dict[str, Any]) -> None:
    def check(written: Any) -> None:
        assert written.keys() <= {"type", "properties", "required", "items", "enum", "anyOf", "description"}
        for each in [*written.get("properties", {}).values(), *written.get("anyOf", [])]:
            check(each)
        if "items" in written:
            check(written["items"])

    check(provider_schema(schema))
