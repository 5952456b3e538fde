"""The `reflect_response` of the wire contract, made of an outcome event."""

from __future__ import annotations

from typing import Any

from domain.event import Event
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    RefreshFailedEmptyCandidate,
    RefreshOutcome,
)
from domain.mental_model.record import Evidence, RefreshRecord
from domain.refresh import outcome_name

BASED_ON_KEYS = ("world", "experience", "opinion", "observation", "mental-models", "directives")
"""All keys are always there, as clients of the system of reference expect."""


def based_on(evidence: tuple[Evidence, ...]) -> dict[str, list[dict[str, Any]]]:
    """The facts a document rests on, by kind."""
    kinds: dict[str, list[dict[str, Any]]] = {key: [] for key in BASED_ON_KEYS}
    for each in evidence:
        kinds[each.fact_type].append(
            {
                "id": str(each.fact_id),
                "text": each.text,
                "type": each.fact_type,
                "context": each.context,
                "version": each.version,
                "position": each.position,
            }
        )
    return kinds


def reflect_response(outcome: RefreshOutcome) -> dict[str, Any]:
    """What a refresh answered and rested on."""
    record: RefreshRecord = outcome.record
    response: dict[str, Any] = {
        "text": record.candidate,
        "based_on": based_on(record.evidence),
        "mental_models": [],
        "outcome": outcome_name(outcome),
        "engine": record.engine,
    }
    if record.reflect_skipped:
        response["reflect_skipped"] = record.reflect_skipped
    if record.warnings:
        response["warnings"] = list(record.warnings)
    return response


def kept_text(outcome: ContentPreservedNoNewFacts | RefreshFailedEmptyCandidate) -> dict[str, Any]:
    """What a refresh that kept the document says of itself; the text and the evidence of the document stay."""
    told: dict[str, Any] = {"outcome": outcome_name(outcome)}
    if isinstance(outcome, RefreshFailedEmptyCandidate):
        told["refresh_skipped"] = "empty_candidate"
    elif outcome.record.reflect_skipped:
        told["reflect_skipped"] = outcome.record.reflect_skipped
    if outcome.record.warnings:
        told["warnings"] = list(outcome.record.warnings)
    return told


UNANSWERED: dict[str, Any] = {"text": "", "based_on": based_on(()), "mental_models": []}
"""Of a document that no refresh has written yet: the keys that are always there."""

OF_ONE_RUN = ("refresh_skipped", "reflect_skipped", "warnings")
"""Keys that say how the last run went; they do not outlive it."""


def after(before: dict[str, Any] | None, event: Event) -> dict[str, Any] | None:
    """The reflect response after one more event of a mental model; None until a refresh has ended."""
    match event:
        case MentalModelCreated():
            return None
        case ContentWritten() | ContentUnchanged():
            return reflect_response(event)
        case ContentPreservedNoNewFacts() | RefreshFailedEmptyCandidate():
            kept = {key: value for key, value in (before or UNANSWERED).items() if key not in OF_ONE_RUN}
            return {**kept, **kept_text(event)}
        case _:
            return before
