"""Reports from the field about the structured view of a page: failures that looked like nothing, and schemas that
broke what used them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support import scripted_llm as script
from tests.support.rest import assert_refused
from tests.support.scripted_llm import Reply
from tests.support.scripted_pages import PAGE, Page, lists_what_it_found, recalls, scripted_service, writes

COUNTED = {"type": "object", "properties": {"bridges": {"type": "integer"}}}
REQUIRED = {**COUNTED, "required": ["bridges"]}


def with_view(page: Page, schema: dict[str, Any], *replies: Reply) -> Any:
    """The page in full mode, of one fact, with a structured view of it."""
    page.learns("Ada built two bridges.")
    page.llm.script(recalls(), lists_what_it_found, *replies)
    page.bank.model("page", trigger={"response_schema": schema})
    return page.now


FAILING: dict[str, list[Reply]] = {
    "the server fails": [script.server_error()],
    "the model refuses": [script.refusal("no")],
    "no completion": [script.wrong_shape()],
    "broken JSON twice": [script.values('{"bridges": '), script.values("bridges: 2")],
    "text twice": [script.text("Two bridges."), script.text("Two, as I said.")],
    "values that do not fit twice": [script.values({"bridges": "two"}), script.values({"bridges": 2.5})],
    "a list twice": [script.values("[1]"), script.values("[]")],
    "null twice": [script.values("null"), script.text("null")],
    "nothing of what is required twice": [script.values({}), script.values({"bridges": None})],
}


@pytest.mark.parametrize("case", FAILING)
def test_so_01_a_view_that_cannot_be_had_is_an_error(page: Page, case: str) -> None:
    before = with_view(page, REQUIRED, script.values({"bridges": 2}))
    assert before["reflect_response"]["structured_output"] == {"bridges": 2}
    operation = page.refreshes(recalls(), writes("Ada built bridges."), *FAILING[case])
    assert operation["status"] == "failed"
    assert operation["details"]["outcome"] == "refresh_failed_structured_output"
    assert operation["details"]["failure_reason"] == "structured_output_failed"
    assert operation["error_message"]
    now = page.now
    assert now["content"] == before["content"]
    assert now["reflect_response"]["structured_output"] == {"bridges": 2}, "the view of the text that was kept"
    assert now["reflect_response"]["refresh_skipped"] == "structured_output_failed"
    assert page.history[0]["failure_reason"] == "structured_output_failed"
    operation = page.refreshes(recalls(), writes("Ada built bridges."), script.values({"bridges": 3}))
    assert operation["status"] == "completed"
    assert page.now["reflect_response"]["structured_output"] == {"bridges": 3}


@pytest.mark.parametrize("empty", [{}, {"bridges": 0}])
def test_so_01_a_view_with_nothing_in_it_is_a_view(page: Page, empty: dict[str, Any]) -> None:
    now = with_view(page, COUNTED, script.values(empty))
    assert now["reflect_response"]["structured_output"] == empty
    assert "refresh_skipped" not in now["reflect_response"]
    assert "last_refresh_failed_at" not in now
    assert page.record["structured_output"] == empty


def test_so_01_a_view_is_read_again_when_the_schema_changes_and_only_then(page: Page) -> None:
    with_view(page, COUNTED, script.values({"bridges": 2}))
    page.refreshes(recalls(), lists_what_it_found)
    assert page.now["reflect_response"]["structured_output"] == {"bridges": 2}
    renamed = {"type": "object", "properties": {"built": {"type": "integer"}}}
    page.bank.patch(PAGE, {"trigger": {"response_schema": renamed}})
    page.refreshes(recalls(), lists_what_it_found, script.values({"built": 2}))
    assert page.now["reflect_response"]["structured_output"] == {"built": 2}


def object_of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


REFUSED: dict[str, Any] = {
    "no properties": {"type": "object"},
    "empty properties": {"type": "object", "properties": {}},
    "a list as root": {"type": "array", "items": {"type": "string"}},
    "a text as root": {"type": "string"},
    "an unknown type": object_of(when={"type": "date"}),
    "an unknown type inside": object_of(people={"type": "array", "items": {"type": "person"}}),
    "a property that is no schema": object_of(name="string"),
    "a required name that is no property": {**object_of(name={"type": "string"}), "required": ["nome"]},
    "a reference to nothing": object_of(person={"$ref": "#/$defs/Person"}),
    "a reference to elsewhere": object_of(person={"$ref": "https://example.com/person.json"}),
    "an enumeration of nothing": object_of(kind={"enum": []}),
    "a pattern that is none": object_of(code={"type": "string", "pattern": "("}),
    "a limit that is none": object_of(names={"type": "array", "maxItems": -1}),
    "a list": [],
    "a text": "object",
}


@pytest.mark.parametrize("case", REFUSED)
def test_so_03_a_schema_that_cannot_be_used_is_refused_when_it_is_given(page: Page, case: str) -> None:
    model = {"id": "page", "name": "Page", "source_query": "Who?"}
    trigger = {"response_schema": REFUSED[case]}
    assert_refused(page.bank.ask("POST", "/mental-models", json={**model, "trigger": trigger}), 422, "response_schema")
    page.begins("A page.\n")
    assert_refused(page.bank.ask("PATCH", PAGE, json={"trigger": trigger}), 422, "response_schema")
    assert "response_schema" not in page.now["trigger"]


PERSON = {"type": "object", "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/$defs/Person"}}}
TAKEN: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "no type at the root": ({"properties": {"n": {"type": "integer"}}}, {"n": 1}, {"n": "one"}),
    "objects in each other": (
        object_of(a=object_of(b=object_of(c={"type": "boolean"}))),
        {"a": {"b": {"c": True}}},
        {"a": {"b": {"c": "yes"}}},
    ),
    "definitions that refer to themselves": (
        {**object_of(person={"$ref": "#/$defs/Person"}), "$defs": {"Person": PERSON}},
        {"person": {"name": "Ada", "boss": {"name": "Bob", "boss": {"name": "Cid", "boss": {"name": "Dot"}}}}},
        {"person": {"name": "Ada", "boss": {"name": 7}}},
    ),
    "a reference with a description": (
        {**object_of(person={"$ref": "#/$defs/P", "description": "Who did it."}), "$defs": {"P": object_of(n={})}},
        {"person": {"n": 1}},
        {"person": 1},
    ),
    "an enumeration": (object_of(kind={"enum": ["arch", "beam", 3, None]}), {"kind": "arch"}, {"kind": "other"}),
    "a list without items": (object_of(names={"type": "array"}), {"names": ["Ada", 2]}, {"names": "Ada"}),
    "a nullable type": (object_of(name={"type": ["string", "null"]}), {"name": None}, {"name": 1}),
    "a choice with null": (
        object_of(name={"anyOf": [{"type": "string"}, {"type": "null"}]}),
        {"name": None},
        {"name": []},
    ),
    "the most items": (
        object_of(names={"type": "array", "items": {"type": "string"}, "maxItems": 2}),
        {"names": ["Ada", "Bob"]},
        {"names": ["Ada", "Bob", "Cid"]},
    ),
    "a closed object with a format": (
        {**object_of(at={"type": "string", "format": "date"}), "additionalProperties": False},
        {"at": "2026-07-17"},
        {"at": "2026-07-17", "by": "Ada"},
    ),
}
NOT_EVERYWHERE = {"$ref", "$defs", "maxItems", "format", "additionalProperties", "allOf", "oneOf"}


def keywords(schema: Any) -> set[str]:
    """Of a schema and all in it; names of properties are none."""
    if isinstance(schema, list):
        return {word for each in schema for word in keywords(each)}
    if not isinstance(schema, dict):
        return set()
    inner = [*schema.get("properties", {}).values(), *(value for key, value in schema.items() if key != "properties")]
    return schema.keys() | {word for each in inner for word in keywords(each)}


@pytest.mark.parametrize("case", TAKEN)
def test_so_03_a_schema_is_kept_as_given_and_sent_in_a_form_that_every_provider_takes(page: Page, case: str) -> None:
    schema, fits, does_not = TAKEN[case]
    now = with_view(page, schema, script.values(does_not), script.values(fits))
    assert now["trigger"]["response_schema"] == schema
    assert now["reflect_response"]["structured_output"] == fits
    (tool,) = page.chats[-1].body["tools"]
    sent = tool["function"]["parameters"]
    assert sent["type"] == "object"
    assert sent["properties"].keys() == schema["properties"].keys()
    assert not keywords(sent) & NOT_EVERYWHERE
    assert all(not isinstance(each, list) for each in types_in(sent))
    assert "Call the tool again" in page.chats[-1].text or "record_values" in page.chats[-1].text


def types_in(schema: Any) -> list[Any]:
    """The value of each `type` in a schema."""
    if isinstance(schema, list):
        return [kind for each in schema for kind in types_in(each)]
    if not isinstance(schema, dict):
        return []
    own = [schema["type"]] if isinstance(schema.get("type"), (str, list)) else []
    return own + [kind for key, each in schema.items() if key != "type" for kind in types_in(each)]


@pytest.mark.parametrize("content", ["", '{"bridges": '])
def test_so_04_a_view_cut_off_by_its_token_limit_is_an_error_that_says_so(page: Page, content: str) -> None:
    before = with_view(page, REQUIRED, script.values({"bridges": 2}))
    asked = len(page.chats)
    operation = page.refreshes(recalls(), writes("A new text."), script.text(content, finish_reason="length"))
    assert operation["details"]["outcome"] == "refresh_failed_structured_output"
    assert "truncated" in operation["error_message"]
    assert "response_schema" in operation["error_message"]
    assert len(page.chats) == asked + 3, "what was cut is not asked for again in the same words"
    assert page.now["content"] == before["content"]
    assert page.record["candidate"].strip() == "## Ada\n\nA new text.", "the text it came to is not lost"
    assert page.chats[-1].body["max_completion_tokens"] == before["max_tokens"]


def test_so_04_a_view_that_never_comes_ends_within_the_time_limit(conninfo: str) -> None:
    with scripted_service(conninfo, llm_timeout_seconds=0.5) as service:
        page = service.page()
        before = with_view(page, REQUIRED, script.values({"bridges": 2}))
        began = time.monotonic()
        operation = page.refreshes(recalls(), writes("A new text."), script.hang())
        assert operation["details"]["outcome"] == "refresh_failed_structured_output"
        assert "0.5 s" in operation["error_message"]
        assert time.monotonic() - began < 10
        assert page.content == before["content"]
