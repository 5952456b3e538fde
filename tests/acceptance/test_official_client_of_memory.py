"""The official client retains, recalls and asks, by its sync and by its async methods, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hindsight_client_api.models.content import Content
from hindsight_client_api.models.dry_run_extract_request import DryRunExtractRequest

from tests.support.client_bank import ClientBank, client_bank

MARCH = "2024-03-01T10:00:00Z"
WORK = "Ada Lovelace works at Acme in London."


@pytest.fixture
def bank(address: str) -> Iterator[ClientBank]:
    with client_bank(address) as bank:
        yield bank


# --- retain -----------------------------------------------------------------------------------------------------------


def test_what_is_retained_keeps_every_field(bank: ClientBank) -> None:
    told = bank.client.retain(
        bank.id,
        WORK,
        timestamp=MARCH,
        context="at work",
        document_id="d1",
        metadata={"source": "mail"},
        entities=[{"text": "Zed"}],
        tags=["ada"],
    )
    assert (told.success, told.bank_id, told.items_count, told.var_async) == (True, bank.id, 1, False)
    assert told.usage is not None
    assert told.usage.total_tokens == 0
    (kept,) = bank.client.list_memories(bank.id, type="world").items
    assert (kept.text, kept.context, kept.document_id, kept.tags) == (WORK, "at work", "d1", ["ada"])
    assert kept.metadata == {"source": "mail"}
    assert str(kept.mentioned_at).startswith("2024-03-01T10:00:00")
    assert {"Zed", "Ada Lovelace"} <= set(str(kept.entities).split(", "))


def test_a_document_is_replaced_and_appended_to(bank: ClientBank) -> None:
    bank.client.retain(bank.id, "Ada sails.", document_id="d1")
    bank.run(bank.client.aretain(bank.id, "Ada swims.", document_id="d1", update_mode="append"))
    assert set(bank.texts(type="world")) == {"Ada sails.", "Ada swims."}
    bank.client.retain(bank.id, "Ada runs.", document_id="d1")
    assert bank.texts(type="world") == ["Ada runs."]


def test_batches_are_retained_at_once_and_in_the_background(bank: ClientBank) -> None:
    items = [{"content": "Dan sails.", "tags": ["dan"], "timestamp": MARCH}, {"content": "Eve runs."}]
    assert bank.client.retain_batch(bank.id, items, document_id="d3", document_tags=["x"]).items_count == 2
    later = bank.run(bank.client.aretain_batch(bank.id, [{"content": "Cid plays chess."}], retain_async=True))
    single = bank.client.retain(bank.id, "Fay bakes.", retain_async=True, operation_id=str(uuid4()))
    assert later.var_async
    assert later.operation_ids == [later.operation_id]
    assert single.operation_id is not None
    bank.settled()
    assert set(bank.texts(type="world")) == {"Dan sails.", "Eve runs.", "Cid plays chess.", "Fay bakes."}
    assert bank.texts(type="world", tags=["dan"], tags_match="all_strict") == ["Dan sails."]


def test_retains_are_suspended_for_a_while(bank: ClientBank) -> None:
    with bank.client.suspend_retains():
        bank.client.retain(bank.id, "Nobody shall know.")
    bank.client.retain(bank.id, "Ada sails.")
    assert bank.texts(type="world") == ["Ada sails."]


def test_files_are_retained(bank: ClientBank, tmp_path: Path) -> None:
    path, other = tmp_path / "bread.txt", tmp_path / "cake.md"
    path.write_text("Fay bakes bread.", encoding="utf-8")
    other.write_text("Gil bakes cakes.", encoding="utf-8")
    meta = [{"document_id": "bread", "tags": ["baking"], "timestamp": MARCH}]
    assert (
        len(bank.client.retain_files(bank.id, [str(path)], context="recipes", files_metadata=meta).operation_ids) == 1
    )
    bank.run(bank.client.aretain_files(bank.id, [str(other)]))
    bank.settled()
    assert set(bank.texts(type="world")) == {"Fay bakes bread.", "Gil bakes cakes."}
    assert bank.texts(type="world", tags=["baking"], tags_match="all_strict") == ["Fay bakes bread."]
    assert bank.run(bank.client.documents.get_document(bank.id, "bread")).original_text == "Fay bakes bread."


def test_what_an_extraction_would_give_is_told(bank: ClientBank) -> None:
    request = DryRunExtractRequest(content=Content("Gil swims."))
    told = bank.run(bank.client.memory.dry_run_extract_memories(bank.id, request))
    assert [fact.text for fact in told.facts] == ["Gil swims."]
    assert [chunk.fact_count for chunk in told.chunks] == [1]
    assert bank.texts() == []


# --- recall and reflect -----------------------------------------------------------------------------------------------


def test_recall_with_everything_it_can_include(bank: ClientBank) -> None:
    bank.client.retain(bank.id, WORK, timestamp=MARCH, document_id="d1", tags=["ada"], metadata={"source": "mail"})
    bank.settled()
    asked: dict[str, Any] = {
        "types": ["world", "observation"],
        "max_tokens": 500,
        "budget": "low",
        "trace": True,
        "query_timestamp": "2024-05-01T00:00:00Z",
        "include_entities": True,
        "include_chunks": True,
        "include_source_facts": True,
        "tags": ["ada"],
        "tags_match": "all",
        "prefer_observations": False,
        "min_scores": {"semantic": 0.1},
    }
    query = "Where does Ada Lovelace work?"
    found = bank.client.recall(bank.id, query, **asked)
    again = bank.run(bank.client.arecall(bank.id, query, **asked))
    assert {each.id for each in again.results} == {each.id for each in found.results}
    by_type = {each.type: each for each in found.results}
    assert set(by_type) == {"world", "observation"}
    world, observed = by_type["world"], by_type["observation"]
    assert (world.text, world.document_id, world.tags, world.metadata) == (WORK, "d1", ["ada"], {"source": "mail"})
    assert observed.source_fact_ids == [world.id]
    assert found.source_facts is not None
    assert found.source_facts[world.id].text == WORK
    assert found.chunks is not None
    assert world.chunk_id is not None
    assert found.chunks[world.chunk_id].text == WORK
    assert found.entities is not None
    assert "Ada Lovelace" in found.entities
    assert found.trace is not None


def test_recall_keeps_to_tags_and_time(bank: ClientBank) -> None:
    bank.client.retain(bank.id, "Ada drinks tea.", timestamp=MARCH, tags=["ada"])
    bank.client.retain(bank.id, "Bob drinks tea.", timestamp="2023-03-01T10:00:00Z", tags=["bob"])

    def found(**chosen: Any) -> set[str]:
        return {each.text for each in bank.client.recall(bank.id, "Who drinks tea?", types=["world"], **chosen).results}

    assert found() == {"Ada drinks tea.", "Bob drinks tea."}
    assert found(tag_groups=[{"tags": ["bob"], "match": "all_strict"}]) == {"Bob drinks tea."}
    year = {"start": "2024-01-01T00:00:00Z", "end": "2024-12-31T00:00:00Z"}
    first, *_ = bank.client.recall(bank.id, "Who drinks tea?", types=["world"], temporal_window=year).results
    assert first.text == "Ada drinks tea."


def test_reflect_with_everything_it_can_include(bank: ClientBank) -> None:
    bank.client.retain(bank.id, WORK, timestamp=MARCH, tags=["ada"])
    bank.client.retain(bank.id, "Bob works at Initech.", tags=["bob"])
    bank.settled()
    directive = bank.client.create_directive(bank.id, "short", "Be short.")
    asked: dict[str, Any] = {
        "budget": "low",
        "max_tokens": 400,
        "tags": ["ada"],
        "tags_match": "all_strict",
        "include_facts": True,
        "include_tool_calls": True,
        "fact_types": ["world"],
        "exclude_mental_models": True,
        "exclude_mental_model_ids": ["none"],
        "apply_all_directives": True,
    }
    query = "Where does Ada Lovelace work?"
    answers = [
        bank.client.reflect(bank.id, query, **asked),
        bank.run(bank.client.areflect(bank.id, query, **asked)),
    ]
    for answer in answers:
        assert WORK in answer.text
        assert answer.based_on is not None
        assert [(fact.text, fact.type) for fact in answer.based_on.memories or []] == [(WORK, "world")]
        assert [each.id for each in answer.based_on.directives or []] == [directive.id]
        assert answer.trace is not None
        assert [call.tool for call in answer.trace.tool_calls or []] == ["recall"]
        assert answer.usage is not None
        assert answer.usage.total_tokens == 0


def test_reflect_says_when_it_has_no_answer_and_no_structure(bank: ClientBank) -> None:
    bank.client.retain(bank.id, WORK)
    assert bank.client.reflect(bank.id, "What did Zoe paint?", include_facts=True).text == ""
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    shaped = bank.client.reflect(bank.id, "Where does Ada work?", response_schema=schema)
    assert shaped.structured_output is None
    assert "language model" in str(shaped.structured_output_error)
