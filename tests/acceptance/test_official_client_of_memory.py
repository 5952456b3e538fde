"""The official client retains, recalls, asks and curates: every method it has for memory, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException
from hindsight_client_api.models.consolidation_request import ConsolidationRequest
from hindsight_client_api.models.consolidation_strategies_preview_request import ConsolidationStrategiesPreviewRequest
from hindsight_client_api.models.content import Content
from hindsight_client_api.models.create_bank_request import CreateBankRequest
from hindsight_client_api.models.dry_run_extract_request import DryRunExtractRequest
from hindsight_client_api.models.update_document_request import UpdateDocumentRequest
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

from tests.support.eventually import eventually

MARCH = "2024-03-01T10:00:00Z"
WORK = "Ada Lovelace works at Acme in London."


class Bank:
    """A bank that makes observations, and the client with a loop for its async methods."""

    def __init__(self, client: Hindsight, loop: asyncio.AbstractEventLoop) -> None:
        self.client = client
        self.run = loop.run_until_complete
        self.id = f"bank-{uuid4().hex[:12]}"
        client.create_bank(self.id, name="Ada's", reflect_mission="Know Ada.", enable_observations=True)

    def settled(self) -> Bank:
        """With nothing left to do in the background."""

        def idle() -> bool:
            stats = self.run(self.client.banks.get_agent_stats(self.id))
            return not (stats.pending_consolidation or stats.pending_operations)

        eventually(idle, timeout=20)
        return self

    def texts(self, **chosen: Any) -> list[str]:
        return [str(each.text) for each in self.client.list_memories(self.id, **chosen).items]

    def fact(self, **chosen: Any) -> str:
        return str(self.client.list_memories(self.id, **{"type": "world", **chosen}).items[0].id)


@pytest.fixture
def bank(address: str) -> Iterator[Bank]:
    """The client's sync methods run on the thread's event loop; it is made and closed here."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with Hindsight(base_url=address, timeout=30) as client:
        yield Bank(client, loop)
    asyncio.set_event_loop(None)
    loop.close()


def refused(bank: Bank, request: Coroutine[Any, Any, object]) -> int:
    """The status with which a request is refused."""
    with pytest.raises(ApiException) as raised:
        bank.run(request)
    return int(raised.value.status or 0)


# --- retain -----------------------------------------------------------------------------------------------------------


def test_what_is_retained_keeps_every_field(bank: Bank) -> None:
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


def test_a_document_is_replaced_and_appended_to(bank: Bank) -> None:
    bank.client.retain(bank.id, "Ada sails.", document_id="d1")
    bank.run(bank.client.aretain(bank.id, "Ada swims.", document_id="d1", update_mode="append"))
    assert set(bank.texts(type="world")) == {"Ada sails.", "Ada swims."}
    bank.client.retain(bank.id, "Ada runs.", document_id="d1")
    assert bank.texts(type="world") == ["Ada runs."]


def test_batches_are_retained_at_once_and_in_the_background(bank: Bank) -> None:
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


def test_files_are_retained(bank: Bank, tmp_path: Path) -> None:
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


def test_what_an_extraction_would_give_is_told(bank: Bank) -> None:
    request = DryRunExtractRequest(content=Content("Gil swims."))
    told = bank.run(bank.client.memory.dry_run_extract_memories(bank.id, request))
    assert [fact.text for fact in told.facts] == ["Gil swims."]
    assert [chunk.fact_count for chunk in told.chunks] == [1]
    assert bank.texts() == []


# --- recall and reflect -----------------------------------------------------------------------------------------------


def test_recall_with_everything_it_can_include(bank: Bank) -> None:
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


def test_recall_keeps_to_tags_and_time(bank: Bank) -> None:
    bank.client.retain(bank.id, "Ada drinks tea.", timestamp=MARCH, tags=["ada"])
    bank.client.retain(bank.id, "Bob drinks tea.", timestamp="2023-03-01T10:00:00Z", tags=["bob"])

    def found(**chosen: Any) -> set[str]:
        return {each.text for each in bank.client.recall(bank.id, "Who drinks tea?", types=["world"], **chosen).results}

    assert found() == {"Ada drinks tea.", "Bob drinks tea."}
    assert found(tag_groups=[{"tags": ["bob"], "match": "all_strict"}]) == {"Bob drinks tea."}
    year = {"start": "2024-01-01T00:00:00Z", "end": "2024-12-31T00:00:00Z"}
    first, *_ = bank.client.recall(bank.id, "Who drinks tea?", types=["world"], temporal_window=year).results
    assert first.text == "Ada drinks tea."


def test_reflect_with_everything_it_can_include(bank: Bank) -> None:
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


def test_reflect_says_when_it_has_no_answer_and_no_structure(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK)
    assert bank.client.reflect(bank.id, "What did Zoe paint?", include_facts=True).text == ""
    schema = {"type": "object", "properties": {"place": {"type": "string"}}}
    shaped = bank.client.reflect(bank.id, "Where does Ada work?", response_schema=schema)
    assert shaped.structured_output is None
    assert "language model" in str(shaped.structured_output_error)


# --- memories ---------------------------------------------------------------------------------------------------------


def test_memories_are_listed_by_what_they_are(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK, timestamp=MARCH, document_id="d1", tags=["ada"])
    bank.client.retain(bank.id, "Bob drinks tea.", document_id="d2")
    bank.settled()
    dates = {"time_field": "mentioned_at", "start_date": "2024-01-01", "end_date": "2024-12-31"}
    chosen: tuple[dict[str, Any], ...] = (
        {"search_query": "Lovelace"},
        {"document_id": "d1"},
        {"tags": ["ada"], "tags_match": "all_strict"},
        dates,
    )
    for each in chosen:
        assert bank.texts(type="world", **each) == [WORK], each
    assert bank.texts(type="observation", state="valid", search_query="tea") == ["Bob drinks tea."]
    page = bank.run(bank.client.alist_memories(bank.id, limit=1, offset=1))
    assert (page.total, page.limit, page.offset, len(page.items)) == (4, 1, 1, 1)
    entity = bank.run(bank.client.entities.list_entities(bank.id)).items[0]
    assert bank.texts(type="world", entity_id=entity.id) == [WORK]


def test_a_memory_is_read_corrected_and_taken_back(bank: Bank) -> None:
    bank.client.retain(bank.id, "Ada sails.")
    memory, fact_id = bank.client.memory, bank.fact()
    assert bank.run(memory.get_memory(bank.id, fact_id))["text"] == "Ada sails."
    changed = bank.run(
        memory.update_memory(bank.id, fact_id, UpdateMemoryRequest(text="Ada swims.", context="sea", reason="typo"))
    )
    assert (changed["text"], changed["context"]) == ("Ada swims.", "sea")
    gone = bank.run(memory.update_memory(bank.id, fact_id, UpdateMemoryRequest(state="invalidated", reason="not so")))
    assert gone["state"] == "invalidated"
    assert bank.texts(type="world", state="valid") == []
    assert bank.texts(type="world", state="invalidated") == ["Ada swims."]
    back = bank.run(memory.update_memory(bank.id, fact_id, UpdateMemoryRequest(state="valid")))
    assert back["state"] == "valid"
    with pytest.raises(NotFoundException):
        bank.run(memory.get_memory(bank.id, str(uuid4())))


def test_observations_are_told_cleared_and_made_anew(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK, tags=["ada"])
    bank.settled()
    memory, banks = bank.client.memory, bank.client.banks
    observation = bank.fact(type="observation")
    assert bank.run(memory.get_memory(bank.id, observation))["fact_type"] == "observation"
    assert bank.run(memory.get_observation_history(bank.id, observation)) == []
    scopes = bank.run(memory.list_observation_scopes(bank.id))
    assert [(scope.tags, scope.count) for scope in scopes.scopes] == [(["ada"], 1)]
    preview = ConsolidationStrategiesPreviewRequest(strategies=[])
    shown = bank.run(memory.preview_consolidation_strategies(bank.id, preview))
    assert (shown.default.match_count, shown.complete) == (1, True)
    assert bank.run(memory.clear_memory_observations(bank.id, bank.fact())).deleted_count == 1
    of_ada = ConsolidationRequest(observation_scopes=[["ada"]])
    asked = bank.run(banks.trigger_consolidation(bank.id, consolidation_request=of_ada))
    assert asked.operation_id
    bank.settled()
    assert bank.texts(type="observation") == [WORK]
    assert bank.run(banks.recover_consolidation(bank.id)).retried_count == 0
    assert bank.run(banks.clear_observations(bank.id)).deleted_count == 1


def test_the_memory_of_a_bank_is_cleared_by_type(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK)
    bank.settled()
    assert bank.run(bank.client.memory.clear_bank_memories(bank.id, type="world")).success
    assert bank.texts() == []


# --- documents, entities, tags ----------------------------------------------------------------------------------------


def test_documents_are_listed_read_changed_and_deleted(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK, document_id="d1", tags=["ada"])
    bank.client.retain(bank.id, "Bob drinks tea.", document_id="e2")
    documents = bank.client.documents
    assert bank.run(documents.list_documents(bank.id)).total == 2
    for chosen in ({"q": "d1"}, {"tags": ["ada"], "tags_match": "all_strict"}):
        found = bank.run(documents.list_documents(bank.id, **chosen))
        assert [each.id for each in found.items] == ["d1"], chosen
    document = bank.run(documents.get_document(bank.id, "d1"))
    assert (document.original_text, document.memory_unit_count, document.tags) == (WORK, 1, ["ada"])
    (chunk,) = bank.run(documents.list_document_chunks(bank.id, "d1")).items
    assert bank.run(documents.get_chunk(chunk.chunk_id)).chunk_text == WORK
    assert bank.run(documents.update_document(bank.id, "d1", UpdateDocumentRequest(tags=["new"]))).success
    assert bank.run(documents.get_document(bank.id, "d1")).tags == ["new"]
    assert bank.run(documents.reprocess_document(bank.id, "d1")).items_count == 1
    bank.settled()
    assert bank.run(documents.delete_document(bank.id, "d1")).memory_units_deleted == 1
    with pytest.raises(NotFoundException):
        bank.run(documents.get_document(bank.id, "d1"))


def test_entities_and_tags_are_told(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK, tags=["ada", "work"])
    entities = bank.run(bank.client.entities.list_entities(bank.id))
    named = {each.canonical_name: each for each in entities.items}
    assert {"Ada Lovelace", "Acme", "London"} <= set(named)
    ada = bank.run(bank.client.entities.get_entity(bank.id, named["Ada Lovelace"].id))
    assert (ada.canonical_name, ada.mention_count) == ("Ada Lovelace", 1)
    tags = bank.run(bank.client.memory.list_tags(bank.id, q="a*"))
    assert [(each.tag, each.count) for each in tags.items] == [("ada", 1)]
    assert bank.run(bank.client.memory.list_tags(bank.id, source="mental_models")).total == 0


# --- operations and banks ---------------------------------------------------------------------------------------------


def test_operations_are_listed_read_and_forgotten(bank: Bank) -> None:
    operations = bank.client.operations
    asked = bank.client.retain(bank.id, "Ada sails.", document_id="d1", retain_async=True)
    operation = str(asked.operation_id)
    bank.settled()
    done = bank.run(operations.list_operations(bank.id, status="completed", type="retain", exclude_parents=True))
    assert [(each.id, each.items_count, each.document_id) for each in done.operations] == [(operation, 1, "d1")]
    told = bank.run(operations.get_operation_status(bank.id, operation, include_payload=True))
    assert (told.status, told.operation_type) == ("completed", "retain")
    assert told.completed_at is not None
    assert told.task_payload is not None
    assert refused(bank, operations.cancel_operation(bank.id, operation)) == 409
    assert refused(bank, operations.retry_operation(bank.id, operation)) == 409
    assert bank.run(operations.delete_operation(bank.id, operation)).success
    assert bank.run(operations.get_operation_status(bank.id, operation)).status == "not_found"


def test_banks_are_listed_counted_and_renamed(bank: Bank) -> None:
    bank.client.retain(bank.id, WORK, timestamp=MARCH)
    bank.settled()
    banks = bank.client.banks
    (listed,) = bank.run(banks.list_banks(q=bank.id)).banks
    assert (listed.bank_id, listed.name, listed.mission, listed.fact_count) == (bank.id, "Ada's", "Know Ada.", 2)
    stats = bank.run(banks.get_agent_stats(bank.id, refresh=True))
    assert (stats.nodes_by_fact_type, stats.total_documents) == ({"world": 1, "observation": 1}, 1)
    told = bank.run(banks.get_memories_timeseries(bank.id, period="7d", time_field="created_at"))
    assert sum(bucket.world for bucket in told.buckets) == 1
    assert bank.client.set_mission(bank.id, "Know more.").mission == "Know more."
    assert bank.run(bank.client.aset_reflect_mission(bank.id, "Know all.")).mission == "Know all."
    assert bank.run(banks.update_bank(bank.id, CreateBankRequest(name="B"))).name == "B"
    assert bank.run(banks.create_or_update_bank(bank.id, CreateBankRequest(name="C"))).name == "C"


def test_the_service_tells_how_it_is(bank: Bank) -> None:
    monitoring = bank.client.monitoring
    assert bank.run(monitoring.get_liveness()).status == "alive"
    assert bank.run(monitoring.get_readiness())["status"] == "ready"
    assert bank.run(monitoring.health_endpoint_health_get())["status"] == "ready"
    assert "palimpsest_http_requests_total" in bank.run(monitoring.metrics_endpoint_metrics_get())
    assert bank.client.get_version() == bank.run(bank.client.aget_version())
