"""How a scope is consolidated: the first strategy that claims it has it wholly."""

from __future__ import annotations

from typing import Any

import pytest

from domain.bank_config import BankConfig
from domain.consolidation import ScopeRules, rules_of


def config(**values: Any) -> BankConfig:
    return BankConfig.model_validate(values)


def test_a_bank_without_strategies_has_one_rule_for_all_scopes() -> None:
    assert rules_of(("a",), config(observations_mission="prices", max_observations_per_scope=7)) == ScopeRules(
        "prices", 7, 4096, 256
    )
    assert rules_of((), config(consolidation_source_facts_max_tokens=-1)) == ScopeRules(None, None, None, 256)


def test_the_first_strategy_that_claims_a_scope_has_it_and_what_it_does_not_set_is_of_the_bank() -> None:
    several = config(
        observations_mission="of the bank",
        consolidation_strategies=[
            {"scopes": [{"tags": ["user:*"]}], "max_observations_per_scope": 3},
            {"scopes": [{"tags": ["user:1"]}], "max_observations_per_scope": 9, "observations_mission": "never told"},
        ],
    )
    assert rules_of(("user:1",), several) == ScopeRules("of the bank", 3, 4096, 256)
    assert rules_of(("team",), several).most is None


@pytest.mark.parametrize(
    ("rule", "scope", "claimed"),
    [
        ({"tags": ["a*"]}, ("ab", "c"), True),
        ({"tags": ["a*", "d"]}, ("ab", "c"), False),
        ({"tags": ["a*"], "tags_match": "exact"}, ("ab", "c"), False),
        ({"tags": ["a*"], "tags_match": "exact"}, ("ab", "ac"), True),
        ({"tags": []}, (), False),
        ({"tags": ["A"]}, ("a",), False),
    ],
)
def test_patterns_of_a_strategy(rule: dict[str, Any], scope: tuple[str, ...], claimed: bool) -> None:
    """One without tags is still to be filled in."""
    chosen = config(consolidation_strategies=[{"scopes": [rule], "max_observations_per_scope": 1}])
    assert (rules_of(scope, chosen).most == 1) is claimed


def test_a_strategy_without_a_setting_does_not_stand_in_the_way_of_the_next() -> None:
    chosen = config(
        consolidation_strategies=[
            {"scopes": [{"tags": ["a"]}]},
            {"scopes": [{"tags": ["a"]}], "max_observations_per_scope": 2},
        ]
    )
    assert rules_of(("a",), chosen).most == 2


def test_older_limits_count_where_no_strategy_sets_one() -> None:
    limits = [{"scope": ["user:*", "x"], "limit": 4}]
    chosen = config(observation_scope_limits=limits, max_observations_per_scope=9)
    assert [rules_of(scope, chosen).most for scope in (("user:1", "x"), ("user:1",), ("user:1", "x", "y"))] == [4, 9, 9]
