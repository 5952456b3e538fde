"""What a document rests on, from which version of it to which: the rules, folded without a database."""

from __future__ import annotations

from typing import Any

import pytest

from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelDeleted,
    RefreshFailedEmptyCandidate,
)
from domain.mental_model.record import Citation, Relink, RetractionRecord
from projections import citations
from projections.citations import Cited
from tests.support.examples import (
    BANK,
    MODEL,
    evidence,
    fact_id,
    failed,
    preserved,
    recorded,
    refresh_record,
    unchanged,
    written,
)

NUMBERS = {fact_id(number): number for number in range(10)}


def rows(*events: Event) -> tuple[Cited, ...]:
    """The rows after events at versions 1, 2 and so on."""
    folded: tuple[Cited, ...] = ()
    for version, event in enumerate(events, start=1):
        folded = citations.after(folded, recorded(event, version))
    return folded


def cited(*events: Event) -> list[tuple[int, int]]:
    """Number and version of the facts that the document rests on at the end, newest cited first."""
    return [(NUMBERS[row.fact_id], row.fact_version) for row in citations.newest_first(rows(*events))]


def delta(outcome: Any = written, **changes: Any) -> Event:
    event: Event = outcome(effective_mode="delta", **changes)
    return event


ONE_AND_TWO = written(evidence=(evidence(1), evidence(2)))


@pytest.mark.parametrize("outcome", [written, unchanged])
def test_a_full_refresh_replaces_what_the_document_rests_on(outcome: Any) -> None:
    assert cited(ONE_AND_TWO, outcome(evidence=(evidence(3), evidence(2)))) == [(3, 1), (2, 1)]


@pytest.mark.parametrize("outcome", [written, unchanged, preserved])
def test_a_delta_adds_to_it(outcome: Any) -> None:
    assert cited(ONE_AND_TWO, delta(outcome, evidence=(evidence(4), evidence(3)))) == [(4, 1), (3, 1), (1, 1), (2, 1)]


def test_a_full_refresh_that_found_nothing_to_read_leaves_it_alone() -> None:
    """Spec 07 item 48."""
    assert cited(ONE_AND_TWO, preserved(evidence=())) == [(1, 1), (2, 1)]


@pytest.mark.parametrize(
    "event",
    [
        failed(evidence=(evidence(3),)),
        RefreshFailedEmptyCandidate(record=refresh_record(evidence=(evidence(3),))),
        ContentEdited(text="By hand.\n", sha256="", ids=()),
    ],
    ids=lambda event: event.TOPIC,
)
def test_a_failure_and_an_edit_by_hand_leave_it_alone(event: Event) -> None:
    """Spec 07 item 23."""
    assert cited(ONE_AND_TWO, event) == [(1, 1), (2, 1)]
    assert list(citations.project(recorded(event))) == []


@pytest.mark.parametrize("event", [ContentCleared(), MentalModelDeleted()], ids=lambda event: event.TOPIC)
def test_an_emptied_document_rests_on_nothing_and_what_it_rested_on_is_known(event: Event) -> None:
    assert cited(ONE_AND_TWO, event) == []
    assert [(row.since, row.until) for row in rows(ONE_AND_TWO, event)] == [(1, 2), (1, 2)]


def test_a_fact_cited_again_in_a_newer_version_is_replaced_by_it_text_and_all() -> None:
    """Spec 07 item 22."""
    edited = evidence(1, version=2, position=8, text="Begun in 1357.")
    told = rows(ONE_AND_TWO, delta(evidence=(edited,)))
    assert [(NUMBERS[each.fact_id], each.fact_version, each.since, each.until) for each in told] == [
        (1, 1, 1, 2),
        (2, 1, 1, None),
        (1, 2, 2, None),
    ]
    assert citations.newest_first(told)[0].text == "Begun in 1357."


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_a_fact_cited_again_in_the_same_version_is_no_new_citation(mode: str) -> None:
    """Spec 07 item 20: a document that is refreshed every day does not grow by its evidence every day."""
    again = written(evidence=(evidence(2), evidence(1)), effective_mode=mode)
    assert rows(ONE_AND_TWO, again, again) == rows(ONE_AND_TWO)


def test_a_retraction_that_was_carried_out_ends_its_citations() -> None:
    handled = delta(retraction=RetractionRecord(fact_ids=(fact_id(1),), applied=True))
    assert cited(ONE_AND_TWO, handled) == [(2, 1)]
    deferred = delta(preserved, retraction=RetractionRecord(fact_ids=(fact_id(1),), deferred_reason="busy"))
    assert cited(ONE_AND_TWO, deferred) == [(1, 1), (2, 1)]


def test_rt_03_citations_of_another_memory_end_and_those_of_the_same_text_go_over() -> None:
    after = Citation(fact_id=fact_id(7), version=3, position=9, fact_type="experience")
    retraction = RetractionRecord(broken=(fact_id(1),), relinked=(Relink(before=fact_id(2), after=after),))
    told = citations.newest_first(rows(ONE_AND_TWO, delta(preserved, retraction=retraction)))
    assert [citations.entry(each) for each in told] == [
        {
            "id": str(fact_id(7)),
            "text": "Fact 2 about the bridge.",
            "type": "experience",
            "context": None,
            "version": 3,
            "position": 9,
        }
    ]


def test_a_fact_retracted_and_cited_again_by_the_same_run_is_cited() -> None:
    retraction = RetractionRecord(fact_ids=(fact_id(1), fact_id(2)), applied=True)
    run = delta(retraction=retraction, evidence=(evidence(1, version=2), evidence(2)))
    assert cited(ONE_AND_TWO, run) == [(1, 2), (2, 1)]


def test_a_document_put_back_rests_on_what_it_did_then_with_the_texts_of_then() -> None:
    then = Citation(fact_id=fact_id(1), version=1, position=1, fact_type="world")
    back = ContentReverted(to_version=1, text="", sha256="", ids=(), evidence=(then,))
    rewritten = written(evidence=(evidence(1, version=2, text="Otherwise."), evidence(3)))
    (row,) = citations.newest_first(rows(ONE_AND_TWO, rewritten, back))
    assert (NUMBERS[row.fact_id], row.fact_version, row.since) == (1, 1, 3)
    assert row.text == "Fact 1 about the bridge."


def test_no_more_than_the_newest_thousand_are_told() -> None:
    most = citations.MOST_TOLD
    many = tuple(evidence(number) for number in range(most + 5))
    told = citations.newest_first(rows(written(evidence=many), delta(evidence=(evidence(most + 6),))))
    assert (len(told), told[0].fact_id, told[-1].fact_id) == (most, fact_id(most + 6), fact_id(most - 2))


def test_documents_that_cite_a_fact_are_listed() -> None:
    query = citations.citing(BANK, [fact_id(1)])
    assert query.read([{"mental_model_id": MODEL}]) == [MODEL]
