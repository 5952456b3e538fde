"""Retains over real HTTP: strategies, batches in the background, and the preview of an extraction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.rest import RestBank, assert_refused

LARGE = "Nobody counts the arches of this bridge, which are many and old. " * 700
"""More tokens than a batch has."""


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str) -> Iterator[Service]:
    settings = Settings(_env_file=None, max_body_bytes=2_000_000, worker_retry_seconds=0)
    with opened(build(settings, shared_conninfo)) as service:
        yield service


def texts(bank: RestBank, query: str) -> list[str]:
    return [each["text"] for each in bank.post("/memories/recall", {"query": query})["results"]]


def asked(bank: RestBank, *items: dict[str, Any], operation_id: str | None = None) -> str:
    answer = bank.post("/memories", {"items": list(items), "async": True, "operation_id": operation_id})
    assert answer["operation_ids"] == [answer["operation_id"]]
    found: str = answer["operation_id"]
    return found


# --- batches ----------------------------------------------------------------------------------------------------------


def test_a_large_retain_is_an_operation_with_children(bank: RestBank) -> None:
    operation_id = asked(
        bank, {"content": LARGE, "document_id": "large"}, {"content": "It is old.", "document_id": "s"}
    )
    whole = bank.finished(operation_id)
    assert (whole["status"], whole["operation_type"]) == ("completed", "batch_retain")
    assert "error_message" not in whole
    children = whole["child_operations"]
    assert [(each["sub_batch_index"], each["items_count"], each["status"]) for each in children] == [
        (0, 1, "completed"),
        (1, 1, "completed"),
    ]
    assert whole["result_metadata"] == {"type": "batch_retain", "facts": 2, "failed_items": []}
    assert whole["completed_at"] is not None
    child = bank.get(f"/operations/{children[0]['operation_id']}")
    assert (child["operation_type"], "child_operations" in child) == ("retain", False)
    assert bank.get("/documents/large")["original_text"] == LARGE


def test_parents_are_listed_unless_they_are_left_out(bank: RestBank) -> None:
    operation_id = asked(bank, {"content": LARGE}, {"content": LARGE})
    bank.finished(operation_id)
    listed = bank.get("/operations")
    assert [each["operation_type"] for each in listed["operations"]].count("batch_retain") == 1
    assert {each["status"] for each in listed["operations"]} == {"completed"}
    without = bank.get("/operations", exclude_parents=True)
    assert (listed["total"], without["total"]) == (3, 2)
    assert {each["operation_type"] for each in without["operations"]} == {"retain"}
    assert bank.get("/operations", status="completed", type="batch_retain")["total"] == 1
    assert bank.get("/operations", status="pending")["total"] == 0


def test_the_same_operation_id_is_the_same_batch_of_one_bank(bank: RestBank) -> None:
    operation_id = str(uuid4())
    items = ({"content": LARGE}, {"content": f"{LARGE} twice"})
    assert asked(bank, *items, operation_id=operation_id) == operation_id
    assert asked(bank, *items, operation_id=operation_id) == operation_id
    bank.finished(operation_id)
    assert bank.get("/operations")["total"] == 3
    other = bank.ask("POST", "/memories", json={"items": [items[0]], "async": True, "operation_id": operation_id})
    assert_refused(other, 409, operation_id)


def test_a_deleted_parent_goes_with_its_children(bank: RestBank) -> None:
    operation_id = asked(bank, {"content": LARGE}, {"content": LARGE})
    bank.finished(operation_id)
    assert bank.ask("DELETE", f"/operations/{operation_id}/delete").status_code == 200
    assert bank.get("/operations")["total"] == 0
    assert bank.get(f"/operations/{operation_id}")["status"] == "not_found"


# --- how it is read ---------------------------------------------------------------------------------------------------


def test_an_unknown_strategy_is_refused_at_once_and_in_the_background(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"retain_strategies": {"quick": {"retain_extraction_mode": "chunks"}}}})
    for later in (False, True):
        body = {"items": [{"content": "A."}, {"content": "B.", "strategy": "slow"}], "async": later}
        assert_refused(bank.ask("POST", "/memories", json=body), 422, "items", "1", "strategy", "slow", "quick")
    assert texts(bank, "A") == []


def test_a_strategy_that_keeps_chunks_keeps_the_text(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"retain_strategies": {"raw": {"retain_extraction_mode": "chunks"}}}})
    bank.retain("It has 16 arches. It has 30 statues.", strategy="raw")
    assert texts(bank, "arches") == ["It has 16 arches. It has 30 statues."]


def test_an_append_to_a_text_that_is_not_kept_is_refused(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"store_document_text": False}})
    bank.retain("It has 16 arches.", document_id="guide")
    body = {"items": [{"content": "More.", "document_id": "guide", "update_mode": "append"}]}
    assert_refused(bank.ask("POST", "/memories", json=body), 409, "guide", "not stored", "replace")
    assert texts(bank, "arches") == ["It has 16 arches."]


@pytest.mark.parametrize(
    "scopes", ["per_tag", "shared", [["user:*"], ["a", "b"]], [[]]], ids=["per_tag", "shared", "sets", "empty set"]
)
def test_observation_scopes_are_kept_with_each_fact(bank: RestBank, scopes: Any) -> None:
    bank.retain("It has 16 arches.", tags=["a"], observation_scopes=scopes)
    (memory,) = bank.get("/memories/list")["items"]
    assert bank.get(f"/memories/{memory['id']}")["observation_scopes"] == scopes


def test_scopes_that_are_none_are_refused(bank: RestBank) -> None:
    body = {"items": [{"content": "A.", "observation_scopes": "everywhere"}]}
    assert_refused(bank.ask("POST", "/memories", json=body), 422, "observation_scopes")


# --- the preview ------------------------------------------------------------------------------------------------------


def test_a_preview_tells_facts_and_chunks_and_stores_nothing(bank: RestBank) -> None:
    bank.retain("Ada knows the bridge.")
    before = bank.get("/operations")["total"], bank.get("/documents")["total"]
    preview = bank.post(
        "/memories/dry-run-extract", {"content": "Ada Lovelace was there on 2024-05-01.", "context": "a diary"}
    )
    (fact,) = preview["facts"]
    assert (fact["text"], fact["fact_type"], fact["occurred_start"][:10], fact["chunk_index"]) == (
        "Ada Lovelace was there on 2024-05-01.",
        "world",
        "2024-05-01",
        0,
    )
    assert "Ada Lovelace" in fact["entities"]
    assert preview["chunks"] == [{"text": "Ada Lovelace was there on 2024-05-01.", "fact_count": 1}]
    assert preview["usage"]["total_tokens"] == 0
    assert (bank.get("/operations")["total"], bank.get("/documents")["total"]) == before
    assert texts(bank, "Lovelace") == []


def test_a_preview_tries_settings_that_the_bank_does_not_have(bank: RestBank) -> None:
    bank.retain("Ada knows the bridge.")
    preview = bank.post(
        "/memories/dry-run-extract",
        {"content": "One line.\nTwo lines.\n", "retain_extraction_mode": "chunks", "retain_chunk_size": 12},
    )
    assert [each["text"] for each in preview["facts"]] == ["One line.", "Two lines."]
    assert [each["fact_count"] for each in preview["chunks"]] == [1, 1]
    assert bank.get("/config")["overrides"] == {}


def test_a_preview_that_cannot_be_made_says_why(bank: RestBank) -> None:
    assert_refused(bank.ask("POST", "/memories/dry-run-extract", json={"content": "A."}), 404, bank.bank_id)
    bank.retain("Ada knows the bridge.")
    for body, status, words in (
        ({"content": " "}, 422, ("content", "blank")),
        ({"content": "A.", "strategy": "slow"}, 422, ("strategy", "slow")),
        ({"content": "A.", "retain_extraction_mode": "psychic"}, 400, ("retain_extraction_mode",)),
        ({"content": "A.", "retain_chunk_size": 0}, 400, ("retain_chunk_size",)),
    ):
        assert_refused(bank.ask("POST", "/memories/dry-run-extract", json=body), status, *words)
