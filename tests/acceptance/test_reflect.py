"""A question asked of a bank, without a language model: what is answered, on what it rests, and when there is none."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.service import Service
from tests.support.reflecting import TEA, asked, unobserved
from tests.support.rest import RestBank


@pytest.fixture
def bank(bank: RestBank) -> RestBank:
    return unobserved(bank)


def tools(answer: Any) -> list[str]:
    return [call["tool"] for call in answer["trace"]["tool_calls"]]


def test_an_answer_says_what_it_rests_on(bank: RestBank) -> None:
    bank.retain(TEA, "The harbour opens at six.", tags=["user:ada"], document_id="notes")
    answer = asked(bank, "What does Ada drink?")
    assert answer["answer_found"] is True
    assert TEA in answer["text"]
    (fact,) = [each for each in answer["based_on"]["memories"] if each["text"] == TEA]
    assert (fact["type"], fact["tags"], fact["document_id"]) == ("world", ["user:ada"], "notes")
    assert (answer["based_on"]["mental_models"], answer["based_on"]["directives"]) == ([], [])
    assert answer["usage"]["total_tokens"] == 0
    assert tools(answer) == ["recall"]


def test_what_is_not_asked_for_is_not_told(bank: RestBank) -> None:
    bank.retain(TEA)
    answer = bank.post("/reflect", {"query": "What does Ada drink?"})
    assert answer.keys() == {"text", "answer_found", "usage"}
    inputs = asked(bank, "What does Ada drink?", include={"tool_calls": {"output": False}})
    (call,) = inputs["trace"]["tool_calls"]
    assert call["input"]["query"] == "What does Ada drink?"
    assert "output" not in call
    assert "based_on" not in inputs


@pytest.mark.parametrize("query", ["", "  ", "\u200b"])
def test_a_blank_question_is_refused(bank: RestBank, query: str) -> None:
    bank.retain(TEA)
    assert bank.ask("POST", "/reflect", json={"query": query}).status_code == 422


@pytest.mark.parametrize(
    "wrong",
    [
        {"tags": ["a"], "tag_groups": [{"tags": ["b"]}]},
        {"budget": "huge"},
        {"max_tokens": 0},
        {"tags_match": "some"},
        {"fact_types": ["dream"]},
        {"response_schema": {"type": "array"}},
        {"query": "tea " * 10_000},
    ],
)
def test_bad_input_is_a_422(bank: RestBank, wrong: dict[str, Any]) -> None:
    bank.retain(TEA)
    answer = bank.ask("POST", "/reflect", json={"query": "What does Ada drink?", **wrong})
    assert (answer.status_code, isinstance(answer.json()["detail"], list)) == (422, True)


def test_a_bank_that_is_not_there_is_a_404(bank: RestBank) -> None:
    bank.ask("DELETE")
    assert bank.ask("POST", "/reflect", json={"query": "What?"}).status_code == 404


def test_no_answer_is_told_as_such_and_cites_nothing(bank: RestBank) -> None:
    bank.retain(TEA)
    answer = asked(bank, "Which lighthouse keepers went on strike?")
    assert (answer["answer_found"], answer["text"]) == (False, "")
    assert answer["no_answer_reason"] == "no memory in scope was found for the question"
    assert answer["based_on"]["memories"] == []


def test_where_nothing_is_readable_no_mind_is_asked(bank: RestBank) -> None:
    bank.retain(TEA, tags=["user:ada"])
    answer = asked(bank, "What does Ada drink?", tags=["user:eve"], tags_match="any_strict")
    assert (answer["answer_found"], answer["trace"]["tool_calls"]) == (False, [])
    assert answer["no_answer_reason"] == "nothing is readable in the scope that was asked in"


def test_a_high_budget_reads_all_layers_all_the_same(bank: RestBank) -> None:
    bank.retain("Ada Lovelace wrote the first program.")
    bank.model("ada", name="Ada Lovelace", source_query="What did Ada Lovelace write?")
    answer = asked(bank, "What did Ada Lovelace write?", budget="high")
    assert tools(answer) == ["search_mental_models", "recall"]


def test_a_stale_page_is_told_to_be_one_with_the_reason(bank: RestBank) -> None:
    bank.retain("Ada Lovelace wrote the first program.")
    bank.model("ada", name="Ada Lovelace", source_query="What did Ada Lovelace write?")
    bank.retain("Ada Lovelace wrote notes on the engine.")
    answer = asked(bank, "What did Ada Lovelace write?")
    (page,) = answer["trace"]["tool_calls"][0]["output"]["mental_models"]
    assert (page["id"], page["is_stale"], page["staleness_reason"]) == ("ada", True, "new_memories")
    assert "recall" in tools(answer)
    assert "notes on the engine" in answer["text"]


@pytest.mark.parametrize("kept_out", [{"exclude_mental_models": True}, {"exclude_mental_model_ids": ["ada"]}])
def test_pages_can_be_kept_out(bank: RestBank, kept_out: dict[str, Any]) -> None:
    bank.retain("Ada Lovelace wrote the first program.")
    bank.model("ada", name="Ada Lovelace", source_query="What did Ada Lovelace write?")
    answer = asked(bank, "What did Ada Lovelace write?", **kept_out)
    assert tools(answer) == ["recall"]
    assert (answer["based_on"]["mental_models"], len(answer["based_on"]["memories"])) == ([], 1)


def test_a_page_is_found_by_meaning_once_its_vector_is_made(bank: RestBank, live_service: Service) -> None:
    bank.retain("Kittens sleep all day.")
    bank.model("cats", name="Cats", source_query="What about kittens?")
    live_service.page_vectors.catch_up(bank.bank_id)
    assert live_service.page_vectors.catch_up(bank.bank_id) == 0
    answer = asked(bank, "How much do felines nap?", budget="high")
    (page,) = answer["trace"]["tool_calls"][0]["output"]["mental_models"]
    assert (page["id"], page["relevance"]) == ("cats", 0.5)


def test_directives_are_told_where_they_apply(bank: RestBank) -> None:
    bank.retain(TEA, tags=["user:ada"])
    bank.post("/directives", {"name": "Short", "content": "Answer in one line."})
    bank.post("/directives", {"name": "Formal", "content": "Be formal.", "tags": ["user:ada"], "priority": 5})
    bank.post("/directives", {"name": "Off", "content": "Never.", "is_active": False})

    def names(**more: Any) -> list[str]:
        return [each["name"] for each in asked(bank, "What does Ada drink?", **more)["based_on"]["directives"]]

    assert names() == ["Short"]
    assert names(tags=["user:ada"]) == ["Formal", "Short"]
    assert names(apply_all_directives=True) == ["Formal", "Short"]


def test_only_the_types_asked_for_are_read(bank: RestBank) -> None:
    bank.retain(TEA)
    assert asked(bank, "What does Ada drink?", fact_types=["experience"])["answer_found"] is False
    assert asked(bank, "What does Ada drink?", fact_types=["world"])["answer_found"] is True
