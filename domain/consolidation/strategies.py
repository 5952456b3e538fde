"""How a scope is consolidated: as the first strategy that claims it says, and else as its bank does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from domain.bank_config import BankConfig, ConsolidationStrategy, ScopeLimit, ScopePattern


@dataclass(frozen=True)
class ScopeRules:
    """`most` observations of the scope, and tokens of facts shown with those there are, in all and for each; None is
    no limit."""

    mission: str | None = None
    most: int | None = None
    source_tokens: int | None = None
    source_tokens_each: int | None = None


_SETTINGS = frozenset(ConsolidationStrategy.model_fields) - {"scopes"}


def rules_of(scope: Sequence[str], config: BankConfig) -> ScopeRules:
    """The first strategy that claims the scope has it wholly: no other is asked for what it does not set."""
    strategy = next(
        (each for each in config.consolidation_strategies or () if counts(each) and claims(each, scope)),
        ConsolidationStrategy(),
    )

    def limit(own: int | None, of_bank: int) -> int | None:
        found = of_bank if own is None else own
        return None if found < 0 else found

    return ScopeRules(
        mission=strategy.observations_mission or config.observations_mission,
        most=limit(strategy.max_observations_per_scope, _limit_of_bank(scope, config)),
        source_tokens=limit(
            strategy.consolidation_source_facts_max_tokens, config.consolidation_source_facts_max_tokens
        ),
        source_tokens_each=limit(
            strategy.consolidation_source_facts_max_tokens_per_observation,
            config.consolidation_source_facts_max_tokens_per_observation,
        ),
    )


def counts(strategy: ConsolidationStrategy) -> bool:
    """Whether a strategy says anything: one without a pattern that can claim, or without a setting, is passed over."""
    return any(rule.tags for rule in strategy.scopes) and any(getattr(strategy, key) is not None for key in _SETTINGS)


def claims(strategy: ConsolidationStrategy, scope: Sequence[str]) -> bool:
    return any(is_claimed(rule, scope) for rule in strategy.scopes)


def is_claimed(rule: ScopePattern, scope: Sequence[str]) -> bool:
    """Whether a pattern claims a scope; one without tags, still to be filled in, claims nothing."""
    if not rule.tags or not _each_has_one(rule.tags, scope):
        return False
    return rule.tags_match != "exact" or _each_is_meant(scope, rule.tags)


def _limit_of_bank(scope: Sequence[str], config: BankConfig) -> int:
    limits: Iterable[ScopeLimit] = config.observation_scope_limits or ()
    return next(
        (each.limit for each in limits if _each_has_one(each.scope, scope) and _each_is_meant(scope, each.scope)),
        config.max_observations_per_scope,
    )


def _each_has_one(globs: Sequence[str], tags: Sequence[str]) -> bool:
    return all(any(fnmatchcase(tag, glob) for tag in tags) for glob in globs)


def _each_is_meant(tags: Sequence[str], globs: Sequence[str]) -> bool:
    return all(any(fnmatchcase(tag, glob) for glob in globs) for tag in tags)
