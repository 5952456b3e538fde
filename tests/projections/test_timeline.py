"""The timeline: one sentence an event, with what it cost."""

from __future__ import annotations

from typing import Any

import pytest

from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelDeleted,
    MentalModelEvent,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import DeltaRecord, Edit, FactReading, RefreshWindow, RetractionRecord, Verdict
from domain.mental_model.trigger import Trigger
from projections import timeline
from tests.support.examples import (
    BANK,
    MODEL,
    NOW,
    call,
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


def delta(
    applied: int = 0, skipped: int = 0, verdicts: tuple[Verdict, ...] = (), *, after: int = 3, upto: int = 9, **of: Any
) -> dict[str, Any]:
    """A delta that read positions 4 to 9."""
    edits = (Edit(edit_pass="edit"),) * applied + (Edit(edit_pass="edit", skipped="unknown id"),) * skipped
    readings = tuple(FactReading(fact_id=fact_id(1), version=1, position=4, verdict=verdict) for verdict in verdicts)
    return {
        "effective_mode": "delta",
        "delta": DeltaRecord(baseline_sha256="", edits=edits, readings=readings),
        "window": RefreshWindow(after=after, upto=upto, created_before=NOW),
        **of,
    }


SENTENCES: list[tuple[MentalModelEvent, str]] = [
    (created(), "Created to answer “What is known about the Charles Bridge?”"),
    (MentalModelRenamed(name="Karlův most"), "Renamed to “Karlův most”"),
    (SourceQueryChanged(source_query="Who built it?"), "Question changed to “Who built it?”"),
    (TagsChanged(tags=("prague", "stone")), "Tags changed to prague, stone"),
    (TagsChanged(tags=()), "Tags removed"),
    (TokenBudgetChanged(max_tokens=512), "Length budget changed to 512 tokens"),
    (TriggerChanged(trigger=Trigger(mode="delta")), "Trigger changed (mode delta)"),
    (
        written("1402.\n", evidence=(evidence(1),)),
        "Wrote 6 characters resting on 1 fact (read to position 7, full, offline)",
    ),
    (
        written("1402.\n", evidence=(evidence(1), evidence(2)), engine="scripted-model"),
        "Wrote 6 characters resting on 2 facts (read to position 7, full, scripted-model)",
    ),
    (unchanged(), "Came to the same text again, resting on 0 facts (read to position 7, full, offline)"),
    (preserved(), "Nothing to read in scope; kept the document (read to position 7, full, offline)"),
    (RefreshFailedEmptyCandidate(record=refresh_record()), "Refused an empty text; kept the document"),
    (failed(), "Refresh failed (unexpected_error): the endpoint answered 500; kept the document"),
    (
        RefreshFailedError(
            failure_reason="no_answer", error_message="nothing found", transient=False, record=refresh_record()
        ),
        "Refresh failed (no_answer): nothing found; kept the document",
    ),
    (
        written("1402.\n", **delta(3, 1, evidence=(evidence(1), evidence(2)))),
        "Edited: 3 operations applied, 1 skipped, resting on 2 new facts (read positions 4 to 9, delta, offline)",
    ),
    (
        written("1402.\n", **delta(1, 0, ("integrated", "pending", "set_aside", "set_aside"), upto=4)),
        "Edited: 1 operation applied, 1 fact still to be worked in, 2 facts set aside"
        " (read position 4, delta, offline)",
    ),
    (
        written("1402.\n", **delta(1, retraction=RetractionRecord(fact_ids=(fact_id(1),), applied=True))),
        "Edited: 1 operation applied, 1 fact taken back (read positions 4 to 9, delta, offline)",
    ),
    (
        unchanged(**delta(2, evidence=(evidence(1),))),
        "Edited without a change of the text: 2 operations applied, resting on 1 new fact"
        " (read positions 4 to 9, delta, offline)",
    ),
    (
        preserved(**delta(after=9)),
        "Nothing new to read; kept the document (read to position 9, delta, offline)",
    ),
    (
        preserved(**delta(verdicts=("irrelevant", "irrelevant"))),
        "None of 2 new facts concerns it; kept the document (read positions 4 to 9, delta, offline)",
    ),
    (
        preserved(**delta(retraction=RetractionRecord(fact_ids=(fact_id(1), fact_id(2)), broken=(fact_id(3),)))),
        "Nothing new to read; kept the document, 2 facts still to be taken back, 1 citation dropped that this memory"
        " never had (read positions 4 to 9, delta, offline)",
    ),
    (
        RefreshFailedDeltaNotApplied(
            failure_reason="delta_ops_all_skipped",
            error_message="unknown section 'b123'",
            transient=False,
            record=refresh_record(),
        ),
        "Edits not applied (delta_ops_all_skipped): unknown section 'b123'; kept the document",
    ),
    (
        RefreshFailedStructuredOutput(error_message="no 'year'", transient=False, record=refresh_record()),
        "No structured view of the new text: no 'year'; kept the document and its view",
    ),
    (ContentEdited(text="1402.\n", sha256="", ids=()), "Edited by hand to 6 characters"),
    (ContentReverted(to_version=2, text="1402.\n", sha256="", ids=()), "Put back to version 2"),
    (ContentCleared(), "Cleared by hand"),
    (MentalModelDeleted(), "Deleted"),
]


@pytest.mark.parametrize(("event", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_every_event_is_told_in_one_sentence(event: MentalModelEvent, sentence: str) -> None:
    assert timeline.sentence(event) == sentence


def test_no_event_is_without_a_sentence_here() -> None:
    assert {type(event) for event, _ in SENTENCES} == set(timeline.HANDLES)


def row(event: Event) -> dict[str, Any]:
    (statement,) = timeline.project(recorded(event, 5, at=later(3), actor="cron", cause="due"))
    return dict(statement.params)


def test_a_line_says_who_when_and_why() -> None:
    line = row(MentalModelRenamed(name="Most"))
    assert (line["bank_id"], line["id"], line["version"], line["position"]) == (BANK, MODEL, 5, 5)
    assert (line["topic"], line["actor"], line["cause"]) == ("mental_model.renamed", "cron", "due")
    assert (line["at"], line["operation_id"]) == (later(3), None)


def test_a_line_of_a_refresh_says_what_it_cost() -> None:
    line = row(written(calls=(call("reflect_1", 100, 20), call("reflect_2", 50, 5)), duration_ms=830))
    assert (line["calls"], line["tokens"], line["duration_ms"]) == (2, 175, 830)


@pytest.mark.parametrize(
    "event", [failed(calls=(call(),)), RefreshFailedEmptyCandidate(record=refresh_record(calls=(call(),)))]
)
def test_a_failed_refresh_costs_too(event: Event) -> None:
    assert (row(event)["calls"], row(event)["tokens"]) == (1, 120)


def test_a_line_of_a_change_costs_nothing() -> None:
    line = row(ContentCleared())
    assert (line["calls"], line["tokens"], line["duration_ms"]) == (0, 0, 0)


def test_a_page_of_lines_is_read_with_their_number() -> None:
    listed: dict[str, Any] = {
        "version": 1,
        "position": 4,
        "topic": "mental_model.created",
        "occurred_at": later(0),
        "actor": "user",
        "key_id": None,
        "cause": "POST",
        "operation_id": None,
        "sentence": "Created",
        "calls": 0,
        "tokens": 0,
        "duration_ms": 0,
    }
    lines, total = timeline.page(BANK, MODEL, 1, 0).read([{**listed, "total": 9}])
    assert (lines, total) == ([timeline.TimelineEntry(**listed)], 9)
    assert timeline.entries(BANK, MODEL).read([listed]) == lines
    assert timeline.page(BANK, MODEL, 1, 99).read([{**dict.fromkeys(listed), "total": 9}]) == ([], 9)
