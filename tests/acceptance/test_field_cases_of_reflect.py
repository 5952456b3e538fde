"""Reports from the field about reflect, without a model: pages that answer alone (RF-02), years without data (RF-05),
values read out of answers (SO-01), the limit of a query (RC-04), what a page was made from (TS-05).

With a model: `test_field_cases_of_reflect_with_a_model.py`. TS-04, by the matches of a page, is in
`test_field_cases.py`; TS-05 for every call of a reflect and a refresh in `test_isolation_by_tags.py`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.reflecting import TEA, asked, unobserved
from tests.support.rest import RestBank


@pytest.fixture
def quiet(bank: RestBank) -> RestBank:
    return unobserved(bank)


def tools(answer: Any) -> list[str]:
    return [call["tool"] for call in answer["trace"]["tool_calls"]]


def test_a_long_question_is_looked_up_by_its_beginning(quiet: RestBank) -> None:
    """RC-04: the same limit of a query on every path."""
    quiet.retain(TEA)
    answer = asked(quiet, "What does Ada drink? " + "And in the morning? " * 300)
    (query,) = {call["input"]["query"] for call in answer["trace"]["tool_calls"]}
    assert len(query) <= 2_000
    assert TEA in answer["text"]


def test_rf_05_a_year_without_data_is_said_to_be_one(quiet: RestBank) -> None:
    """RF-05: a 2024 figure is asked for when only 2025 exists."""
    quiet.retain("The revenue of Acme in 2025 was 3 million.")
    answer = asked(quiet, "What was the revenue of Acme in 2024?")
    assert (answer["answer_found"], answer["based_on"]["memories"]) == (False, [])
    assert answer["no_answer_reason"] == "the memory says nothing about 2024"
    assert "3 million" in asked(quiet, "What was the revenue of Acme in 2025?")["text"]


def test_rf_02_fresh_pages_answer_what_they_cover_and_facts_the_rest(quiet: RestBank) -> None:
    """RF-02: a fresh page on one topic, raw facts on another."""
    quiet.retain("Ada Lovelace writes programs in London.", tags=["a"])
    quiet.model("ada", name="Ada Lovelace", source_query="What did Ada Lovelace write?", tags=["a"])
    quiet.retain("The ferry to Visby leaves at seven.", tags=["b"])
    covered = asked(quiet, "What does Ada Lovelace write?")
    assert [page["id"] for page in covered["based_on"]["mental_models"]] == ["ada"]
    assert tools(covered) == ["search_mental_models"]
    assert "programs in London" in covered["text"]
    other = asked(quiet, "When does the ferry to Visby leave?")
    assert "recall" in tools(other)
    assert "seven" in other["text"]
    assert other["based_on"]["mental_models"] == []


def test_structured_output_needs_a_model_and_says_so(quiet: RestBank) -> None:
    """SO-01: a view that could not be had is told apart from one with nothing in it."""
    quiet.retain(TEA)
    schema = {"type": "object", "properties": {"drink": {"type": "string"}}}
    answer = asked(quiet, "What does Ada drink?", response_schema=schema)
    assert TEA in answer["text"]
    assert "needs a language model" in answer["structured_output_error"]


def test_ts_05_what_a_page_was_made_from_counts_until_it_is_made_anew(quiet: RestBank) -> None:
    """TS-05: a page with new tags still says what its old ones read, and so does one that was put back."""
    quiet.retain("Ada keeps the key under the mat.", tags=["user:ada"], document_id="a")
    quiet.retain("Ada moved the key into a drawer.", tags=["user:eve"], document_id="e")
    page = quiet.model("keys", name="Keys", source_query="What did Ada do with the key?", tags=["user:ada"])
    assert "mat" in page["content"]
    quiet.patch("/mental-models/keys", {"tags": ["user:eve"]})
    eve = {"tags": ["user:eve"], "tags_match": "any_strict", "budget": "high"}

    def shown() -> bool:
        answer = asked(quiet, "What did Ada do with the key?", **eve)
        assert "mat" not in str(answer)
        return "search_mental_models" in tools(answer)

    assert not shown()
    written = quiet.refreshed("keys")
    assert "drawer" in written["content"]
    assert shown()

    quiet.post("/mental-models/keys/revert", {"version": 2})
    assert "mat" in quiet.get("/mental-models/keys")["content"]
    assert not shown()
