"""What can be configured of a bank: every key with its default, and what its values may be.

Keys, defaults and limits are those of the system of reference (spec of the memory engine, "Bank configuration"; the
contract's BankTemplateConfig). A bank's own values win over the server's, those over the defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from domain.bank_labels import LabelGroup
from domain.memory import ObservationScopes
from domain.memory_defense import DefensePolicy
from domain.mental_model.trigger import Trigger
from domain.value import Value

LARGEST = 10_000_000
"""No count of characters, tokens or rows means anything beyond."""

Count = Annotated[int, Field(ge=1, le=LARGEST)]
CountOrNone = Annotated[int, Field(ge=0, le=LARGEST)]
"""0 switches off what it counts."""
CountOrNoLimit = Annotated[int, Field(ge=-1, le=LARGEST)]
"""-1 is no limit."""
Ratio = Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)]
Trait = Annotated[int, Field(ge=1, le=5)]
Text = Annotated[str, Field(max_length=20_000)]
Globs = Annotated[tuple[Annotated[str, Field(max_length=256)], ...], Field(max_length=100)]
ExtractionMode = Literal["concise", "verbose", "custom", "verbatim", "chunks"]


class RetainStrategy(Value):
    """A named way of retaining: what is set replaces the bank's value for the items that name it."""

    retain_mission: Text | None = None
    retain_custom_instructions: Text | None = None
    retain_extraction_mode: ExtractionMode | None = None
    retain_chunk_size: Count | None = None
    retain_structured_chunk_size: Count | None = None
    retain_chunk_batch_size: CountOrNone | None = None
    retain_max_attachments_per_chunk: Count | None = None
    entity_labels: tuple[LabelGroup, ...] | None = None
    entities_allow_free_form: bool | None = None
    store_document_text: bool | None = None
    default_observation_scopes: ObservationScopes | None = None


class ScopePattern(Value):
    """Which observation scopes a consolidation strategy claims: `tags` are globs, all of which the scope has; with
    `tags_match` exact it has no other tags."""

    tags: Globs = ()
    tags_match: Literal["all", "exact"] | None = None


class ConsolidationStrategy(Value):
    """How the scopes that any of its patterns claims are consolidated; what is not set is as in the rest of the bank.
    The first strategy that claims a scope has it."""

    scopes: tuple[ScopePattern, ...] = ()
    observations_mission: Text | None = None
    max_observations_per_scope: CountOrNoLimit | None = None
    consolidation_source_facts_max_tokens: CountOrNoLimit | None = None
    consolidation_source_facts_max_tokens_per_observation: CountOrNoLimit | None = None


class ScopeLimit(Value):
    """How many observations a scope may have: every tag of it is matched by a glob, every glob by a tag. Deprecated by
    the system of reference in favour of consolidation strategies."""

    scope: Globs
    limit: CountOrNoLimit


class ReflectOptions(Value):
    """What a reflect does when it does not say."""

    reflect_search_observations_max_tokens: Count | None = None
    reflect_search_observations_include_entities: bool | None = None


class SafetySetting(Value):
    """A filter of an endpoint's own; the names are the endpoint's."""

    category: str
    threshold: str


def _listed(value: Any) -> Any:
    """Names may be given in one text, with commas."""
    if isinstance(value, str):
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return tuple(value) if isinstance(value, list) else value


class BankSettings(Value):
    """The keys that are neither missions nor traits. What one level has set is of this kind too: of it only the fields
    that are set count (`model_fields_set`). No rule spans keys, so that any mixture of levels is a config."""

    retain_custom_instructions: Text | None = None
    retain_extraction_mode: ExtractionMode = "concise"
    retain_chunk_size: Count = 3000
    retain_structured_chunk_size: Count | None = None
    retain_chunk_batch_size: CountOrNone = 100
    retain_default_strategy: str | None = None
    retain_strategies: dict[str, RetainStrategy] | None = None
    retain_max_attachments_per_chunk: Count = 8
    entity_labels: tuple[LabelGroup, ...] | None = None
    entities_allow_free_form: bool = True
    store_document_text: bool = True

    enable_observations: bool = True
    enable_auto_consolidation: bool = True
    max_observations_per_scope: CountOrNoLimit = -1
    observation_scope_limits: tuple[ScopeLimit, ...] | None = None
    consolidation_strategies: tuple[ConsolidationStrategy, ...] | None = None
    default_observation_scopes: ObservationScopes | None = None
    consolidation_llm_batch_size: Count = 8
    consolidation_llm_parallelism: Count = 4
    consolidation_max_memories_per_round: Count = 100
    consolidation_source_facts_max_tokens: CountOrNoLimit = 4096
    consolidation_source_facts_max_tokens_per_observation: CountOrNoLimit = 256
    consolidation_use_decision_model: bool = True

    reflect_source_facts_max_tokens: CountOrNoLimit = -1
    reflect_default_options: ReflectOptions | None = None
    reflect_use_decision_model: bool = True
    mental_model_refresh_use_decision_model: bool = True
    mental_model_delta_use_decision_model: bool = True
    mental_model_min_refresh_interval_seconds: CountOrNone = 0
    knowledge_page_default_trigger: dict[str, Any] | None = None
    """Fields of a trigger, merged over the default of knowledge pages."""

    recall_include_chunks: bool = True
    recall_prefer_observations: bool = False
    recall_max_tokens: CountOrNone = 2048
    recall_chunks_max_tokens: CountOrNone = 1000
    recall_budget_function: Literal["fixed", "adaptive"] = "fixed"
    recall_budget_fixed_low: Count = 100
    recall_budget_fixed_mid: Count = 300
    recall_budget_fixed_high: Count = 1000
    recall_budget_adaptive_low: Ratio = 0.025
    recall_budget_adaptive_mid: Ratio = 0.075
    recall_budget_adaptive_high: Ratio = 0.25
    recall_budget_min: Count = 20
    recall_budget_max: Count = 2000
    enable_text_search: bool = True
    enable_temporal_retrieval: bool = True
    enable_graph_retrieval: bool = True
    enable_reranking: bool = True

    mcp_enabled_tools: Annotated[tuple[str, ...], BeforeValidator(_listed)] | None = None
    audit_log_enabled: bool = False
    llm_gemini_safety_settings: tuple[SafetySetting, ...] | None = None
    memory_defense: dict[str, Any] | None = None

    @field_validator("knowledge_page_default_trigger")
    @classmethod
    def _fields_of_a_trigger(cls, value: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        if value is None or (info.context or {}).get("recorded"):
            return value
        if unknown := sorted(set(value) - set(Trigger.model_fields)):
            raise ValueError(f"a trigger has no {', '.join(unknown)}; it has {', '.join(Trigger.model_fields)}")
        Trigger().changed_by(value)
        return value

    @field_validator("memory_defense")
    @classmethod
    def _a_policy(cls, value: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        if value is not None and not (info.context or {}).get("recorded"):
            DefensePolicy.model_validate(value)
        return value

    @field_validator("entity_labels")
    @classmethod
    def _each_key_once(cls, value: tuple[LabelGroup, ...] | None) -> tuple[LabelGroup, ...] | None:
        keys = [group.key for group in value or ()]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise ValueError(f"the label {', '.join(twice)} is there twice")
        return value

    def set_values(self) -> dict[str, Any]:
        """The fields that are set, as they are."""
        return {name: getattr(self, name) for name in type(self).model_fields if name in self.model_fields_set}

    def changed_by(self, changes: Mapping[str, Any]) -> Self:
        """These values with others set; None takes a value away, so that the lower level's counts."""
        kept = {key: value for key, value in {**self.set_values(), **changes}.items() if value is not None}
        return cast("Self", type(self).model_construct(_fields_set=set(kept), **kept))

    def wire(self, only_set: bool = False) -> dict[str, Any]:
        """JSON: all keys, or those that are set; inside a value what was given."""
        values = self.model_dump(mode="json", exclude_unset=True, by_alias=True)
        return values if only_set else self.model_dump(mode="json") | values


class BankConfig(BankSettings):
    """Every key with a value: missions, the traits of the disposition, and the rest."""

    reflect_mission: Text | None = None
    retain_mission: Text | None = None
    observations_mission: Text | None = None
    disposition_skepticism: Trait | None = None
    disposition_literalism: Trait | None = None
    disposition_empathy: Trait | None = None

    def over(self, lower: BankConfig) -> BankConfig:
        """These values where they are set, else those of the lower level."""
        return lower.model_copy(update=self.set_values())

    def for_strategy(self, name: str | None) -> BankConfig:
        """The config for items of a retain strategy: the one named, else the bank's default one. A name that is not
        there, of a strategy taken away meanwhile, changes nothing."""
        strategy = (self.retain_strategies or {}).get(name or self.retain_default_strategy or "")
        if strategy is None:
            return self
        values = {key: getattr(strategy, key) for key in strategy.model_fields_set}
        return self.model_copy(update={key: value for key, value in values.items() if value is not None})
