"""The official client of the wire contract drives banks, their config, directives and templates of a live server."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import ClientResponseError
from hindsight_client import Hindsight
from hindsight_client_api.api.bank_templates_api import BankTemplatesApi
from hindsight_client_api.exceptions import ApiException, BadRequestException, NotFoundException
from hindsight_client_api.models.bank_template_manifest import BankTemplateManifest


@pytest.fixture
def bank_id() -> str:
    return f"bank-{uuid4().hex[:12]}"


def test_a_bank_is_configured_by_the_client(hindsight: Hindsight, bank_id: str) -> None:
    profile = hindsight.create_bank(
        bank_id,
        reflect_mission="Know Ada.",
        disposition={"skepticism": 5, "literalism": 3, "empathy": 1},
        retain_extraction_mode="verbatim",
        enable_reranking=False,
    )
    assert (profile.mission, profile.disposition.skepticism, profile.disposition.empathy) == ("Know Ada.", 5, 1)
    told = hindsight.get_bank_config(bank_id)
    assert told["bank_id"] == bank_id
    assert (told["config"]["retain_extraction_mode"], told["config"]["retain_chunk_size"]) == ("verbatim", 3000)
    changed = hindsight.update_bank_config(
        bank_id,
        retain_chunk_size=500,
        entity_labels=[{"key": "topic", "type": "multi-values", "values": [{"value": "work"}], "tag": True}],
        default_observation_scopes=[["topic:*"]],
        consolidation_strategies=[{"scopes": [{"tags": ["topic:*"]}], "max_observations_per_scope": 9}],
        retain_strategies={"mail": {"retain_extraction_mode": "chunks"}},
        retain_default_strategy="mail",
        knowledge_page_default_trigger={"refresh_cron": "0 * * * *"},
        mental_model_min_refresh_interval_seconds=60,
        disposition_empathy=4,
    )
    assert changed["overrides"]["retain_chunk_size"] == 500
    assert changed["overrides"]["entity_labels"][0]["values"] == [{"value": "work"}]
    assert changed["overrides"]["reflect_mission"] == "Know Ada."
    assert hindsight.get_bank_config(bank_id) == changed
    hindsight.set_mission(bank_id, "Know Bob.")
    assert hindsight.get_bank_config(bank_id)["config"]["reflect_mission"] == "Know Bob."
    hindsight.set_reflect_mission(bank_id, "Know Eve.")
    assert hindsight.get_bank_config(bank_id)["config"]["reflect_mission"] == "Know Eve."
    assert hindsight.reset_bank_config(bank_id)["overrides"] == {}
    with pytest.raises(ClientResponseError) as refused:
        hindsight.update_bank_config(bank_id, retain_chunk_size=0)
    assert refused.value.status == 400
    hindsight.delete_bank(bank_id)
    with pytest.raises(ClientResponseError) as gone:
        hindsight.get_bank_config(bank_id)
    assert gone.value.status == 404


def test_directives_are_kept_by_the_client(hindsight: Hindsight, bank_id: str) -> None:
    cite = hindsight.create_directive(bank_id, "Cite", "Name sources.", priority=5, tags=["press"])
    kind = hindsight.create_directive(bank_id, "Be kind", "Be kind.")
    assert (cite.bank_id, cite.priority, cite.is_active, cite.tags) == (bank_id, 5, True, ["press"])
    listed = hindsight.list_directives(bank_id, limit=1)
    assert (listed.total, [each.id for each in listed.items]) == (2, [cite.id])
    assert [each.id for each in hindsight.list_directives(bank_id, tags=["sports"]).items] == [kind.id]
    changed = hindsight.update_directive(bank_id, cite.id, content="Name every source.", is_active=False)
    assert (changed.content, changed.is_active, changed.name) == ("Name every source.", False, "Cite")
    assert hindsight.get_directive(bank_id, cite.id) == changed
    assert hindsight.list_directives(bank_id).total == 1
    hindsight.delete_directive(bank_id, cite.id)
    with pytest.raises(NotFoundException):
        hindsight.get_directive(bank_id, cite.id)


def test_a_bank_and_its_directives_are_kept_by_the_async_methods(
    hindsight: Hindsight, loop_of_the_client: asyncio.AbstractEventLoop, bank_id: str
) -> None:
    async def kept() -> None:
        assert (await hindsight.acreate_bank(bank_id, reflect_mission="Know Ada.")).mission == "Know Ada."
        await hindsight.aset_mission(bank_id, "Know Bob.")
        changed = await hindsight.aupdate_bank_config(bank_id, retain_chunk_size=500)
        assert changed["overrides"] == {"reflect_mission": "Know Bob.", "retain_chunk_size": 500}
        assert await hindsight.aget_bank_config(bank_id) == changed
        assert (await hindsight.areset_bank_config(bank_id))["overrides"] == {}
        cite = await hindsight.acreate_directive(bank_id, "Cite", "Name sources.", tags=["press"])
        changed_rule = await hindsight.aupdate_directive(bank_id, cite.id, priority=7)
        assert (await hindsight.aget_directive(bank_id, cite.id)).priority == changed_rule.priority == 7
        assert [each.id for each in (await hindsight.alist_directives(bank_id, limit=5, offset=0)).items] == [cite.id]
        await hindsight.adelete_directive(bank_id, cite.id)
        with pytest.raises(NotFoundException):
            await hindsight.aget_directive(bank_id, cite.id)
        await hindsight.adelete_bank(bank_id)

    loop_of_the_client.run_until_complete(kept())


def test_a_bank_is_copied_by_its_template(
    hindsight: Hindsight, loop_of_the_client: asyncio.AbstractEventLoop, bank_id: str
) -> None:
    templates = BankTemplatesApi(hindsight.banks.api_client)
    manifest = BankTemplateManifest.from_dict(
        {
            "version": "1",
            "bank": {"reflect_mission": "Help a support agent.", "entity_labels": [{"key": "topic"}]},
            "mental_models": [{"id": "mood", "name": "Mood", "source_query": "How is the mood?"}],
            "directives": [{"name": "Be kind", "content": "Answer with empathy.", "priority": 10}],
        }
    )

    def run(request: Any) -> Any:
        return loop_of_the_client.run_until_complete(request)

    planned = run(templates.import_bank_template(bank_id, manifest, dry_run=True))
    assert (planned.dry_run, planned.mental_models_created, planned.operation_ids) == (True, ["mood"], [])
    done = run(templates.import_bank_template(bank_id, manifest))
    assert (done.dry_run, done.config_applied, done.directives_created) == (False, True, ["Be kind"])
    assert len(done.operation_ids) == 1
    exported = run(templates.export_bank_template(bank_id))
    assert exported.bank.reflect_mission == "Help a support agent."
    assert [each.id for each in exported.mental_models] == ["mood"]
    other = f"{bank_id}-2"
    run(templates.import_bank_template(other, exported))
    assert run(templates.export_bank_template(other)) == exported
    wrong = exported.model_copy(update={"version": "7"})
    with pytest.raises(BadRequestException, match="version: '7' is not known"):
        run(templates.import_bank_template(other, wrong))
    schema = run(templates.get_bank_template_schema())
    assert "BankTemplateConfig" in schema["$defs"]


def test_what_is_retired_is_told_as_gone(
    hindsight: Hindsight, loop_of_the_client: asyncio.AbstractEventLoop, bank_id: str
) -> None:
    with pytest.warns(DeprecationWarning, match="profile is deprecated"), pytest.raises(ApiException) as gone:
        loop_of_the_client.run_until_complete(hindsight.banks.get_bank_profile(bank_id))
    assert gone.value.status == 410
