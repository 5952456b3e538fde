"""Reports from the field, each with the outcome it should have had: named by the id of its case, over real HTTP, with
the engine that needs no model."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.eventually import eventually
from tests.support.rest import RestBank, assert_refused

MODEL = {"name": "Ada", "source_query": "What is known about Ada?"}
EVERYTHING_AT_ONCE = 8


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str) -> Iterator[Service]:
    settings = Settings(_env_file=None, max_body_bytes=2_000_000, worker_retry_seconds=0)
    with opened(build(settings, shared_conninfo)) as service:
        yield service


@pytest.fixture
def banks(client: httpx.Client) -> tuple[RestBank, RestBank]:
    run = uuid4().hex[:8]
    return RestBank(client, f"a-{run}"), RestBank(client, f"b-{run}")


def texts(bank: RestBank, query: str, **body: Any) -> list[str]:
    """What a recall finds, in order of the alphabet."""
    return sorted(each["text"] for each in bank.post("/memories/recall", {"query": query, **body})["results"])


def document(service: Service, bank: RestBank, document_id: str) -> Any:
    """The stored row of a source document."""
    with service.database.connection() as connection:
        return connection.execute(
            "SELECT text, created_at, updated_at FROM memory_documents WHERE bank_id = %s AND document_id = %s",
            (bank.bank_id, document_id),
        ).fetchone()


def at_once(bank: RestBank, bodies: list[dict[str, Any]]) -> list[int]:
    """Sends retains side by side; their status codes."""
    with ThreadPoolExecutor(EVERYTHING_AT_ONCE) as threads:
        return [each.status_code for each in threads.map(lambda body: bank.ask("POST", "/memories", json=body), bodies)]


def appended(text: str) -> dict[str, Any]:
    return {"items": [{"content": text, "document_id": "talk", "update_mode": "append"}]}


def test_re_01_parallel_appends_and_parallel_documents_are_all_kept(bank: RestBank, live_service: Service) -> None:
    bank.retain("Turn one greets.", document_id="talk")
    turns = [f"Turn {number} answers." for number in ("two", "three", "four")]
    assert at_once(bank, [appended(turn) for turn in turns]) == [200] * 3
    text = document(live_service, bank, "talk")["text"]
    assert text.startswith("Turn one greets.")
    assert all(text.count(turn) == 1 for turn in turns)
    assert texts(bank, "turn") == sorted(["Turn one greets.", *turns])

    others = [f"Letter {number} says hello." for number in range(8)]
    bodies = [{"items": [{"content": other, "document_id": other}]} for other in others]
    assert at_once(bank, bodies) == [200] * 8
    assert texts(bank, "letter hello", max_tokens=10_000)[:8] == others


def test_re_01_appends_one_after_another_keep_their_order(bank: RestBank, live_service: Service) -> None:
    for number in ("one", "two", "three"):
        bank.post("/memories", appended(f"Turn {number} speaks."))
    assert document(live_service, bank, "talk")["text"].split("\n") == [
        "Turn one speaks.", "Turn two speaks.", "Turn three speaks.",
    ]  # fmt: skip


@pytest.mark.parametrize("later", [False, True], ids=["at once", "in the background"])
def test_re_02_two_items_of_one_document_are_one_document(bank: RestBank, live_service: Service, later: bool) -> None:
    items = [
        {"content": "Apples are red.", "document_id": "d1"},
        {"content": "Berries are blue.", "document_id": "d1"},
        {"content": "Cherries are sweet.", "document_id": "d2"},
    ]
    answer = bank.post("/memories", {"items": items, "async": later})
    if later:
        assert bank.finished(answer["operation_id"])["status"] == "completed"
    assert document(live_service, bank, "d1")["text"] == "Apples are red.\nBerries are blue."
    assert bank.get("/stats")["total_documents"] == 2
    assert texts(bank, "apples berries cherries") == ["Apples are red.", "Berries are blue.", "Cherries are sweet."]


def test_re_03_a_document_of_a_megabyte_is_kept_whole(bank: RestBank, live_service: Service) -> None:
    markers = [f"marker{number:03d}x" for number in range(100)]
    filler = "The rest of this section repeats itself. " * 250
    text = "\n\n".join(f"Section {marker} begins here. {filler}" for marker in markers)
    assert len(text) > 1_000_000
    bank.retain(text, document_id="big")
    assert document(live_service, bank, "big")["text"] == text
    found = [texts(bank, marker) for marker in markers[::10]]
    assert all(any(marker in each for each in found[i]) for i, marker in enumerate(markers[::10]))
    assert bank.get("/stats")["total_nodes"] >= len(markers)


def test_re_04_a_document_retained_again_keeps_its_birthday(bank: RestBank, live_service: Service) -> None:
    bank.retain("Ada works at Acme.", document_id="d")
    first = document(live_service, bank, "d")
    bank.retain("Ada works at Globex.", document_id="d")
    again = document(live_service, bank, "d")
    assert again["created_at"] == first["created_at"]
    assert again["updated_at"] > first["updated_at"]
    assert texts(bank, "Ada works") == ["Ada works at Globex."]


def test_rc_03_chinese_is_found_by_its_words(bank: RestBank) -> None:
    bank.retain("我们使用外币汇率换算服务")
    (found,) = bank.post("/memories/recall", {"query": "汇率换算"})["results"]
    assert found["scores"]["keyword"] > 0
    assert found["text"] == "我们使用外币汇率换算服务"


def test_rc_04_a_question_too_long_to_recall_is_too_long_to_ask_for_a_document(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.")
    bank.model("ada")
    long = "word " * 2_000
    assert_refused(bank.ask("POST", "/memories/recall", json={"query": long}), 422, "query", "500")
    assert_refused(bank.ask("POST", "/mental-models", json={**MODEL, "source_query": long}), 422, "source_query", "500")
    assert_refused(bank.ask("PATCH", "/mental-models/ada", json={"source_query": long}), 422, "source_query", "500")


NOTES = {
    "Alice": ["user:alice"],
    "Bob": ["user:bob"],
    "Nobody": [],
    "Both": ["user:alice", "user:bob"],
    "Work": ["user:alice", "work"],
}


@pytest.mark.parametrize(
    ("match", "seen"),
    [
        ("any", {"Alice", "Both", "Work", "Nobody"}),
        ("all", {"Alice", "Both", "Work", "Nobody"}),
        ("any_strict", {"Alice", "Both", "Work"}),
        ("all_strict", {"Alice", "Both", "Work"}),
        ("exact", {"Alice"}),
        (None, {"Alice", "Both", "Work"}),
    ],
)
def test_ts_04_a_page_of_one_user_holds_what_its_match_admits(
    bank: RestBank, match: str | None, seen: set[str]
) -> None:
    for name, tags in NOTES.items():
        bank.retain(f"{name} wrote a red note.", tags=tags)
    trigger = {"tags_match": match} if match else None
    page = bank.model("alice", source_query="Who wrote a red note?", tags=["user:alice"], trigger=trigger)
    assert {name for name in NOTES if f"{name} wrote" in page["content"]} == seen
    if match is not None:
        recalled = texts(bank, "red note", tags=["user:alice"], tags_match=match)
        assert {each.split()[0] for each in recalled} == seen


def test_ts_10_a_document_id_belongs_to_its_bank(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    for bank in banks:
        bank.retain("Ada works at Acme.", document_id="d1", tags=["old"])
    a.retain("Ada works at Globex.", document_id="d1", tags=["new"])
    assert texts(b, "Ada works") == ["Ada works at Acme."]
    assert [each["tag"] for each in b.get("/tags")["items"]] == ["old"]
    assert a.ask("DELETE").status_code == 200
    assert texts(b, "Ada works") == ["Ada works at Acme."]
    assert b.get("/stats")["total_documents"] == 1


def test_ts_11_a_mental_model_id_belongs_to_its_bank(banks: tuple[RestBank, RestBank]) -> None:
    a, b = banks
    for bank, company in zip(banks, ("Acme", "Globex"), strict=True):
        bank.retain(f"Ada works at {company}.")
        assert company in bank.model("profile")["content"]
    assert a.ask("DELETE", "/mental-models/profile").status_code == 200
    assert "Globex" in b.refreshed("profile")["content"]


def test_ac_02_a_list_of_more_than_a_page_shows_each_once(bank: RestBank) -> None:
    ids = {f"m{number:03d}" for number in range(105)}
    with ThreadPoolExecutor(EVERYTHING_AT_ONCE) as threads:
        list(threads.map(lambda each: bank.post("/mental-models", {**MODEL, "id": each}), sorted(ids)))
    eventually(lambda: bank.get("/stats")["pending_operations"] == 0, timeout=30)

    def pages(size: int) -> list[str]:
        listed: list[str] = []
        while page := bank.get("/mental-models", limit=size, offset=len(listed))["items"]:
            listed += [each["id"] for each in page]
        return listed

    assert bank.get("/mental-models")["total"] == 105
    assert len(bank.get("/mental-models")["items"]) == 100
    assert len(pages(100)) == 105
    assert set(pages(40)) == ids
    bank.ask("DELETE", "/mental-models/m050")
    assert sorted(pages(100)) == sorted(ids - {"m050"})


def test_ac_03_reading_or_changing_a_missing_bank_makes_none_and_a_mental_model_makes_one(bank: RestBank) -> None:
    for path in ("/mental-models", "/stats", "/tags", "/operations", "/mental-models/ada"):
        assert_refused(bank.ask("GET", path), 404, bank.bank_id)
    assert_refused(bank.ask("PATCH", json={"name": "Nope"}), 404)
    assert_refused(bank.ask("POST", "/memories/recall", json={"query": "Ada"}), 404)
    assert_refused(bank.ask("POST", "/mental-models/ada/refresh"), 404)
    assert bank.client.get("/v1/default/banks", params={"q": bank.bank_id}).json()["total"] == 0
    bank.post("/mental-models", MODEL)
    assert bank.client.get("/v1/default/banks", params={"q": bank.bank_id}).json()["total"] == 1


@pytest.mark.parametrize(
    "document_id", ["folder/file.md", "a%2Fb", "a b", "x#y", "agent::chan::u", "q?x=1", "../up", "日本"]
)
def test_ac_05_any_document_id_comes_back_and_replaces_itself(bank: RestBank, document_id: str) -> None:
    bank.retain("Ada works at Acme.", document_id=document_id)
    bank.retain("Ada works at Globex.", document_id=document_id)
    (found,) = bank.post("/memories/recall", {"query": "Ada works"})["results"]
    assert (found["document_id"], found["text"]) == (document_id, "Ada works at Globex.")


def test_ac_08_metadata_is_told_in_strings_or_refused_and_reads_never_fail(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", metadata={"a": None, "b": 348, "c": True, "d": "text"})
    (found,) = bank.post("/memories/recall", {"query": "Ada works"})["results"]
    assert found["metadata"] == {"b": "348", "c": "true", "d": "text"}
    refused = bank.ask("POST", "/memories", json={"items": [{"content": "Ada rests.", "metadata": {"c": {"x": 1}}}]})
    assert_refused(refused, 422, "metadata", "'c'")
    assert "Acme" in bank.model("ada")["content"]


@pytest.mark.parametrize("blank", ["", "  \n", "\u200b\u200d", "\ufeff", "\u2028"])
def test_ac_11_blank_text_is_refused_and_makes_no_bank(bank: RestBank, blank: str) -> None:
    assert_refused(bank.ask("POST", "/memories", json={"items": [{"content": blank}]}), 422, "content")
    assert_refused(bank.ask("POST", "/mental-models", json={**MODEL, "source_query": blank}), 422, "source_query")
    assert_refused(bank.ask("POST", "/mental-models", json={**MODEL, "name": blank}), 422, "name")
    assert_refused(bank.ask("POST", "/memories/recall", json={"query": blank}), 422, "query")
    assert_refused(bank.ask("GET", "/stats"), 404)


def test_ac_12_a_name_nobody_knows_is_told_and_an_alias_is_understood(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.")
    answer = bank.ask(
        "POST", "/mental-models", json={**MODEL, "trigger": {"refreshCron": "* * * * *"}, "tag_match": "any"}
    )
    assert answer.headers["X-Ignored-Parameters"] == "trigger.refreshCron, tag_match"
    later = bank.ask("POST", "/memories", json={"items": [{"content": "Ada rests."}], "async": True})
    assert later.json()["async"] is True
    assert "X-Ignored-Parameters" not in later.headers
