"""What a mental model answers to each command, and what each event changes in its state."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from application.command_handler import MENTAL_MODEL
from domain.event import Event
from domain.mental_model.commands import (
    ChangeMentalModel,
    ClearContent,
    Command,
    CreateMentalModel,
    DeleteMentalModel,
    RecordRefresh,
)
from domain.mental_model.events import (
    ContentCleared,
    MentalModelDeleted,
    MentalModelRenamed,
    RefreshFailedEmptyCandidate,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import ResolvedScope
from domain.mental_model.state import Absent, MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh import Candidate, NothingToRead, RefreshRun, RunFailed, decide_mode
from domain.refusals import (
    InvalidInput,
    MentalModelAlreadyExists,
    MentalModelNotFound,
    NothingToChange,
    Refusal,
)
from domain.scope import Scope
from tests.dsl import fold, given
from tests.support.examples import (
    BANK,
    MODEL,
    QUESTION,
    created,
    evidence,
    failed,
    later,
    preserved,
    recorded,
    refresh_record,
    unchanged,
    window,
    written,
)

CREATE = CreateMentalModel(BANK, MODEL, "Charles Bridge", QUESTION, (), 2048, Trigger())
CLEAR = ClearContent(BANK, MODEL)
DELETE = DeleteMentalModel(BANK, MODEL)
EMPTY_CANDIDATE = RefreshFailedEmptyCandidate(record=refresh_record())


def change(**fields: Any) -> ChangeMentalModel:
    return ChangeMentalModel(BANK, MODEL, **fields)


def record(result: NothingToRead | Candidate | RunFailed) -> RecordRefresh:
    return RecordRefresh(BANK, MODEL, RefreshRun(refresh_record(), result))


def folded(*events: Event) -> MentalModel:
    state = fold(MENTAL_MODEL, *events)
    assert isinstance(state, MentalModel)
    return state


def test_is_created_with_everything_it_was_asked_for() -> None:
    given().when(CREATE).then(created())


def test_is_not_created_twice() -> None:
    given(created()).when(CREATE).then_refused(MentalModelAlreadyExists, "PATCH that one")


def test_an_id_may_be_used_again_after_deletion() -> None:
    given(created(), written(), MentalModelDeleted()).when(CREATE).then(created())


def test_starts_anew_after_deletion() -> None:
    anew = folded(created(), written(), MentalModelDeleted(), created())
    assert (anew.content, anew.covered, anew.answered_query) == ("", 0, None)


@pytest.mark.parametrize("before", [(), (created(), MentalModelDeleted())], ids=["never created", "deleted"])
@pytest.mark.parametrize(
    "command", [change(name="x"), record(Candidate("x")), CLEAR, DELETE], ids=lambda each: type(each).__name__
)
def test_no_command_finds_a_model_that_is_not_there(before: tuple[Event, ...], command: Command) -> None:
    given(*before).when(command).then_refused(MentalModelNotFound, f"'{MODEL}' not found in bank '{BANK}'")


@pytest.mark.parametrize(
    ("fields", "event"),
    [
        ({"name": "Karlův most"}, MentalModelRenamed(name="Karlův most")),
        ({"source_query": "Who built it?"}, SourceQueryChanged(source_query="Who built it?")),
        ({"tags": ("prague",)}, TagsChanged(tags=("prague",))),
        ({"max_tokens": 512}, TokenBudgetChanged(max_tokens=512)),
        ({"trigger": {"mode": "delta"}}, TriggerChanged(trigger=Trigger(mode="delta"))),
    ],
)
def test_each_change_is_an_event_of_its_own(fields: dict[str, Any], event: Event) -> None:
    given(created()).when(change(**fields)).then(event)


def test_several_changes_are_several_events() -> None:
    command = change(name="Most", tags=("stone",), max_tokens=1, trigger={"budget": "low"})
    given(created()).when(command).then(
        MentalModelRenamed(name="Most"),
        TagsChanged(tags=("stone",)),
        TokenBudgetChanged(max_tokens=1),
        TriggerChanged(trigger=Trigger(budget="low")),
    )


def test_a_change_to_what_is_already_so_is_nothing() -> None:
    same = change(name="Charles Bridge", source_query=QUESTION, tags=(), max_tokens=2048, trigger={"mode": "full"})
    given(created()).when(same).then_nothing()


def test_a_change_of_nothing_is_refused() -> None:
    given(created()).when(change()).then_refused(NothingToChange, "at least one of name")


def test_ts_02_an_empty_list_of_tags_clears_them() -> None:
    given(created(tags=("prague",))).when(change(tags=())).then(TagsChanged(tags=()))


def test_ts_02_absent_tags_stay() -> None:
    given(created(tags=("prague",))).when(change(name="Most")).then(MentalModelRenamed(name="Most"))
    assert folded(created(tags=("prague",)), MentalModelRenamed(name="Most")).tags == ("prague",)


FULL_TRIGGER: dict[str, Any] = {
    "budget": "high",
    "refresh_cron": "0 6 * * *",
    "full_refresh_cron": "0 3 1 * *",
    "min_refresh_interval_seconds": 60,
    "fact_types": ("world",),
    "exclude_mental_model_ids": ("old-town",),
    "tags_match": "all",
    "tag_groups": [{"tags": ["stone"]}],
    "include_chunks": True,
    "recall_max_tokens": 100,
    "recall_chunks_max_tokens": 100,
    "reflect_search_observations_max_tokens": 100,
    "reflect_search_observations_include_entities": True,
    "response_schema": {"properties": {"year": {"type": "integer"}}},
}


@pytest.mark.parametrize("field", FULL_TRIGGER)
def test_ac_07_null_resets_one_field_of_the_trigger_and_absent_keeps_the_others(field: str) -> None:
    trigger = Trigger.model_validate(FULL_TRIGGER)
    without = Trigger.model_validate({name: value for name, value in FULL_TRIGGER.items() if name != field})
    given(created(trigger=trigger)).when(change(trigger={field: None})).then(TriggerChanged(trigger=without))


def test_ac_07_an_empty_trigger_keeps_every_field() -> None:
    given(created(trigger=Trigger.model_validate(FULL_TRIGGER))).when(change(trigger={})).then_nothing()


@pytest.mark.parametrize("field", ["mode", "refresh_after_consolidation", "exclude_mental_models", "keep_trace"])
def test_ac_07_null_for_a_field_without_null_is_refused(field: str) -> None:
    given(created()).when(change(trigger={field: None})).then_refused(InvalidInput, "should be")


def test_a_trigger_that_breaks_a_rule_is_refused() -> None:
    both = {"refresh_cron": "0 6 * * *", "refresh_after_consolidation": True}
    given(created()).when(change(trigger=both)).then_refused(InvalidInput, "exclude each other")


def test_a_refused_trigger_refuses_the_whole_change() -> None:
    given(created()).when(change(name="Most", trigger={"refresh_cron": "soon"})).then_refused(InvalidInput, "'soon'")


def test_a_run_becomes_one_outcome() -> None:
    given(created()).when(record(Candidate("The bridge was finished in 1402."))).then(written())


def test_a_run_is_compared_with_the_document_as_it_stands_when_it_is_recorded() -> None:
    given(created(), written()).when(record(Candidate("The bridge was finished in 1402."))).then(unchanged())


@pytest.mark.parametrize("before", [written(), preserved(), failed(), EMPTY_CANDIDATE], ids=lambda each: each.TOPIC)
def test_anything_a_refresh_left_behind_is_cleared(before: Event) -> None:
    given(created(), before).when(CLEAR).then(ContentCleared())


@pytest.mark.parametrize("before", [(), (written(), ContentCleared()), (failed(transient=True),)])
def test_clearing_what_is_clear_is_nothing(before: tuple[Event, ...]) -> None:
    given(created(), *before).when(CLEAR).then_nothing()


def test_is_deleted_once() -> None:
    given(created(), written()).when(DELETE).then(MentalModelDeleted())


# --- what each event changes ------------------------------------------------------------------------------------------


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
    model = folded(created(), written(), ContentCleared())
    assert (model.content, model.answered_query, model.covered) == ("", None, 7)


def test_rs_06_a_failed_refresh_leaves_the_old_question_as_the_answered_one_so_the_retry_is_full() -> None:
    asked_anew = (created(trigger=Trigger(mode="delta")), written(), SourceQueryChanged(source_query="Who built it?"))
    after_failure = folded(*asked_anew, failed(source_query="Who built it?"))
    retry = decide_mode("delta", after_failure.content, after_failure.answered_query, after_failure.source_query)
    assert (after_failure.answered_query, retry.effective, retry.fallback) == (QUESTION, "full", "source_query_changed")
    after_success = folded(*asked_anew, failed(), written("Petr Parléř.\n", source_query="Who built it?"))
    assert after_success.answered_query == "Who built it?"


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


# --- for every history ------------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=12)
TIMES = st.none() | st.integers(-100, 100).map(later)
RECORDS = st.builds(
    lambda upto, watermark, query, mode: {
        "window": window(upto, watermark),
        "source_query": query,
        "effective_mode": mode,
    },
    st.integers(0, 50),
    TIMES,
    TEXTS,
    st.sampled_from(["full", "delta"]),
)
TRIGGERS = st.sampled_from([Trigger(), Trigger(mode="delta"), Trigger(tags_match="any", fact_types=("world",))])
EVENTS = st.one_of(
    st.builds(lambda name, trigger: created(name=name, trigger=trigger), TEXTS, TRIGGERS),
    st.builds(MentalModelRenamed, name=TEXTS),
    st.builds(SourceQueryChanged, source_query=TEXTS),
    st.builds(TagsChanged, tags=st.lists(TEXTS, max_size=2).map(tuple)),
    st.builds(TokenBudgetChanged, max_tokens=st.integers()),
    st.builds(TriggerChanged, trigger=TRIGGERS),
    st.builds(lambda text, fields: written(text, **fields), TEXTS, RECORDS),
    RECORDS.map(lambda fields: unchanged(**fields)),
    RECORDS.map(lambda fields: preserved(**fields)),
    st.builds(lambda fields, transient: failed(transient=transient, **fields), RECORDS, st.booleans()),
    st.just(EMPTY_CANDIDATE),
    st.just(ContentCleared()),
    st.just(MentalModelDeleted()),
)
HISTORIES = st.lists(EVENTS, max_size=12)
RESULTS = st.one_of(
    st.just(NothingToRead()),
    TEXTS.map(Candidate),
    st.builds(RunFailed, st.just("no_answer"), TEXTS, st.booleans()),
)
COMMANDS = st.one_of(
    st.sampled_from([CREATE, CLEAR, DELETE]),
    RESULTS.map(record),
    st.builds(
        lambda name, query, tags, tokens, trigger: change(
            name=name, source_query=query, tags=tags, max_tokens=tokens, trigger=trigger
        ),
        st.none() | TEXTS,
        st.none() | TEXTS,
        st.none() | st.lists(TEXTS, max_size=2).map(tuple),
        st.none() | st.integers(),
        st.none() | st.dictionaries(st.sampled_from(sorted(Trigger.model_fields)), st.none() | st.integers() | TEXTS),
    ),
)


@settings(max_examples=100)
@for_all(HISTORIES)
def test_any_sequence_of_events_folds_and_no_watermark_moves_back(history: list[Event]) -> None:
    state: Absent | MentalModel = Absent()
    for version, event in enumerate(history, start=1):
        before, state = state, MENTAL_MODEL.evolve(state, recorded(event, version, at=later(version)))
        if isinstance(before, MentalModel) and isinstance(state, MentalModel) and event.TOPIC != "mental_model.created":
            assert state.covered >= before.covered
            assert before.last_memory_seen_at is None or (
                state.last_memory_seen_at is not None and state.last_memory_seen_at >= before.last_memory_seen_at
            )


@settings(max_examples=100)
@for_all(HISTORIES, COMMANDS)
def test_every_command_is_answered_in_every_state(history: list[Event], command: Command) -> None:
    state = fold(MENTAL_MODEL, *history)
    decided = MENTAL_MODEL.decide(command, state)
    if isinstance(decided, Refusal):
        assert str(decided)
    else:
        fold(MENTAL_MODEL, *history, *decided)


@settings(max_examples=100)
@for_all(HISTORIES, COMMANDS.filter(lambda command: isinstance(command, ChangeMentalModel | ClearContent)))
def test_a_command_repeated_changes_nothing_more(history: list[Event], command: Command) -> None:
    decided = MENTAL_MODEL.decide(command, fold(MENTAL_MODEL, *history))
    if not isinstance(decided, Refusal):
        assert MENTAL_MODEL.decide(command, fold(MENTAL_MODEL, *history, *decided)) == ()
