"""Documents of a bank's memory: listed, read, retagged, deleted, in their bank alone."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from adapters.service import Service
from tests.support.rest import RestBank, assert_refused

ADA = "Ada Lovelace works at Acme."
BOB = "Bob Stone lives in Oslo."


def ids(bank: RestBank, **filters: Any) -> list[str]:
    return [each["id"] for each in bank.get("/documents", **filters)["items"]]


def facts_with(bank: RestBank, *tags: str) -> list[str]:
    listed = bank.get("/memories/list", tags=list(tags), tags_match="exact")["items"]
    return [each["text"] for each in listed if each["fact_type"] != "observation"]


def test_documents_are_listed_with_filters_the_last_written_first(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one", tags=["a"])
    bank.retain(BOB, document_id="two", tags=["b"], metadata={"page": "7"})

    assert ids(bank) == ["two", "one"]
    assert ids(bank, tags="a") == ["one"]
    assert ids(bank, limit=1, offset=1) == ["one"]
    assert bank.get("/documents", limit=1)["total"] == 2
    assert ids(bank, end_date="2020-01-01") == []
    (found,) = bank.get("/documents", q="OSLO")["items"]
    assert (found["id"], found["matched_fields"], found["memory_unit_count"]) == ("two", ["original_text"], 1)
    assert (found["text_length"], found["document_metadata"]) == (len(BOB), {"page": "7"})
    (found,) = bank.get("/documents", q="tw")["items"]
    assert found["matched_fields"] == ["id"]


def test_a_document_is_read_with_its_text_and_its_chunks(bank: RestBank) -> None:
    bank.retain(ADA, document_id="notes/ada one", tags=["a"])

    document = bank.get(f"/documents/{quote('notes/ada one', safe='')}")

    assert (document["id"], document["original_text"], document["tags"]) == ("notes/ada one", ADA, ["a"])
    assert document["nodes_by_fact_type"]["world"] == 1
    assert document["created_at"] == document["updated_at"]
    chunks = bank.get("/documents/notes/ada%20one/chunks")
    assert [(each["chunk_index"], each["chunk_text"]) for each in chunks["items"]] == [(0, ADA)]
    chunk_id = chunks["items"][0]["chunk_id"]
    assert bank.client.get(f"/v1/default/chunks/{chunk_id}").json() == chunks["items"][0]
    assert_refused(bank.ask("GET", "/documents/none"), 404, "'none'", "list its documents")
    assert_refused(bank.ask("GET", "/documents/none/chunks"), 404, "'none'")
    assert_refused(bank.client.get("/v1/default/chunks/none"), 404, "'none'")


def test_new_tags_replace_those_of_a_document_and_of_all_its_facts(bank: RestBank) -> None:
    bank.retain(f"{ADA} {BOB}", document_id="one", tags=["a", "b"])

    changed = bank.patch("/documents/one", {"tags": ["c", "a"]})

    assert changed == {"success": True, "memory_units_updated": 2}
    assert bank.get("/documents/one")["tags"] == ["a", "c"]
    assert sorted(facts_with(bank, "a", "c")) == sorted([ADA, BOB])
    assert facts_with(bank, "a", "b") == []
    found = bank.post("/memories/recall", {"query": "Ada Lovelace", "tags": ["c"], "tags_match": "all_strict"})
    assert ADA in [each["text"] for each in found["results"]]
    bank.patch("/documents/one", {"tags": []})
    assert sorted(facts_with(bank)) == sorted([ADA, BOB])


@pytest.mark.parametrize("body", [{}, {"tags": None}, {"observation_scopes": None}])
def test_an_edit_that_says_nothing_is_refused(bank: RestBank, body: Any) -> None:
    bank.retain(ADA, document_id="one")

    assert_refused(bank.ask("PATCH", "/documents/one", json=body), 422, "changes nothing")


def test_the_same_tags_again_change_nothing(bank: RestBank) -> None:
    """TS-09, its first half: no version is written, nothing waits for consolidation, no document becomes stale."""
    bank.retain(ADA, document_id="one", tags=["b", "a"])
    bank.model("ada", tags=["a"])
    before = [bank.get("/memories/list"), bank.get("/documents/one"), bank.get("/stats")]

    assert bank.patch("/documents/one", {"tags": ["a", "b"]})["memory_units_updated"] == 0

    assert [bank.get("/memories/list"), bank.get("/documents/one"), bank.get("/stats")] == before
    assert not bank.get("/mental-models/ada")["is_stale"]


def test_a_renamed_tag_is_renamed_in_scopes_that_were_named_one_by_one(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one", tags=["team:a", "x"], observation_scopes=[["team:a"], ["team:a", "x"]])

    bank.patch("/documents/one", {"tags": ["team:b", "x"]})

    (fact,) = [each for each in bank.get("/memories/list")["items"] if each["fact_type"] == "world"]
    assert fact["observation_scopes"] == [["team:b"], ["team:b", "x"]]


def test_a_fact_that_is_set_aside_has_the_new_tags_of_its_document_when_it_is_restored(bank: RestBank) -> None:
    bank.retain(f"{ADA} {BOB}", document_id="one", tags=["private"])
    ada = next(each["id"] for each in bank.get("/memories/list")["items"] if each["text"] == ADA)
    bank.patch(f"/memories/{ada}", {"state": "invalidated"})

    assert bank.patch("/documents/one", {"tags": ["public"]})["memory_units_updated"] == 1

    assert bank.get("/memories/list", state="invalidated", tags="private", tags_match="any_strict")["total"] == 0
    assert bank.get(f"/memories/{ada}")["tags"] == ["public"]
    bank.patch(f"/memories/{ada}", {"state": "valid"})
    assert sorted(facts_with(bank, "public")) == sorted([ADA, BOB])
    assert facts_with(bank, "private") == []


def test_what_a_document_was_given_anew_is_what_it_is_read_again_with(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one", tags=["a"])

    bank.patch("/documents/one", {"tags": ["b"], "observation_scopes": "shared"})
    document = bank.get("/documents/one")
    assert (document["tags"], document["observation_scopes"]) == (["b"], "shared")

    bank.finished(bank.post("/documents/one/reprocess")["operation_id"])

    (fact,) = bank.get("/memories/list", type="world")["items"]
    assert (fact["text"], fact["tags"], fact["observation_scopes"]) == (ADA, ["b"], "shared")
    assert bank.get("/documents/one")["tags"] == ["b"]


def test_a_document_that_is_sent_again_with_its_new_tags_keeps_what_a_person_corrected(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one", tags=["a"], timestamp="2024-03-01T10:00:00Z")
    (fact,) = bank.get("/memories/list")["items"]
    bank.patch("/documents/one", {"tags": ["b"]})
    bank.patch(f"/memories/{fact['id']}", {"text": "Ada Lovelace works at Globex."})

    bank.retain(ADA, document_id="one", tags=["b"], timestamp="2024-03-01T10:00:00Z")

    (kept,) = bank.get("/memories/list", type="world")["items"]
    assert (kept["id"], kept["text"], kept["tags"]) == (fact["id"], "Ada Lovelace works at Globex.", ["b"])


@pytest.mark.parametrize(
    "document_id",
    ["a/b", "a/chunks", "chunks", "a/reprocess", "100%", "%2F", "a b?c#d", "..", ".hidden", "ünï/✓", "a/", "a//b"],
)
def test_a_document_is_found_by_its_id_whatever_is_in_it(bank: RestBank, document_id: str) -> None:
    bank.retain(ADA, document_id=document_id)
    path = f"/documents/{quote(document_id, safe='').replace('.', '%2E')}"

    assert bank.get(path)["id"] == document_id
    assert [each["document_id"] for each in bank.get(f"{path}/chunks")["items"]] == [document_id]
    assert bank.patch(path, {"tags": ["a"]})["memory_units_updated"] == 1
    bank.finished(bank.post(f"{path}/reprocess")["operation_id"])
    assert bank.ask("DELETE", path).json()["document_id"] == document_id
    assert bank.get("/memories/list")["total"] == 0


def test_a_document_whose_text_is_not_stored_is_not_read_again(bank: RestBank) -> None:
    bank.retain(ADA)
    bank.patch("/config", {"updates": {"store_document_text": False}})
    bank.retain(BOB, document_id="one")

    assert bank.get("/documents/one")["original_text"] is None
    assert_refused(bank.ask("POST", "/documents/one/reprocess"), 409, "'one'", "not stored")
    assert_refused(bank.ask("POST", "/documents/none/reprocess"), 404, "'none'")


def test_a_deleted_document_takes_its_facts_along_and_no_others(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one")
    bank.retain(BOB, document_id="two")

    deleted = bank.ask("DELETE", "/documents/one").json()

    assert (deleted["success"], deleted["document_id"], deleted["memory_units_deleted"]) == (True, "one", 1)
    assert ids(bank) == ["two"]
    assert [each["text"] for each in bank.get("/memories/list", type="world")["items"]] == [BOB]
    assert_refused(bank.ask("DELETE", "/documents/one"), 404, "'one'")
    assert_refused(bank.ask("PATCH", "/documents/one", json={"tags": []}), 404, "'one'")


def test_documents_of_the_same_id_in_other_banks_stay_as_they_are(bank: RestBank, client: httpx.Client) -> None:
    """TS-10."""
    other = RestBank(client, f"{bank.bank_id}-other")
    for each in (bank, other):
        each.retain(ADA, document_id="d1", tags=["a"])
    before = [other.get("/documents/d1"), other.get("/memories/list")]

    bank.patch("/documents/d1", {"tags": ["b"]})
    bank.ask("DELETE", "/documents/d1")

    assert ids(bank) == []
    assert [other.get("/documents/d1"), other.get("/memories/list")] == before


def test_a_bank_that_is_not_there_has_no_documents(bank: RestBank) -> None:
    for path in ("/documents", "/documents/one", "/entities", "/memories/list"):
        assert_refused(bank.ask("GET", path), 404, bank.bank_id)
    assert_refused(bank.ask("DELETE", "/memories"), 404, bank.bank_id)
    assert_refused(bank.ask("DELETE", "/documents/one"), 404, bank.bank_id)


def test_names_are_listed_as_entities_in_their_scope(bank: RestBank, live_service: Service) -> None:
    assert live_service.settings.llm_model is None
    bank.retain(ADA, tags=["a"])
    bank.retain("Ada Lovelace likes Oslo.", tags=["b"])

    entities = {each["canonical_name"]: each for each in bank.get("/entities")["items"]}
    assert entities["Ada Lovelace"]["mention_count"] >= 2
    in_scope = bank.get("/entities", tags="b", tags_match="all_strict")
    assert {each["canonical_name"] for each in in_scope["items"]} >= {"Ada Lovelace", "Oslo"}
    assert "Acme" not in {each["canonical_name"] for each in in_scope["items"]}
    ada = entities["Ada Lovelace"]
    assert bank.get(f"/entities/{ada['id']}")["canonical_name"] == "Ada Lovelace"
    of_ada = bank.get("/memories/list", entity_id=ada["id"], type="world")
    assert of_ada["total"] == 2
    assert_refused(bank.ask("GET", f"/entities/{entities['Acme']['id']}", params={"tags": "b"}), 404)
    grouped = bank.get("/entities", tag_groups='[{"not": {"tags": ["a"]}}]')
    assert "Acme" not in {each["canonical_name"] for each in grouped["items"]}
    assert_refused(bank.ask("GET", "/entities", params={"tag_groups": "[{}]"}), 422, "tag_groups")
    assert_refused(bank.ask("GET", "/entities/no-uuid"), 404, "no-uuid")
    both = {"tags": "a", "tag_groups": '[{"tags": ["a"]}]'}
    assert_refused(bank.ask("GET", "/entities", params=both), 422, "exclude each other")
