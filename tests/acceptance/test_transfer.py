"""Banks exported, imported and cloned over real HTTP: the copy is the bank, under ids of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from adapters.service import Service
from adapters.verification import verify
from tests.support.client_bank import official_client
from tests.support.rest import RestBank, assert_refused
from tests.support.transferring import (
    UUIDS,
    entries,
    exported,
    ids_in,
    imported,
    lived_in,
    rows,
    sent,
    settled,
    without_ids,
)


@pytest.fixture(scope="module")
def source(client: httpx.Client) -> RestBank:
    """A bank that has been through much; no test changes it."""
    return lived_in(RestBank(client, f"source-{uuid4().hex[:12]}"))


@pytest.fixture(scope="module")
def archive(source: RestBank) -> bytes:
    return exported(source)


@pytest.fixture(scope="module")
def copy(source: RestBank, archive: bytes) -> RestBank:
    """The bank in the archive, imported beside it; no test changes it."""
    copy = RestBank(source.client, f"copy-{uuid4().hex[:12]}")
    assert imported(source, archive, copy.bank_id)["status"] == "completed"
    return copy


def told(bank: RestBank, path: str, **params: Any) -> str:
    """A reply without what is the bank's own: internal ids become numbers in the order in which they come."""
    numbers: dict[str, str] = {}
    text = json.dumps(bank.get(path, **params), sort_keys=True).replace(bank.bank_id, "<bank>")
    text = re.sub(r'"(log_)?position": \d+, "sentence"', '"sentence"', text)  # the place in the log of all banks
    return UUIDS.sub(lambda found: numbers.setdefault(found.group(), f"<{len(numbers)}>"), text)


# --- TR-01 ------------------------------------------------------------------------------------------------------------


def test_a_copy_beside_its_source_has_ids_of_its_own(copy: RestBank, archive: bytes, live_service: Service) -> None:
    """TR-01: only names that are known within their bank are the same, such as those of documents."""
    again = exported(copy)
    documents = {row["document_id"] for row in rows(archive, "documents")}
    assert len(ids_in(archive)) > 20
    assert ids_in(archive) & ids_in(again) <= documents
    verified = verify(live_service.log, live_service.reader)
    assert verified.differences == ()


def test_a_copy_and_its_source_change_without_each_other(source: RestBank, archive: bytes) -> None:
    before = told(source, "/memories/list", limit=100), told(source, "/mental-models", detail="full")
    other = RestBank(source.client, f"other-{uuid4().hex[:12]}")
    imported(source, archive, other.bank_id)
    other.retain("Ada Lovelace sold everything.", document_id="guide")
    other.patch("/mental-models/ada", {"content": "# Ada\n"})
    assert other.ask("DELETE").is_success
    assert (told(source, "/memories/list", limit=100), told(source, "/mental-models", detail="full")) == before


# --- TR-02 ------------------------------------------------------------------------------------------------------------


def test_evidence_names_facts_of_the_copy_in_what_is_and_in_what_was(copy: RestBank) -> None:
    """TR-02: of a document as it is, of its history, and of its blame."""
    facts = {row["fact_id"] for row in rows(exported(copy), "facts")}
    events = copy.get("/mental-models/ada/events")["items"]
    operations = {event["operation_id"] for event in events if "operation_id" in event}
    for path in ("", "/history", "/blame"):
        named = set(UUIDS.findall(json.dumps(copy.get(f"/mental-models/ada{path}", detail="full"))))
        assert named - operations, path
        assert named - operations <= facts, path


@pytest.mark.parametrize("model", ["ada", "dan"])
@pytest.mark.parametrize("path", ["", "/history", "/blame", "/events", "/diff?from=1&to=2"])
def test_a_document_tells_of_itself_what_it_told_in_the_source(
    source: RestBank, copy: RestBank, model: str, path: str
) -> None:
    at, _, query = f"/mental-models/{model}{path}".partition("?")
    params = dict(each.split("=") for each in query.split("&")) if query else {"detail": "full"}
    assert told(copy, at, **params) == told(source, at, **params)


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_a_document_is_what_it_was_at_each_of_its_versions(source: RestBank, copy: RestBank, version: int) -> None:
    asked = {"as_of": version, "detail": "full"}
    assert told(copy, "/mental-models/ada", **asked) == told(source, "/mental-models/ada", **asked)


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/mental-models", {"detail": "full"}),
        ("/memories/list", {"limit": 100}),
        ("/memories/list", {"limit": 100, "state": "invalidated"}),
        ("/memories/list", {"limit": 100, "type": "observation"}),
        ("/documents", {}),
        ("/documents/guide", {}),
        ("/documents/guide/chunks", {}),
        ("/entities", {}),
        ("/directives", {"active_only": False}),
        ("/config", {}),
        ("/tags", {}),
    ],
)
def test_the_memory_and_the_config_are_what_they_were(
    source: RestBank, copy: RestBank, path: str, params: dict[str, Any]
) -> None:
    there, here = source.ask("GET", path, params=params), copy.ask("GET", path, params=params)
    assert there.status_code == here.status_code == 200, there.text
    assert told(copy, path, **params) == told(source, path, **params)


def test_a_copy_is_searched_as_its_source(source: RestBank, copy: RestBank) -> None:
    asked = {"query": "Where does Ada Lovelace work?"}
    found = [each["text"] for each in source.post("/memories/recall", asked)["results"]]
    assert found
    assert [each["text"] for each in copy.post("/memories/recall", asked)["results"]] == found


@pytest.mark.usefixtures("copy")
def test_read_models_made_anew_are_those_that_are_served(live_service: Service) -> None:
    compared = live_service.read_models.rebuild(check_only=True).comparisons
    assert [each for each in compared if not each.same] == []


def test_a_document_of_a_copy_goes_on_where_it_was(source: RestBank, archive: bytes) -> None:
    """It is stale by what it had not read, reads only that, and a document that is retained again is known."""
    other = RestBank(source.client, f"on-{uuid4().hex[:12]}")
    imported(source, archive, other.bank_id)
    known = rows(archive, "documents")
    (boat,) = (row["text"] for row in known if row["document_id"] == "guide")
    position = rows(archive, "clock")[0]["position"]
    parts = next(row for row in known if row["document_id"] == "guide")["parts"]
    last = boat[-parts[-1]["length"] :]
    other.retain(last, document_id="guide", update_mode="append", tags=["work"])
    assert rows(exported(other), "clock")[0]["position"] == position, "no fact was written anew"
    other.retain("Ada Lovelace plays tennis.", document_id="sport")
    settled(other)
    document = other.refreshed("ada")
    assert "Ada Lovelace plays tennis." in document["content"]
    assert "Ada Lovelace moved to Paris." in document["content"]
    event = other.get("/mental-models/ada/events", detail="full")["items"][-1]
    assert event["payload"]["record"]["effective_mode"] == "delta"


# --- TR-03 ------------------------------------------------------------------------------------------------------------


def test_an_archive_of_a_copy_is_the_archive_of_the_source_apart_from_ids(
    source: RestBank, copy: RestBank, archive: bytes
) -> None:
    """TR-03: times to the microsecond, JSON fields, order, counts."""
    again = exported(copy)
    assert without_ids(again, copy.bank_id) == without_ids(archive, source.bank_id)
    before, after = (json.loads(entries(each)["manifest.json"]) for each in (archive, again))
    assert after["counts"] == before["counts"]


def test_the_summary_counts_what_was_imported_its_history_too(source: RestBank, archive: bytes) -> None:
    """TR-03: the history count was missing."""
    done = imported(source, archive, f"counted-{uuid4().hex[:12]}")["result_metadata"]
    counts = json.loads(entries(archive)["manifest.json"])["counts"]
    assert {name: done[name] for name in counts} == counts
    assert (done["history"], done["mental_models"], done["directives"], done["documents"]) == (8, 2, 1, 3)


# --- parts, targets, lives --------------------------------------------------------------------------------------------


def test_a_clone_is_made_without_a_file(source: RestBank) -> None:
    target = RestBank(source.client, f"clone-{uuid4().hex[:12]}")
    asked = source.ask("POST", "/clone", params={"target_bank_id": target.bank_id})
    assert asked.status_code == 202
    done = source.finished(asked.json()["operation_id"])
    assert (done["status"], done["operation_type"]) == ("completed", "bank_clone")
    assert told(target, "/mental-models/ada/history") == told(source, "/mental-models/ada/history")
    assert without_ids(exported(target), target.bank_id) == without_ids(exported(source), source.bank_id)


def test_config_and_data_go_each_without_the_other(source: RestBank, archive: bytes) -> None:
    config, data = (RestBank(source.client, f"{name}-{uuid4().hex[:12]}") for name in ("config", "data"))
    imported(source, archive, config.bank_id, include_data=False)
    imported(source, exported(source, include_bank_config=False), data.bank_id)
    assert config.get("/mental-models")["total"] == config.get("/stats")["total_nodes"] == 0
    assert len(config.get("/directives")["items"]) == 1
    assert data.get("/directives", active_only=False)["items"] == []
    assert data.get("/mental-models")["total"] == 2
    assert data.get("/stats")["total_nodes"] == source.get("/stats")["total_nodes"]


def test_a_bank_that_is_there_and_empty_becomes_the_one_imported(source: RestBank, archive: bytes) -> None:
    empty = RestBank(source.client, f"empty-{uuid4().hex[:12]}")
    empty.ask("PUT", json={})
    done = imported(empty, archive, empty.bank_id)
    assert done["status"] == "completed"
    assert told(empty, "/mental-models/ada/history") == told(source, "/mental-models/ada/history")
    listed = source.client.get("/v1/default/banks", params={"q": empty.bank_id}).json()["banks"]
    assert [each["name"] for each in listed] == ["The team's"]


def test_a_bank_deleted_is_restored_under_its_own_id(source: RestBank, archive: bytes, live_service: Service) -> None:
    """Its streams go on: versions that events name are those of the stream as it is now."""
    bank = RestBank(source.client, f"again-{uuid4().hex[:12]}")
    imported(source, archive, bank.bank_id)
    own = exported(bank)
    assert bank.ask("DELETE").is_success
    assert imported(source, own)["status"] == "completed"
    assert bank.get("/mental-models/ada")["content"] == source.get("/mental-models/ada")["content"]
    reverted = [e for e in bank.get("/mental-models/ada/events", detail="full")["items"] if "reverted" in e["topic"]]
    at = reverted[-1]["payload"]["to_version"]
    assert bank.get("/mental-models/ada", as_of=at)["content"] == reverted[-1]["payload"]["text"]
    assert without_ids(exported(bank), bank.bank_id)["facts"] == without_ids(archive, source.bank_id)["facts"]
    assert verify(live_service.log, live_service.reader).differences == ()


def test_a_bank_with_anything_in_it_is_no_target(source: RestBank, archive: bytes, copy: RestBank) -> None:
    assert_refused(sent(source, archive, copy.bank_id), 409, copy.bank_id, "not empty")
    assert_refused(sent(source, archive), 409, source.bank_id)
    clone = source.ask("POST", "/clone", params={"target_bank_id": copy.bank_id})
    assert_refused(clone, 409, "not empty")


def test_what_is_not_served_is_said(source: RestBank, archive: bytes) -> None:
    assert_refused(sent(source, archive, "x", mode="merge"), 400, "merged")
    assert_refused(source.ask("POST", "/transfer/export", params={"document_id": "guide"}), 400, "document_id")
    assert_refused(source.ask("GET", "/document-transfer"), 410, "transfer/export")
    told = source.ask("POST", "/transfer/export", params={"include_history": True})
    assert told.headers["X-Ignored-Parameters"] == "include_history"
    assert_refused(
        source.ask("POST", "/transfer/export", params={"include_data": False, "include_bank_config": False}),
        422,
        "include_data",
    )


def test_a_bank_that_is_not_there_is_not_found(bank: RestBank, archive: bytes) -> None:
    assert_refused(bank.ask("POST", "/transfer/export"), 404, bank.bank_id)
    assert_refused(bank.ask("POST", "/clone", params={"target_bank_id": "b"}), 404, bank.bank_id)
    assert_refused(sent(bank, archive, "b"), 404, bank.bank_id)


# --- downloads --------------------------------------------------------------------------------------------------------


def test_an_archive_is_fetched_by_its_key_only(source: RestBank, client: httpx.Client) -> None:
    done = source.finished(source.ask("POST", "/transfer/export").json()["operation_id"])["result_metadata"]
    answer = client.get(done["download_url"])
    assert answer.headers["Content-Type"] == "application/zip"
    assert len(answer.content) == done["byte_size"] == int(answer.headers["Content-Length"])
    assert done["filename"] in answer.headers["Content-Disposition"]
    assert len(done["storage_key"]) > 40
    assert client.get(done["download_url"][:-1]).status_code == 404
    assert_refused(client.get("/v1/default/files/download/nothing"), 404, "no longer kept")


# --- the official client ----------------------------------------------------------------------------------------------


@pytest.fixture
def hindsight_of(address: str) -> Iterator[Any]:
    with official_client(address) as (client, _loop):
        yield client


def test_the_official_client_exports_imports_and_clones(hindsight_of: Any, source: RestBank) -> None:
    content = hindsight_of.export_bank(source.bank_id, poll_interval=0.05)
    targets = [RestBank(source.client, f"client-{uuid4().hex[:12]}") for _ in range(2)]
    source.finished(hindsight_of.import_bank(source.bank_id, content, target_bank_id=targets[0].bank_id))
    source.finished(hindsight_of.clone_bank(source.bank_id, targets[1].bank_id))
    for target in targets:
        assert told(target, "/mental-models/ada/history") == told(source, "/mental-models/ada/history")
