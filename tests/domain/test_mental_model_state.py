"""What each event of a mental model changes in its state, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from application.command_handler import MENTAL_MODEL
from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    MentalModelRenamed,
    RefreshFailedEmptyCandidate,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import ResolvedScope
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh import decide_mode
from domain.scope import Scope
from tests.dsl import fold
from tests.support.examples import (
    QUESTION,
    created,
    evidence,
    failed,
    later,
    preserved,
    refresh_record,
    unchanged,
    window,
    written,
)

EMPTY_CANDIDATE = RefreshFailedEmptyCandidate(record=refresh_record())


def folded(*events: Event) -> MentalModel:
    state = fold(MENTAL_MODEL, *events)
    assert isinstance(state, MentalModel)
    return state


@pytest.mark.parametrize(
    ("event", "changes"),
    [
        (MentalModelRenamed(name="Most"), {"name": "Most"}),
        (SourceQueryChanged(source_query="Who?"), {"source_query": "Who?"}),
        (TagsChanged(tags=("stone",)), {"tags": ("stone",)}),
        (TokenBudgetChanged(max_tokens=9), {"max_tokens": 9}),
        (TriggerChanged(trigger=Trigger(mode="delta")), {"trigger": Trigger(mode="delta")}),
    ],
)
def test_a_changed_definition_changes_nothing_else(event: Event, changes: dict[str, Any]) -> None:
    before = folded(created(), written())
    assert folded(created(), written(), event) == before.model_copy(update=changes)


def test_a_written_document_stamps_what_was_read_and_answered() -> None:
    model = folded(created(), written("Text.\n", evidence=(evidence(1),), window=window(9, later(-3))))
    assert (model.content, model.evidence) == ("Text.\n", (evidence(1),))
    assert (model.covered, model.covered_scope, model.answered_query) == (9, Scope(), QUESTION)
    assert (model.last_refreshed_at, model.last_full_refreshed_at, model.last_memory_seen_at) == (
        later(1),
        later(1),
        later(-3),
    )


def test_the_same_text_again_keeps_it_on_its_new_evidence() -> None:
    model = folded(created(), written("Text.\n", evidence=(evidence(1),)), unchanged(evidence=(evidence(2),)))
    assert (model.content, model.evidence, model.last_refreshed_at) == ("Text.\n", (evidence(2),), later(2))


def test_a_preserved_document_keeps_text_and_evidence_and_counts_as_read() -> None:
    model = folded(created(), written("Text.\n", evidence=(evidence(1),)), preserved(window=window(11, None)))
    assert (model.content, model.evidence) == ("Text.\n", (evidence(1),))
    assert (model.covered, model.last_refreshed_at, model.last_memory_seen_at) == (11, later(2), later(0))


@pytest.mark.parametrize("failure", [failed(window=window(99)), EMPTY_CANDIDATE], ids=lambda each: each.TOPIC)
def test_a_failed_run_stamps_nothing_but_its_failure(failure: Event) -> None:
    before = folded(created(), written())
    assert folded(created(), written(), failure) == before.model_copy(update={"last_refresh_failed_at": later(2)})


def test_a_transient_failure_stamps_nothing_at_all() -> None:
    assert folded(created(), written(), failed(transient=True)) == folded(created(), written())


@pytest.mark.parametrize(
    "outcome", [written(), unchanged(), preserved(), ContentCleared()], ids=lambda each: each.TOPIC
)
def test_a_finished_run_or_a_clear_ends_the_pause_of_a_failure(outcome: Event) -> None:
    assert folded(created(), failed(), outcome).last_refresh_failed_at is None


def test_a_delta_run_is_no_full_refresh() -> None:
    model = folded(created(), written(), written("New.\n", requested_mode="delta", effective_mode="delta"))
    assert (model.last_full_refreshed_at, model.last_refreshed_at) == (later(1), later(2))


def test_a_cleared_document_is_empty_and_answers_no_question() -> None:
    model = folded(created(), written(evidence=(evidence(1),)), ContentCleared())
    assert (model.content, model.evidence, model.answered_query, model.covered) == ("", (), None, 7)


def test_rs_06_a_failed_refresh_leaves_the_old_question_as_the_answered_one_so_the_retry_is_full() -> None:
    asked_anew = (created(trigger=Trigger(mode="delta")), written(), SourceQueryChanged(source_query="Who built it?"))
    after_failure = folded(*asked_anew, failed(source_query="Who built it?"))
    retry = decide_mode("delta", after_failure.content, after_failure.answered_query, after_failure.source_query)
    assert (after_failure.answered_query, retry.effective, retry.fallback) == (QUESTION, "full", "source_query_changed")
    after_success = folded(*asked_anew, failed(), written("Petr Parléř.\n", source_query="Who built it?"))
    assert after_success.answered_query == "Who built it?"


def test_rs_06_a_preserved_document_still_answers_the_old_question_so_the_next_delta_is_full() -> None:
    anew = preserved(source_query="Who built it?")
    model = folded(created(), written(), SourceQueryChanged(source_query="Who built it?"), anew)
    assert model.answered_query == QUESTION
    later_run = decide_mode("delta", model.content, model.answered_query, model.source_query)
    assert (later_run.effective, later_run.fallback) == ("full", "source_query_changed")


def test_with_nothing_to_read_an_empty_document_is_the_answer() -> None:
    assert folded(created(), preserved(source_query="Who built it?")).answered_query == "Who built it?"
    assert folded(created(), written(), ContentCleared(), preserved()).answered_query == QUESTION


def test_a_question_changed_during_a_run_is_still_unanswered_after_it() -> None:
    model = folded(created(), SourceQueryChanged(source_query="Who built it?"), written(source_query=QUESTION))
    assert (model.source_query, model.answered_query) == ("Who built it?", QUESTION)


def test_ws_08_the_watermark_does_not_move_back_when_a_narrowed_scope_holds_only_older_memories() -> None:
    narrow = ResolvedScope(scope=Scope(tags=("stone",), tags_match="all_strict"))
    refreshed = written(window=window(20, later(-1)))
    model = folded(
        created(),
        refreshed,
        TagsChanged(tags=("stone",)),
        written("Older.\n", scope=narrow, window=window(20, later(-60))),
    )
    assert (model.last_memory_seen_at, model.covered, model.covered_scope) == (later(-1), 20, narrow.scope)


def test_ws_08_a_late_run_with_an_older_snapshot_does_not_move_the_covered_position_back() -> None:
    assert folded(created(), written(window=window(20)), unchanged(window=window(12))).covered == 20
