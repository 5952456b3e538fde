"""Consolidation: what a mind is asked about new facts, what it proposes to make of them, and what is made of that.

An observation is a memory of its own type that says, for one set of tags (its scope), what a number of facts come to.
Rules: spec of the system of reference, "Observations / consolidation".
"""

from domain.consolidation.batches import BATCH_TOKENS, Batch, batches_of
from domain.consolidation.changes import (
    LONGEST_OBSERVATION,
    ObservationChanges,
    Refused,
    WrittenObservation,
    absorbed,
    decide,
)
from domain.consolidation.request import (
    ChangedObservation,
    ConsolidationProposal,
    ConsolidationRequest,
    DroppedObservation,
    NewObservation,
    RelatedObservation,
)
from domain.consolidation.sameness import NEAR_DUPLICATE, about_the_same, says_the_same
from domain.consolidation.scopes import MOST_COMBINED_TAGS, Tags, is_asked_for, resolved_scopes
from domain.consolidation.strategies import ScopeRules, claims, counts, is_claimed, rules_of

__all__ = [
    "BATCH_TOKENS",
    "LONGEST_OBSERVATION",
    "MOST_COMBINED_TAGS",
    "NEAR_DUPLICATE",
    "Batch",
    "ChangedObservation",
    "ConsolidationProposal",
    "ConsolidationRequest",
    "DroppedObservation",
    "NewObservation",
    "ObservationChanges",
    "Refused",
    "RelatedObservation",
    "ScopeRules",
    "Tags",
    "WrittenObservation",
    "about_the_same",
    "absorbed",
    "batches_of",
    "claims",
    "counts",
    "decide",
    "is_asked_for",
    "is_claimed",
    "resolved_scopes",
    "rules_of",
    "says_the_same",
]
