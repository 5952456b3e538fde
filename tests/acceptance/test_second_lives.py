"""What is told of the past is what was told then, and a second life under the same id shows nothing of the first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from tests.support.rest import RestBank, assert_refused


def test_the_present_version_reads_the_same_as_of_itself(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", tags=["a"])
    bank.model("ada", tags=["a"])
    bank.patch("/mental-models/ada", {"tags": ["elsewhere"]})
    preserved = bank.refreshed("ada")
    assert preserved["reflect_response"]["outcome"] == "content_preserved_no_new_facts"
    assert preserved["reflect_response"]["based_on"]["world"], "a document that is kept keeps its evidence"
    then = bank.get("/mental-models/ada", as_of=preserved["version"])
    assert then == {name: value for name, value in preserved.items() if name != "is_stale"}
    bank.patch("/mental-models/ada", {"tags": ["a"]})
    written_again = bank.refreshed("ada")["reflect_response"]
    assert "reflect_skipped" not in written_again
    assert "warnings" not in written_again


def test_a_document_that_nothing_was_ever_read_for_has_all_keys_of_its_evidence(bank: RestBank) -> None:
    response = bank.model("ada")["reflect_response"]
    assert response["text"] == ""
    assert set(response["based_on"]) == {
        "world", "experience", "opinion", "observation", "mental-models", "directives",
    }  # fmt: skip
    assert not any(response["based_on"].values())
    assert response["warnings"]


def test_a_mental_model_created_again_shows_nothing_of_its_first_life(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", tags=["first"])
    bank.model("ada", tags=["first"])
    assert bank.ask("DELETE", "/mental-models/ada").status_code == 200
    again = bank.model("ada", source_query="Where does Ada work?")
    assert again["tags"] == []
    created = bank.get("/mental-models/ada", as_of=again["version"] - 1)
    assert (created["content"], created["tags"]) == ("", [])
    assert "reflect_response" not in created
    first = bank.get("/mental-models/ada", as_of=2)
    assert first["reflect_response"]["based_on"]["world"][0]["text"] == "Ada works at Acme."
    (written,) = bank.get("/mental-models/ada/history")
    assert written["previous_content"] == ""


def test_a_bank_created_again_starts_without_operations_and_takes_their_ids_anew(bank: RestBank) -> None:
    request = {"items": [{"content": "Ada works at Acme."}], "async": True, "operation_id": str(uuid4())}
    bank.finished(bank.post("/memories", request)["operation_id"])
    assert bank.ask("DELETE").status_code == 200
    bank.retain("Ada paints.")
    assert bank.get("/operations")["total"] == 0
    assert bank.get("/stats")["operations_by_status"] == {}
    bank.finished(bank.post("/memories", request)["operation_id"])
    assert bank.get("/operations")["total"] == 1
    assert bank.get("/stats")["total_nodes"] == 2


def test_traits_given_at_the_same_time_all_stay(bank: RestBank) -> None:
    traits = ("skepticism", "literalism", "empathy")
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda trait: bank.ask("PUT", json={"disposition": {trait: 5}}), traits))
    assert bank.ask("PUT", json={}).json()["disposition"] == dict.fromkeys(traits, 5)


def test_operations_of_a_deleted_bank_are_not_found(bank: RestBank) -> None:
    operation = bank.post("/mental-models", {"name": "Ada", "source_query": "Who is Ada?"})["operation_id"]
    bank.finished(operation)
    assert bank.ask("DELETE").status_code == 200
    assert_refused(bank.ask("GET", "/operations"), 404, bank.bank_id)
    assert_refused(bank.ask("GET", f"/operations/{operation}"), 404, bank.bank_id)


def test_lists_that_the_contract_does_not_bound_take_any_limit(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", tags=["a"])
    assert bank.get("/tags", limit=1_000_000)["items"] == [{"tag": "a", "count": 1}]
    listed = bank.client.get("/v1/default/banks", params={"q": bank.bank_id, "limit": 1_000_000})
    assert [each["bank_id"] for each in listed.json()["banks"]] == [bank.bank_id]
