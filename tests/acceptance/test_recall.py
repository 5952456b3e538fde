"""Recall over HTTP: every option of the contract."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.rest import RestBank, assert_refused

MARCH, APRIL = "2026-03-05T10:00:00Z", "2026-04-05T10:00:00Z"


def recall(bank: RestBank, query: str, **options: Any) -> Any:
    return bank.post("/memories/recall", {"query": query, **options})


def texts(answer: Any) -> list[str]:
    return [each["text"] for each in answer["results"]]


# --- options ----------------------------------------------------------------------------------------------------------


def test_each_result_says_what_found_it_and_the_trace_counts_the_arms(bank: RestBank) -> None:
    bank.retain("Ada Lovelace moved to Lisbon.", timestamp=MARCH)
    bank.retain("Ben likes quince.", timestamp=APRIL)

    answer = recall(bank, "Where did Ada Lovelace move in March 2026?", trace=True)

    first = answer["results"][0]
    assert first["text"] == "Ada Lovelace moved to Lisbon."
    assert {"final", "keyword", "semantic", "graph", "temporal"} <= set(first["scores"])
    trace = answer["trace"]
    assert trace["arms"]["temporal"] == trace["arms"]["graph"] == 1
    assert trace["temporal_window"]["start"].startswith("2026-03-01T00:00:00")
    assert trace["results"] == len(answer["results"])
    assert trace["reranker"] is None


def test_a_window_of_the_request_counts_instead_of_the_text_and_leaves_nothing_out(bank: RestBank) -> None:
    bank.retain("Tea was served in the garden.", timestamp=MARCH, document_id="d1")
    bank.retain("Tea was served in the kitchen.", timestamp=APRIL, document_id="d2")
    window = {"start": "2026-03-01", "end": "2026-03-31T23:59:59Z"}

    answer = recall(bank, "Where was tea served in April 2026?", temporal_window=window)

    assert texts(answer) == ["Tea was served in the garden.", "Tea was served in the kitchen."]
    assert "temporal" not in answer["results"][1]["scores"]


def test_floors_hold_back_what_is_not_good_enough(bank: RestBank) -> None:
    bank.retain("Quince jam is sweet.", document_id="d1")
    bank.retain("They sell jam on the market every Saturday.", document_id="d2")

    all_found = recall(bank, "quince jam")["results"]
    best = all_found[0]["scores"]["final"]

    assert len(all_found) == 2
    assert texts(recall(bank, "quince jam", min_scores={"final": best})) == ["Quince jam is sweet."]
    assert texts(recall(bank, "quince jam", min_scores={"semantic": 1, "keyword": 1000})) == []


def test_a_floor_for_a_reranker_that_is_not_there_is_told_as_ignored(bank: RestBank) -> None:
    bank.retain("Quince jam is sweet.")

    answer = bank.ask("POST", "/memories/recall", json={"query": "quince", "min_scores": {"reranker": 0.5}})

    assert answer.headers["X-Ignored-Parameters"] == "min_scores.reranker"
    assert texts(answer.json()) == ["Quince jam is sweet."]


def test_names_and_chunks_are_told_beside_the_facts(bank: RestBank) -> None:
    text = "Ada Lovelace moved to Lisbon. She likes it there."
    bank.retain(text)

    answer = recall(bank, "Lisbon", include={"chunks": {}})

    assert [each["canonical_name"] for each in answer["entities"].values()] == list(answer["entities"])
    assert "Ada Lovelace" in answer["entities"]
    (chunk,) = answer["chunks"].values()
    assert (chunk["text"], chunk["chunk_index"], chunk["truncated"]) == (text, 0, False)
    assert chunk["id"] in {each["chunk_id"] for each in answer["results"]}
    cut = recall(bank, "Lisbon", include={"entities": None, "chunks": {"max_tokens": 3}}, max_tokens=0)
    assert cut["results"] == []
    assert [(each["text"], each["truncated"]) for each in cut["chunks"].values()] == [(text[:12], True)]
    assert "entities" not in cut


def test_source_facts_are_told_only_when_asked_for(bank: RestBank) -> None:
    bank.retain("Quince jam is sweet.")

    assert "source_facts" not in recall(bank, "quince")
    answer = recall(bank, "quince", include={"source_facts": {"max_tokens": 10}})
    assert (answer["source_facts"], answer["source_facts_truncated"]) == ({}, False)


def test_tags_and_types_hold_for_what_links_lead_to(bank: RestBank) -> None:
    bank.retain("We met at noon.", document_id="d", tags=["a"])
    bank.retain("Quince jam was served.", document_id="d", tags=["b"], update_mode="append")

    assert texts(recall(bank, "quince", tags=["b"], tags_match="exact")) == ["Quince jam was served."]
    assert texts(recall(bank, "quince", types=["observation"])) == []


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"query_timestamp": "yesterday"}, "query_timestamp"),
        ({"query_timestamp": "unset"}, "query_timestamp"),
        ({"temporal_window": {"start": MARCH}}, "end"),
        ({"temporal_window": {"start": APRIL, "end": MARCH}}, "ends before it starts"),
        ({"min_scores": {"keyword": -1}}, "keyword"),
        ({"min_scores": {"reranker": 2}}, "reranker"),
        ({"include": {"source_facts": {"max_tokens_per_observation": -2}}}, "max_tokens_per_observation"),
    ],
)
def test_a_bad_option_is_refused(shared_bank: RestBank, body: dict[str, Any], told: str) -> None:
    assert_refused(shared_bank.ask("POST", "/memories/recall", json={"query": "Ada", **body}), 422, told)


# --- reports from the field -------------------------------------------------------------------------------------------


def test_tags_can_be_asked_for_by_likeness(bank: RestBank) -> None:
    """For a request alone: what is stored, or listed by documents, names its tags exactly."""
    bank.retain("the gangway of the north pier was mended", tags=["project:harbours"])
    bank.retain("the gangway of the south pier was painted", tags=["project:airport"])
    groups = [{"tags": ["project:harbour"], "resolve": "fuzzy"}]

    found = bank.post("/memories/recall", {"query": "gangway", "tag_groups": groups})["results"]
    answer = bank.post("/reflect", {"query": "which gangway?", "tag_groups": groups, "include": {"facts": {}}})
    model = {"name": "m", "source_query": "which gangway?", "trigger": {"tag_groups": groups}}
    refused = bank.ask("POST", "/mental-models", json=model)

    assert [each["tags"] for each in found] == [["project:harbours"]]
    assert "north" in answer["text"]
    assert "south" not in answer["text"]
    assert refused.status_code == 422
    assert "named exactly" in refused.text
