"""The reflect response of the wire contract."""

from __future__ import annotations

import json

import pytest

from domain.mental_model.events import RefreshFailedEmptyCandidate, RefreshOutcome
from projections.reflect_response import BASED_ON_KEYS, based_on, reflect_response
from tests.support.examples import evidence, fact_id, failed, preserved, refresh_record, unchanged, written


def test_every_key_of_based_on_is_always_there() -> None:
    assert based_on(()) == {key: [] for key in BASED_ON_KEYS}
    assert BASED_ON_KEYS == ("world", "experience", "opinion", "observation", "mental-models", "directives")


def test_facts_are_listed_by_kind_in_the_order_of_the_evidence() -> None:
    listed = based_on(
        (
            evidence(1),
            evidence(2, fact_type="experience", context="city guide"),
            evidence(3, fact_type="observation"),
            evidence(4, version=2),
        )
    )
    assert [each["id"] for each in listed["world"]] == [str(fact_id(1)), str(fact_id(4))]
    assert listed["experience"] == [
        {
            "id": str(fact_id(2)),
            "text": "Fact 2 about the bridge.",
            "type": "experience",
            "context": "city guide",
            "version": 1,
            "position": 2,
        }
    ]
    assert len(listed["observation"]) == 1


def test_a_written_document_says_what_it_was_made_of() -> None:
    response = reflect_response(written("1402.\n", candidate="1402.", evidence=(evidence(1),)))
    assert response == {
        "text": "1402.",
        "based_on": based_on((evidence(1),)),
        "mental_models": [],
        "outcome": "content_written",
        "engine": "offline",
    }


def test_a_skipped_reading_and_warnings_are_told() -> None:
    response = reflect_response(preserved(reflect_skipped="no_sources_in_scope", warnings=("nothing is readable",)))
    assert (response["reflect_skipped"], response["warnings"]) == ("no_sources_in_scope", ["nothing is readable"])
    assert response["outcome"] == "content_preserved_no_new_facts"


@pytest.mark.parametrize(
    "outcome", [written(), unchanged(), preserved(), failed(), RefreshFailedEmptyCandidate(record=refresh_record())]
)
def test_every_outcome_can_be_told_as_json(outcome: RefreshOutcome) -> None:
    assert json.loads(json.dumps(reflect_response(outcome)))["outcome"] in (
        "content_written",
        "content_unchanged",
        "content_preserved_no_new_facts",
        "refresh_failed_error",
        "refresh_failed_empty_candidate",
    )
