"""The official client of the wire contract drives a live server, by its sync and by its async methods."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException
from hindsight_client_api.models.operation_status_response import OperationStatusResponse

from tests.support.eventually import eventually

QUERY = "What does Ada work on, and where?"


def _ended(client: Hindsight, loop: asyncio.AbstractEventLoop, bank: str, operation_id: str) -> OperationStatusResponse:
    def status() -> OperationStatusResponse | None:
        told = loop.run_until_complete(client.operations.get_operation_status(bank, operation_id))
        return told if told.status in ("completed", "failed") else None

    return eventually(status, timeout=20)


def test_the_life_of_a_document_by_the_sync_methods(
    hindsight: Hindsight, loop_of_the_client: asyncio.AbstractEventLoop
) -> None:
    bank, loop = f"ada {uuid4().hex[:8]}: 100%?#", loop_of_the_client
    profile = hindsight.create_bank(bank, name="Ada", reflect_mission="Know Ada.", disposition_empathy=5)
    assert (profile.bank_id, profile.name, profile.mission) == (bank, "Ada", "Know Ada.")
    assert profile.disposition.empathy == 5

    one = hindsight.retain(
        bank, "Ada Lovelace works at Acme in London.", timestamp="2024-03-01T10:00:00Z", tags=["ada"]
    )
    assert one.success
    assert one.items_count == 1
    assert not one.var_async
    assert one.usage is not None
    batch = hindsight.retain_batch(
        bank,
        [{"content": "Ada Lovelace wrote the engine's first program."}, {"content": "Ada Lovelace likes tea."}],
        document_id="notes",
        document_tags=["ada"],
    )
    assert batch.items_count == 2
    later = hindsight.retain(bank, "Ada Lovelace moved to Paris.", retain_async=True, operation_id=str(uuid4()))
    assert later.var_async
    assert later.operation_id
    assert _ended(hindsight, loop, bank, later.operation_id).status == "completed"

    created = hindsight.create_mental_model(bank, "Ada", QUERY, max_tokens=1024, id="ada", trigger={"mode": "full"})
    assert created.mental_model_id == "ada"
    refresh = _ended(hindsight, loop, bank, created.operation_id)
    assert refresh.status == "completed"
    assert refresh.details is not None
    assert refresh.details.outcome == "content_written"

    model = hindsight.get_mental_model(bank, "ada")
    assert "Acme" in str(model.content)
    assert model.trigger is not None
    assert model.trigger.mode == "full"
    assert model.reflect_response is not None
    assert model.reflect_response["based_on"]["world"]
    assert model.is_stale is False

    listed = hindsight.list_mental_models(bank)
    assert [(each.id, each.content, each.is_stale) for each in listed.items] == [("ada", None, False)]

    changed = hindsight.update_mental_model(
        bank, "ada", name="Ada L.", tags=["ada"], trigger={"refresh_cron": "0 3 * * *"}
    )
    assert (changed.name, changed.tags, changed.content) == ("Ada L.", ["ada"], model.content)
    assert changed.trigger is not None
    assert changed.trigger.refresh_cron == "0 3 * * *"

    preview = hindsight.dry_run_refresh_mental_model(bank, "ada")
    assert (preview.effective_mode, preview.outcome, preview.would_persist) == ("full", "content_written", True)
    assert (preview.scope.tags, preview.scope.tags_match) == (["ada"], "all_strict")
    assert preview.current_content == str(model.content).strip()
    assert preview.trace.tool_calls is not None
    assert preview.trace.tool_calls[0].output is not None
    assert hindsight.get_mental_model(bank, "ada").content == model.content, "it was a preview"
    queued = hindsight.refresh_mental_model(bank, "ada", mode="full")
    assert queued.status == "queued"
    assert _ended(hindsight, loop, bank, queued.operation_id).status == "completed"
    second = hindsight.get_mental_model(bank, "ada")
    assert "Paris" not in str(second.content), "the model reads only what is tagged 'ada'"
    assert second.content == preview.preview_content

    history = hindsight.get_mental_model_history(bank, "ada")
    assert [entry["previous_content"] for entry in history] == [model.content, ""]
    assert history[0]["changed_at"]

    cleared = hindsight.clear_mental_model(bank, "ada")
    assert cleared.content == ""
    assert hindsight.get_mental_model_history(bank, "ada")[0]["previous_content"] == second.content
    again = hindsight.refresh_mental_model(bank, "ada")
    assert _ended(hindsight, loop, bank, again.operation_id).status == "completed"
    assert hindsight.get_mental_model(bank, "ada", detail="content").content == second.content

    hindsight.delete_mental_model(bank, "ada")
    with pytest.raises(NotFoundException):
        hindsight.get_mental_model(bank, "ada")
    hindsight.delete_bank(bank)
    with pytest.raises(NotFoundException):
        hindsight.list_mental_models(bank)


def test_the_life_of_a_document_by_the_async_methods(address: str) -> None:
    asyncio.run(_life_of_a_document(address, f"bank-{uuid4().hex[:8]}"))


async def _life_of_a_document(address: str, bank: str) -> None:
    client = Hindsight(base_url=address, timeout=30)
    try:
        await client.acreate_bank(bank)
        await client.aretain(bank, "Grace Hopper works on compilers in Arlington.", metadata={"source": "talk"})
        await client.aretain_batch(bank, [{"content": "Grace Hopper found a moth."}], retain_async=True)
        await _all_ended(client, bank)
        created = await client.acreate_mental_model(bank, "Grace", "What does Grace Hopper work on?")
        await _all_ended(client, bank)
        model_id = str(created.mental_model_id)
        assert "compilers" in str((await client.aget_mental_model(bank, model_id)).content)
        assert (await client.alist_mental_models(bank, detail="content")).total == 1
        assert (await client.aupdate_mental_model(bank, model_id, max_tokens=512)).max_tokens == 512
        assert (await client.adry_run_refresh_mental_model(bank, model_id)).outcome == "content_unchanged"
        with pytest.raises(NotFoundException):
            await client.adry_run_refresh_mental_model(bank, "none")
        await client.aclear_mental_model(bank, model_id)
        await client.arefresh_mental_model(bank, model_id)
        await _all_ended(client, bank)
        history = await client.aget_mental_model_history(bank, model_id)
        assert [entry.get("kind") for entry in history] == [None, "cleared", None]
        found = await client.arecall(bank, "compilers", trace=True, include_entities=True, include_chunks=True)
        assert found.results[0].text == "Grace Hopper works on compilers in Arlington."
        assert found.results[0].metadata == {"source": "talk"}
        assert found.trace is not None
        assert found.entities is not None
        assert set(found.entities) >= {"Grace Hopper", "Arlington"}
        assert found.chunks is not None
        assert found.results[0].chunk_id in found.chunks
        await client.adelete_mental_model(bank, model_id)
        await client.adelete_bank(bank)
    finally:
        await client.aclose()


async def _all_ended(client: Hindsight, bank: str) -> None:
    async with asyncio.timeout(20):
        while {each.status for each in (await client.operations.list_operations(bank)).operations} != {"completed"}:
            await asyncio.sleep(0.02)


def test_the_generated_client_reads_every_answer(
    hindsight: Hindsight, loop_of_the_client: asyncio.AbstractEventLoop
) -> None:
    bank, run = f"bank-{uuid4().hex[:8]}", loop_of_the_client.run_until_complete
    hindsight.retain(bank, "Ada Lovelace works at Acme.", tags=["ada", "work"])
    created = hindsight.create_mental_model(bank, "Ada", QUERY, tags=["ada"])
    _ended(hindsight, loop_of_the_client, bank, created.operation_id)
    stats = run(hindsight.banks.get_agent_stats(bank))
    assert (stats.total_nodes, stats.total_documents, stats.pending_operations) == (1, 1, 0)
    assert bank in [each.bank_id for each in run(hindsight.banks.list_banks(limit=1000)).banks]
    assert [(each.tag, each.count) for each in run(hindsight.memory.list_tags(bank, q="A*")).items] == [("ada", 1)]
    assert run(hindsight.memory.list_tags(bank, source="mental_models")).items[0].tag == "ada"
    operation = run(hindsight.operations.list_operations(bank, type="refresh_mental_model")).operations[0]
    assert operation.details is not None
    assert operation.details.outcome == "content_written"
    assert run(hindsight.operations.get_operation_status(bank, str(uuid4()))).status == "not_found"
    assert hindsight.get_version().api_version == "1.1.0"
    assert run(hindsight.monitoring.get_liveness()).status == "alive"
    assert run(hindsight.monitoring.get_readiness())["status"] == "ready"
    grouped = hindsight.recall(bank, "Acme", tag_groups=[{"or": [{"tags": ["work"]}, {"not": {"tags": ["ada"]}}]}])
    assert [result.tags for result in grouped.results] == [["ada", "work"]]


def test_the_client_raises_its_own_errors_for_ours(hindsight: Hindsight) -> None:
    bank = f"bank-{uuid4().hex[:8]}"
    with pytest.raises(ApiException) as refused:
        hindsight.create_mental_model(bank, " ", QUERY)
    assert refused.value.status == 422
    with pytest.raises(NotFoundException, match="not found"):
        hindsight.recall(bank, "anything")
