"""What read models say of evidence in PostgreSQL: the same as the folds, at every version, however often told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, example, settings
from hypothesis import given as for_all
from hypothesis import strategies as st

from adapters.postgres import projector
from adapters.postgres.database import Database
from adapters.postgres.reader import Reader
from domain.event import Event, Recorded, StreamId
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelDeleted,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedStructuredOutput,
)
from domain.mental_model.record import Citation, Relink, ResolvedScope, RetractionRecord
from domain.mental_model.state import Absent, MentalModel, State, evolve
from domain.operation import OperationCompleted, RetainDone
from domain.scope import Scope
from projections import citations, documents, history, staleness, usage
from projections.citations import Cited
from projections.projection import Query
from projections.reflect_response import as_of
from projections.registry import PROJECTIONS
from projections.usage import Spent
from tests.support.event_examples import RECORD
from tests.support.examples import (
    MODEL,
    call,
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

OF_BANKS = [each for each in PROJECTIONS if "bank_id" in each.keys]
"""Keys are of no bank."""


@pytest.fixture(scope="module")
def folded(shared_database: Database) -> Database:
    """A database with empty read models."""
    with shared_database.begin() as tx:
        for projection in PROJECTIONS:
            tx.connection.execute(projection.ddl)  # type: ignore[arg-type]  # our own text
    return shared_database


def life(events: Sequence[Event], bank_id: str) -> list[Recorded]:
    stream = StreamId("mental_model", bank_id, MODEL)
    return [
        Recorded(stream, version, version, event, "worker", None, "", later(version))
        for version, event in enumerate(events, start=1)
    ]


def fold(database: Database, log: Sequence[Recorded], times: int = 1) -> None:
    with database.begin() as tx:
        for recorded in log:
            for projection in PROJECTIONS:
                for _ in range(times):
                    projector.run(tx.connection, projector.statements_of(projection, [recorded]))


def rows(database: Database, bank_id: str) -> dict[str, list[Any]]:
    with database.connection() as connection:
        return {
            each.name: connection.execute(
                f"SELECT * FROM {each.table} WHERE bank_id = %s ORDER BY {', '.join(each.keys)}",  # type: ignore[arg-type]  # names of our own
                (bank_id,),
            ).fetchall()
            for each in OF_BANKS
        }


# --- any life of a document -------------------------------------------------------------------------------------------

NUMBERS = st.integers(1, 4)
VERSIONS = st.integers(1, 2)


def _evidence(cited: Sequence[tuple[int, int]]) -> tuple[Any, ...]:
    return tuple(
        evidence(number, version=version, text=f"Fact {number} in version {version}.", context=f"of {version}")
        for number, version in cited
    )


def _citations(cited: Sequence[tuple[int, int]]) -> tuple[Citation, ...]:
    return tuple(
        Citation(fact_id=fact_id(number), version=version, position=number, fact_type="world")
        for number, version in cited
    )


CITED = st.lists(st.tuples(NUMBERS, VERSIONS), max_size=3, unique_by=lambda each: each[0])
RETRACTIONS = st.none() | st.builds(
    RetractionRecord,
    fact_ids=st.lists(NUMBERS.map(fact_id), max_size=2).map(tuple),
    applied=st.booleans(),
    broken=st.lists(NUMBERS.map(fact_id), max_size=1).map(tuple),
    relinked=st.lists(
        st.builds(
            Relink,
            before=NUMBERS.map(fact_id),
            after=st.builds(lambda number: _citations([(number, 1)])[0], NUMBERS),
        ),
        max_size=1,
    ).map(tuple),
)
RECORDS = st.fixed_dictionaries(
    {
        "effective_mode": st.sampled_from(["full", "delta"]),
        "evidence": CITED.map(_evidence),
        "retraction": RETRACTIONS,
        "keep_trace": st.booleans(),
        "delta": st.sampled_from([None, RECORD.delta]),
        "structured_output": st.sampled_from([None, {"year": 1402}, RECORD.structured_output]),
        "pending": st.sampled_from([(), (4,)]),
        "warnings": st.sampled_from([(), ("few",)]),
    }
)


def _of(outcome: Callable[..., Event]) -> st.SearchStrategy[Event]:
    return RECORDS.map(lambda record: outcome(**record))


def _not_applied(**record: Any) -> Event:
    return RefreshFailedDeltaNotApplied(
        failure_reason="delta_ops_failed", error_message="", transient=False, record=refresh_record(**record)
    )


def _no_view(**record: Any) -> Event:
    return RefreshFailedStructuredOutput(error_message="", transient=True, record=refresh_record(**record))


def _reverted(cited: Sequence[tuple[int, int]]) -> Event:
    return ContentReverted(to_version=1, text="Then.\n", sha256="", ids=(), evidence=_citations(cited))


EVENTS = st.one_of(
    _of(written),
    _of(unchanged),
    _of(preserved),
    _of(failed),
    _of(_not_applied),
    _of(_no_view),
    CITED.map(_reverted),
    st.sampled_from(
        [ContentEdited(text="By hand.\n", sha256="", ids=()), ContentCleared(), MentalModelRenamed(name="Most")]
    ),
)
KEPT_REPLACED_RELINKED_AND_PUT_BACK: list[Event] = [
    created(),
    written(evidence=_evidence([(1, 1)])),
    written(evidence=_evidence([(1, 1)])),
    written(evidence=_evidence([(1, 2)])),
    preserved(
        effective_mode="delta",
        retraction=RetractionRecord(relinked=(Relink(before=fact_id(1), after=_citations([(3, 1)])[0]),)),
    ),
    written(evidence=_evidence([(2, 1)])),
    _reverted([(1, 1), (2, 1)]),
]
LIVES = st.lists(EVENTS, max_size=8).map(lambda events: [created(), *events])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@for_all(LIVES, st.lists(EVENTS, max_size=3))
@example(KEPT_REPLACED_RELINKED_AND_PUT_BACK, [])
def test_the_database_says_what_the_folds_say_at_every_version_and_told_twice_the_same(
    folded: Database, first: list[Event], second: list[Event]
) -> None:
    bank_id = uuid4().hex
    log = life([*first, MentalModelDeleted(), created(), *second], bank_id)
    reader = Reader(folded)
    state: State = Absent()
    cited: tuple[Cited, ...] = ()
    rested: list[list[Cited]] = []
    for recorded in log:
        fold(folded, [recorded])
        state = evolve(state, recorded)
        cited = citations.after(cited, recorded)
        rested.append(citations.newest_first(cited))

        row = reader.ask(documents.find(bank_id, MODEL))
        assert (row.reflect_response if row else None) == as_of(recorded.version, log)
        resting = state.evidence if isinstance(state, MentalModel) else ()
        assert {(each.fact_id, each.version) for each in resting} == {
            (each.fact_id, each.fact_version) for each in rested[-1]
        }
    for version, then in enumerate(rested, start=1):
        found = reader.ask(citations.of_document(bank_id, MODEL, version))
        assert [_still_open(each) for each in found] == [_still_open(each) for each in then]
    assert reader.ask(citations.of_document(bank_id, MODEL)) == rested[-1]

    before = rows(folded, bank_id)
    fold(folded, log)
    assert rows(folded, bank_id) == before, "the whole log again"
    with folded.begin() as tx:
        for projection in OF_BANKS:
            tx.connection.execute(f"DELETE FROM {projection.table} WHERE bank_id = %s", (bank_id,))  # type: ignore[arg-type]  # names of our own
    fold(folded, log, times=2)
    assert rows(folded, bank_id) == before, "every event twice in a row"


def _still_open(cited: Cited) -> Any:
    """But for its end, which a fold of the past cannot know."""
    return cited.fact_id, cited.since, cited.place, cited.fact_version, cited.text, cited.context


# --- queries ----------------------------------------------------------------------------------------------------------


def ask(database: Database, query: Query[Any]) -> Any:
    return Reader(database).ask(query)


def test_a_document_is_told_with_its_newest_thousand_facts_and_found_by_all_of_them(folded: Database) -> None:
    bank_id = uuid4().hex
    most = citations.MOST_TOLD
    many = written(evidence=tuple(evidence(number) for number in range(most + 5)))
    fold(folded, life([created(), many, written(effective_mode="delta", evidence=(evidence(most + 9),))], bank_id))
    (row,), total = ask(folded, documents.page(bank_id, tags=[], match="any", detail="full", limit=10, offset=0))
    world = row.reflect_response["based_on"]["world"]
    assert (total, len(world), world[0]["id"]) == (1, most, str(fact_id(most + 9)))
    assert [row] == [each for each in ask(folded, documents.every("full")) if each.bank_id == bank_id]
    assert ask(folded, citations.citing(bank_id, [fact_id(most + 4)])) == [MODEL]
    assert ask(folded, citations.citing(bank_id, [fact_id(most + 5)])) == []
    assert len(ask(folded, citations.of_document(bank_id, MODEL, limit=3))) == 3
    assert len(ask(folded, citations.of_document(bank_id, MODEL))) == most + 6


def test_an_empty_page_tells_how_many_documents_there_are(folded: Database) -> None:
    bank_id = uuid4().hex
    fold(folded, life([created()], bank_id))
    page = documents.page(bank_id, tags=[], match="any", detail="full", limit=10, offset=5)
    assert ask(folded, page) == ([], 1)


def test_hi_02_each_change_is_told_with_what_the_text_before_it_rested_on(folded: Database) -> None:
    bank_id = uuid4().hex
    log = life(
        [
            created(),
            written("1.\n", evidence=(evidence(1),), keep_trace=True),
            written("2.\n", effective_mode="delta", evidence=(evidence(2),)),
            ContentEdited(text="3.\n", sha256="", ids=()),
            _reverted([(1, 1)]),
            unchanged(evidence=(evidence(3),)),
            _not_applied(),
            ContentCleared(),
            written("4.\n"),
        ],
        bank_id,
    )
    fold(folded, log)
    entries = ask(folded, history.entries(bank_id, MODEL, per_kind=50))
    assert [(each.version, each.kind, each.previous_content) for each in entries] == [
        (9, "version", ""),
        (8, "cleared", "Then.\n"),
        (7, "refresh_failed", None),
        (5, "reverted", "3.\n"),
        (4, "edited", "2.\n"),
        (3, "version", "1.\n"),
        (2, "version", ""),
    ]

    def rested(entry: Any) -> list[str] | None:
        slim = entry.previous_reflect_response
        return slim and [each["id"] for each in slim["based_on"]["world"]]

    one, two = str(fact_id(1)), str(fact_id(2))
    assert [rested(each) for each in entries] == [None, [one], None, [two, one], [two, one], [one], None]
    traced = [each.version for each in entries if "trace" in (each.previous_reflect_response or {})]
    assert traced == [3], "of the text whose refresh kept one"
    capped = ask(folded, history.entries(bank_id, MODEL, per_kind=1))
    assert [each.version for each in capped] == [9, 7]


def test_a_document_whose_retraction_was_put_off_is_stale_until_it_is_carried_out(folded: Database) -> None:
    bank_id = uuid4().hex
    gone = RetractionRecord(fact_ids=(fact_id(1),), deferred_reason="3 facts are pending")
    log = life(
        [
            created(),
            written(evidence=(evidence(1),)),
            preserved(effective_mode="delta", retraction=gone, unread=2, pending=(4, 5)),
            failed(),
            preserved(),
            written(effective_mode="delta", retraction=gone.model_copy(update={"applied": True})),
        ],
        bank_id,
    )

    def reasons() -> tuple[str, ...]:
        stale: tuple[str, ...] = ask(folded, staleness.of_models(bank_id, [MODEL], observations=False))[MODEL].reasons
        return stale

    told = []
    for recorded in log:
        fold(folded, [recorded])
        told.append(reasons())
    assert told == [
        (),
        (),
        ("evidence_changed", "unread_memories"),
        ("evidence_changed", "unread_memories"),
        ("evidence_changed",),
        (),
    ]


def ended(database: Database, bank_id: str, *facts: tuple[int, int, int | None]) -> None:
    """Facts of the memory in version 1: their number, where they were written and where they ended."""
    with database.connection() as connection:
        for number, position, to_position in facts:
            connection.execute(
                "INSERT INTO fact_versions (bank_id, fact_id, version, from_position, to_position, tag_set, fact_type,"
                " terms, text, recorded_at) VALUES (%s, %s, 1, %s, %s, %s, 'world', '', '', now())",
                (bank_id, fact_id(number), position, to_position, uuid4()),
            )


def stale_by(database: Database, bank_id: str) -> tuple[str, ...]:
    stale: tuple[str, ...] = ask(database, staleness.of_models(bank_id, [MODEL], observations=False))[MODEL].reasons
    return stale


def test_a_fact_that_a_document_no_longer_rests_on_does_not_make_it_stale(folded: Database) -> None:
    bank_id = uuid4().hex
    fold(folded, life([created(), written(evidence=(evidence(1),)), written(evidence=(evidence(2),))], bank_id))
    ended(folded, bank_id, (1, 1, 101), (2, 2, None))
    assert stale_by(folded, bank_id) == ()
    with folded.connection() as connection:
        connection.execute(
            "UPDATE fact_versions SET to_position = 109 WHERE bank_id = %s AND fact_id = %s", (bank_id, fact_id(2))
        )
    assert stale_by(folded, bank_id) == ("evidence_changed",)


def test_a_document_put_back_on_a_fact_that_ended_long_ago_is_stale_until_it_is_refreshed(folded: Database) -> None:
    bank_id = uuid4().hex
    ended(folded, bank_id, (1, 1, 5), (2, 2, None))
    log = life(
        [
            created(),
            written(evidence=(evidence(1),), window=window(4)),
            written(evidence=(evidence(2),), window=window(20)),
            _reverted([(1, 1)]),
            ContentEdited(text="By hand.\n", sha256="", ids=()),
            written(evidence=(evidence(2),), window=window(20)),
            _reverted([(2, 1)]),
        ],
        bank_id,
    )
    told = []
    for each in log:
        fold(folded, [each])
        told.append(stale_by(folded, bank_id))
    of_ended = ("evidence_changed",)
    assert told == [(), of_ended, (), of_ended, of_ended, (), ()]


def test_a_run_that_ends_after_one_that_read_more_leaves_what_that_one_said(folded: Database) -> None:
    bank_id = uuid4().hex
    only_a = ResolvedScope(scope=Scope(tags=("a",), tags_match="all_strict"))
    behind = {"effective_mode": "delta", "window": window(10), "scope": only_a}
    log = life(
        [
            created(),
            unchanged(effective_mode="delta", window=window(20), unread=2),
            unchanged(**behind),
            unchanged(effective_mode="delta", window=window(20)),
            unchanged(**behind, unread=1),
        ],
        bank_id,
    )
    told = []
    for each in log:
        fold(folded, [each])
        told.append(stale_by(folded, bank_id))
    assert told[1:] == [("unread_memories",), ("unread_memories",), (), ("unread_memories",)]


def test_what_a_run_with_an_older_snapshot_wrote_is_stale_by_the_facts_that_ended_after_it(folded: Database) -> None:
    bank_id = uuid4().hex
    ended(folded, bank_id, (1, 1, 15), (2, 2, None))
    behind = written(evidence=(evidence(1),), window=window(10))
    fold(folded, life([created(), written(evidence=(evidence(2),), window=window(20)), behind], bank_id))
    assert stale_by(folded, bank_id) == ("evidence_changed",)


# --- usage ------------------------------------------------------------------------------------------------------------


def test_what_a_bank_spent_is_summed_by_day_mental_model_and_cause(folded: Database) -> None:
    bank_id = uuid4().hex
    retained = OperationCompleted(result=RetainDone(facts=1, calls=(call("extract_facts", 30, 3), call("embed", 0, 0))))
    refreshes = life([created(), written(calls=(call(), call())), unchanged(), failed(calls=(call(),))], bank_id)
    operation = StreamId("operation", bank_id, str(uuid4()))
    tomorrow = later(24 * 60)
    log = [
        *refreshes,
        Recorded(operation, 1, 9, retained, "worker", None, "operation", later(3)),
        Recorded(operation, 2, 10, retained, "worker", None, "operation", tomorrow),
    ]
    fold(folded, log, times=2)
    day = later(0).date()
    assert ask(folded, usage.tokens_of_day(bank_id, day)) == 3 * 120 + 33
    assert ask(folded, usage.tokens_of_day(bank_id, tomorrow.date())) == 33
    assert ask(folded, usage.tokens_of_day(uuid4().hex, day)) == 0
    of_tomorrow = Spent(tomorrow.date(), "", "worker", "operation", calls=2, input_tokens=30, output_tokens=3)
    assert ask(folded, usage.of_bank(bank_id, day)) == [
        of_tomorrow,
        Spent(day, MODEL, "worker", "", calls=3, input_tokens=300, output_tokens=60),
        Spent(day, "", "worker", "operation", calls=2, input_tokens=30, output_tokens=3),
    ]
    assert ask(folded, usage.of_bank(bank_id, tomorrow.date())) == [of_tomorrow]
