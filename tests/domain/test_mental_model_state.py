"""What each event of a mental model changes in its state, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from application.command_handler import MENTAL_MODEL
from domain.digest import sha256_of
from domain.document import AppendBlock
from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    ContentWritten,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import (
    DeltaRecord,
    Edit,
    Evidence,
    FailureReason,
    PieceGrounds,
    Relink,
    ResolvedScope,
    RetractionRecord,
)
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh import decide_mode
from domain.scope import Scope
from tests.dsl import fold
from tests.support.examples import (
    QUESTION,
    citation,
    created,
    evidence,
    fact_id,
    failed,
    later,
    preserved,
    refresh_record,
    unchanged,
    window,
    written,
)

EMPTY_CANDIDATE = RefreshFailedEmptyCandidate(record=refresh_record())
NO_VIEW = RefreshFailedStructuredOutput(error_message="no value", transient=False, record=refresh_record())


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
    assert (model.content, model.evidence) == ("Text.\n", (citation(1),))
    assert (model.covered, model.covered_scope, model.answered_query) == (9, Scope(), QUESTION)
    assert (model.last_refreshed_at, model.last_full_refreshed_at, model.last_memory_seen_at) == (
        later(1),
        later(1),
        later(-3),
    )


def test_the_same_text_again_keeps_it_on_its_new_evidence() -> None:
    model = folded(created(), written("Text.\n", evidence=(evidence(1),)), unchanged(evidence=(evidence(2),)))
    assert (model.content, model.evidence, model.last_refreshed_at) == ("Text.\n", (citation(2),), later(2))


def test_a_preserved_document_keeps_text_and_evidence_and_counts_as_read() -> None:
    model = folded(created(), written("Text.\n", evidence=(evidence(1),)), preserved(window=window(11, None)))
    assert (model.content, model.evidence) == ("Text.\n", (citation(1),))
    assert (model.covered, model.last_refreshed_at, model.last_memory_seen_at) == (11, later(2), later(0))


@pytest.mark.parametrize("failure", [failed(window=window(99)), EMPTY_CANDIDATE, NO_VIEW], ids=lambda each: each.TOPIC)
def test_a_failed_run_stamps_nothing_but_its_failure(failure: Event) -> None:
    before = folded(created(), written())
    assert folded(created(), written(), failure) == before.model_copy(
        update={"last_refresh_failed_at": later(2), "failures_in_a_row": 1}
    )


def test_failures_in_a_row_are_counted_until_one_succeeds_or_somebody_acts() -> None:
    failing = (created(), written(), failed(), EMPTY_CANDIDATE, failed(transient=True), failed())
    assert folded(*failing).failures_in_a_row == 3
    for end in (unchanged(), preserved(), ContentCleared(), edited("By hand.\n")):
        assert folded(*failing, end).failures_in_a_row == 0


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
    assert (model.outline, model.structured_schema_sha256) == ((), None)


def test_rs_06_a_failed_refresh_leaves_the_old_question_as_the_answered_one_so_the_retry_is_full() -> None:
    asked_anew = (created(trigger=Trigger(mode="delta")), written(), SourceQueryChanged(source_query="Who built it?"))
    after_failure = folded(*asked_anew, failed(source_query="Who built it?"))
    retry = decide_mode("delta", after_failure)
    assert (after_failure.answered_query, retry.effective, retry.fallback) == (QUESTION, "full", "source_query_changed")
    after_success = folded(*asked_anew, failed(), written("Petr Parléř.\n", source_query="Who built it?"))
    assert after_success.answered_query == "Who built it?"


def test_rs_06_a_preserved_document_still_answers_the_old_question_so_the_next_delta_is_full() -> None:
    anew = preserved(source_query="Who built it?")
    model = folded(created(), written(), SourceQueryChanged(source_query="Who built it?"), anew)
    assert model.answered_query == QUESTION
    later_run = decide_mode("delta", model)
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


# --- deltas -----------------------------------------------------------------------------------------------------------


def delta(text: str, *pieces: PieceGrounds, ids: tuple[str, ...] = (), **changes: Any) -> ContentWritten:
    record = refresh_record(**{"requested_mode": "delta", "effective_mode": "delta", **changes})
    return ContentWritten(text=text, sha256=sha256_of(text), ids=ids, pieces=pieces, record=record)


def kept(**changes: Any) -> Event:
    return preserved(**{"requested_mode": "delta", "effective_mode": "delta", **changes})


def not_applied(reason: FailureReason = "delta_ops_failed", transient: bool = False) -> Event:
    return RefreshFailedDeltaNotApplied(
        failure_reason=reason, error_message="no JSON", transient=transient, record=refresh_record()
    )


def newer(number: int) -> Evidence:
    return evidence(number, version=2, position=9)


def test_a_delta_adds_to_the_evidence_and_a_newer_version_of_a_fact_takes_the_place_of_the_older() -> None:
    first = written(evidence=(evidence(1), evidence(2)))
    model = folded(created(), first, delta("More.\n", evidence=(newer(1), evidence(3))))
    assert model.evidence == (citation(2), citation(1, version=2, position=9), citation(3))


def test_a_full_refresh_replaces_the_evidence() -> None:
    model = folded(created(), written(evidence=(evidence(1),)), written("New.\n", evidence=(evidence(2),)))
    assert model.evidence == (citation(2),)


TAKEN_BACK = RetractionRecord(fact_ids=(fact_id(1),), applied=True, broken=(fact_id(2),))


@pytest.mark.parametrize("event", [delta("Less.\n", retraction=TAKEN_BACK), kept(retraction=TAKEN_BACK)])
def test_what_was_taken_back_or_never_known_is_no_longer_cited(event: Event) -> None:
    before = written(evidence=(evidence(1), evidence(2), evidence(3)))
    assert folded(created(), before, event).evidence == (citation(3),)


def test_what_could_not_be_taken_back_is_still_cited() -> None:
    deferred = RetractionRecord(fact_ids=(fact_id(1),), deferred_reason="1 item waits")
    model = folded(created(), written(evidence=(evidence(1),)), kept(retraction=deferred))
    assert model.evidence == (citation(1),)


def test_a_citation_goes_over_to_the_fact_that_says_the_same() -> None:
    relinked = RetractionRecord(relinked=(Relink(before=fact_id(1), after=citation(5)),))
    before = delta("Text.\n", PieceGrounds(id="p", facts=(fact_id(1), fact_id(2))), ids=("p",), evidence=(evidence(1),))
    model = folded(created(), before, kept(retraction=relinked))
    assert model.evidence == (citation(5),)
    assert model.outline[0].facts == (fact_id(5), fact_id(2))


def test_a_piece_no_longer_rests_on_what_was_taken_back() -> None:
    before = delta("Text.\n", PieceGrounds(id="p", facts=(fact_id(1), fact_id(3))), ids=("p",))
    assert folded(created(), before, kept(retraction=TAKEN_BACK)).outline[0].facts == (fact_id(3),)


def test_a_piece_that_was_written_anew_no_longer_rests_on_what_was_taken_back_or_went_over() -> None:
    before = delta("Text.\n", PieceGrounds(id="p", facts=(fact_id(1), fact_id(4))), ids=("p",))
    relinked = RetractionRecord(
        fact_ids=(fact_id(1),), applied=True, relinked=(Relink(before=fact_id(4), after=citation(5)),)
    )
    anew = PieceGrounds(id="p", facts=(fact_id(1), fact_id(4), fact_id(3)))
    model = folded(created(), before, delta("Text!\n", anew, ids=("p",), retraction=relinked))
    assert model.outline[0].facts == (fact_id(5), fact_id(3))


def test_a_piece_comes_from_the_write_that_wrote_it() -> None:
    first = delta("A.\n\nB.\n", PieceGrounds(id="a", facts=(fact_id(1),)), PieceGrounds(id="b"), ids=("s", "a", "b"))
    second = delta(
        "A!\n\nB.\n\nC.\n", PieceGrounds(id="a", facts=(fact_id(2),)), PieceGrounds(id="c"), ids=("s", "a", "b", "c")
    )
    pieces = {piece.id: piece for piece in folded(created(), first, second).outline}
    assert {name: piece.version for name, piece in pieces.items()} == {"s": 2, "a": 3, "b": 2, "c": 3}
    assert (pieces["a"].written_at, pieces["a"].facts) == (later(2), (fact_id(2),))
    assert (pieces["b"].written_at, pieces["b"].facts) == (later(1), ())


def test_a_piece_that_stayed_keeps_its_write_when_facts_are_named_for_it() -> None:
    first = delta("A.\n", PieceGrounds(id="a", facts=(fact_id(1),)), ids=("a",))
    second = delta("A.\n\nB.\n", PieceGrounds(id="a", facts=(fact_id(2),), kept=True), ids=("a", "b"))
    piece = folded(created(), first, second).outline[0]
    assert (piece.version, piece.facts) == (2, (fact_id(2),))


def test_facts_that_are_pending_are_known_until_a_finished_run_read_them() -> None:
    waiting = kept(pending=(3, 5), unread=1)
    assert folded(created(), written(), waiting).pending == (3, 5)
    assert folded(created(), written(), waiting, failed()).pending == (3, 5)
    assert folded(created(), written(), waiting, delta("Read.\n")).pending == ()


def test_a_late_run_with_an_older_snapshot_loses_nothing_that_is_pending() -> None:
    """Of what the newer run left pending, the older one did not see all."""
    stone = ResolvedScope(scope=Scope(tags=("stone",), tags_match="all_strict"))
    newer_run = kept(window=window(20), pending=(8, 15))
    late = kept(window=window(12), pending=(3,), scope=stone)
    model = folded(created(), written(), newer_run, late)
    assert (model.covered, model.pending, model.covered_scope) == (20, (3, 8, 15), Scope())


def test_do_10_deltas_that_fail_in_a_row_are_counted() -> None:
    failing = (created(), written(), not_applied(), not_applied("delta_ops_all_skipped"))
    model = folded(*failing)
    assert (model.delta_failures, model.delta_failure) == (2, "delta_ops_all_skipped")
    assert folded(*failing, not_applied(transient=True)) == model
    assert folded(*failing, not_applied("unexpected_error")).delta_failures == 2
    for success in (unchanged(), preserved(), ContentCleared(), edited("By hand.\n")):
        assert folded(*failing, success).delta_failures == 0


def sized(tokens: int, **edit: Any) -> ContentWritten:
    fields: dict[str, Any] = {"edit_pass": "edit", "operation": AppendBlock(section_id="s", text="More."), **edit}
    edits = (Edit(**fields),)
    record = DeltaRecord(baseline_sha256="", edits=edits, document_tokens=tokens, document_budget=100)
    return delta(f"{tokens}\n", delta=record)


def test_tk_02_a_document_far_over_its_budget_has_outgrown_it() -> None:
    assert folded(created(), sized(150)).outgrown_tokens is None
    assert folded(created(), sized(151)).outgrown_tokens == 151
    assert folded(created(), sized(151), kept()).outgrown_tokens == 151
    assert folded(created(), sized(151), sized(100)).outgrown_tokens is None
    assert folded(created(), sized(151), written()).outgrown_tokens is None
    assert folded(created(), sized(151), edited("By hand.\n")).outgrown_tokens is None
    assert folded(created(), sized(151), ContentCleared()).outgrown_tokens is None


def test_a_document_that_no_delta_tried_to_shorten_has_not_outgrown_its_budget() -> None:
    assert folded(created(), sized(151, skipped="block text is empty")).outgrown_tokens is None
    assert folded(created(), sized(151, edit_pass="blame")).outgrown_tokens is None
    untried = DeltaRecord(baseline_sha256="", document_tokens=151, document_budget=100)
    assert folded(created(), unchanged(effective_mode="delta", delta=untried)).outgrown_tokens is None
    assert folded(created(), sized(151), unchanged(effective_mode="delta", delta=untried)).outgrown_tokens == 151


def test_a_structured_view_is_known_by_the_schema_it_was_read_out_by() -> None:
    viewed = written(structured_schema_sha256="one")
    assert folded(created(), viewed, unchanged()).structured_schema_sha256 == "one"
    assert folded(created(), viewed, unchanged(structured_schema_sha256="two")).structured_schema_sha256 == "two"
    assert folded(created(), viewed, preserved()).structured_schema_sha256 == "one"
    assert folded(created(), viewed, written("New.\n")).structured_schema_sha256 is None


# --- by hand ----------------------------------------------------------------------------------------------------------


def edited(text: str, *ids: str) -> ContentEdited:
    return ContentEdited(text=text, sha256=sha256_of(text), ids=ids)


def test_md_24_what_a_person_writes_is_the_baseline_of_the_next_delta() -> None:
    model = folded(created(trigger=Trigger(mode="delta")), written(), failed(), edited("By hand.\n", "h"))
    assert (model.content, model.answered_query, model.written_by_hand) == ("By hand.\n", None, True)
    assert (model.last_refreshed_at, model.last_refresh_failed_at) == (later(3), None)
    assert (model.outline[0].id, model.outline[0].version, model.outline[0].facts) == ("h", 4, ())
    assert decide_mode("delta", model).effective == "delta"


def test_what_a_person_keeps_keeps_its_grounds_and_its_write() -> None:
    before = delta("A.\n", PieceGrounds(id="a", facts=(fact_id(1),)), ids=("a",), evidence=(evidence(1),))
    model = folded(created(), before, edited("A.\n\nB.\n", "a", "b"))
    told = [(piece.id, piece.version, piece.facts) for piece in model.outline]
    assert told == [("a", 2, (fact_id(1),)), ("b", 3, ())]
    assert model.evidence == (citation(1),)


def test_a_text_written_in_full_is_no_longer_written_by_hand() -> None:
    assert folded(created(), edited("By hand.\n"), delta("Edited.\n")).written_by_hand
    assert not folded(created(), edited("By hand.\n"), written()).written_by_hand
    assert not folded(created(), edited("By hand.\n"), ContentCleared()).written_by_hand


def test_a_document_put_back_rests_on_what_it_did_then() -> None:
    back = ContentReverted(
        to_version=2,
        text="A.\n",
        sha256=sha256_of("A.\n"),
        ids=("a",),
        pieces=(PieceGrounds(id="a", facts=(fact_id(1),)),),
        evidence=(citation(1),),
    )
    model = folded(created(), written("New.\n", evidence=(evidence(2),)), back)
    assert (model.content, model.evidence, model.outline[0].facts) == ("A.\n", (citation(1),), (fact_id(1),))
