"""What counts as a difference between two OpenAPI documents, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.contract_comparison import compared
from tests.support.contract_differences import matches
from tests.support.wire_contract import operations

TEXT, NUMBER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}


def document(
    *,
    request: Any = None,
    required: tuple[str, ...] = (),
    response: Any = None,
    told: tuple[str, ...] = (),
    **query: Any,
) -> dict[str, Any]:
    """One operation with these fields of its bodies, and these parameters."""
    operation: dict[str, Any] = {
        "operationId": "ask",
        "parameters": [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()],
        "responses": {"200": {"content": {"application/json": {"schema": _object(response or {"id": TEXT}, told)}}}},
    }
    if request is not None:
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}
        operation["requestBody"] = {"required": True, "content": content}
    schemas = {"Body": _object(request or {}, required)}
    return {"paths": {"/ask": {"post": operation}}, "components": {"schemas": schemas}}


def _object(fields: Any, required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(required)}


def found(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    return [each.key for each in compared(operations(theirs), operations(ours))]


@pytest.mark.parametrize(
    ("theirs", "ours", "aspect"),
    [
        (TEXT, {"anyOf": [TEXT, NULL]}, None),
        ({"anyOf": [TEXT, NULL]}, TEXT, "types"),
        (NUMBER, {"type": "number"}, None),
        ({"type": "number"}, NUMBER, "types"),
        ({"enum": ["a"], **TEXT}, {"enum": ["a", "b"], **TEXT}, None),
        ({"enum": ["a", "b"], **TEXT}, {"enum": ["a"], **TEXT}, "values"),
        (TEXT, {"enum": ["a"], **TEXT}, "values"),
        (TEXT, {"anyOf": [TEXT, {"const": "unset"}]}, None),
        ({"maximum": 100, **NUMBER}, {"maximum": 1000, **NUMBER}, None),
        ({"maximum": 100, **NUMBER}, {"maximum": 10, **NUMBER}, "maximum"),
        (NUMBER, {"minimum": 0, **NUMBER}, "minimum"),
        ({"minimum": 1, **NUMBER}, NUMBER, None),
        ({"default": 3, **NUMBER}, {"default": 4, **NUMBER}, "default"),
        ({"type": "array", "items": TEXT}, {"type": "array", "items": {"maxLength": 9, **TEXT}}, "items maxLength"),
    ],
    ids=str,
)
def test_a_request_may_be_taken_that_the_contract_does_not_have_but_not_less(
    theirs: Any, ours: Any, aspect: str | None
) -> None:
    expected = [f"ask: request name: {aspect}"] if aspect else []
    assert found(document(request={"name": theirs}), document(request={"name": ours})) == expected


@pytest.mark.parametrize(
    ("theirs", "ours", "aspect"),
    [
        ({"anyOf": [TEXT, NULL]}, TEXT, None),
        (TEXT, {"anyOf": [TEXT, NULL]}, "types"),
        ({"enum": ["a", "b"], **TEXT}, {"enum": ["a"], **TEXT}, None),
        ({"enum": ["a"], **TEXT}, {"enum": ["a", "b"], **TEXT}, "values"),
        ({"enum": ["a"], **TEXT}, TEXT, "values"),
        ({"default": "a", **TEXT}, TEXT, "required"),
        (TEXT, {"default": "a", **TEXT}, None),
    ],
    ids=str,
)
def test_an_answer_may_promise_more_but_not_be_what_no_client_expects(
    theirs: Any, ours: Any, aspect: str | None
) -> None:
    expected = [f"ask: response name: {aspect}"] if aspect else []
    assert found(document(response={"name": theirs}), document(response={"name": ours})) == expected


def test_required_differs_where_it_binds_whoever_relies_on_the_contract() -> None:
    field = {"name": TEXT}
    assert found(document(request=field), document(request=field, required=("name",))) == [
        "ask: request name: required"
    ]
    assert found(document(request=field, required=("name",)), document(request=field)) == []
    assert found(document(response=field, told=("name",)), document(response=field)) == ["ask: response name: required"]
    assert found(document(response=field), document(response=field, told=("name",))) == []


def test_what_one_of_them_lacks_is_told_once_with_all_that_is_in_it() -> None:
    inner = {"type": "array", "items": _object({"id": TEXT, "of": _object({"id": TEXT}, ())}, ("id",))}
    whole = document(request={"a": TEXT, "b": inner}, response={"c": inner}, limit=NUMBER)
    bare = document(request={"a": TEXT}, response={"d": TEXT}, offset=NUMBER)
    assert found(whole, bare) == [
        "ask: query limit: missing",
        "ask: request b: missing",
        "ask: response c: missing",
        "ask: query offset: ours",
        "ask: response d: ours",
    ]


def test_what_the_contract_leaves_open_differs_in_nothing() -> None:
    untyped = document()
    untyped["paths"]["/ask"]["post"]["responses"]["200"]["content"]["application/json"]["schema"] = {}
    assert found(untyped, document(response={"name": TEXT})) == []
    assert found(document(response={"a": {"type": "object"}}), document(response={"a": _object({"b": TEXT}, ())})) == []


def test_a_status_of_success_and_a_path_are_the_same_or_differ() -> None:
    other = document()
    told = other["paths"].pop("/ask")
    told["post"]["responses"] = {"201": told["post"]["responses"]["200"]}
    other["paths"]["/asks"] = told
    assert found(document(), other) == ["ask: path: value", "ask: statuses: value"]


def test_a_pattern_is_literal_but_for_its_stars() -> None:
    assert matches("*: request items[].tags: maxItems", "retain_memories: request items[].tags: maxItems")
    assert not matches("*: request items[].tags: maxItems", "retain_memories: request itemst.tags: maxItems")
    assert not matches("a: b: c", "a: b: cd")
