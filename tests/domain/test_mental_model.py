"""What a mental model answers to each command, and what each event changes in its state."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from application.command_handler import MENTAL_MODEL
from domain.digest import sha256_of
from domain.document import ids_of, parse
from domain.event import Event
from domain.mental_model.commands import (
    ChangeMentalModel,
    ClearContent,
    Command,
    CreateMentalModel,
    DeleteMentalModel,
    RecordRefresh,
    RevertContent,
)
from domain.mental_model.decider import decide
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    ContentWritten,
    MentalModelDeleted,
    MentalModelRenamed,
    RefreshFailedEmptyCandidate,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import PieceGrounds
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh import Candidate, NothingToRead, RefreshRun, RunFailed
from domain.refusals import (
    InvalidInput,
    MentalModelAlreadyExists,
    MentalModelNotFound,
    NothingToChange,
)
from tests.dsl import fold, given
from tests.support.examples import (
    BANK,
    MODEL,
    NOW,
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
    written,
)

CREATE = CreateMentalModel(BANK, MODEL, "Charles Bridge", QUESTION, (), 2048, Trigger())
CLEAR = ClearContent(BANK, MODEL)
DELETE = DeleteMentalModel(BANK, MODEL)
EMPTY_CANDIDATE = RefreshFailedEmptyCandidate(record=refresh_record())


def change(**fields: Any) -> ChangeMentalModel:
    return ChangeMentalModel(BANK, MODEL, **fields)


def record(result: NothingToRead | Candidate | RunFailed, created_at: datetime = NOW) -> RecordRefresh:
    return RecordRefresh(BANK, MODEL, created_at, RefreshRun(refresh_record(), result))


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


@pytest.mark.parametrize(
    ("trigger", "path"),
    [
        ({"refresh_cron": "soon"}, "trigger.refresh_cron"),
        ({"mode": None}, "trigger.mode"),
        ({"tag_groups": [{"tags": ["a"]}, {"and": []}]}, "trigger.tag_groups.1.and.and"),
        ({"refresh_cron": "0 6 * * *", "refresh_after_consolidation": True}, "trigger"),
    ],
)
def test_a_refused_trigger_is_refused_with_the_whole_path_of_the_field(trigger: dict[str, Any], path: str) -> None:
    outcome = given(created()).when(change(trigger=trigger))
    assert isinstance(outcome.decided, InvalidInput)
    assert outcome.decided.field == path


def test_a_run_becomes_one_outcome() -> None:
    given(created()).when(record(Candidate("The bridge was finished in 1402."))).then(written())


def test_a_run_is_compared_with_the_document_as_it_stands_when_it_is_recorded() -> None:
    given(created(), written()).when(record(Candidate("The bridge was finished in 1402."))).then(unchanged())


def test_a_run_for_a_model_that_was_deleted_and_created_anew_meanwhile_finds_its_model_no_more() -> None:
    anew = (created(), MentalModelDeleted(), created())
    given(*anew).when(record(Candidate("Stone."))).then_refused(MentalModelNotFound, f"'{MODEL}' not found")
    given(*anew).when(record(Candidate("Stone."), later(2))).then(written("Stone.\n"))


@pytest.mark.parametrize("before", [written(), preserved(), failed(), EMPTY_CANDIDATE], ids=lambda each: each.TOPIC)
def test_anything_a_refresh_left_behind_is_cleared(before: Event) -> None:
    given(created(), before).when(CLEAR).then(ContentCleared())


@pytest.mark.parametrize("before", [(), (written(), ContentCleared()), (failed(transient=True),)])
def test_clearing_what_is_clear_is_nothing(before: tuple[Event, ...]) -> None:
    given(created(), *before).when(CLEAR).then_nothing()


def test_is_deleted_once() -> None:
    given(created(), written()).when(DELETE).then(MentalModelDeleted())


# --- by hand ----------------------------------------------------------------------------------------------------------


def by_hand(text: str) -> ContentEdited:
    """The first text that a person writes."""
    return ContentEdited(text=text, sha256=sha256_of(text), ids=ids_of(parse(text)))


def test_a_document_written_by_hand_is_kept_to_the_byte() -> None:
    given(created()).when(change(content="# Mine\r\n\r\n")).then(by_hand("# Mine\r\n\r\n"))
    given(created(), by_hand("Mine.\n")).when(change(content="Mine.\n")).then_nothing()


def test_a_document_may_be_written_with_other_changes() -> None:
    given(created()).when(change(name="Most", content="Mine.\n")).then(
        MentalModelRenamed(name="Most"), by_hand("Mine.\n")
    )


def test_what_a_person_keeps_of_a_document_keeps_its_ids() -> None:
    before = written("# Bridge\n\nStone.\n\nStone.\n")
    text = "# Bridge\n\nBegun.\n\nStone.\n\nStone.\n"
    ids = ids_of(parse(text, parse(before.text)))
    given(created(), before).when(change(content=text)).then(ContentEdited(text=text, sha256=sha256_of(text), ids=ids))
    assert [identity for identity in before.ids if identity not in ids] == []


def then_of(*events: Event) -> MentalModel:
    state = fold(MENTAL_MODEL, *events)
    assert isinstance(state, MentalModel)
    return state


def test_a_document_is_put_back_to_what_it_said_with_the_ids_and_the_grounds_of_then() -> None:
    first = written("Stone.\n", evidence=(evidence(1),))
    then = then_of(created(), first)
    given(created(), first, written("Wood.\n", evidence=(evidence(2),))).when(
        RevertContent(BANK, MODEL, to_version=2, then=then)
    ).then(
        ContentReverted(
            to_version=2,
            text="Stone.\n",
            sha256=sha256_of("Stone.\n"),
            ids=first.ids,
            pieces=(PieceGrounds(id=parse("Stone.\n").sections[0].blocks[0].id),),
            evidence=(citation(1),),
        )
    )


def test_a_piece_that_was_edited_since_rests_again_on_what_it_did_then() -> None:
    """Edits keep the id of the piece they give another text."""
    text = "Stone.\n\nOld.\n\nSand.\n"
    ids = ids_of(parse(text))
    stone, old, sand = ids[1:]
    first = ContentWritten(
        text=text,
        sha256=sha256_of(text),
        ids=ids,
        pieces=tuple(PieceGrounds(id=each, facts=(fact_id(1),)) for each in (stone, old, sand)),
        record=refresh_record(evidence=(evidence(1),)),
    )
    anew = "Wood.\n\nOld.\n\nSand.\n"
    second = ContentWritten(
        text=anew,
        sha256=sha256_of(anew),
        ids=ids,
        pieces=(PieceGrounds(id=stone, facts=(fact_id(2),)), PieceGrounds(id=sand, facts=(fact_id(2),), kept=True)),
        record=refresh_record(evidence=(evidence(2),)),
    )
    then = then_of(created(), first)
    events = decide(RevertContent(BANK, MODEL, to_version=2, then=then), then_of(created(), first, second))
    assert isinstance(events, tuple)
    (reverted,) = events
    assert isinstance(reverted, ContentReverted)
    assert reverted.pieces == (
        PieceGrounds(id=stone, facts=(fact_id(1),)),
        PieceGrounds(id=sand, facts=(fact_id(1),), kept=True),
    )
    outline = {piece.id: piece for piece in then_of(created(), first, second, reverted).outline}
    assert [(outline[each].version, outline[each].facts) for each in (stone, old, sand)] == [
        (4, (fact_id(1),)),
        (2, (fact_id(1),)),
        (2, (fact_id(1),)),
    ]


def test_a_document_that_says_so_already_is_not_put_back() -> None:
    then = then_of(created(), written())
    given(created(), written()).when(RevertContent(BANK, MODEL, to_version=2, then=then)).then_nothing()
