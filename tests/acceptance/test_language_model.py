"""The whole way with a language model: a scripted OpenAI-compatible server over real HTTP, well and badly behaved."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest

from tests.support import scripted_llm as script
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, ScriptedLlm, Usage
from tests.support.scripted_service import client_of_scripted_service

USAGE = Usage(prompt=100, completion=20, cached=10, reasoning=5)
FACT = "Ada tests bridges on Mondays"


def extracted(*texts: str) -> Reply:
    facts = [{"what": text, "fact_type": "world", "entities": ["Ada"]} for text in texts]
    return script.tool_call("record_facts", {"facts": facts}, usage=USAGE)


def recalls() -> Reply:
    return script.tool_call("recall", {"reason": "first", "query": "Ada bridges", "max_tokens": 2048}, usage=USAGE)


def writes(*blocks: str, ids: tuple[str, ...] = ("f1",)) -> Reply:
    document = {"sections": [{"heading": "Ada", "level": 2, "blocks": list(blocks)}]}
    arguments = {"document": document, "answer_found": True, "memory_ids": list(ids)}
    return script.tool_call("done", arguments, usage=USAGE)


@pytest.fixture(scope="module")
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm() as server:
        yield server


@pytest.fixture(scope="module")
def client(shared_conninfo: str, llm: ScriptedLlm) -> Iterator[httpx.Client]:
    with client_of_scripted_service(
        shared_conninfo, llm, llm_timeout_seconds=1.0, worker_max_retries=1, worker_retry_seconds=0
    ) as client:
        yield client


@pytest.fixture
def bank(client: httpx.Client, llm: ScriptedLlm) -> Iterator[RestBank]:
    """A bank with one fact and a document that rests on it."""
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    llm.script(extracted(FACT))
    bank.retain("Ada said she tests bridges on Mondays.")
    llm.script(recalls(), writes(f"{FACT}. [f1]"))
    bank.model("ada")
    yield bank
    assert llm.unused == 0, "every scripted reply was asked for"
    assert llm.unexpected == []


def test_a_document_is_written_with_its_evidence_and_its_cost(bank: RestBank) -> None:
    model = bank.get("/mental-models/ada")
    assert model["content"] == f"## Ada\n\n{FACT}.\n"
    assert model["is_stale"] is False
    (evidence,) = model["reflect_response"]["based_on"]["world"]
    assert FACT in evidence["text"]
    written = bank.get("/mental-models/ada/events", detail="full")["items"][-1]
    assert (written["calls"], written["tokens"]) == (2, 240)
    record = written["payload"]["record"]
    assert record["engine"] == "scripted"
    assert [call["purpose"] for call in record["calls"]] == ["reflect_1", "reflect_2"]
    assert [call["query"] for call in record["tool_calls"]] == ["Ada bridges"]
    assert record["raw_reply"]


FAULTS: dict[str, tuple[list[Reply], str]] = {
    "no answer": ([script.tool_call("done", {"document": {"sections": []}, "answer_found": False})], "no_answer"),
    "cut off by its token limit": ([script.truncated("Ada tests")], "unexpected_error"),
    "refused": ([script.refusal("I cannot help with bridges")], "unexpected_error"),
    "no JSON": ([script.garbage()], "unexpected_error"),
    "JSON of another shape": ([script.wrong_shape()], "unexpected_error"),
    "not allowed": ([script.unauthorized()], "unexpected_error"),
    "plain text twice": ([script.text("I don't know."), script.text("I still don't know.")], "no_answer"),
    "an envelope as text": (
        [script.json_content({"answer": "Ada", "memory_ids": []}), script.json_content({"answer": "Ada"})],
        "no_answer",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_never_touches_the_document(bank: RestBank, llm: ScriptedLlm, fault: str) -> None:
    before = bank.get("/mental-models/ada")
    replies, reason = FAULTS[fault]
    attempts = 2 if reason == "no_answer" else 1
    for _ in range(attempts):
        llm.script(recalls(), *replies)

    operation = bank.finished(bank.post("/mental-models/ada/refresh")["operation_id"])

    assert operation["status"] == "failed"
    assert operation["details"]["outcome"] == "refresh_failed_error"
    assert operation["details"]["failure_reason"] == reason
    assert operation["error_message"]
    after = bank.get("/mental-models/ada")
    unchanged = ("content", "reflect_response", "last_refreshed_at", "last_memory_seen_at", "is_stale")
    assert {name: after[name] for name in unchanged} == {name: before[name] for name in unchanged}
    assert after["last_refresh_failed_at"] > before["last_refreshed_at"]
    failures = [each for each in bank.get("/mental-models/ada/history") if each.get("kind") == "refresh_failed"]
    assert [each["failure_reason"] for each in failures] == [reason] * attempts


@pytest.mark.parametrize("fault", ["429", "500", "hangs", "closes half-way"])
def test_a_passing_fault_is_tried_again_and_does_not_pause(bank: RestBank, llm: ScriptedLlm, fault: str) -> None:
    reply = {
        "429": script.too_many_requests(),
        "500": script.server_error(),
        "hangs": script.hang(),
        "closes half-way": script.cut_off(writes("half")),
    }[fault]
    llm.script(recalls(), reply, recalls(), writes("Ada tests bridges every Monday."))

    operation = bank.finished(bank.post("/mental-models/ada/refresh")["operation_id"])

    assert (operation["status"], operation["retry_count"]) == ("completed", 1)
    model = bank.get("/mental-models/ada")
    assert model["content"] == "## Ada\n\nAda tests bridges every Monday.\n"
    assert "last_refresh_failed_at" not in model
    kinds = [each.get("kind", "version") for each in bank.get("/mental-models/ada/history")]
    assert kinds == ["version", "refresh_failed", "version"]


def test_the_same_answer_again_is_no_new_version(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(recalls(), writes(f"{FACT}."))
    operation = bank.finished(bank.post("/mental-models/ada/refresh")["operation_id"])
    assert operation["details"]["outcome"] == "content_unchanged"
    assert len(bank.get("/mental-models/ada/history")) == 1


def test_nothing_to_read_asks_no_model(bank: RestBank, llm: ScriptedLlm) -> None:
    bank.patch("/mental-models/ada", {"tags": ["elsewhere"]})
    asked = len(llm.requests)
    operation = bank.finished(bank.post("/mental-models/ada/refresh")["operation_id"])
    assert operation["details"]["outcome"] == "content_preserved_no_new_facts"
    assert len(llm.requests) == asked
    assert bank.get("/mental-models/ada")["content"] == f"## Ada\n\n{FACT}.\n"


def test_a_retain_that_the_model_fails_stores_nothing(bank: RestBank, llm: ScriptedLlm) -> None:
    before = bank.get("/stats")["total_nodes"]
    llm.script(script.server_error())
    response = bank.ask("POST", "/memories", json={"items": [{"content": "Ada paints."}]})
    assert response.status_code == 503
    assert "Retry-After" in response.headers
    llm.script(script.server_error(), script.server_error())
    asked = bank.post("/memories", {"items": [{"content": "Ada paints."}], "async": True})
    operation = bank.finished(asked["operation_id"])
    assert (operation["status"], operation["retry_count"]) == ("failed", 1)
    assert bank.get("/stats")["total_nodes"] == before


def test_text_that_cannot_be_stored_is_cleaned_at_the_edge(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(recalls(), writes("Ada\x00 tests \ud83d bridges <|endoftext|>."))
    bank.refreshed("ada")
    assert bank.get("/mental-models/ada")["content"] == "## Ada\n\nAda tests \ufffd bridges <|endoftext|>.\n"
