"""MCP with API keys: a tool may do what its caller's key may do over REST, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from adapters.app import build
from adapters.mcp.catalogue import ALL
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.mcp_tools import McpTools, over_http, over_stdio
from tests.support.services import context

REQUIRED: dict[str, Any] = {"version": 1, "mental_model_id": "ada", "bank_id": "team", "restore": False}
"""Something for every argument that has to be given; for the others a text will do."""
LEGACY = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
CHANGING = [name for name, tool in ALL.items() if not tool.effect.reads]


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str) -> Iterator[Service]:
    with opened(build(Settings(_env_file=None), shared_conninfo)) as service:
        yield service


def key(service: Service, **held_to: Any) -> str:
    return f"Bearer {service.api_keys.create(context(service), **held_to).token}"


@pytest.fixture(scope="module")
def keys(live_service: Service) -> dict[str, str]:
    """Made before the service starts: from then on it asks for one."""
    return {
        "all": key(live_service),
        "reader": key(live_service, read_only=True),
        "other": key(live_service, banks=["other"]),
    }


@pytest.fixture(scope="module")
def address(live_service: Service, keys: dict[str, str]) -> Iterator[str]:
    with live_server(live_service) as address:
        with over_http(address, "/mcp/team", Authorization=keys["all"]) as tools:
            tools.call("sync_retain", content="Ada keeps bees.", document_id="x")
            made = tools.call("create_mental_model", name="Ada", source_query="Who is Ada?", mental_model_id="ada")
            tools.finished(made["operation_id"])
        yield address


@pytest.fixture(scope="module")
def reader(address: str, keys: dict[str, str]) -> Iterator[McpTools]:
    with over_http(address, Authorization=keys["reader"], **{"X-Bank-Id": "team"}) as tools:
        yield tools


@pytest.mark.parametrize("name", CHANGING)
def test_no_tool_that_changes_anything_does_so_for_a_key_that_only_reads(reader: McpTools, name: str) -> None:
    """MC-04."""
    fields = ALL[name].arguments.model_fields
    arguments = {each: REQUIRED.get(each, "x") for each, field in fields.items() if field.is_required()}
    if name == "update_bank":
        arguments["config_updates"] = {"retain_chunk_size": 500}
    refused = reader.ask(name, **arguments)
    assert refused.is_error
    assert refused.structured_content is not None
    assert refused.structured_content["status"] == 403
    assert "read" in refused.structured_content["error"]


def test_nothing_was_changed_and_all_can_be_read(reader: McpTools) -> None:
    """MC-04."""
    assert reader.call("get_mental_model", mental_model_id="ada")["content"]
    assert reader.call("recall", query="bees")["results"]
    assert reader.call("get_bank")["overrides"] == {}
    assert reader.call("list_operations")["operations"]


def test_a_tool_is_refused_in_the_words_of_the_request_behind_it(
    reader: McpTools, keys: dict[str, str], address: str
) -> None:
    """MC-04."""
    path = f"{address}/v1/default/banks/team/mental-models/ada"
    told = httpx.delete(path, headers={"Authorization": keys["reader"]})
    assert told.status_code == 403
    assert reader.refused("delete_mental_model", mental_model_id="ada") == told.json()["detail"]


def test_a_key_of_another_bank_opens_no_bank_but_its_own(address: str, keys: dict[str, str]) -> None:
    with over_http(address, Authorization=keys["other"]) as tools:
        assert tools.refused("recall", query="bees", bank_id="team")
        assert tools.refused("get_bank", bank_id="team")
        assert "team" not in {each["bank_id"] for each in tools.call("list_banks")["banks"]}
    with over_http(address, "/mcp/team", Authorization=keys["other"]) as tools:
        assert tools.refused("get_mental_model", mental_model_id="ada")
        assert tools.refused("sync_retain", content="Bob sings.")


def test_without_a_key_nothing_is_served(address: str) -> None:
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for path in ("/mcp", "/mcp/", "/mcp/team"):
        for headers in ({}, {"Authorization": "Bearer nonsense"}):
            assert httpx.post(f"{address}{path}", json=listing, headers={**LEGACY, **headers}).status_code == 401


def test_a_session_lends_its_key_to_nobody(address: str, keys: dict[str, str]) -> None:
    """Each call counts with the key that it comes with, not with the one that began the session."""
    began = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    }
    with httpx.Client(base_url=address, headers=LEGACY) as client:

        def send(method: str, params: dict[str, Any], key: str, **more: Any) -> httpx.Response:
            body = {"jsonrpc": "2.0", "method": method, "params": params, **more}
            return client.post("/mcp/team", json=body, headers={"Authorization": key})

        session = send("initialize", began, keys["all"], id=1).headers["Mcp-Session-Id"]
        client.headers["Mcp-Session-Id"] = session
        send("notifications/initialized", {}, keys["all"])
        call = {"name": "clear_memories", "arguments": {}}
        told = send("tools/call", call, keys["reader"], id=2).json()["result"]
        assert told["isError"]
        assert told["structuredContent"]["status"] == 403
        assert client.post("/mcp/team", json={"jsonrpc": "2.0", "id": 3, "method": "tools/list"}).status_code == 401


def test_a_process_sends_the_key_it_was_given(address: str, keys: dict[str, str]) -> None:
    token = keys["reader"].removeprefix("Bearer ")
    with over_stdio(address, "--bank", "team", PALIMPSEST_API_KEY=token) as tools:
        assert tools.call("recall", query="bees")["results"]
        assert tools.ask("clear_memories").structured_content["status"] == 403
    with over_stdio(address, "--bank", "team") as tools:
        refused = tools.refused("recall", query="bees")
        assert "palimpsest keys create" in refused
        assert token not in refused
