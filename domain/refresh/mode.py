"""Which mode a refresh runs in: the gates of a delta, in order.

Sources: spec of the system of reference, refresh pipeline, "mode gates". Two gates are ours: a document that deltas
fail on, or outgrow, is written anew rather than stuck for ever.
"""

from __future__ import annotations

from dataclasses import dataclass

from domain.candidate import is_blank
from domain.mental_model.record import FallbackReason
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import RefreshMode

GENERATING = "Generating content..."
"""What the system of reference once gave a page that was not written yet; a page may be brought from there."""
DELTA_ATTEMPTS = 3
"""Deltas in a row that could not be applied, after which the document is written anew."""

AFTER_FAILED_DELTAS = "{count} deltas in a row could not be applied ({reason}): the document was written anew"
AFTER_OUTGROWING = "the document had outgrown its budget of {budget} tokens ({tokens}): it was written anew"


@dataclass(frozen=True)
class Mode:
    """What was asked for, what is done, and why they differ (None when they do not, or when no reason of the contract
    says; a warning tells then)."""

    requested: RefreshMode
    effective: RefreshMode
    fallback: FallbackReason | None = None
    warnings: tuple[str, ...] = ()


def decide_mode(requested: RefreshMode, model: MentalModel) -> Mode:
    """A delta needs a document that answers the present question; one without an answered query (cleared or written by
    hand) passes. Whitespace around a query is no change of the question."""
    if requested == "full":
        return Mode("full", "full")
    if is_blank(model.content) or model.content.strip() == GENERATING:
        return Mode("delta", "full", "no_baseline_content")
    if model.answered_query is not None and model.answered_query.strip() != model.source_query.strip():
        return Mode("delta", "full", "source_query_changed")
    if model.written_by_hand:  # what a person wrote is written anew only when somebody asks for that
        return Mode("delta", "delta")
    if model.delta_failures >= DELTA_ATTEMPTS and model.delta_failure is not None:
        told = AFTER_FAILED_DELTAS.format(count=model.delta_failures, reason=model.delta_failure)
        return Mode("delta", "full", model.delta_failure, (told,))
    if model.outgrown_tokens is not None:
        told = AFTER_OUTGROWING.format(budget=model.max_tokens, tokens=model.outgrown_tokens)
        return Mode("delta", "full", None, (told,))
    return Mode("delta", "delta")
