"""For every history of a mental model: it folds, watermarks never move back, and every command is answered."""

from __future__ import annotations

from typing import Any

from hypothesis import given as for_all
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
from domain.mental_model.state import Absent, MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh import Candidate, NothingToRead, RefreshRun, RunFailed
from domain.refusals import (
    Refusal,
)
from tests.dsl import fold
from tests.support.examples import (
    BANK,
    MODEL,
    NOW,
    QUESTION,
    created,
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
    return RecordRefresh(BANK, MODEL, NOW, RefreshRun(refresh_record(), result))


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


@for_all(HISTORIES, COMMANDS)
def test_every_command_is_answered_in_every_state(history: list[Event], command: Command) -> None:
    state = fold(MENTAL_MODEL, *history)
    decided = MENTAL_MODEL.decide(command, state)
    if isinstance(decided, Refusal):
        assert str(decided)
    else:
        fold(MENTAL_MODEL, *history, *decided)


@for_all(HISTORIES, COMMANDS.filter(lambda command: isinstance(command, ChangeMentalModel | ClearContent)))
def test_a_command_repeated_changes_nothing_more(history: list[Event], command: Command) -> None:
    decided = MENTAL_MODEL.decide(command, fold(MENTAL_MODEL, *history))
    if not isinstance(decided, Refusal):
        assert MENTAL_MODEL.decide(command, fold(MENTAL_MODEL, *history, *decided)) == ()
