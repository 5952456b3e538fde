"""Cases of the field about MCP: what users of the system of reference met, and what is right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from domain.mental_model.trigger import Trigger
from tests.support.mcp_tools import McpTools, over_http

WHOLE_TRIGGER: dict[str, Any] = {
    "mode": "delta",
    "budget": "high",
    "refresh_after_consolidation": False,
    "refresh_cron": "0 6 * * *",
    "full_refresh_cron": "0 3 * * 0",
    "min_refresh_interval_seconds": 60,
    "fact_types": ["world"],
    "exclude_mental_models": True,
    "exclude_mental_model_ids": ["other"],
    "tags_match": "all_strict",
    "tag_groups": [{"or": [{"tags": ["a"], "match": "any"}, {"not": {"tags": ["b"]}}]}],
    "include_chunks": False,
    "recall_max_tokens": 1000,
    "recall_chunks_max_tokens": 500,
    "reflect_search_observations_max_tokens": 700,
    "reflect_search_observations_include_entities": False,
    "response_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    "keep_trace": True,
}


@pytest.fixture(scope="module")
def connection(address: str) -> Iterator[McpTools]:
    with over_http(address) as tools:
        yield tools


@pytest.fixture
def tools(connection: McpTools) -> McpTools:
    return connection.of(f"bank-{uuid4().hex[:12]}")


def created(tools: McpTools, **fields: Any) -> None:
    """A mental model 'ada', written once."""
    body = {"mental_model_id": "ada", "name": "Ada", "source_query": "What is known about Ada?", **fields}
    tools.finished(tools.call("create_mental_model", **body)["operation_id"])


def trigger_of(tools: McpTools) -> Any:
    return tools.call("get_mental_model", mental_model_id="ada")["trigger"]


# --- MC-01 ------------------------------------------------------------------------------------------------------------


def test_every_field_of_a_trigger_can_be_set_when_a_mental_model_is_created(tools: McpTools) -> None:
    """MC-01."""
    assert WHOLE_TRIGGER.keys() == Trigger.model_fields.keys()
    created(tools, trigger=WHOLE_TRIGGER)
    told = trigger_of(tools)
    groups = told.pop("tag_groups")
    assert told == {name: value for name, value in WHOLE_TRIGGER.items() if name != "tag_groups"}
    assert groups[0]["or"][0]["tags"] == ["a"]


def test_a_change_of_one_field_leaves_the_others_of_the_trigger_and_null_clears_one(tools: McpTools) -> None:
    """MC-01."""
    created(tools, tags=["a"], max_tokens=500, trigger=WHOLE_TRIGGER)
    before = tools.call("get_mental_model", mental_model_id="ada")

    renamed = tools.call("update_mental_model", mental_model_id="ada", name="Countess")
    kept = ("trigger", "tags", "max_tokens", "source_query", "content")
    assert [renamed[name] for name in kept] == [before[name] for name in kept]

    tools.call("update_mental_model", mental_model_id="ada", trigger={"mode": "full", "fact_types": None})
    assert trigger_of(tools) == {name: value for name, value in before["trigger"].items() if name != "fact_types"} | {
        "mode": "full"
    }

    tools.call("update_mental_model", mental_model_id="ada", tags=[])
    assert tools.call("get_mental_model", mental_model_id="ada")["tags"] == []


def test_older_names_of_trigger_fields_change_these_alone(tools: McpTools) -> None:
    """MC-01."""
    created(tools, tags_match="all", trigger_refresh_after_consolidation=True, trigger={"mode": "delta"})
    told = trigger_of(tools)
    assert (told["tags_match"], told["refresh_after_consolidation"], told["mode"]) == ("all", True, "delta")
    tools.call("update_mental_model", mental_model_id="ada", tags_match="exact")
    assert trigger_of(tools) == told | {"tags_match": "exact"}
    tools.call("update_mental_model", mental_model_id="ada", tags_match="any", trigger={"tags_match": "all_strict"})
    assert trigger_of(tools)["tags_match"] == "all_strict"


def test_the_trigger_is_documented_and_what_it_does_not_have_is_named(tools: McpTools) -> None:
    """MC-01."""
    listed = tools.listed()
    for name in ("create_mental_model", "update_mental_model", "create_knowledge_page", "update_knowledge_node"):
        schema = listed[name].input_schema
        trigger = schema["$defs"]["TriggerArgument"]
        assert trigger["properties"].keys() == Trigger.model_fields.keys()
        assert all(each["description"] and "default" not in each for each in trigger["properties"].values())
        assert "required" not in trigger
        assert "trigger" in str(listed[name].description)
    refused = tools.refused("create_mental_model", name="Ada", source_query="Who?", trigger={"cron": "0 6 * * *"})
    assert "trigger.cron" in refused
    refused = tools.refused("create_mental_model", name="Ada", source_query="Who?", trigger={"refresh_cron": "daily"})
    assert "five fields" in refused


# --- KP-07 ------------------------------------------------------------------------------------------------------------


def test_a_page_that_finds_nothing_says_why_and_can_be_told_to_read_all_facts(tools: McpTools) -> None:
    """KP-07: a bank without observations, which are all that a page reads unless its trigger says otherwise."""
    tools.call("sync_retain", content="Ada Lovelace works at Acme.")
    page = tools.call("create_knowledge_page", name="Ada", source_query="What is known about Ada?")
    ended = tools.finished(page["operation_id"])
    assert ended["status"] == "completed"
    assert ended["details"]["outcome"] == "content_preserved_no_new_facts"
    assert not tools.call("get_knowledge_page", page_id=page["page_id"])["body"]
    explained = tools.call("dry_run_refresh_mental_model", mental_model_id=page["mental_model_id"])
    assert explained["scope"]["fact_types"] == ["observation"]
    assert explained["facts"]["retrieved"] == {}

    before = tools.call("get_mental_model", mental_model_id=page["mental_model_id"])["trigger"]
    tools.call("update_knowledge_node", node_id=page["page_id"], trigger={"fact_types": None})
    after = tools.call("get_mental_model", mental_model_id=page["mental_model_id"])["trigger"]
    assert after == {name: value for name, value in before.items() if name != "fact_types"}
    asked = tools.call("refresh_mental_model", mental_model_id=page["mental_model_id"])
    assert tools.finished(asked["operation_id"])["details"]["outcome"] == "content_written"
    assert "Acme" in tools.call("get_knowledge_page", page_id=page["page_id"])["body"]


def test_every_field_of_a_trigger_can_be_set_on_a_page_and_the_rest_of_the_default_stays(tools: McpTools) -> None:
    """KP-07, MC-01."""
    page = tools.call("create_knowledge_page", name="Ada", source_query="Who is Ada?", trigger={"keep_trace": True})
    told = tools.call("get_mental_model", mental_model_id=page["mental_model_id"])["trigger"]
    assert (told["mode"], told["fact_types"], told["keep_trace"]) == ("delta", ["observation"], True)
    assert told["refresh_after_consolidation"] is True
    tools.call("update_knowledge_node", node_id=page["page_id"], trigger=WHOLE_TRIGGER)
    changed = tools.call("get_mental_model", mental_model_id=page["mental_model_id"])["trigger"]
    groups = changed.pop("tag_groups")
    assert changed == {name: value for name, value in WHOLE_TRIGGER.items() if name != "tag_groups"}
    assert groups
    tools.call("update_knowledge_node", node_id=page["page_id"], refresh_after_consolidation=True)
    changed = tools.call("get_mental_model", mental_model_id=page["mental_model_id"])["trigger"]
    assert changed["refresh_after_consolidation"] is True
    assert "refresh_cron" not in changed


# --- MC-02 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["retain", "sync_retain"])
def test_what_is_retained_later_has_all_options_that_are_taken(tools: McpTools, name: str) -> None:
    """MC-02."""
    strategies = {"word for word": {"retain_extraction_mode": "chunks"}}
    tools.call("sync_retain", content="Something.")
    tools.call("update_bank", config_updates={"retain_strategies": strategies})

    def retain(content: str, **options: Any) -> None:
        told = tools.call(name, content=content, document_id="talk", **options)
        if name == "retain":
            assert tools.finished(told["operation_id"])["status"] == "completed"

    retain("Ada keeps bees.")
    retain(
        "Yes! Ada keeps wasps. Really.",
        update_mode="append",
        strategy="word for word",
        context="a talk",
        timestamp="2024-05-06T07:08:09Z",
        tags=["hobby"],
        metadata={"by": "Bob"},
        entities=["Ada Lovelace"],
    )
    found = {each["text"]: each for each in tools.call("recall", query="Ada keeps bees and wasps")["results"]}
    assert "Ada keeps bees." in found
    (whole,) = (each for text, each in found.items() if "wasps" in text)
    assert "Yes!" in whole["text"]
    assert whole["context"] == "a talk"
    assert whole["mentioned_at"] == "2024-05-06T07:08:09+00:00"
    assert whole["tags"] == ["hobby"]
    assert whole["metadata"] == {"by": "Bob"}
    assert "Ada Lovelace" in whole["entities"]


def test_both_ways_of_retaining_take_the_same_options(tools: McpTools) -> None:
    """MC-02."""
    listed = tools.listed()
    assert listed["retain"].input_schema == listed["sync_retain"].input_schema


# --- MC-03 ------------------------------------------------------------------------------------------------------------


def test_answers_come_without_traces_and_sources_unless_they_are_asked_for(tools: McpTools) -> None:
    """MC-03."""
    tools.call("sync_retain", content="Ada Lovelace keeps bees in Turin.")
    lean = tools.call("reflect", query="What does Ada keep?")
    assert lean.keys() == {"text", "answer_found"}
    full = tools.call("reflect", query="What does Ada keep?", include_based_on=True, include_trace=True)
    assert full["based_on"]["memories"]
    assert full["trace"]["tool_calls"]
    assert tools.call("recall", query="bees").keys() == {"results"}
    more = tools.call("recall", query="bees", include_chunks=True, include_entities=True, include_source_facts=True)
    assert {"results", "chunks", "entities"} <= more.keys()


def test_lists_have_no_content_and_a_mental_model_not_all_it_was_made_of(tools: McpTools) -> None:
    """MC-03."""
    tools.call("sync_retain", content="Ada Lovelace keeps bees in Turin.")
    created(tools)
    (listed,) = tools.call("list_mental_models")["items"]
    assert listed.keys().isdisjoint({"content", "trigger", "source_query", "reflect_response"})
    assert "is_stale" in listed
    told = tools.call("get_mental_model", mental_model_id="ada")
    assert {"content", "trigger", "is_stale"} <= told.keys()
    assert "reflect_response" not in told
    assert "content" not in tools.call("get_mental_model", mental_model_id="ada", detail="metadata")


# --- AC-03, AC-05 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_bank", {}),
        ("get_bank_stats", {}),
        ("update_bank", {"config_updates": {"retain_chunk_size": 500}}),
        ("update_bank", {"name": "Nope"}),
        ("list_mental_models", {}),
        ("dry_run_refresh_mental_model", {"mental_model_id": "ada"}),
        ("delete_bank", {}),
        ("recall", {"query": "bees"}),
        ("reflect", {"query": "bees?"}),
    ],
)
def test_a_bank_that_is_not_there_is_neither_read_nor_made(
    tools: McpTools, name: str, arguments: dict[str, Any]
) -> None:
    """AC-03: get_bank of the system of reference made the bank."""
    assert str(tools.bank_id) in tools.refused(name, **arguments)
    assert tools.of(str(tools.bank_id)).refused("get_bank")


@pytest.mark.parametrize(
    "document_id",
    ["folder/file.md", "a%2Fb", "a b", "x#y", "agent::chan::u", "q?x=1", "..", ".", "%", "名前", "a/chunks"],
)
def test_ids_of_documents_come_back_as_they_were_given(tools: McpTools, document_id: str) -> None:
    """AC-05."""
    tools.call("sync_retain", content="Ada keeps bees.", document_id=document_id)
    assert tools.call("get_document", document_id=document_id)["id"] == document_id
    assert tools.call("list_memories", document_id=document_id)["total"] == 1
    assert tools.call("delete_document", document_id=document_id)["document_id"] == document_id
    assert tools.call("list_documents")["total"] == 0


@pytest.mark.parametrize("bank_id", ["a b", "a%2Fb", "x#y?z=1", "agent::chan", "名前"])
def test_ids_of_banks_come_back_as_they_were_given(connection: McpTools, bank_id: str) -> None:
    """AC-05."""
    bank_id = f"{bank_id}-{uuid4().hex[:8]}"
    connection.of(bank_id).call("sync_retain", content="Ada keeps bees.")
    assert connection.of(bank_id).call("get_bank")["bank_id"] == bank_id
    connection.of(bank_id).call("delete_bank")


@pytest.mark.parametrize("bank_id", ["..", ".", "a/b", "a\x00b", " a"])
def test_what_cannot_be_the_id_of_a_bank_is_refused(connection: McpTools, bank_id: str) -> None:
    """AC-05."""
    assert connection.of(bank_id).refused("sync_retain", content="Ada keeps bees.")


def test_an_id_of_dots_is_no_way_up_to_another_resource(tools: McpTools) -> None:
    """AC-05: taken for the way up, the deletion of `..` would be that of the bank."""
    tools.call("sync_retain", content="Ada keeps bees.")
    for name, argument in (
        ("delete_mental_model", "mental_model_id"),
        ("delete_document", "document_id"),
        ("delete_directive", "directive_id"),
        ("cancel_operation", "operation_id"),
        ("delete_operation", "operation_id"),
        ("get_memory", "memory_id"),
    ):
        for dots in (".", ".."):
            assert tools.refused(name, **{argument: dots})
    assert tools.call("list_memories")["total"] == 1
    assert tools.call("get_bank")["bank_id"] == tools.bank_id


# --- the same service over REST ---------------------------------------------------------------------------------------


def test_a_tool_and_the_request_behind_it_are_refused_in_the_same_words(tools: McpTools, client: httpx.Client) -> None:
    """MC-04: no tool has a way of its own past what REST decides."""
    tools.call("sync_retain", content="Ada keeps bees.")
    path = f"/v1/default/banks/{tools.bank_id}"
    told = client.get(f"{path}/mental-models/none").json()["detail"]
    assert tools.refused("get_mental_model", mental_model_id="none") == told
    told = client.patch(f"{path}/config", json={"updates": {"nonsense": 1}}).json()["detail"]
    assert tools.refused("update_bank", config_updates={"nonsense": 1}) == told
