"""What a retain costs with a language model: only what is new is read, and nothing is read twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from tests.support.eventually import eventually
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, Request, ScriptedLlm, Usage, server_error, tool_call
from tests.support.scripted_service import client_of_scripted_service

MARK = re.compile(r"marker-\w+")


@dataclass
class Model:
    """Every marker in a text is a fact about `names`, the second caused by the first. `read` keeps the markers of each
    call; texts with a marker of `broken` fail."""

    read: list[list[str]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    names: tuple[str, ...] = ("Ada",)

    def answer(self, request: Request) -> Reply | None:
        if "record_facts" not in request.tools:
            return None
        found = list(dict.fromkeys(MARK.findall(request.messages[-1]["content"])))
        self.read.append(found)
        if self.broken & set(found):
            return server_error()
        facts = [{"what": f"There is {mark}.", "fact_type": "world", "entities": list(self.names)} for mark in found]
        for fact in facts[1:]:
            fact["caused_by"] = 0
        return tool_call("record_facts", {"facts": facts}, usage=Usage(100, 20))


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def model_bank(shared_conninfo: str, model: Model) -> Iterator[Any]:
    with ScriptedLlm(fallback=model.answer) as llm, client_of_scripted_service(shared_conninfo, llm) as client:
        yield client


@pytest.fixture
def bank(model_bank: Any, model: Model) -> RestBank:
    model.read.clear()
    model.broken.clear()
    model.names = ("Ada",)
    made = RestBank(model_bank, f"bank-{uuid4().hex[:12]}")
    made.patch("/config", {"updates": {"enable_observations": False, "retain_chunk_size": 1000}})
    return made


def paragraph(mark: str, length: int = 900) -> str:
    return f"Here is {mark}. " + "It goes on and on. " * ((length - 20) // 19)


def pages(*marks: str) -> str:
    return "\n\n".join(paragraph(mark) for mark in marks)


def memories(bank: RestBank) -> dict[str, str]:
    """The ids of the facts by their texts."""
    return {each["text"]: each["id"] for each in bank.get("/memories/list", limit=100)["items"]}


TEN = tuple(f"marker-{letter}" for letter in "abcdefghij")


def test_a_changed_paragraph_of_ten_is_one_call_and_the_others_keep_their_facts(bank: RestBank, model: Model) -> None:
    first = bank.retain(pages(*TEN), document_id="book")
    assert (len(model.read), first["usage"]["input_tokens"]) == (10, 1000)
    before = memories(bank)
    model.read.clear()

    again = bank.retain(pages(*TEN[:4], "marker-new", *TEN[5:]) + " The end.", document_id="book")

    assert sorted(model.read) == [["marker-j"], ["marker-new"]]
    assert again["usage"]["input_tokens"] == 200
    after = memories(bank)
    assert set(after) == set(before) - {"There is marker-e."} | {"There is marker-new."}
    assert all(after[text] == before[text] for text in set(before) & set(after))
    assert bank.get("/documents/book")["original_text"].endswith("The end.")


def test_a_paragraph_that_grows_costs_one_call(bank: RestBank, model: Model) -> None:
    bank.retain(pages(*TEN), document_id="book")
    model.read.clear()
    longer = [paragraph(mark, 980 if mark == "marker-c" else 900) for mark in TEN]
    bank.retain("\n\n".join(longer), document_id="book")
    assert model.read == [["marker-c"]]


def test_the_same_again_costs_nothing(bank: RestBank, model: Model) -> None:
    bank.retain(pages(*TEN), document_id="book")
    before = memories(bank)
    model.read.clear()
    assert bank.retain(pages(*TEN), document_id="book")["usage"]["total_tokens"] == 0
    assert (model.read, memories(bank)) == ([], before)


@pytest.mark.parametrize("change", [{"context": "a letter"}, {"tags": ["b"]}, {"timestamp": "2024-05-01T10:00:00Z"}])
def test_what_has_a_say_in_the_reading_has_it_read_again(bank: RestBank, model: Model, change: dict[str, Any]) -> None:
    bank.retain(pages(*TEN[:2]), document_id="book")
    model.read.clear()
    bank.retain(pages(*TEN[:2]), document_id="book", **change)
    assert sorted(model.read) == [["marker-a"], ["marker-b"]]


def test_another_mission_has_all_of_it_read_again(bank: RestBank, model: Model) -> None:
    bank.retain(pages(*TEN[:2]), document_id="book")
    model.read.clear()
    bank.patch("/config", {"updates": {"retain_mission": "Only markers."}})
    bank.retain(pages(*TEN[:2]), document_id="book")
    assert sorted(model.read) == [["marker-a"], ["marker-b"]]


def test_an_append_costs_only_what_is_appended(bank: RestBank, model: Model) -> None:
    bank.retain(pages(*TEN[:3]), document_id="talk")
    before = memories(bank)
    model.read.clear()
    bank.retain("And marker-x.", document_id="talk", update_mode="append", tags=["late"])
    assert model.read == [["marker-x"]]
    assert set(memories(bank)) == {*before, "There is marker-x."}
    assert all(memories(bank)[text] == before[text] for text in before)
    bank.retain(pages(*TEN[:3]) + "\nAnd marker-x.", document_id="talk")
    assert set(memories(bank)) == {*before, "There is marker-x."}


def test_a_fact_tells_the_chunk_it_stands_in(bank: RestBank) -> None:
    bank.retain("First marker-one, so marker-two.", document_id="talk")
    (chunk,) = bank.get("/documents/talk/chunks")["items"]
    assert (chunk["chunk_text"], chunk["chunk_index"]) == ("First marker-one, so marker-two.", 0)
    facts = [bank.get(f"/memories/{each}") for each in memories(bank).values()]
    assert {each["chunk_id"] for each in facts} == {chunk["chunk_id"]}
    bank.retain("Only marker-one.", document_id="talk")
    (fact,) = [bank.get(f"/memories/{each}") for each in memories(bank).values()]
    (other,) = bank.get("/documents/talk/chunks")["items"]
    assert fact["id"] in {each["id"] for each in facts}
    assert fact["chunk_id"] == other["chunk_id"] != chunk["chunk_id"]


def test_a_conversation_is_cut_between_turns(bank: RestBank, model: Model) -> None:
    turns = ",\n".join(f'{{"role": "user", "content": "{paragraph(mark, 400)}"}}' for mark in TEN[:4])
    bank.retain(f"[{turns}]", document_id="talk")
    assert sorted(model.read) == [["marker-a", "marker-b"], ["marker-c", "marker-d"]]


def test_a_batch_that_fails_in_part_is_paid_for_once(bank: RestBank, model: Model) -> None:
    model.broken = {"marker-b"}
    items = [{"content": f"Here is {mark}.", "document_id": mark} for mark in TEN[:2]]
    operation_id = bank.post("/memories", {"items": items, "async": True})["operation_id"]
    assert eventually(lambda: bank.get(f"/operations/{operation_id}").get("error_message"), timeout=20)
    assert set(memories(bank)) == {"There is marker-a."}
    model.broken.clear()
    model.read.clear()
    bank.ask("POST", f"/operations/{operation_id}/retry")
    assert bank.finished(operation_id)["status"] == "completed"
    assert model.read == [["marker-b"]]
    assert set(memories(bank)) == {"There is marker-a.", "There is marker-b."}


def test_a_document_read_again_is_read_whole_with_what_each_part_was_given_with(bank: RestBank, model: Model) -> None:
    bank.retain(pages(*TEN[:2]), document_id="book", tags=["a"], context="first")
    bank.retain("And marker-x.", document_id="book", update_mode="append", tags=["b"])
    before = bank.get("/documents/book"), memories(bank)
    model.read.clear()
    bank.finished(bank.post("/documents/book/reprocess")["operation_id"])
    assert sorted(model.read) == [["marker-a"], ["marker-b"], ["marker-x"]]
    assert memories(bank) == before[1]
    after = bank.get("/documents/book")
    assert (after["original_text"], after["tags"]) == (before[0]["original_text"], ["a", "b"])
    tags = {each["text"]: each["tags"] for each in bank.get("/memories/list")["items"]}
    assert tags["There is marker-a."] == ["a"]
    assert tags["There is marker-x."] == ["b"]
    model.read.clear()
    bank.retain("And marker-y.", document_id="book", update_mode="append")
    assert model.read == [["marker-y"]]
    assert len(memories(bank)) == 4


def names_of(bank: RestBank) -> list[list[str]]:
    listed = bank.post("/memories/recall", {"query": "marker", "max_tokens": 10_000})["results"]
    return sorted(sorted(each["entities"]) for each in listed)


def test_a_slip_is_written_as_the_known_name_unless_it_is_meant_literally(bank: RestBank, model: Model) -> None:
    model.names = ("Kubernetes",)
    bank.retain("Here is marker-a.", document_id="one")
    model.names = ("Kubernets",)
    bank.retain("Here is marker-b.", document_id="two")
    model.names = ("Ada",)
    named = {"entities": [{"text": "Kubernets"}, {"text": "kubernetes"}]}
    bank.retain("Here is marker-c.", document_id="three", **named)
    bank.retain("Here is marker-d.", document_id="four", **named, resolve_entities=False)
    assert names_of(bank) == [["Ada", "Kubernetes"], ["Ada", "Kubernetes", "Kubernets"], ["Kubernetes"], ["Kubernetes"]]


def test_a_text_that_is_no_longer_to_be_kept_keeps_its_facts(bank: RestBank, model: Model) -> None:
    bank.retain(pages(*TEN[:2]), document_id="book")
    before = memories(bank)
    bank.patch("/config", {"updates": {"store_document_text": False}})
    bank.retain(pages(*TEN[:2]), document_id="book")
    assert memories(bank) == before
    assert bank.ask("GET", "/documents/book/chunks").json()["items"] == []
    model.read.clear()
    bank.retain(pages(*TEN[:2]), document_id="book")
    assert sorted(model.read) == [["marker-a"], ["marker-b"]]
