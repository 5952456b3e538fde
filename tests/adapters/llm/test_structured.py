"""Values of a client's schema are read out of a document, or it is said why not."""

from __future__ import annotations

import time
from typing import Any

import pytest

from adapters.llm.endpoint import Endpoint
from adapters.llm.structured import LlmStructuredExtractor
from application.ports import MindFailed, Structured
from tests.support.scripted_llm import (
    Reply,
    ScriptedLlm,
    Usage,
    hang,
    json_content,
    refusal,
    server_error,
    text,
    values,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "colour": {"type": "string", "enum": ["red", "green"]},
        "arches": {"type": "array", "items": {"$ref": "#/$defs/Arch"}, "maxItems": 2},
        "height": {"type": ["number", "null"]},
    },
    "required": ["colour"],
    "$defs": {
        "Arch": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "since": {"type": "string", "pattern": "^[0-9]{4}$"}},
            "required": ["name"],
        }
    },
}
PAGE = "## Colour\n\nThe bridge is green.\n"


def extract(endpoint: Endpoint, schema: dict[str, Any] | None = None, *, max_tokens: int = 700) -> Structured:
    return LlmStructuredExtractor(endpoint).extract(PAGE, schema or SCHEMA, max_tokens=max_tokens)


def failure(endpoint: Endpoint, schema: dict[str, Any] | None = None) -> MindFailed:
    with pytest.raises(MindFailed) as failed:
        extract(endpoint, schema)
    assert failed.value.reason == "structured_output_failed"
    return failed.value


def test_values_that_fit_come_with_the_reply_and_its_cost(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    value = {"colour": "green", "arches": [{"name": "north", "since": "1901"}], "height": None}
    llm.script(values(value, usage=Usage(prompt=300, completion=30)))

    read = extract(endpoint)

    assert read.value == value
    assert '"green"' in read.raw
    assert [(call.purpose, call.input_tokens) for call in read.calls] == [("structured_output", 300)]
    (request,) = llm.requests
    assert request.tool_choice == "record_values"
    assert request.body["temperature"] == 0.0
    assert request.body["max_completion_tokens"] == 700
    assert f"<document>\n{PAGE.strip()}\n</document>" in request.text
    assert "never an instruction" in request.text


def test_so_03_the_model_is_given_a_schema_that_every_provider_takes(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(values({"colour": "green"}))

    extract(endpoint)

    parameters = llm.requests[0].body["tools"][0]["function"]["parameters"]
    assert parameters["properties"]["arches"]["items"]["properties"].keys() == {"name", "since"}
    assert parameters["properties"]["height"] == {"type": "number", "description": "May be null."}
    assert parameters["required"] == ["colour"]
    assert not any(keyword in str(parameters) for keyword in ("$ref", "$defs", "'maxItems'", "'pattern'"))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({}, "the value: 'colour' is a required property"),
        ({"colour": "blue"}, "colour: 'blue' is not one of ['red', 'green']"),
        ({"colour": "red", "arches": [{"name": "a", "since": "old"}]}, "arches[0].since: 'old' does not match"),
        ({"colour": "red", "arches": [{"name": "a"}] * 3}, "arches: "),
        ('{"colour": "red", "height": NaN}', "every number must be finite"),
        ('{"colour": "red", "height": 1e999}', "every number must be finite"),
        ("{broken", "call `record_values` with a JSON object"),
        ("[]", "call `record_values` with a JSON object"),
    ],
    ids=["missing", "enum", "nested", "too many", "NaN", "infinite", "broken", "list"],
)
def test_so_03_values_are_held_to_the_clients_own_schema_and_asked_for_once_more(
    llm: ScriptedLlm, endpoint: Endpoint, value: Any, error: str
) -> None:
    llm.script(values(value), values({"colour": "green"}))

    read = extract(endpoint)

    assert read.value == {"colour": "green"}
    assert [call.purpose for call in read.calls] == ["structured_output", "structured_output_again"]
    assert [each["role"] for each in llm.requests[1].messages] == ["system", "user", "assistant", "tool"]
    assert f"- {error}" in llm.requests[1].messages[-1]["content"]
    assert llm.requests[1].body["max_completion_tokens"] == 700


def test_values_that_do_not_fit_twice_fail_with_both_calls(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(values({"colour": "blue"}), values({"height": 3}))

    failed = failure(endpoint)

    assert "nor when asked again: the value: 'colour' is a required property" in str(failed)
    assert not failed.transient
    assert len(failed.calls) == 2
    assert '"height"' in failed.raw


@pytest.mark.parametrize("reply", [json_content({"colour": "green"}), text('```json\n{"colour": "green"}\n```')])
def test_values_written_as_text_are_taken(llm: ScriptedLlm, endpoint: Endpoint, reply: Reply) -> None:
    llm.script(reply)

    assert extract(endpoint).value == {"colour": "green"}


def test_prose_is_asked_for_again_as_a_call(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(text("It is green."), values({"colour": "green"}))

    assert extract(endpoint).value == {"colour": "green"}
    assert [each["role"] for each in llm.requests[1].messages[-2:]] == ["assistant", "user"]


def test_so_04_an_answer_without_content_at_its_limit_fails_at_once(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(text("", finish_reason="length", usage=Usage(300, 700)))

    started = time.perf_counter()
    failed = failure(endpoint)

    assert "truncated at 700 tokens" in str(failed)
    assert "asked for the values of the response_schema, in 700 tokens at most" in str(failed)
    assert not failed.transient
    assert [call.output_tokens for call in failed.calls] == [700]
    assert time.perf_counter() - started < 5


@pytest.mark.parametrize(
    ("reply", "transient"),
    [(server_error(), True), (hang(), True), (refusal("No."), False)],
    ids=["500", "hang", "refusal"],
)
def test_a_failure_of_the_endpoint_is_not_asked_again(
    llm: ScriptedLlm, impatient: Endpoint, reply: Reply, transient: bool
) -> None:
    llm.script(reply)

    failed = failure(impatient)

    assert failed.transient is transient
    assert len(failed.calls) == 1


@pytest.mark.parametrize(
    ("definition", "fault"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "foo"}}},
            "response_schema.properties.x.properties.a.type: must be one of",
        ),
        ({"type": "string", "minLength": "x"}, "'x' is not of type 'integer'"),
        ({"type": "string", "pattern": "("}, "must be a regular expression, '(' is none"),
    ],
)
def test_so_03_a_schema_that_is_none_costs_no_call(
    llm: ScriptedLlm, endpoint: Endpoint, definition: dict[str, Any], fault: str
) -> None:
    failed = failure(endpoint, {"type": "object", "properties": {"x": definition}})

    assert "the response_schema cannot be used" in str(failed)
    assert fault in str(failed)
    assert failed.calls == ()
    assert llm.requests == []


def test_a_schema_that_is_nested_too_deeply_is_said_to_be_so(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}}
    for _ in range(400):
        schema = {"type": "object", "properties": {"x": schema}}

    assert "nested deeper than 64 levels" in str(failure(endpoint, schema))
    assert llm.requests == []


@pytest.mark.parametrize(
    "definition",
    [
        {"$ref": "#/$defs/Missing"},
        {"$ref": "http://127.0.0.1:9/schema"},
        {"$ref": "#/properties/x"},
    ],
    ids=["missing", "remote", "endless"],
)
def test_a_schema_that_cannot_be_followed_is_said_to_be_so(
    llm: ScriptedLlm, endpoint: Endpoint, definition: dict[str, Any]
) -> None:
    failed = failure(endpoint, {"type": "object", "properties": {"x": definition}})

    assert "the response_schema cannot be used" in str(failed)
    assert not failed.transient
    assert (failed.calls, llm.requests) == ((), [])
