"""The config of a bank, over REST: what counts, what it sets itself, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from adapters.settings import Settings
from domain.bank_config import BankConfig
from tests.support.event_examples import EVERY_SETTING
from tests.support.rest import RestBank, assert_refused

MISSIONS_AND_TRAITS = {
    "reflect_mission": "Know Ada.",
    "retain_mission": "Only work.",
    "observations_mission": "Note what changes.",
    "disposition_skepticism": 5,
    "disposition_literalism": 3,
    "disposition_empathy": 1,
}


def of_server() -> dict[str, Any]:
    """The config of a bank that sets nothing."""
    return Settings(_env_file=None).bank_defaults.wire()


def patched(bank: RestBank, **updates: Any) -> Any:
    return bank.patch("/config", {"updates": updates})


def test_every_key_is_told_with_its_default_and_nothing_is_set_at_first(bank: RestBank) -> None:
    bank.ask("PUT", json={})
    told = bank.get("/config")
    assert told == {"bank_id": bank.bank_id, "config": of_server(), "overrides": {}}
    assert set(told["config"]) == set(BankConfig.model_fields)
    assert told["config"]["retain_mission"] is None
    assert len(told["config"]) == 57


def test_every_key_can_be_set_is_told_as_it_was_given_and_comes_back(bank: RestBank) -> None:
    every = {**EVERY_SETTING, **MISSIONS_AND_TRAITS}
    assert set(every) == set(BankConfig.model_fields)
    told = patched(bank, **every)
    assert told["overrides"] == every
    assert told["config"] == every
    assert bank.get("/config") == told
    reset = bank.ask("DELETE", "/config").json()
    assert reset == {"bank_id": bank.bank_id, "config": of_server(), "overrides": {}}
    assert bank.get("/config") == reset


def test_what_is_not_named_stays_and_null_takes_away(bank: RestBank) -> None:
    patched(bank, retain_chunk_size=500, enable_reranking=False, retain_mission="Only work.")
    told = patched(bank, enable_reranking=None, recall_max_tokens=100, retain_mission=None)
    assert told["overrides"] == {"retain_chunk_size": 500, "recall_max_tokens": 100}
    assert (told["config"]["enable_reranking"], told["config"]["retain_chunk_size"]) == (True, 500)


def test_a_default_that_is_set_is_set(bank: RestBank) -> None:
    assert patched(bank, retain_chunk_size=3000)["overrides"] == {"retain_chunk_size": 3000}
    assert bank.get("/config")["overrides"] == {"retain_chunk_size": 3000}


@pytest.mark.parametrize(
    "name", ["RETAIN_CHUNK_SIZE", "HINDSIGHT_API_RETAIN_CHUNK_SIZE", "PALIMPSEST_RETAIN_CHUNK_SIZE"]
)
@pytest.mark.parametrize("value", [700, "700"])
def test_a_key_may_be_named_as_an_environment_variable(bank: RestBank, name: str, value: object) -> None:
    assert patched(bank, **{name: value})["overrides"] == {"retain_chunk_size": 700}


def test_missions_and_traits_are_one_with_those_of_the_bank(bank: RestBank) -> None:
    bank.ask("PUT", json={"mission": "Know Ada.", "disposition": {"empathy": 5}, "enable_reranking": False})
    assert bank.get("/config")["overrides"] == {
        "reflect_mission": "Know Ada.",
        "disposition_empathy": 5,
        "enable_reranking": False,
    }
    patched(bank, reflect_mission="Know Bob.", retain_mission="Only work.", disposition_empathy=2)
    profile = bank.ask("PUT", json={}).json()
    assert (profile["mission"], profile["retain_mission"]) == ("Know Bob.", "Only work.")
    assert profile["disposition"] == {"skepticism": 3, "literalism": 3, "empathy": 2}
    (item,) = bank.client.get("/v1/default/banks", params={"q": bank.bank_id}).json()["banks"]
    assert (item["mission"], item["disposition"]) == (profile["mission"], profile["disposition"])


def test_a_patch_of_the_config_creates_the_bank_and_a_patch_of_the_bank_does_not(bank: RestBank) -> None:
    """AC-03."""
    assert_refused(bank.ask("GET", "/config"), 404, f"Bank '{bank.bank_id}' not found")
    assert_refused(bank.ask("DELETE", "/config"), 404, f"Bank '{bank.bank_id}' not found")
    assert patched(bank)["overrides"] == {}
    assert bank.get("/config")["overrides"] == {}
    other = RestBank(bank.client, f"{bank.bank_id}-2")
    assert_refused(other.ask("PATCH", json={"name": "Ada"}), 404, other.bank_id)
    assert_refused(other.ask("GET", "/config"), 404, other.bank_id)


def test_a_put_takes_the_settings_of_the_contract(bank: RestBank) -> None:
    bank.ask("PUT", json={"retain_extraction_mode": "verbatim", "retain_chunk_size": 400, "enable_text_search": None})
    assert bank.get("/config")["overrides"] == {"retain_extraction_mode": "verbatim", "retain_chunk_size": 400}
    assert_refused(bank.ask("PUT", json={"retain_extraction_mode": "brief"}), 400, "retain_extraction_mode", '"brief"')
    assert_refused(bank.ask("PATCH", json={}), 422, "changes nothing")


DEEP: Any = {}
for _ in range(300):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("updates", "words"),
    [
        ({"chunk_size": 1}, ["'chunk_size' cannot be configured", "did you mean 'retain_chunk_size'?"]),
        ({"DATABASE_URL": "x"}, ["'DATABASE_URL' cannot be configured"]),
        ({"Retain_Chunk_Size": 1}, ["'Retain_Chunk_Size' cannot be configured"]),
        ({"retain_chunk_size": 0}, ["retain_chunk_size: 0 is not accepted", "greater than or equal to 1"]),
        ({"retain_chunk_size": "many"}, ['retain_chunk_size: "many"', "valid integer"]),
        ({"retain_chunk_size": True}, ["retain_chunk_size: true", "valid integer"]),
        ({"RETAIN_CHUNK_SIZE": "many"}, ['retain_chunk_size: "many"', "valid integer"]),
        ({"retain_chunk_size": 5, "RETAIN_CHUNK_SIZE": 6}, ["'retain_chunk_size' is given twice"]),
        ({"enable_reranking": "yes"}, ["enable_reranking", "valid boolean"]),
        ({"retain_extraction_mode": "brief"}, ['"brief"', "'concise'", "'chunks'"]),
        ({"disposition_empathy": 6}, ["disposition_empathy: 6", "less than or equal to 5"]),
        ({"retain_mission": "x" * 20_001}, ["retain_mission", "at most 20000"]),
        ({"recall_budget_adaptive_low": 0}, ["recall_budget_adaptive_low", "greater than 0"]),
        ({"default_observation_scopes": "all"}, ['"all"', "'per_tag'", "'shared'"]),
        ({"default_observation_scopes": ["a"]}, ["default_observation_scopes"]),
        ({"entity_labels": [{"type": "text"}]}, ["entity_labels", "0.key", "required"]),
        ({"entity_labels": [{"key": "a", "type": "number"}]}, ["0.type", "'multi-values'"]),
        ({"entity_labels": [{"key": "a", "colour": 1}]}, ["0.colour"]),
        ({"entity_labels": [{"key": "a"}, {"key": "a"}]}, ["the label a is there twice"]),
        ({"retain_strategies": {"mail": {"retain_chunk": 1}}}, ["mail.retain_chunk"]),
        ({"retain_strategies": {"mail": {"retain_chunk_size": 0}}}, ["mail.retain_chunk_size"]),
        ({"consolidation_strategies": [{"scopes": [{"tags": "a"}]}]}, ["0.scopes.0.tags"]),
        ({"consolidation_strategies": [{"scopes": [{"tags_match": "any"}]}]}, ["'all' or 'exact'"]),
        ({"observation_scope_limits": [{"scope": ["a"]}]}, ["0.limit"]),
        ({"knowledge_page_default_trigger": {"cron": "* * * * *"}}, ["a trigger has no cron"]),
        ({"knowledge_page_default_trigger": {"refresh_cron": "daily"}}, ["refresh_cron", "five fields"]),
        ({"knowledge_page_default_trigger": {"mode": "half"}}, ["mode", "'full' or 'delta'"]),
        ({"reflect_default_options": {"budget": "low"}}, ["budget"]),
        ({"mcp_enabled_tools": [1]}, ["mcp_enabled_tools"]),
        ({"llm_gemini_safety_settings": ["none"]}, ["llm_gemini_safety_settings"]),
        ({"memory_defense": ["none"]}, ["memory_defense"]),
        ({"memory_defense": {"rules": [{"on": "sensitive_data", "action": "hide"}]}}, ["rules.0.action"]),
        ({"memory_defense": DEEP}, ["memory_defense"]),
        ({"retain_default_strategy": "mail"}, ["no strategy 'mail'", "it has: none"]),
        ({"recall_budget_min": 5000}, ["recall_budget_min and recall_budget_max", "5000", "2000"]),
    ],
    ids=lambda each: str(each)[:60],
)
def test_what_is_not_accepted_is_named_and_nothing_is_changed(
    bank: RestBank, updates: dict[str, Any], words: list[str]
) -> None:
    patched(bank, retain_chunk_size=500)
    assert_refused(bank.ask("PATCH", "/config", json={"updates": {"recall_max_tokens": 7, **updates}}), 400, *words)
    assert bank.get("/config")["overrides"] == {"retain_chunk_size": 500}


def test_deeply_nested_labels_are_refused(bank: RestBank) -> None:
    fields: dict[str, Any] = {}
    for _ in range(9):
        fields = {"a": {"type": "map", "fields": fields}}
    body = {"updates": {"entity_labels": [{"key": "a", "type": "map", "fields": fields}]}}
    assert_refused(bank.ask("PATCH", "/config", json=body), 400, "8 levels deep at most")


def test_a_strategy_and_the_default_are_set_together_and_taken_away_together(bank: RestBank) -> None:
    patched(bank, retain_strategies={"mail": {}}, retain_default_strategy="mail")
    body = {"updates": {"retain_strategies": None}}
    assert_refused(bank.ask("PATCH", "/config", json=body), 400, "there is no strategy 'mail'")
    assert patched(bank, retain_strategies=None, retain_default_strategy=None)["overrides"] == {}


@pytest.mark.parametrize("body", [{}, {"updates": None}, {"updates": []}, {"updates": 1}, [], None], ids=str)
def test_a_patch_without_updates_is_refused(bank: RestBank, body: Any, nothing_opened: Callable[[], None]) -> None:
    assert_refused(bank.ask("PATCH", "/config", json=body), 422)
    nothing_opened()


@pytest.fixture
def nothing_opened(bank: RestBank) -> Callable[[], None]:
    def check() -> None:
        assert bank.ask("GET", "/config").status_code == 404

    return check


@pytest.mark.parametrize(
    ("method", "path", "instead"),
    [
        ("GET", "/profile", "GET .../config"),
        ("PUT", "/profile", "disposition_skepticism"),
        ("POST", "/background", "reflect_mission"),
    ],
)
def test_the_endpoints_it_took_the_place_of_are_gone_and_tell_what_to_use(
    bank: RestBank, method: str, path: str, instead: str
) -> None:
    assert_refused(bank.ask(method, path, json={"disposition": {}}), 410, bank.bank_id, instead)


def test_the_endpoints_are_described_under_the_names_of_the_contract(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    bank = "/v1/default/banks/{bank_id}"
    names = {
        f"{method} {path.removeprefix(bank)}": told["operationId"]
        for path, methods in paths.items()
        for method, told in methods.items()
        if path.startswith((f"{bank}/config", f"{bank}/directives", f"{bank}/profile", f"{bank}/background"))
        or path in (f"{bank}/import", f"{bank}/export", "/v1/bank-template-schema", bank)
    }
    assert names == {
        "get /config": "get_bank_config",
        "patch /config": "update_bank_config",
        "delete /config": "reset_bank_config",
        "get /profile": "get_bank_profile",
        "put /profile": "update_bank_disposition",
        "post /background": "add_bank_background",
        "get /directives": "list_directives",
        "post /directives": "create_directive",
        "get /directives/{directive_id}": "get_directive",
        "patch /directives/{directive_id}": "update_directive",
        "delete /directives/{directive_id}": "delete_directive",
        "post /import": "import_bank_template",
        "get /export": "export_bank_template",
        "get /v1/bank-template-schema": "get_bank_template_schema",
        "put ": "create_or_update_bank",
        "patch ": "update_bank",
        "delete ": "delete_bank",
    }
