"""The `reflect_response` of the wire contract, made of an outcome event."""

from __future__ import annotations

from typing import Any

from domain.mental_model.events import RefreshOutcome
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
