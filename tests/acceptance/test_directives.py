"""Directives over REST: added, listed, changed, removed."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.support.rest import RestBank, assert_refused


def added(bank: RestBank, name: str, **fields: Any) -> Any:
    return bank.post("/directives", {"name": name, "content": f"Do {name}.", **fields})


def listed(bank: RestBank, **params: Any) -> list[str]:
    return [each["name"] for each in bank.get("/directives", **params)["items"]]


def test_a_directive_is_added_with_its_defaults_and_creates_the_bank(bank: RestBank) -> None:
    told = added(bank, "Cite")
    assert told == {
        "id": str(UUID(told["id"])),
        "bank_id": bank.bank_id,
        "name": "Cite",
        "content": "Do Cite.",
        "priority": 0,
        "is_active": True,
        "tags": [],
        "created_at": told["created_at"],
        "updated_at": told["created_at"],
    }
    assert datetime.fromisoformat(told["created_at"]).utcoffset() is not None
    assert bank.get(f"/directives/{told['id']}") == told
    assert bank.get("/directives") == {"items": [told], "total": 1, "limit": 100, "offset": 0}


def test_a_directive_changes_in_what_is_given(bank: RestBank) -> None:
    before = added(bank, "Cite", priority=3, tags=["a", "b", "a"])
    assert before["tags"] == ["a", "b"]
    path = f"/directives/{before['id']}"
    after = bank.patch(path, {"content": "Name sources.", "is_active": False, "priority": None})
    assert after == {
        **before,
        "content": "Name sources.",
        "is_active": False,
        "updated_at": after["updated_at"],
    }
    assert after["updated_at"] > before["updated_at"]
    assert bank.patch(path, {"tags": []})["tags"] == []
    assert bank.patch(path, {"priority": -(2**31)})["priority"] == -(2**31)
    again = bank.get(path)
    assert bank.patch(path, {"name": "Cite"}) == again, "what is so already changes nothing"


def test_a_removed_directive_is_gone(bank: RestBank) -> None:
    path = f"/directives/{added(bank, 'Cite')['id']}"
    assert bank.ask("DELETE", path).json() == {"status": "deleted"}
    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        assert_refused(bank.ask(method, path, json=body), 404, f"not found in bank '{bank.bank_id}'")
    assert bank.get("/directives") == {"items": [], "total": 0, "limit": 100, "offset": 0}


def test_those_of_another_bank_are_not_seen(bank: RestBank) -> None:
    other = RestBank(bank.client, f"{bank.bank_id}-2")
    path = f"/directives/{added(other, 'Cite')['id']}"
    added(bank, "Be kind")
    assert_refused(bank.ask("GET", path), 404)
    assert_refused(bank.ask("DELETE", path), 404)
    assert (listed(bank), listed(other)) == (["Be kind"], ["Cite"])


def test_a_deleted_bank_takes_its_directives_with_it(bank: RestBank) -> None:
    added(bank, "Cite")
    bank.ask("DELETE")
    bank.ask("PUT", json={})
    assert listed(bank) == []


@pytest.fixture(scope="module")
def ruled(client: Any) -> RestBank:
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    added(bank, "for all", priority=1)
    added(bank, "for a", tags=["a"], priority=-1)
    added(bank, "for a and b", tags=["a", "b"])
    added(bank, "for c", tags=["c"])
    added(bank, "off", is_active=False, priority=9)
    return bank


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, ["for all", "for a and b", "for c", "for a"]),
        ({"active_only": "false"}, ["off", "for all", "for a and b", "for c", "for a"]),
        ({"tags": ["a"]}, ["for all", "for a and b", "for a"]),
        ({"tags": ["a", "c"]}, ["for all", "for a and b", "for c", "for a"]),
        ({"tags": ["a", "b"], "tags_match": "all"}, ["for all", "for a and b"]),
        ({"tags": ["b", "a"], "tags_match": "exact"}, ["for all", "for a and b"]),
        ({"tags": ["a"], "tags_match": "exact"}, ["for all", "for a"]),
        ({"tags": ["z"], "active_only": "false"}, ["off", "for all"]),
        ({"tags_match": "exact"}, ["for all", "for a and b", "for c", "for a"]),
        ({"limit": 2}, ["for all", "for a and b"]),
        ({"limit": 2, "offset": 3}, ["for a"]),
        ({"offset": 9}, []),
    ],
    ids=str,
)
def test_they_are_listed_by_priority_and_untagged_ones_always(
    ruled: RestBank, params: dict[str, Any], expected: list[str]
) -> None:
    assert listed(ruled, **params) == expected


def test_a_page_tells_how_many_match(ruled: RestBank) -> None:
    page = ruled.get("/directives", tags=["a"], limit=1, offset=7)
    assert page == {"items": [], "total": 3, "limit": 1, "offset": 7}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, ["name", "required"]),
        ({"name": "x"}, ["content", "required"]),
        ({"name": " ", "content": "x"}, ["name", "must not be blank"]),
        ({"name": "x", "content": "\n"}, ["content", "must not be blank"]),
        ({"name": "x" * 501, "content": "x"}, ["name", "500"]),
        ({"name": "x", "content": "x", "priority": 2**31}, ["priority", "2147483647"]),
        ({"name": "x", "content": "x", "priority": "high"}, ["priority", "integer"]),
        ({"name": "x", "content": "x", "tags": [""]}, ["tags", "must not be blank"]),
        ({"name": "x", "content": "x", "is_active": "perhaps"}, ["is_active"]),
    ],
    ids=str,
)
def test_wrong_input_is_refused(bank: RestBank, body: dict[str, Any], words: list[str]) -> None:
    assert_refused(bank.ask("POST", "/directives", json=body), 422, *words)
    assert bank.ask("GET", "/directives").status_code == 404, "the bank was not created"


def test_a_patch_of_nothing_and_an_id_that_is_none_are_refused(ruled: RestBank) -> None:
    (one,) = ruled.get("/directives", limit=1)["items"]
    for body in ({}, {"name": None}, {"colour": 1}):
        assert_refused(ruled.ask("PATCH", f"/directives/{one['id']}", json=body), 422, "changes nothing")
    assert_refused(ruled.ask("GET", "/directives/none"), 422, "directive_id", "UUID")
    assert_refused(ruled.ask("GET", "/directives?tags_match=none"), 422, "tags_match")
