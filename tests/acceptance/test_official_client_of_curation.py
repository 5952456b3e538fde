"""The official client curates memory: memories, observations, documents, entities, tags, operations and banks."""

from __future__ import annotations

from collections.abc import Coroutine, Iterator
from typing import Any
from uuid import uuid4

import pytest
from hindsight_client_api.exceptions import ApiException, NotFoundException
from hindsight_client_api.models.consolidation_request import ConsolidationRequest
from hindsight_client_api.models.consolidation_strategies_preview_request import ConsolidationStrategiesPreviewRequest
from hindsight_client_api.models.create_bank_request import CreateBankRequest
from hindsight_client_api.models.update_document_request import UpdateDocumentRequest
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

from tests.support.client_bank import ClientBank, client_bank

MARCH = "2024-03-01T10:00:00Z"
WORK = "Ada Lovelace works at Acme in London."


@pytest.fixture
def bank(address: str) -> Iterator[ClientBank]:
    with client_bank(address) as bank:
        yield bank


def refused(bank: ClientBank, request: Coroutine[Any, Any, object]) -> int:
    """The status with which a request is refused."""
    with pytest.raises(ApiException) as raised:
        bank.run(request)
    return int(raised.value.status or 0)


# --- memories ---------------------------------------------------------------------------------------------------------


def test_memories_are_listed_by_what_they_are(bank: ClientBank) -> None:
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


def test_a_memory_is_read_corrected_and_taken_back(bank: ClientBank) -> None:
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


def test_observations_are_told_cleared_and_made_anew(bank: ClientBank) -> None:
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


def test_the_memory_of_a_bank_is_cleared_by_type(bank: ClientBank) -> None:
    bank.client.retain(bank.id, WORK)
    bank.settled()
    assert bank.run(bank.client.memory.clear_bank_memories(bank.id, type="world")).success
    assert bank.texts() == []


# --- documents, entities, tags ----------------------------------------------------------------------------------------


def test_documents_are_listed_read_changed_and_deleted(bank: ClientBank) -> None:
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


def test_entities_and_tags_are_told(bank: ClientBank) -> None:
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


def test_operations_are_listed_read_and_forgotten(bank: ClientBank) -> None:
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


def test_banks_are_listed_counted_and_renamed(bank: ClientBank) -> None:
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


def test_the_service_tells_how_it_is(bank: ClientBank) -> None:
    monitoring = bank.client.monitoring
    assert bank.run(monitoring.get_liveness()).status == "alive"
    assert bank.run(monitoring.get_readiness())["status"] == "ready"
    assert bank.run(monitoring.health_endpoint_health_get())["status"] == "ready"
    assert "palimpsest_http_requests_total" in bank.run(monitoring.metrics_endpoint_metrics_get())
    assert bank.client.get_version() == bank.run(bank.client.aget_version())
