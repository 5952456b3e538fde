"""How a tool reads its arguments, and what it sends for them."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from adapters.api_client import AsyncApi, bank_path
from adapters.mcp.call import Call
from adapters.mcp.catalogue import ALL
from adapters.mcp.tool import READS, Tool, Tools, WrongArguments
from adapters.mcp.trigger import TOLD, TriggerArgument, trigger_body
from domain.mental_model.trigger import Trigger

TOOLS = Tools()


@TOOLS.tool("An example", READS)
async def example(
    call: Call,
    name: Annotated[str, Field(min_length=1)],
    tags: list[str] | None = None,
    scopes: Literal["combined"] | list[list[str]] | None = None,
    limit: int = 10,
    title: Annotated[str | None, Field(description="What it is called.")] = None,
    trigger: TriggerArgument | None = None,
) -> Any:
    """Does something.  It has
    two sentences."""
    return {
        "bank": call.bank_id,
        "name": name,
        "tags": tags,
        "scopes": scopes,
        "limit": limit,
        "title": title,
        "trigger": trigger_body(trigger),
    }


(EXAMPLE,) = TOOLS.all


def run(tool: Tool = EXAMPLE, **arguments: Any) -> Any:
    async def call() -> Any:
        async with AsyncApi() as api:
            return await tool.run(Call(api, "team"), arguments)

    return asyncio.run(call())


def refused(**arguments: Any) -> str:
    with pytest.raises(WrongArguments) as wrong:
        run(**arguments)
    return str(wrong.value)


def test_what_is_left_out_has_its_default_and_null_is_as_left_out() -> None:
    told = {"bank": "team", "name": "a", "tags": None, "scopes": None, "limit": 10, "title": None, "trigger": None}
    assert run(name="a") == told
    assert run(name="a", tags=None, limit=None, title=None, trigger=None) == told


def test_a_list_or_an_object_may_come_as_its_json_and_a_text_stays_as_it_is() -> None:
    assert run(name="a", tags='["x"]')["tags"] == ["x"]
    assert run(name="a", trigger='{"mode": "delta"}')["trigger"] == {"mode": "delta"}
    assert run(name='["x"]', title='{"a": 1}')["name"] == '["x"]'
    assert run(name="a", scopes="combined")["scopes"] == "combined"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "a", "wait": 1}, "example takes no argument 'wait'; it takes name, tags, scopes, limit, title, trig"),
        ({}, "name: is missing"),
        ({"name": ""}, "name: String should have at least 1 character"),
        ({"name": "a", "limit": "many"}, "limit: Input should be a valid integer"),
        ({"name": "a", "tags": "x"}, "tags: Input should be a valid list"),
        ({"name": "a", "tags": "[" * 100_000}, "tags: Input should be a valid list"),
        ({"name": "a", "trigger": {"cron": "* * * * *"}}, "trigger.cron: there is no such field"),
        ({"name": "a", "trigger": {"refresh_cron": "daily"}}, "trigger.refresh_cron: 'daily' is not a cron expression"),
    ],
)  # fmt: skip
def test_each_wrong_argument_is_named_with_what_is_wrong(arguments: dict[str, Any], words: str) -> None:
    assert words in refused(**arguments)


def test_every_wrong_argument_is_told() -> None:
    told = refused(limit="many", wait=True)
    assert told.count(";") >= 2
    assert all(word in told for word in ("name", "limit", "wait"))


def test_the_schema_is_as_short_as_it_can_be() -> None:
    schema = EXAMPLE.schema(with_bank=False)
    properties = schema["properties"]
    assert properties["name"] == {"type": "string", "minLength": 1}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}}
    assert properties["limit"] == {"type": "integer", "default": 10}
    assert properties["title"] == {"type": "string", "description": "What it is called."}
    assert len(properties["scopes"]["anyOf"]) == 2
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert EXAMPLE.description == "Does something. It has two sentences."
    assert EXAMPLE.schema(with_bank=True)["properties"].keys() == {*properties, "bank_id"}
    assert EXAMPLE.schema(with_bank=False)["properties"].keys() == set(properties)


def test_every_field_of_a_trigger_is_told_of() -> None:
    assert TOLD.keys() == Trigger.model_fields.keys()


def test_only_fields_of_a_trigger_that_are_named_are_sent_null_among_them() -> None:
    group = {"tags": ["a"], "match": "all"}
    trigger = TriggerArgument.model_validate({"fact_types": None, "tag_groups": [{"not": group}]})
    assert trigger_body(trigger) == {"fact_types": None, "tag_groups": [{"not": group}]}
    assert trigger_body(trigger, tags_match="any") == {**trigger_body(trigger), "tags_match": "any"}  # type: ignore[dict-item]
    named = TriggerArgument.model_validate({"tags_match": "exact"})
    assert trigger_body(named, tags_match="any", refresh_after_consolidation=None) == {"tags_match": "exact"}
    assert trigger_body(None, tags_match=None) is None


def test_no_schema_is_larger_than_it_has_to_be() -> None:
    """All of them are read by a model before each conversation."""
    assert all("title" not in str(tool.schema(with_bank=True).keys()) for tool in ALL.values())
    for tool in ALL.values():
        assert len(tool.description) < 500, tool.name


@pytest.mark.parametrize(
    ("ids", "path"),
    [
        (("team", "documents", "a/b"), "/team/documents/a%2Fb"),
        (("team", "documents", ".."), "/team/documents/%2E%2E"),
        (("..", "config"), "/%2E%2E/config"),
        ((".", "documents", "..."), "/%2E/documents/%2E%2E%2E"),
        (("a.b", "documents", "x.md"), "/a.b/documents/x.md"),
        (("a?b#c%", ""), "/a%3Fb%23c%25/"),
    ],
)
def test_an_id_is_one_part_of_a_path_whatever_it_is_made_of(ids: tuple[str, ...], path: str) -> None:
    assert bank_path(*ids) == f"/v1/default/banks{path}"
