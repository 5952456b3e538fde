"""Items that repeat each other, are many, or are as large as they may be: nothing of them is lost, over REST."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.eventually import eventually
from tests.support.rest import RestBank, assert_refused

BOAT = "Bob owns a red boat."


def filler(mark: str) -> str:
    return "".join(f" River {mark}{number} flows in country {number}." for number in range(11))


def facts(bank: RestBank) -> list[str]:
    return [each["text"] for each in bank.get("/memories/list", limit=1000)["items"]]


def found(bank: RestBank, query: str, **more: Any) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = bank.post("/memories/recall", {"query": query, **more})["results"]
    return listed


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_fact_that_several_chunks_say_stays_until_the_last_of_them_goes(bank: RestBank, gone: int) -> None:
    bank.patch("/config", {"updates": {"retain_chunk_size": 500}})
    chunks = [BOAT + filler(mark) + "\n\n" for mark in "abc"]
    bank.retain("".join(chunks), document_id="book")
    assert len(bank.get("/documents/book/chunks")["items"]) == 3
    (boat,) = [each for each in bank.get("/memories/list", limit=1000)["items"] if each["text"] == BOAT]

    for number in [gone, (gone + 1) % 3]:
        chunks[number] = "It is another" + filler(f"new{number}") + "\n\n"
        bank.retain("".join(chunks), document_id="book")
        (still,) = [each for each in bank.get("/memories/list", limit=1000)["items"] if each["text"] == BOAT]
        assert still["id"] == boat["id"]

    chunks[(gone + 2) % 3] = "The last one" + filler("last") + "\n\n"
    bank.retain("".join(chunks), document_id="book")
    assert BOAT not in facts(bank)


def test_what_several_chunks_say_is_read_again_only_when_one_of_them_changed(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"retain_chunk_size": 500}})
    text = "".join(BOAT + filler(mark) + "\n\n" for mark in "abc")
    bank.retain(text, document_id="book")
    before = bank.get("/memories/list", limit=1000)["items"]
    bank.retain(text, document_id="book")
    bank.ask("PATCH", "/documents/book", json={"tags": ["new"]})
    bank.retain(text, document_id="book", tags=["new"])
    assert [each["id"] for each in bank.get("/memories/list", limit=1000)["items"]] == [each["id"] for each in before]


def test_what_two_items_say_for_others_or_of_another_time_is_kept_for_both(bank: RestBank) -> None:
    items = [
        {"content": "Bob went to Rome yesterday.", "tags": ["a"], "timestamp": "2024-01-15T10:30:00Z"},
        {"content": "Bob went to Rome yesterday.", "tags": ["a"], "timestamp": "2024-03-15T10:30:00Z"},
        {"content": "Bob went to Rome yesterday.", "tags": ["b"], "timestamp": "2024-03-15T10:30:00Z"},
        {"content": "Bob went to Rome yesterday.", "tags": ["b"], "timestamp": "2024-03-15T10:30:00Z", "context": "x"},
    ]
    bank.post("/memories", {"items": [{**item, "document_id": "one"} for item in items]})
    said = {tag: found(bank, "Rome", tags=[tag], tags_match="any_strict") for tag in "ab"}
    when = {tag: sorted(each["occurred_start"][:10] for each in listed) for tag, listed in said.items()}
    assert when == {"a": ["2024-01-14", "2024-03-14"], "b": ["2024-03-14"]}


def test_a_thousand_appends_in_one_request_are_read_in_seconds(bank: RestBank) -> None:
    """Each was read with all that stands before it, again and again."""
    items = [
        {"content": f"Person{number} lives in town {number}. " * 5, "document_id": "log", "update_mode": "append"}
        for number in range(300)
    ]
    answer = bank.client.post(f"{bank.path}/memories", json={"items": items}, timeout=8)
    assert answer.status_code == 200
    assert bank.get("/documents/log")["original_text"] == "\n".join(item["content"] for item in items)
    assert len(facts(bank)) == 300


@pytest.mark.parametrize("named", [True, False])
def test_items_without_a_document_are_one_each_when_another_names_one_whatever_the_batch(
    bank: RestBank, named: bool
) -> None:
    large = "Nobody counts the arches of this bridge, which are many and old. " * 700
    items: list[dict[str, Any]] = [{"content": large, "document_id": "large"}] if named else [{"content": large}]
    items += [{"content": "Ada lives in Rome."}, {"content": "Bob lives in Oslo."}]
    told = bank.post("/memories", {"items": items, "async": True})
    assert len(bank.finished(told["operation_id"])["child_operations"]) == 2
    assert bank.get("/documents")["total"] == (3 if named else 2)


def test_an_id_is_as_long_as_a_key_may_be(client: httpx.Client) -> None:
    """The largest ids there may be, of signs of four bytes that nothing packs smaller."""
    signs = [chr(0x20000 + number * 7919 % 42_000) for number in range(1000)]
    bank = RestBank(client, "".join(signs[:256]))
    bank.retain("Ada lives in Rome.", document_id="".join(signs[300:684]))
    refused = bank.ask("POST", "/memories", json={"items": [{"content": "x", "document_id": "".join(signs[300:685])}]})
    assert_refused(refused, 422, "document_id", "1540 bytes", "1536")
    assert client.delete(bank.path).status_code == 200


def test_tags_that_are_no_list_in_json_are_refused(bank: RestBank) -> None:
    for tags in ("[" * 5000, '["a", "\\u0000"]', '"a"', "[1]"):
        body = json.dumps({"items": [{"content": "Ada lives in Rome.", "tags": tags}]})
        assert_refused(bank.ask("POST", "/memories", content=body, headers={"Content-Type": "application/json"}), 422)


@pytest.mark.parametrize("ended", [False, True], ids=["waiting", "ended"])
def test_an_operation_id_is_of_one_request_also_when_it_has_ended(bank: RestBank, ended: bool) -> None:
    asked = {"items": [{"content": "Ada lives in Rome."}], "async": True, "operation_id": str(uuid4())}
    bank.post("/memories", asked)
    if ended:
        bank.finished(asked["operation_id"])
    assert bank.post("/memories", asked)["operation_id"] == asked["operation_id"]
    other = {**asked, "items": [{"content": "Bob lives in Oslo."}]}
    assert_refused(bank.ask("POST", "/memories", json=other), 409)
    bank.finished(asked["operation_id"])
    assert facts(bank) == ["Ada lives in Rome."]


@pytest.mark.parametrize("mode", ["concise", "chunks"])
def test_a_mark_of_byte_order_is_part_of_the_text_and_of_no_word(bank: RestBank, mode: str) -> None:
    text = "\ufeffAda lives in Rome.\r\n\r\nBob lives in Oslo.\r\n"
    bank.patch("/config", {"updates": {"retain_extraction_mode": mode, "retain_chunk_size": 25}})
    bank.retain(text, document_id="file")
    assert bank.get("/documents/file")["original_text"] == text
    assert sorted(facts(bank)) == ["Ada lives in Rome.", "Bob lives in Oslo."]


def test_of_a_retain_cut_off_with_its_bank_nothing_is_left_and_nothing_comes_back(bank: RestBank) -> None:
    line = "Nobody counts the arches of this bridge, which are many and old. "
    items = [{"content": f"{line}{number}. " + line * 650, "document_id": f"d{number}"} for number in range(4)]
    told = bank.post("/memories", {"items": items, "async": True})
    assert bank.ask("DELETE").status_code == 200
    bank.retain("Ada lives in Rome.", document_id="new")
    assert bank.get(f"/operations/{told['operation_id']}")["status"] == "not_found"
    eventually(lambda: bank.get("/stats")["pending_operations"] == 0)
    assert ([each["id"] for each in bank.get("/documents")["items"]], facts(bank)) == (["new"], ["Ada lives in Rome."])
