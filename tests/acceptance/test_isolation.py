"""Banks do not see each other, and any id that is accepted can be asked for again on every route."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest

from adapters.service import Service
from tests.support.live_server import live_server
from tests.support.rest import RestBank, assert_refused
from tests.support.services import run_pending


@pytest.fixture
def banks(client: httpx.Client) -> tuple[RestBank, RestBank]:
    name = uuid4().hex[:12]
    return RestBank(client, f"a-{name}"), RestBank(client, f"b-{name}")


def test_the_same_id_in_two_banks_is_two_documents(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    a.retain("Ada Lovelace works at Acme.")
    b.retain("Ada Lovelace works at Bolt.")
    a.model("profile")
    of_b = b.model("profile")
    a.patch("/mental-models/profile", {"name": "Only in a", "max_tokens": 300})
    a.post("/mental-models/profile/clear")
    assert b.get("/mental-models/profile") == of_b
    assert "Bolt" in of_b["content"]
    assert "Acme" not in of_b["content"]
    a.refreshed("profile")
    a.ask("DELETE", "/mental-models/profile")
    assert_refused(a.ask("GET", "/mental-models/profile"), 404)
    assert b.get("/mental-models/profile") == of_b
    assert len(b.get("/mental-models/profile/history")) == 1
    assert len(b.get("/mental-models/profile/events")["items"]) == 2


def test_what_one_bank_holds_another_does_not_show(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    a.retain("Ada Lovelace works at Acme.", tags=["secret"], document_id="shared")
    b.retain("Bob likes tea.", document_id="shared")
    assert [each["text"] for each in b.post("/memories/recall", {"query": "Ada Lovelace Acme"})["results"]] in (
        [],
        ["Bob likes tea."],
    )
    assert b.get("/tags")["items"] == []
    assert (b.get("/stats")["total_nodes"], b.get("/operations")["total"]) == (1, 0)
    assert [each["text"] for each in a.post("/memories/recall", {"query": "Acme"})["results"]] == [
        "Ada Lovelace works at Acme."
    ]


def test_an_operation_is_known_to_its_own_bank_only(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    a.retain("Ada Lovelace works at Acme.")
    b.retain("Bob likes tea.")
    operation_id = a.post("/mental-models", {"name": "Ada", "source_query": "Who is Ada Lovelace?"})["operation_id"]
    assert a.finished(operation_id)["status"] == "completed"
    assert b.get(f"/operations/{operation_id}")["status"] == "not_found"


def test_an_operation_id_in_use_by_another_bank_is_a_conflict_and_brings_nothing_across(service: Service) -> None:
    with live_server(service, run_worker=False) as address, httpx.Client(base_url=address) as client:
        a, b = RestBank(client, "a"), RestBank(client, "b")
        operation_id = str(uuid4())
        body = {"async": True, "operation_id": operation_id}
        a.post("/memories", body | {"items": [{"content": "Ada's secret is 42."}]})
        taken = b.ask("POST", "/memories", json=body | {"items": [{"content": "Bob likes tea."}]})
        assert_refused(taken, 409, operation_id, "choose a new one")
        assert_refused(b.ask("GET", "/stats"), 404, "not found")
        run_pending(service, "a")
        assert a.get("/stats")["total_nodes"] == 1


def test_a_write_in_one_bank_makes_nothing_stale_in_another(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    for bank in banks:
        bank.retain("Ada Lovelace works at Acme.")
        bank.model("profile")
    a.retain("Ada Lovelace moved to Paris.")
    assert a.get("/mental-models/profile")["is_stale"] is True
    assert b.get("/mental-models/profile")["is_stale"] is False


def test_deleting_a_bank_leaves_the_others_and_its_id_can_be_used_again(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    for bank in banks:
        bank.retain("Ada Lovelace works at Acme.")
        bank.model("profile")
    of_b = b.get("/mental-models/profile")
    assert a.ask("DELETE").status_code == 200
    assert_refused(a.ask("GET", "/mental-models/profile"), 404)
    assert b.get("/mental-models/profile") == of_b
    a.retain("Eve has a cat.")
    again = a.model("profile", source_query="What is known about Eve?")
    assert "Eve" in again["content"]
    assert "Acme" not in again["content"]
    assert a.get("/stats")["total_nodes"] == 1


@pytest.mark.parametrize(
    "shape",
    ["a b {}", "agent::chan::{}", "100%{}", "a%2Fb-{}", "x#y-{}", "q?x=1&y-{}", "+{}+", "a\\b-{}", "日本語-{}", "é-{}",
     "~'()*!,;=@{}", "...{}", "{}" + "x" * 240],
)  # fmt: skip
def test_a_bank_id_that_is_accepted_works_on_every_route(client: httpx.Client, shape: str) -> None:
    bank = RestBank(client, shape.replace("{}", uuid4().hex[:8]))
    assert bank.ask("PUT", json={}).json()["bank_id"] == bank.bank_id
    assert bank.retain("Ada Lovelace works at Acme.", tags=["ada"])["bank_id"] == bank.bank_id
    assert bank.post("/memories/recall", {"query": "Ada"})["results"]
    created = bank.post("/mental-models", {"id": "m-1", "name": "Ada", "source_query": "Who is Ada?"})
    assert bank.finished(created["operation_id"])["status"] == "completed"
    assert bank.get("/mental-models/m-1")["bank_id"] == bank.bank_id
    assert bank.get("/mental-models")["items"][0]["bank_id"] == bank.bank_id
    assert bank.get("/operations")["bank_id"] == bank.bank_id
    assert bank.get("/stats")["bank_id"] == bank.bank_id
    assert bank.get("/tags")["total"] == 1
    assert bank.patch("/mental-models/m-1", {"name": "Ada L."})["name"] == "Ada L."
    assert bank.get("/mental-models/m-1/history")
    assert bank.get("/mental-models/m-1/events")["total"] == 3
    assert bank.bank_id in [
        each["bank_id"] for each in client.get("/v1/default/banks", params={"limit": 10_000}).json()["banks"]
    ]
    assert bank.ask("DELETE", "/mental-models/m-1").status_code == 200
    assert bank.ask("DELETE").status_code == 200


def test_ids_of_the_greatest_length_live_as_long_as_any(client: httpx.Client) -> None:
    bank = RestBank(client, uuid4().hex + "é" * (256 - 32))
    bank.retain("Ada Lovelace works at Acme.", document_id="d" * 512)
    name = "m" * 128
    assert "Acme" in bank.model(name)["content"]
    bank.retain("Ada Lovelace moved to Paris.")
    assert "Paris" in bank.refreshed(name)["content"]
    assert len(bank.get(f"/mental-models/{name}/history")) == 2
