"""What each outcome changes in a mental model: a row for every outcome, a column for everything that is kept."""

from __future__ import annotations

import pytest

from application.command_handler import MENTAL_MODEL
from domain.digest import sha256_of
from domain.document import ids_of, parse
from domain.event import Event
from domain.mental_model.events import (
    ContentEdited,
    ContentWritten,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
)
from domain.mental_model.record import RefreshRecord, ResolvedScope
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.scope import Scope
from tests.dsl import fold
from tests.support.examples import (
    created,
    evidence,
    later,
    preserved,
    refresh_record,
    unchanged,
    window,
    written,
)

ASKED_ANEW = "Who built it?"
STONE = Scope(tags=("stone",), tags_match="all_strict")
LATER_RUN = {
    "source_query": ASKED_ANEW,
    "scope": ResolvedScope(scope=STONE),
    "window": window(20, later(15)),
    "evidence": (evidence(2),),
    "pending": (18,),
    "structured_schema_sha256": "two",
}
BEFORE: tuple[Event, ...] = (
    created(trigger=Trigger(mode="delta")),
    written("Stone.\n", evidence=(evidence(1),), structured_schema_sha256="one"),
)
FULL = refresh_record(**LATER_RUN)
DELTA = refresh_record(requested_mode="delta", effective_mode="delta", **LATER_RUN)


def wrote(record: RefreshRecord) -> ContentWritten:
    text = "Wood.\n"
    return ContentWritten(text=text, sha256=sha256_of(text), ids=ids_of(parse(text)), record=record)


READ = {"covered", "covered_scope", "pending", "last_memory_seen_at", "last_refreshed_at"}
ANSWERED = {*READ, "answered_query", "evidence", "structured_schema_sha256"}
ENDED_IN_FULL = {"last_full_refreshed_at"}
FAILED = {"last_refresh_failed_at", "failures_in_a_row"}
DELTA_FAILED = {*FAILED, "delta_failures", "delta_failure"}


@pytest.mark.parametrize(
    ("outcome", "changed"),
    [
        (wrote(FULL), {*ANSWERED, *ENDED_IN_FULL, "content", "outline"}),
        (wrote(DELTA), {*ANSWERED, "content", "outline"}),
        (unchanged(**LATER_RUN), {*ANSWERED, *ENDED_IN_FULL}),
        (unchanged(**{**LATER_RUN, "effective_mode": "delta"}), ANSWERED),
        (preserved(**LATER_RUN), {*READ, *ENDED_IN_FULL}),
        (preserved(**{**LATER_RUN, "effective_mode": "delta"}), {*READ, "evidence"}),
        (RefreshFailedEmptyCandidate(record=FULL), FAILED),
        (
            RefreshFailedDeltaNotApplied(
                failure_reason="delta_ops_failed", error_message="no JSON", transient=False, record=DELTA
            ),
            DELTA_FAILED,
        ),
        (
            RefreshFailedDeltaNotApplied(
                failure_reason="delta_ops_failed", error_message="429", transient=True, record=DELTA
            ),
            set(),
        ),
        (RefreshFailedStructuredOutput(error_message="no value", transient=False, record=FULL), FAILED),
        (RefreshFailedStructuredOutput(error_message="429", transient=True, record=FULL), set()),
        (
            RefreshFailedError(failure_reason="no_answer", error_message="none", transient=False, record=FULL),
            FAILED,
        ),
        (
            RefreshFailedError(failure_reason="retrieval_failed", error_message="down", transient=True, record=FULL),
            set(),
        ),
    ],
    ids=[
        "written in full",
        "written by a delta",
        "unchanged in full",
        "unchanged by a delta",
        "preserved by a full refresh",
        "preserved by a delta",
        "empty candidate",
        "delta not applied",
        "delta not applied for now",
        "no structured view",
        "no structured view for now",
        "failed",
        "failed for now",
    ],
)
def test_every_outcome_changes_what_it_says_and_nothing_else(outcome: Event, changed: set[str]) -> None:
    before, after = fold(MENTAL_MODEL, *BEFORE), fold(MENTAL_MODEL, *BEFORE, outcome)
    assert isinstance(before, MentalModel)
    assert isinstance(after, MentalModel)
    assert {name for name in MentalModel.model_fields if getattr(before, name) != getattr(after, name)} == changed


@pytest.mark.parametrize("outcome", [wrote(FULL), wrote(DELTA), unchanged(**LATER_RUN), preserved(**LATER_RUN)])
def test_a_finished_run_clears_the_failures_before_it(outcome: Event) -> None:
    failing = RefreshFailedDeltaNotApplied(
        failure_reason="delta_ops_failed", error_message="no JSON", transient=False, record=DELTA
    )
    after = fold(MENTAL_MODEL, *BEFORE, failing, outcome)
    assert isinstance(after, MentalModel)
    assert (after.last_refresh_failed_at, after.failures_in_a_row) == (None, 0)
    assert (after.delta_failures, after.delta_failure) == (0, None)


def test_an_edit_by_hand_keeps_what_was_read() -> None:
    before = fold(MENTAL_MODEL, *BEFORE)
    text = "By hand.\n"
    edited = ContentEdited(text=text, sha256=sha256_of(text), ids=ids_of(parse(text)))
    after = fold(MENTAL_MODEL, *BEFORE, edited)
    assert isinstance(before, MentalModel)
    assert isinstance(after, MentalModel)
    assert {name for name in MentalModel.model_fields if getattr(before, name) != getattr(after, name)} == {
        "content",
        "outline",
        "answered_query",
        "written_by_hand",
        "last_refreshed_at",
        "structured_schema_sha256",
    }
