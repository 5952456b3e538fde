"""The tools of MCP from end to end, over both transports: what an agent does with a memory and its documents."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from adapters.mcp.catalogue import ALL
from tests.support.mcp_tools import TRANSPORTS, McpTools


@pytest.fixture(scope="module", params=TRANSPORTS)
def connection(request: pytest.FixtureRequest, address: str) -> Iterator[McpTools]:
    with TRANSPORTS[request.param](address) as tools:
        yield tools


@pytest.fixture
def tools(connection: McpTools) -> McpTools:
    """In a bank of the test's own."""
    return connection.of(f"bank-{uuid4().hex[:12]}")


@pytest.fixture
def ada(tools: McpTools) -> McpTools:
    """With a mental model, written on one fact."""
    tools.call("sync_retain", content="Ada Lovelace works at Acme.")
    created = tools.call(
        "create_mental_model", name="Ada", source_query="What is known about Ada?", mental_model_id="ada"
    )
    assert created["mental_model_id"] == "ada"
    assert tools.finished(created["operation_id"])["status"] == "completed"
    return tools


def test_every_tool_is_listed_with_its_arguments_and_what_it_does(connection: McpTools) -> None:
    listed = connection.listed()
    assert listed.keys() == ALL.keys()
    for name, tool in listed.items():
        annotations = tool.annotations
        assert annotations is not None
        assert annotations.open_world_hint is False
        assert tool.title
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        reads = name.startswith(("get_", "list_", "search_", "recall", "reflect", "diff_", "blame_", "dry_", "export_"))
        destroys = name.startswith(("delete_", "clear_", "invalidate_", "revert_"))
        assert (annotations.read_only_hint, annotations.destructive_hint) == (reads, destroys), name
    recall = listed["recall"].input_schema
    assert recall["required"] == ["query"]
    assert recall["properties"]["max_tokens"]["default"] == 4096
    assert recall["properties"]["budget"]["enum"] == ["low", "mid", "high"]
    assert "bank_id" in recall["properties"]


def test_a_document_is_created_refreshed_read_and_explained(ada: McpTools) -> None:
    first = ada.call("get_mental_model", mental_model_id="ada")
    assert "Acme" in first["content"]
    assert first["is_stale"] is False
    assert "reflect_response" not in first

    ada.call("sync_retain", content="Ada Lovelace moved to Turin.")
    (listed,) = ada.call("list_mental_models")["items"]
    assert listed["is_stale"] is True
    assert "content" not in listed
    preview = ada.call("dry_run_refresh_mental_model", mental_model_id="ada")
    assert "Turin" in preview["diff"]
    assert preview.keys().isdisjoint({"trace", "based_on"})
    explained = ada.call(
        "dry_run_refresh_mental_model", mental_model_id="ada", include_trace=True, include_based_on=True
    )
    assert explained["trace"]["tool_calls"]
    assert explained["based_on"]
    assert ada.call("get_mental_model", mental_model_id="ada")["content"] == first["content"]

    asked = ada.call("refresh_mental_model", mental_model_id="ada", mode="full")
    assert ada.finished(asked["operation_id"])["details"]["outcome"] == "content_written"
    second = ada.call("get_mental_model", mental_model_id="ada", detail="full")
    assert "Turin" in second["content"]
    assert second["reflect_response"]["based_on"]

    assert ada.call("get_mental_model", mental_model_id="ada", version=2)["content"] == first["content"]
    assert ada.call("get_mental_model", mental_model_id="ada", as_of="2")["content"] == first["content"]
    assert "give one of them" in ada.refused("get_mental_model", mental_model_id="ada", version=2, as_of="2")
    history = ada.call("get_mental_model_history", mental_model_id="ada", limit=1)
    assert history["total"] == 2
    assert [each["previous_content"] for each in history["items"]] == [first["content"]]
    assert "previous_reflect_response" not in history["items"][0]
    assert "+" in ada.call("diff_mental_model", mental_model_id="ada", from_version=2, to_version=3)["diff"]
    pieces = ada.call("blame_mental_model", mental_model_id="ada")["pieces"]
    assert any(fact["text"] == "Ada Lovelace moved to Turin." for piece in pieces for fact in piece["facts"])
    events = ada.call("list_mental_model_events", mental_model_id="ada")["items"]
    assert [each["version"] for each in events] == [1, 2, 3]

    assert ada.call("revert_mental_model", mental_model_id="ada", version=2)["content"] == first["content"]
    assert ada.call("clear_mental_model", mental_model_id="ada")["content"] == ""
    assert ada.call("delete_mental_model", mental_model_id="ada") == {"status": "deleted"}
    assert "ada" in ada.refused("get_mental_model", mental_model_id="ada")


def test_a_knowledge_base_is_built_read_moved_and_taken_down(tools: McpTools) -> None:
    tools.call("sync_retain", content="Ada Lovelace works at Acme.")
    folder = tools.call("create_knowledge_folder", name="People")["id"]
    page = tools.call(
        "create_knowledge_page",
        name="Ada",
        source_query="What is known about Ada?",
        parent_id=folder,
        max_tokens=500,
        trigger={"fact_types": ["world"]},
    )
    assert tools.finished(page["operation_id"])["status"] == "completed"
    read = tools.call("get_knowledge_page", page_id=page["page_id"])
    assert "Acme" in read["body"]
    assert "markdown" not in read
    (found,) = tools.call("search_knowledge_base", query="Acme")["results"]
    assert found["id"] == page["page_id"]
    assert "highlights" not in found

    (root,) = tools.call("get_knowledge_base_tree")["roots"]
    (listed,) = root["children"]
    assert (root["name"], listed["name"], listed["is_stale"]) == ("People", "Ada", False)
    assert "trigger" not in listed
    (root,) = tools.call("get_knowledge_base_tree", include_triggers=True)["roots"]
    assert root["children"][0]["trigger"]["fact_types"] == ["world"]

    moved = tools.call("update_knowledge_node", node_id=page["page_id"], parent_id="root", name="Countess")
    assert moved["name"] == "Countess"
    assert moved.get("parent_id") is None
    assert "its own" in tools.refused("update_knowledge_node", node_id=folder, parent_id=folder)
    back = tools.call("update_knowledge_node", node_id=page["page_id"], parent_id=folder)
    assert (back["name"], back["parent_id"]) == ("Countess", folder)
    files = tools.call("export_knowledge_base")["files"]
    assert any("Acme" in each["content"] for each in files)
    tools.call("delete_knowledge_node", node_id=folder)
    assert tools.call("get_knowledge_base_tree")["roots"] == []
    assert tools.refused("get_knowledge_page", page_id=page["page_id"])


def test_memory_is_filled_asked_corrected_and_emptied(tools: McpTools) -> None:
    asked = tools.call("retain", content="Ada keeps bees.", document_id="notes/bees", tags=["hobby"])
    assert tools.finished(asked["operation_id"])["status"] == "completed"
    (found,) = tools.call("recall", query="bees")["results"]
    assert found["text"] == "Ada keeps bees."
    assert tools.call("recall", query="bees", tags=[], tags_match="exact")["results"] == []
    answer = tools.call("reflect", query="What does Ada keep?")
    assert "bees" in answer["text"]

    (listed,) = tools.call("list_memories", q="bees")["items"]
    assert tools.call("get_memory", memory_id=listed["id"])["text"] == "Ada keeps bees."
    corrected = tools.call("update_memory", memory_id=listed["id"], text="Ada keeps wasps.")
    assert corrected["text"] == "Ada keeps wasps."
    tools.call("invalidate_memory", memory_id=listed["id"], reason="never did")
    assert tools.call("list_memories")["total"] == 0
    assert tools.call("list_memories", state="invalidated")["total"] == 1
    tools.call("invalidate_memory", memory_id=listed["id"], restore=True)
    assert tools.call("list_memories")["total"] == 1

    assert tools.call("list_tags")["items"] == [{"tag": "hobby", "count": 1}]
    assert [each["id"] for each in tools.call("list_documents")["items"]] == ["notes/bees"]
    assert tools.call("get_document", document_id="notes/bees")["original_text"] == "Ada keeps bees."
    assert tools.call("delete_document", document_id="notes/bees")["memory_units_deleted"] == 1
    tools.call("sync_retain", content="Bob sings.")
    assert tools.call("clear_memories", type="observation")["deleted_count"] == 0
    assert tools.call("clear_memories")["deleted_count"] == 1


def test_a_bank_is_made_configured_and_deleted(connection: McpTools) -> None:
    bank_id = f"bank-{uuid4().hex[:12]}"
    connection.call("create_bank", bank_id=bank_id, name="Ada's", mission="Know Ada.")
    assert [each["bank_id"] for each in connection.call("list_banks", q=bank_id)["banks"]] == [bank_id]
    tools = connection.of(bank_id)
    bank = tools.call("get_bank")
    assert (bank["name"], bank["mission"]) == ("Ada's", "Know Ada.")
    assert bank["overrides"] == {"reflect_mission": "Know Ada."}
    assert "config" not in bank
    changed = tools.call("update_bank", name="Hers", config_updates={"retain_chunk_size": 500})
    assert changed["overrides"]["retain_chunk_size"] == 500
    told = tools.call("get_bank", include_config=True)
    assert told["name"] == "Hers"
    assert told["config"]["retain_chunk_size"] == 500
    assert "retain_chunk_sise" in tools.refused("update_bank", config_updates={"retain_chunk_sise": 500})
    assert "changes nothing" in tools.refused("update_bank")
    assert tools.call("get_bank_stats")["total_documents"] == 0

    rule = tools.call("create_directive", name="Tone", content="Be brief.", priority=2)
    assert [each["name"] for each in tools.call("list_directives")["items"]] == ["Tone"]
    tools.call("delete_directive", directive_id=rule["id"])
    assert tools.call("list_directives")["items"] == []

    tools.call("delete_bank")
    assert bank_id in tools.refused("get_bank")


def test_work_in_the_background_is_followed_retried_and_taken_off(ada: McpTools) -> None:
    (created,) = ada.call("list_operations", type="refresh_mental_model")["operations"]
    assert created["status"] == "completed"
    operation_id = created["operation_id"]
    assert "completed" in ada.refused("retry_operation", operation_id=operation_id)
    assert "has ended" in ada.refused("cancel_operation", operation_id=operation_id)
    ada.call("delete_operation", operation_id=operation_id)
    assert ada.call("get_operation", operation_id=operation_id)["status"] == "not_found"
    assert "not an operation id" in ada.refused("get_operation", operation_id="nonsense")


def test_what_is_wrong_is_told_in_the_words_of_the_api(tools: McpTools) -> None:
    assert "bank" in tools.refused("list_mental_models")
    assert "takes no argument 'wait'" in tools.refused("recall", query="bees", wait=True)
    assert "query: is missing" in tools.refused("recall")
    assert "limit" in tools.refused("list_operations", limit=1000)
    assert "max_tokens" in tools.refused("create_mental_model", name="a", source_query="b", max_tokens=1)
    assert "no tool 'recal'" in tools.refused("recal", query="bees")
    assert "bank_id" in tools.refused("recall", query="bees", bank_id=7)


def test_lists_that_come_as_their_json_and_nulls_are_understood(tools: McpTools) -> None:
    tools.call("sync_retain", content="Ada keeps bees.", tags='["hobby"]', metadata='{"by": "Bob"}', document_id=None)
    (found,) = tools.call("recall", query="bees", tags='["hobby"]', types=None)["results"]
    assert found["metadata"] == {"by": "Bob"}
    assert found["tags"] == ["hobby"]
