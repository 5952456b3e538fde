"""The reflect response of the wire contract: what is kept of runs, and what the document rests on now."""

from __future__ import annotations

import json
from typing import Any

import pytest

from domain.document import AppendBlock
from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelDeleted,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedStructuredOutput,
)
from domain.mental_model.record import DeltaRecord, Edit
from projections.reflect_response import BASED_ON_KEYS, OF_ONE_RUN, as_of, based_on
from projections.refresh_trace import trace_of
from tests.support.event_examples import EVENT_EXAMPLES
from tests.support.examples import (
    created,
    evidence,
    fact_id,
    failed,
    later,
    preserved,
    recorded,
    refresh_record,
    unchanged,
    written,
)

WRITTEN = written("1402.\n", candidate="1402.", evidence=(evidence(1),))
APPEND = AppendBlock(section_id="s", text="New.")
DELTA = DeltaRecord(
    baseline_sha256="",
    edits=(
        Edit(edit_pass="edit", operation=APPEND, facts=(fact_id(2),)),
        Edit(edit_pass="edit", operation=APPEND, skipped="unknown section 's'"),
    ),
    document_tokens=40,
    document_budget=512,
)


def not_applied(**changes: Any) -> RefreshFailedDeltaNotApplied:
    return RefreshFailedDeltaNotApplied(
        failure_reason="delta_ops_all_skipped",
        error_message="unknown section 's'",
        transient=False,
        record=refresh_record(**changes),
    )


def no_view(**changes: Any) -> RefreshFailedStructuredOutput:
    return RefreshFailedStructuredOutput(error_message="no", transient=False, record=refresh_record(**changes))


def told(*events: Event) -> dict[str, Any]:
    """The reflect response after a creation and events, one a minute."""
    response = told_or_none(*events)
    assert response is not None
    return response


def told_or_none(*events: Event) -> dict[str, Any] | None:
    log = [recorded(event, version, at=later(version)) for version, event in enumerate((created(), *events), start=1)]
    return as_of(log[-1].version, log)


def test_every_key_of_based_on_is_always_there() -> None:
    assert based_on(()) == {key: [] for key in BASED_ON_KEYS}
    assert BASED_ON_KEYS == ("world", "experience", "opinion", "observation", "mental-models", "directives")


def test_facts_are_listed_by_kind_in_the_order_of_the_evidence() -> None:
    listed = told(
        written(
            evidence=(
                evidence(1),
                evidence(2, fact_type="experience", context="city guide"),
                evidence(3, fact_type="observation"),
                evidence(4, version=2),
            )
        )
    )["based_on"]
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


def test_nothing_is_told_until_a_refresh_has_ended() -> None:
    assert told_or_none() is None
    assert told_or_none(MentalModelRenamed(name="Most"), ContentCleared(), failed()) is None
    assert told_or_none(WRITTEN, MentalModelDeleted()) is None
    assert told_or_none(WRITTEN, MentalModelDeleted(), created()) is None


def test_a_written_document_says_what_it_was_made_of() -> None:
    response = told(WRITTEN)
    (fact,) = response.pop("based_on")["world"]
    assert fact["id"] == str(fact_id(1))
    assert response == {"text": "1402.", "mental_models": [], "outcome": "content_written", "engine": "offline"}


def test_a_document_that_nothing_was_read_for_says_so() -> None:
    assert told(preserved(reflect_skipped="no_sources_in_scope", warnings=("nothing is readable",))) == {
        "text": "",
        "based_on": based_on(()),
        "mental_models": [],
        "outcome": "content_preserved_no_new_facts",
        "reflect_skipped": "no_sources_in_scope",
        "warnings": ["nothing is readable"],
    }


def test_a_delta_says_what_it_did() -> None:
    response = told(WRITTEN, written(effective_mode="delta", delta=DELTA, evidence=(evidence(2),)))
    assert [each["id"] for each in response["based_on"]["world"]] == [str(fact_id(2)), str(fact_id(1))]
    assert response["delta_applied"] is True
    (applied,), (skipped,) = response["delta_operations_applied"], response["delta_operations_skipped"]
    assert (applied["op"], applied["facts"], "text" in applied) == ("append_block", [str(fact_id(2))], False)
    assert skipped["reason"] == "unknown section 's'"
    assert (response["document_tokens"], response["document_budget"]) == (40, 512)


@pytest.mark.parametrize("reason", ["no_new_facts", "no_relevant_facts"])
def test_a_delta_that_read_nothing_of_use_says_why(reason: Any) -> None:
    delta = DeltaRecord(baseline_sha256="", skipped_reason=reason)
    response = told(WRITTEN, preserved(effective_mode="delta", delta=delta))
    assert (response["delta_applied"], response["delta_skipped_reason"]) == (False, reason)
    assert "delta_operations_applied" not in response
    assert response["text"] == "1402."


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (not_applied(delta=DELTA), "delta_ops_all_skipped"),
        (no_view(), "structured_output_failed"),
        (RefreshFailedEmptyCandidate(record=refresh_record()), "empty_candidate"),
    ],
)
def test_a_refused_run_says_why_and_touches_neither_text_nor_evidence_nor_view(event: Event, reason: str) -> None:
    """Spec 07 item 23."""
    before = told(written(evidence=(evidence(1),), candidate="1402.", structured_output={"year": 1402}))
    response = told(written(evidence=(evidence(1),), candidate="1402.", structured_output={"year": 1402}), event)
    assert response["refresh_skipped"] == reason
    assert response["outcome"].startswith("refresh_failed")
    kept = ("text", "based_on", "structured_output", "engine")
    assert {key: response[key] for key in kept} == {key: before[key] for key in kept}
    assert response.get("delta_applied", False) is False


def test_a_run_that_could_not_be_finished_leaves_everything_alone() -> None:
    assert told(WRITTEN, failed(warnings=("late",))) == told(WRITTEN)


NOT_THE_RUNS_OWN = {"text", "mental_models", "outcome", "engine", "based_on", "pending_facts", "structured_output"}


def test_what_is_told_of_one_run_does_not_outlive_it() -> None:
    whole = EVENT_EXAMPLES["mental_model.content_written"]
    last_run = set(told(whole)) | set(told(not_applied())) | {"refresh_skipped"}
    assert last_run == NOT_THE_RUNS_OWN | set(OF_ONE_RUN)
    for plain in (written(), unchanged(), preserved(), not_applied(), no_view()):
        assert set(told(whole, plain)) <= NOT_THE_RUNS_OWN | {"refresh_skipped"}


def test_facts_that_wait_are_counted_until_a_run_has_worked_them_in() -> None:
    waiting = written(effective_mode="delta", pending=(4, 9))
    assert told(waiting)["pending_facts"] == 2
    assert told(waiting, not_applied())["pending_facts"] == 2
    assert "pending_facts" not in told(waiting, preserved())
    assert told(waiting, preserved(pending=(9,)))["pending_facts"] == 1


def test_the_structured_view_is_that_of_the_text() -> None:
    view = written(structured_output={"year": 1402})
    assert told(view)["structured_output"] == {"year": 1402}
    assert told(view, preserved())["structured_output"] == {"year": 1402}
    assert told(view, unchanged())["structured_output"] == {"year": 1402}
    assert told(view, unchanged(structured_output={"year": 1403}))["structured_output"] == {"year": 1403}
    for other_text in (
        written(),
        ContentCleared(),
        ContentEdited(text="", sha256="", ids=()),
        ContentReverted(to_version=2, text="", sha256="", ids=()),
    ):
        assert "structured_output" not in told(view, other_text)


@pytest.mark.parametrize("outcome", [written, unchanged, preserved, not_applied, no_view, failed])
def test_hi_03_a_trace_is_kept_when_it_was_asked_for_of_the_latest_run_only(outcome: Any) -> None:
    traced = outcome(keep_trace=True)
    assert "trace" not in told(WRITTEN, outcome())
    assert told(WRITTEN, traced)["trace"] == trace_of(traced, later(3))
    assert told(written(keep_trace=True), traced)["trace"]["recorded_at"] == later(3).isoformat()
    assert "trace" not in told(traced, written())


def test_a_cleared_document_rests_on_nothing() -> None:
    assert told(WRITTEN, ContentCleared()) == {**told(WRITTEN), "based_on": based_on(())}


@pytest.mark.parametrize("name", [name for name in EVENT_EXAMPLES if name.startswith("mental_model.")])
def test_everything_can_be_told_as_json(name: str) -> None:
    response = told_or_none(WRITTEN, EVENT_EXAMPLES[name])
    assert json.loads(json.dumps(response)) == response


def test_a_version_is_told_by_the_events_up_to_it() -> None:
    log = [recorded(event, version) for version, event in enumerate((created(), WRITTEN, ContentCleared()), start=1)]
    assert as_of(1, log) is None
    then = as_of(2, log)
    assert then is not None
    assert len(then["based_on"]["world"]) == 1
