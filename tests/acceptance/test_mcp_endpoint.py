"""MCP as it is served: for all banks or one, to whom, with which tools, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.mcp_tools import over_http, over_stdio
from tests.support.rest import RestBank

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPTS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@contextmanager
def served(conninfo: str, **settings: Any) -> Iterator[str]:
    """A service of its own over the database of the module."""
    chosen = Settings(_env_file=None, **settings)
    with opened(build(chosen, conninfo)) as service, live_server(service, run_worker=False) as address:
        yield address


# --- one bank or all --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_path_of_a_bank_serves_that_bank_and_nothing_of_others(address: str, bank: RestBank, mode: str) -> None:
    other = RestBank(bank.client, f"bank-{uuid4().hex[:12]}")
    other.retain("Bob keeps wasps.", document_id="secret")
    with over_http(address, f"/mcp/{bank.bank_id}", mode=mode, **{"X-Bank-Id": other.bank_id}) as tools:
        listed = tools.listed()
        assert listed.keys().isdisjoint({"list_banks", "create_bank", "get_bank_stats"})
        assert all("bank_id" not in tool.input_schema["properties"] for tool in listed.values())
        tools.call("sync_retain", content="Ada keeps bees.")
        assert tools.call("get_bank")["bank_id"] == bank.bank_id
        assert [each["text"] for each in tools.call("recall", query="Who keeps wasps?")["results"]] == [
            "Ada keeps bees."
        ]
        assert "takes no argument 'bank_id'" in tools.refused("recall", query="wasps", bank_id=other.bank_id)
        assert "not offered here" in tools.refused("list_banks")
        assert tools.refused("get_document", document_id="secret")
        assert tools.refused("get_document", document_id=f"../../{other.bank_id}/documents/secret")
    assert other.get("/documents/secret")


def test_a_path_of_a_bank_holds_any_id(address: str, client: httpx.Client) -> None:
    """AC-05."""
    bank = RestBank(client, f"a b%2F#?-{uuid4().hex[:8]}")
    bank.retain("Ada keeps bees.")
    path = bank.path.removeprefix("/v1/default/banks")
    for ending in ("", "/"):
        with over_http(address, f"/mcp{path}{ending}") as tools:
            assert tools.call("get_bank")["bank_id"] == bank.bank_id


def test_a_call_names_its_bank_else_the_connection_does_else_the_setting(
    shared_conninfo: str, address: str, bank: RestBank
) -> None:
    bank.retain("Ada keeps bees.")
    with over_http(address, "/mcp/", **{"X-Bank-Id": bank.bank_id}) as tools:
        assert tools.call("get_bank")["bank_id"] == bank.bank_id
        assert "'elsewhere'" in tools.refused("get_bank", bank_id="elsewhere")
    with over_http(address) as tools:
        assert "'default'" in tools.refused("get_bank")
    with served(shared_conninfo, mcp_bank_id=bank.bank_id) as own, over_http(own) as tools:
        assert tools.call("get_bank")["bank_id"] == bank.bank_id


# --- which tools ------------------------------------------------------------------------------------------------------


def test_only_the_tools_that_are_enabled_are_there_and_a_bank_takes_more_away(
    shared_conninfo: str, monkeypatch: pytest.MonkeyPatch, bank: RestBank
) -> None:
    monkeypatch.setenv("HINDSIGHT_API_MCP_ENABLED_TOOLS", "recall, retain,get_bank")
    bank.retain("Ada keeps bees.")
    with served(shared_conninfo, mcp_instructions="Be polite.") as address:
        with over_http(address) as tools:
            listed = tools.listed()
            assert listed.keys() == {"recall", "retain", "get_bank"}
            assert str(listed["recall"].description).endswith("Be polite.")
            assert "polite" not in str(listed["get_bank"].description)
            assert "not offered here" in tools.refused("reflect", query="bees?", bank_id=bank.bank_id)
        bank.patch("/config", {"updates": {"mcp_enabled_tools": ["recall", "reflect"]}})
        with over_http(address, f"/mcp/{bank.bank_id}") as tools:
            assert tools.listed().keys() == {"recall"}
        with over_http(address) as tools:
            assert tools.call("recall", query="bees", bank_id=bank.bank_id)["results"]
            assert "does not offer get_bank" in tools.refused("get_bank", bank_id=bank.bank_id)


# --- over HTTP --------------------------------------------------------------------------------------------------------


def test_nothing_is_streamed_that_was_not_asked_for(client: httpx.Client) -> None:
    refused = client.get("/mcp", headers={"Accept": "text/event-stream"})
    assert refused.status_code == 405
    assert refused.headers["Allow"] == "POST, DELETE"
    assert "POST" in refused.json()["detail"]


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example:80"}, {"Origin": "http://evil.example"}]
)
def test_a_web_page_does_not_reach_it_under_a_name_of_its_own(client: httpx.Client, headers: dict[str, str]) -> None:
    refused = client.post("/mcp", json=LIST, headers={**ACCEPTS, **headers})
    assert refused.status_code in (403, 421)


def test_a_name_that_is_configured_is_answered(shared_conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_MCP_ALLOWED_HOSTS", "memory.example, other.example")
    with served(shared_conninfo, mcp_stateless=True) as address:
        headers = {**ACCEPTS, "Host": "memory.example"}
        answered = httpx.post(f"{address}/mcp", json=LIST, headers=headers)
        assert len(answered.json()["result"]["tools"]) > 40
        assert httpx.post(f"{address}/mcp", json=LIST, headers=headers | {"Host": "evil.example"}).status_code == 421


def test_what_is_no_text_is_refused_by_the_tool(shared_conninfo: str) -> None:
    """Half a surrogate pair is JSON, but no Unicode text."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":{%s}}}'
    with served(shared_conninfo, mcp_stateless=True) as address:
        for name, arguments in (
            (b"recall", b'"query":"\\ud800"'),
            (b"get_document", b'"document_id":"\\ud800"'),
            (b"recall", b'"query":"bees","min_scores":{"final":1e999}'),
        ):
            answered = httpx.post(
                f"{address}/mcp",
                content=body % (name, arguments),
                headers={**ACCEPTS, "Content-Type": "application/json"},
            )
            assert answered.status_code < 500
            assert "Traceback" not in answered.text
            assert answered.json().get("error") or answered.json()["result"]["isError"]


def test_it_can_be_switched_off(shared_conninfo: str, client: httpx.Client) -> None:
    assert client.get("/version").json()["features"]["mcp"] is True
    with served(shared_conninfo, mcp_enabled=False) as address:
        assert httpx.post(f"{address}/mcp", json=LIST, headers=ACCEPTS).status_code == 404
        assert httpx.get(f"{address}/version").json()["features"]["mcp"] is False


def test_requests_are_counted_by_their_path(address: str, client: httpx.Client) -> None:
    with over_http(address, "/mcp/any-bank-at-all") as tools:
        tools.listed()
    metrics = client.get("/metrics").text
    assert 'route="/mcp/{bank_id}"' in metrics
    assert "any-bank-at-all" not in metrics


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_service_stops_at_once_though_clients_are_connected(shared_conninfo: str, mode: str) -> None:
    server = served(shared_conninfo)
    with over_http(server.__enter__(), mode=mode) as tools:
        tools.listed()
        began = time.monotonic()
        server.__exit__(None, None, None)
        assert time.monotonic() - began < 2


# --- over standard input and output -----------------------------------------------------------------------------------


def test_a_process_serves_one_bank_when_it_is_told_to(address: str, bank: RestBank) -> None:
    bank.retain("Ada keeps bees.")
    with over_stdio(address, "--bank", bank.bank_id) as tools:
        assert "list_banks" not in tools.listed()
        assert tools.call("get_bank")["bank_id"] == bank.bank_id


def test_a_process_without_a_service_says_what_to_do() -> None:
    with over_stdio("http://127.0.0.1:1", PALIMPSEST_MCP_ENABLED_TOOLS="recall") as tools:
        assert tools.listed().keys() == {"recall"}
        refused = tools.refused("recall", query="bees")
    assert "nothing answers at http://127.0.0.1:1" in refused
    assert "is the service running?" in refused
