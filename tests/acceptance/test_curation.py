"""A person browses what is remembered, corrects it, sets it aside, restores and deletes it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from tests.support.rest import RestBank, assert_refused

ADA = "Ada Lovelace works at Acme."
BOB = "Bob Stone lives in Oslo."
REDACTS = {"on": "sensitive_data", "action": "redact"}


def listed(bank: RestBank, **filters: Any) -> list[str]:
    return [
        each["text"] for each in bank.get("/memories/list", **filters)["items"] if each["fact_type"] != "observation"
    ]


def the_only(bank: RestBank, text: str) -> Any:
    (found,) = [each for each in bank.get("/memories/list")["items"] if each["text"] == text]
    return found


def recalled(bank: RestBank, query: str) -> list[str]:
    return [each["text"] for each in bank.post("/memories/recall", {"query": query, "types": ["world"]})["results"]]


def changed(bank: RestBank, memory_id: str, **fields: Any) -> Any:
    return bank.patch(f"/memories/{memory_id}", fields)


def test_memories_are_listed_with_filters_and_pages(bank: RestBank) -> None:
    bank.retain(ADA, tags=["a"], timestamp="2024-03-01T10:00:00Z", document_id="one")
    bank.retain(BOB, tags=["b"], timestamp="2024-02-01T10:00:00Z", context="A talk on the stairs")

    assert listed(bank) == [ADA, BOB]
    assert listed(bank, tags="b") == [BOB]
    assert listed(bank, tags="c", tags_match="any_strict") == []
    assert listed(bank, q="LIVES in") == [BOB]
    assert listed(bank, q="STAIRS") == [BOB]
    assert listed(bank, document_id="one") == [ADA]
    assert listed(bank, type="experience") == []
    assert listed(bank, start_date="2024-02-15", time_field="mentioned_at") == [ADA]
    assert listed(bank, end_date="2024-02-15T00:00:00Z", time_field="mentioned_at") == [BOB]
    page = bank.get("/memories/list", limit=1, offset=1, type="world")
    assert (page["total"], [each["text"] for each in page["items"]]) == (2, [BOB])
    assert bank.get("/memories/list", limit=0, type="world")["total"] == 2


def test_a_memory_is_read_with_all_that_is_known_of_it(bank: RestBank) -> None:
    bank.retain(ADA, tags=["a"], timestamp="2024-03-01T10:00:00Z", document_id="one", metadata={"page": "7"})

    unit = bank.get(f"/memories/{the_only(bank, ADA)['id']}")

    assert (unit["text"], unit["tags"], unit["metadata"]) == (ADA, ["a"], {"page": "7"})
    assert (unit["state"], unit["version"], unit["proof_count"]) == ("valid", 1, 1)
    assert unit["date"].startswith("2024-03-01")
    assert "Ada Lovelace" in unit["entities"]
    assert "edited_at" not in unit
    assert_refused(bank.ask("GET", f"/memories/{uuid4()}"), 404, "list the bank's memories")
    assert_refused(bank.ask("GET", "/memories/no-uuid"), 404, "no-uuid")


def test_an_edited_fact_is_found_by_its_new_words_and_keeps_its_id(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one")
    fact = the_only(bank, ADA)

    edited = changed(bank, fact["id"], text="Ada Lovelace works at Globex.", entities=["Ada Lovelace", "Globex"])

    assert (edited["id"], edited["version"], edited["text"]) == (fact["id"], 2, "Ada Lovelace works at Globex.")
    assert edited["entities"] == ["Ada Lovelace", "Globex"]
    assert edited["edited_at"] == edited["updated_at"] > edited["created_at"]
    assert recalled(bank, "Globex") == ["Ada Lovelace works at Globex."]
    assert listed(bank) == ["Ada Lovelace works at Globex."]


def test_times_and_context_are_cleared_by_an_empty_text_and_kept_when_absent(bank: RestBank) -> None:
    bank.retain(ADA, timestamp="2024-03-01T10:00:00Z", context="at work")
    fact = the_only(bank, ADA)

    dated = changed(bank, fact["id"], occurred_start="2023-01-01T00:00:00Z", occurred_end="2023-02-01T00:00:00Z")
    assert (dated["occurred_start"], dated["context"]) == ("2023-01-01T00:00:00+00:00", "at work")
    cleared = changed(bank, fact["id"], occurred_end="", context="")
    assert (cleared["occurred_start"], cleared["context"]) == ("2023-01-01T00:00:00+00:00", "")
    assert "occurred_end" not in cleared
    assert cleared["mentioned_at"].startswith("2024-03-01")

    wrong = bank.ask("PATCH", f"/memories/{fact['id']}", json={"occurred_end": "2022-01-01T00:00:00Z"})
    assert_refused(wrong, 422, "occurred_end lies before occurred_start")
    assert bank.get(f"/memories/{fact['id']}")["version"] == 3


def test_null_says_nothing_of_a_field(bank: RestBank) -> None:
    """Clients that send every field send null for those that are not to change."""
    bank.retain(ADA, timestamp="2024-03-01T10:00:00Z", context="at work")
    fact = the_only(bank, ADA)
    nulls = dict.fromkeys(["context", "occurred_start", "mentioned_at", "fact_type", "entities", "resolve_entities"])

    edited = changed(bank, fact["id"], text="Ada Lovelace works.", state=None, reason=None, **nulls)

    assert (edited["text"], edited["context"], edited["version"]) == ("Ada Lovelace works.", "at work", 2)
    assert edited["mentioned_at"] == fact["mentioned_at"]
    assert_refused(bank.ask("PATCH", f"/memories/{fact['id']}", json=nulls), 422, "changes nothing")


def test_an_edit_to_what_a_fact_says_already_writes_nothing(bank: RestBank) -> None:
    bank.retain(ADA, timestamp="2024-03-01T10:00:00Z")
    bank.model("ada")
    fact = the_only(bank, ADA)
    before = [bank.get(f"/memories/{fact['id']}"), bank.get("/stats"), bank.get("/mental-models/ada")["is_stale"]]

    changed(bank, fact["id"], text=ADA, context="", occurred_end="", state="valid")

    after = [bank.get(f"/memories/{fact['id']}"), bank.get("/stats"), bank.get("/mental-models/ada")["is_stale"]]
    assert after == before


def test_names_of_an_edit_are_matched_with_those_the_bank_knows_unless_they_are_meant_literally(bank: RestBank) -> None:
    bank.retain("Katherine Johnson works at Acme.", "Bob Stone lives in Oslo.")
    bob = the_only(bank, "Bob Stone lives in Oslo.")["id"]

    assert changed(bank, bob, entities=["Katherine  Johnsen", "ACME"])["entities"] == ["Katherine Johnson", "Acme"]
    literal = changed(bank, bob, entities=["Katherine Johnsen", "ACME"], resolve_entities=False)
    assert literal["entities"] == ["Katherine Johnsen", "Acme"]
    corrected = changed(bank, bob, entities=["Katherina Johnsen"])
    assert corrected["entities"] == ["Katherina Johnsen"], "the name that is corrected is not taken for its correction"


def test_secrets_are_taken_out_of_what_a_person_writes_where_the_bank_says_so(bank: RestBank) -> None:
    secret = "ghp_" + "a1B2" * 9
    bank.retain(ADA, BOB)
    bank.patch("/config", {"updates": {"memory_defense": {"enabled": True, "rules": [REDACTS]}}})

    edited = changed(bank, the_only(bank, ADA)["id"], text=f"Ada's key is {secret}.", context=secret)
    aside = changed(bank, the_only(bank, BOB)["id"], state="invalidated", reason=f"it names {secret}")

    assert secret not in str([edited, aside])
    assert "REDACTED" in edited["text"]
    bank.patch("/config", {"updates": {"memory_defense": {"enabled": True, "rules": [{**REDACTS, "action": "block"}]}}})
    blocked = bank.ask("PATCH", f"/memories/{edited['id']}", json={"text": f"Ada's key is {secret}."})
    assert_refused(blocked, 422, "text", "memory_defense")
    assert secret not in blocked.text


def test_an_invalidated_fact_is_nowhere_until_it_is_restored(bank: RestBank) -> None:
    bank.retain(ADA, BOB)
    fact = the_only(bank, ADA)

    aside = changed(bank, fact["id"], state="invalidated", reason="she left")

    assert (aside["state"], aside["invalidation_reason"]) == ("invalidated", "she left")
    assert ADA not in recalled(bank, "Where does Ada Lovelace work?")
    assert listed(bank) == [BOB]
    assert listed(bank, state="invalidated") == [ADA]
    assert_refused(bank.ask("PATCH", f"/memories/{fact['id']}", json={"text": "x"}), 409, "restore it")
    assert changed(bank, fact["id"], state="invalidated")["invalidated_at"] == aside["invalidated_at"]

    back = changed(bank, fact["id"], state="valid", context="she came back")

    assert (back["state"], back["context"], back["id"]) == ("valid", "she came back", fact["id"])
    assert "invalidated_at" not in back
    assert ADA in recalled(bank, "Where does Ada Lovelace work?")
    assert listed(bank, state="invalidated") == []


def test_a_document_that_is_retained_again_does_not_undo_what_a_person_corrected(bank: RestBank) -> None:
    bank.retain(f"{ADA} {BOB}", document_id="one", timestamp="2024-03-01T10:00:00Z")
    changed(bank, the_only(bank, ADA)["id"], text="Ada Lovelace works at Globex.")
    changed(bank, the_only(bank, BOB)["id"], state="invalidated")

    bank.retain(f"{ADA} {BOB}", document_id="one", timestamp="2024-03-01T10:00:00Z")

    assert listed(bank) == ["Ada Lovelace works at Globex."]
    assert listed(bank, state="invalidated") == [BOB]


def test_facts_without_the_time_that_is_asked_for_are_left_out(bank: RestBank) -> None:
    bank.retain(ADA, timestamp="2024-03-01T10:00:00Z")
    bank.retain(BOB, timestamp="unset")

    assert listed(bank) == [ADA, BOB]
    assert listed(bank, time_field="mentioned_at") == [ADA]
    assert listed(bank, time_field="created_at") == [BOB, ADA]
    assert listed(bank, end_date="2024-06-01") == [], "dates alone are of when a memory was taken in"
    assert listed(bank, start_date="2024-06-01") == [BOB, ADA]


def test_what_is_appended_leaves_alone_what_a_person_corrected_before(bank: RestBank) -> None:
    bank.retain(f"{ADA} {BOB}", document_id="one", timestamp="2024-03-01T10:00:00Z")
    changed(bank, the_only(bank, ADA)["id"], text="Ada Lovelace works at Globex.")
    changed(bank, the_only(bank, BOB)["id"], state="invalidated")

    bank.retain("Cleo Park lives in Rome.", document_id="one", update_mode="append")

    assert sorted(listed(bank)) == ["Ada Lovelace works at Globex.", "Cleo Park lives in Rome."]


def test_only_the_part_of_a_document_that_changed_is_read_again(bank: RestBank) -> None:
    sights = [f"Sight {number} of the town is tower {number}." for number in range(200)]
    before, after = "\n\n".join([ADA, *sights, BOB]), "\n\n".join([ADA, *sights, "Bob Stone lives in Rome."])
    bank.retain(before, document_id="one", timestamp="2024-03-01T10:00:00Z")
    assert bank.get("/documents/one/chunks")["total"] > 1
    (ada,) = bank.get("/memories/list", q=ADA)["items"]
    changed(bank, ada["id"], text="Ada Lovelace works at Globex.")

    bank.retain(after, document_id="one", timestamp="2024-03-01T10:00:00Z")

    assert bank.get(f"/memories/{ada['id']}")["text"] == "Ada Lovelace works at Globex."
    assert listed(bank, q=ADA) == []
    assert listed(bank, q="Bob Stone") == ["Bob Stone lives in Rome."]
    assert bank.get("/memories/list", type="world")["total"] == 202


def test_a_document_that_is_read_anew_says_again_what_it_says(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one", timestamp="2024-03-01T10:00:00Z")
    changed(bank, the_only(bank, ADA)["id"], text="Ada Lovelace works at Globex.")

    bank.finished(bank.post("/documents/one/reprocess")["operation_id"])

    assert listed(bank) == [ADA]


def test_a_fact_whose_part_of_the_document_is_gone_can_be_restored(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one")
    ada = the_only(bank, ADA)
    changed(bank, ada["id"], state="invalidated")
    bank.retain(BOB, document_id="one")

    back = changed(bank, ada["id"], state="valid")

    assert (back["state"], "chunk_id" in back) == ("valid", False)
    assert sorted(listed(bank, document_id="one")) == [ADA, BOB]
    changed(bank, ada["id"], state="invalidated")
    bank.ask("DELETE", "/documents/one")
    assert_refused(bank.ask("PATCH", f"/memories/{ada['id']}", json={"state": "valid"}), 404, ada["id"])


@pytest.mark.parametrize("limit", [0, 2**31 - 1])
@pytest.mark.parametrize("offset", [0, 2**31 - 1])
def test_pages_of_any_size_are_answered(bank: RestBank, limit: int, offset: int) -> None:
    bank.retain(ADA, document_id="one")

    for path in ("/memories/list", "/documents", "/entities"):
        page = bank.get(path, limit=limit, offset=offset)
        assert page["total"] >= 1
        assert bool(page["items"]) == (limit > 0 and offset == 0)
        assert_refused(bank.ask("GET", path, params={"limit": -1}), 422, "limit")
        assert_refused(bank.ask("GET", path, params={"offset": 2**63}), 422, "offset")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "changes nothing"),
        ({"reason": "why"}, "changes nothing"),
        ({"text": " "}, "text"),
        ({"fact_type": "observation"}, "fact_type"),
        ({"state": "gone"}, "state"),
        ({"occurred_start": "soon"}, "occurred_start"),
        ({"entities": [" "]}, "entities"),
        ({"text": "x" * 20_001}, "text"),
        ({"text": "\u200b"}, "text"),
        ({"text": "a\x00b"}, "NUL"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_and_changes_nothing(bank: RestBank, body: Any, words: str) -> None:
    bank.retain(ADA)
    fact = the_only(bank, ADA)

    assert_refused(bank.ask("PATCH", f"/memories/{fact['id']}", json=body), 422, words)
    assert bank.get(f"/memories/{fact['id']}")["version"] == 1


@pytest.mark.parametrize("text", ["x" * 20_000, "\u4e00\u4e8c" * 10_000, "a:" * 10_000, "1." * 10_000])
def test_a_text_as_long_as_may_be_is_taken_whatever_it_is_made_of(bank: RestBank, text: str) -> None:
    bank.retain(ADA)
    path = f"/memories/{the_only(bank, ADA)['id']}"

    assert bank.patch(path, {"text": text, "context": text[:10_000], "entities": [text[:256]]})["text"] == text
    assert bank.patch(path, {"state": "invalidated", "reason": text[:10_000]})["state"] == "invalidated"
    assert bank.patch(path, {"state": "valid"})["entities"] == [text[:256]]
    assert listed(bank, q=text[:1000]) == [text]


def test_half_a_character_is_no_text(bank: RestBank) -> None:
    bank.retain(ADA)
    path = f"/memories/{the_only(bank, ADA)['id']}"
    half = bank.ask("PATCH", path, content=b'{"text": "\\ud800"}', headers={"Content-Type": "application/json"})
    assert_refused(half, 422, "surrogate")


def test_a_document_says_why_it_is_stale_when_a_fact_it_cites_is_corrected(bank: RestBank) -> None:
    bank.retain(ADA)
    assert ADA in bank.model("ada")["content"]

    changed(bank, the_only(bank, ADA)["id"], state="invalidated")

    model = bank.get("/mental-models/ada")
    assert model["is_stale"]
    assert "evidence_changed" in model["stale_reasons"]


def test_one_memory_is_deleted_by_its_id(bank: RestBank) -> None:
    bank.retain(ADA, BOB)
    fact = the_only(bank, ADA)

    assert bank.ask("DELETE", f"/memories/{fact['id']}").json()["deleted_count"] == 1

    assert listed(bank) == [BOB]
    assert_refused(bank.ask("DELETE", f"/memories/{fact['id']}"), 404, fact["id"])
    assert_refused(bank.ask("PATCH", f"/memories/{fact['id']}", json={"state": "valid"}), 404, fact["id"])


def test_a_delete_with_a_filter_takes_only_what_the_filter_names(bank: RestBank) -> None:
    """TS-13."""
    bank.retain(ADA, tags=["user:ada"])
    bank.retain(BOB, tags=["user:bob"])
    bank.retain("Everyone likes tea.")

    erased = bank.ask("DELETE", "/memories", params={"tags": "user:ada"})

    assert erased.json()["deleted_count"] == 1
    assert sorted(listed(bank)) == sorted([BOB, "Everyone likes tea."])
    assert changed(bank, the_only(bank, BOB)["id"], text="Bob Stone lives in Bergen.")["tags"] == ["user:bob"]


def test_a_delete_with_a_filter_leaves_documents_of_others_that_have_no_facts(bank: RestBank) -> None:
    bank.retain(ADA, tags=["user:ada"], document_id="ada")
    bank.retain("***", tags=["user:ada"], document_id="code of ada")
    bank.retain("***", tags=["user:bob"], document_id="code of bob")
    assert bank.get("/documents/code of bob")["memory_unit_count"] == 0

    bank.ask("DELETE", "/memories", params={"type": "observation"})
    assert bank.get("/documents")["total"] == 3
    bank.ask("DELETE", "/memories", params={"tags": "user:ada"})

    assert [each["id"] for each in bank.get("/documents")["items"]] == ["code of bob"]
    bank.ask("DELETE", "/memories")
    assert bank.get("/documents")["total"] == 0


def test_a_delete_with_an_unknown_filter_deletes_nothing(bank: RestBank) -> None:
    bank.retain(ADA)

    assert_refused(bank.ask("DELETE", "/memories", params={"tag": "user:ada"}), 422, "nothing was deleted")
    assert_refused(bank.ask("DELETE", "/memories", params={"type": "opinion"}), 422, "type")
    assert listed(bank) == [ADA]


def test_all_memories_are_deleted_with_the_texts_they_were_read_from(bank: RestBank) -> None:
    bank.retain(ADA, document_id="one")

    assert bank.ask("DELETE", "/memories").json()["deleted_count"] == 1

    assert listed(bank) == []
    assert bank.get("/documents")["total"] == 0
    assert bank.get("/stats")["total_nodes"] == 0


def test_a_memory_of_a_bank_that_is_not_there_is_refused_by_its_bank(bank: RestBank) -> None:
    for method, body in (("GET", None), ("PATCH", {"state": "valid"}), ("DELETE", None)):
        assert_refused(bank.ask(method, f"/memories/{uuid4()}", json=body), 404, f"Bank '{bank.bank_id}'")
