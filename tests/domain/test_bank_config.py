"""The config of a bank: what any level sets resolves, and what is asked for is taken or named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.bank import BankConfigured
from domain.bank_config import BankConfig, BankSettings
from domain.bank_config_changes import changes_of, check_rules, from_environment
from domain.event import RECORDED
from domain.refusals import InvalidSetting
from tests.support.event_examples import EVERY_SETTING

REFERENCE = {
    "retain_mission": None, "retain_custom_instructions": None, "retain_extraction_mode": "concise",
    "retain_chunk_size": 3000, "retain_structured_chunk_size": None, "retain_default_strategy": None,
    "retain_strategies": None, "retain_max_attachments_per_chunk": 8, "entity_labels": None,
    "entities_allow_free_form": True, "store_document_text": True, "enable_observations": True,
    "enable_auto_consolidation": True, "observations_mission": None, "max_observations_per_scope": -1,
    "observation_scope_limits": None, "consolidation_strategies": None, "default_observation_scopes": None,
    "consolidation_llm_batch_size": 8, "consolidation_llm_parallelism": 4, "consolidation_max_memories_per_round": 100,
    "consolidation_source_facts_max_tokens": 4096, "consolidation_source_facts_max_tokens_per_observation": 256,
    "consolidation_use_decision_model": True, "reflect_mission": None, "reflect_source_facts_max_tokens": -1,
    "reflect_default_options": None, "reflect_use_decision_model": True,
    "mental_model_refresh_use_decision_model": True, "mental_model_delta_use_decision_model": True,
    "mental_model_min_refresh_interval_seconds": 0, "knowledge_page_default_trigger": None,
    "recall_include_chunks": True, "recall_prefer_observations": False, "recall_max_tokens": 2048,
    "recall_chunks_max_tokens": 1000, "recall_budget_function": "fixed", "recall_budget_fixed_low": 100,
    "recall_budget_fixed_mid": 300, "recall_budget_fixed_high": 1000, "recall_budget_adaptive_low": 0.025,
    "recall_budget_adaptive_mid": 0.075, "recall_budget_adaptive_high": 0.25, "recall_budget_min": 20,
    "recall_budget_max": 2000, "enable_text_search": True, "enable_temporal_retrieval": True,
    "enable_graph_retrieval": True, "enable_reranking": True, "disposition_skepticism": None,
    "disposition_literalism": None, "disposition_empathy": None, "mcp_enabled_tools": None,
    "audit_log_enabled": False, "llm_gemini_safety_settings": None, "memory_defense": None,
}  # fmt: skip
"""The defaults of the system of reference; that of retain_chunk_batch_size is the server's."""


def test_the_defaults_are_those_of_the_system_of_reference() -> None:
    assert BankConfig().wire() == {**REFERENCE, "retain_chunk_batch_size": 100}


def config(**settings: Any) -> BankConfig:
    return BankConfig().changed_by(changes_of(settings))


def test_a_level_counts_where_it_is_set_and_the_lower_one_elsewhere() -> None:
    server = config(retain_chunk_size=1000, enable_reranking=False, reflect_mission="All.").over(BankConfig())
    resolved = config(retain_chunk_size=3000, retain_mission="").over(server)
    assert (resolved.retain_chunk_size, resolved.enable_reranking) == (3000, False)
    assert (resolved.retain_mission, resolved.reflect_mission, resolved.recall_max_tokens) == ("", "All.", 2048)


STRATEGIES = {"mail": {"retain_extraction_mode": "verbatim", "retain_chunk_size": 500, "store_document_text": None}}


@pytest.mark.parametrize(("name", "default", "expected"), [
    ("mail", None, ("verbatim", 500)),
    (None, "mail", ("verbatim", 500)),
    (None, None, ("concise", 2000)),
    ("gone", None, ("concise", 2000)),
])  # fmt: skip
def test_a_strategy_replaces_what_it_sets(name: str | None, default: str | None, expected: tuple[str, int]) -> None:
    bank = config(retain_strategies=STRATEGIES, retain_chunk_size=2000).changed_by({"retain_default_strategy": default})
    chosen = bank.for_strategy(name)
    assert (chosen.retain_extraction_mode, chosen.retain_chunk_size) == expected
    assert chosen.store_document_text, "a null of a strategy sets nothing"


# --- the environment --------------------------------------------------------------------------------------------------


def test_every_key_is_read_from_the_environment() -> None:
    environment = {
        "PALIMPSEST_RETAIN_CHUNK_SIZE": "700",
        "HINDSIGHT_API_RETAIN_MISSION": "Only [work].",
        "PALIMPSEST_ENABLE_RERANKING": "false",
        "HINDSIGHT_API_RECALL_BUDGET_ADAPTIVE_LOW": "0.5",
        "PALIMPSEST_DEFAULT_OBSERVATION_SCOPES": "shared",
        "PALIMPSEST_ENTITY_LABELS": ' [{"key": "bridge", "tag": true}]',
        "PALIMPSEST_KNOWLEDGE_PAGE_DEFAULT_TRIGGER": '{"mode": "delta"}',
        "HINDSIGHT_API_MCP_ENABLED_TOOLS": "recall, retain",
        "PALIMPSEST_LLM_GEMINI_SAFETY_SETTINGS": "",
        "RETAIN_STRUCTURED_CHUNK_SIZE": "7",
    }
    assert from_environment(environment).wire(only_set=True) == {
        "retain_chunk_size": 700,
        "retain_mission": "Only [work].",
        "enable_reranking": False,
        "recall_budget_adaptive_low": 0.5,
        "default_observation_scopes": "shared",
        "entity_labels": [{"key": "bridge", "tag": True}],
        "knowledge_page_default_trigger": {"mode": "delta"},
        "mcp_enabled_tools": ["recall", "retain"],
    }


def test_scopes_may_be_a_list_in_the_environment() -> None:
    found = from_environment({"PALIMPSEST_DEFAULT_OBSERVATION_SCOPES": '[["a:*"], []]'})
    assert found.default_observation_scopes == (("a:*",), ())


def test_our_name_counts_before_that_of_the_system_of_reference() -> None:
    both = {"HINDSIGHT_API_RETAIN_CHUNK_SIZE": "1", "PALIMPSEST_RETAIN_CHUNK_SIZE": "2"}
    assert from_environment(both).retain_chunk_size == 2


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("PALIMPSEST_RETAIN_CHUNK_SIZE", "0", "greater than or equal to 1"),
        ("HINDSIGHT_API_RETAIN_CHUNK_SIZE", "many", "integer"),
        ("PALIMPSEST_ENTITY_LABELS", "bridge", "valid tuple"),
        ("PALIMPSEST_ENTITY_LABELS", '[{"key": ', "JSON"),
        ("PALIMPSEST_MEMORY_DEFENSE", "[" * 5000, "JSON"),
    ],
)
def test_a_wrong_value_of_the_environment_is_told_by_the_name_of_the_variable(
    name: str, value: str, words: str
) -> None:
    with pytest.raises(InvalidSetting, match=f"^{name}: .* is not accepted: .*{words}"):
        from_environment({name: value})


# --- what is stored resolves ------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 30_000) | st.floats() | st.text(max_size=9) | st.sampled_from(
        ["shared", "custom", "adaptive", "delta", "a:*", "0 * * * *"]
    ),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["key", "tags", "scopes", "scope", "limit", "mode", "x"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
ANY_UPDATES = st.dictionaries(st.sampled_from(sorted(BankConfig.model_fields)), JSON, max_size=4)
GOOD_UPDATES = st.sets(st.sampled_from(sorted(EVERY_SETTING))).map(
    lambda keys: {key: EVERY_SETTING[key] for key in keys}
)


def stored(settings: BankSettings) -> BankSettings:
    """As it comes back from the log."""
    payload = BankConfigured(overrides=settings).model_dump(mode="json", by_alias=True)
    return BankConfigured.model_validate(json.loads(json.dumps(payload)), context=dict(RECORDED)).overrides


def taken(updates: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The changes they are, or why not."""
    try:
        return changes_of(updates), ""
    except InvalidSetting as refusal:
        return {}, str(refusal)


@for_all(ANY_UPDATES | GOOD_UPDATES, GOOD_UPDATES)
def test_whatever_is_taken_is_stored_and_resolves(updates: dict[str, Any], server: dict[str, Any]) -> None:
    changes, refusal = taken(updates)
    assert not refusal or any(refusal.startswith(key) for key in updates)
    own = BankSettings().changed_by({key: value for key, value in changes.items() if key in BankSettings.model_fields})
    again = stored(own)
    assert again.set_values() == own.set_values()
    resolved = BankConfig().changed_by(again.set_values()).over(config(**server).over(BankConfig()))
    assert set(resolved.wire()) == set(BankConfig.model_fields)
    for key, value in own.wire(only_set=True).items():
        assert resolved.wire()[key] == value
    assert BankConfig.model_validate(resolved.model_dump()) == resolved


@for_all(GOOD_UPDATES)
def test_what_is_told_can_be_given_again(updates: dict[str, Any]) -> None:
    told = config(**updates).wire(only_set=True)
    assert told == updates
    assert config(**told).set_values() == config(**updates).set_values()


def test_a_rule_that_spans_keys_is_for_those_who_change_them() -> None:
    broken = config(recall_budget_min=5000)
    check_rules(broken, {"retain_mission"})
    with pytest.raises(InvalidSetting, match="5000, is more than the most, 2000"):
        check_rules(broken, {"recall_budget_min"})
