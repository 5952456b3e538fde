"""The history: texts as they were, and refreshes that failed."""

from __future__ import annotations

from typing import Any

import pytest

from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedStructuredOutput,
)
from projections import history
from projections.projection import Json
from projections.reflect_response import based_on
from projections.refresh_trace import trace_of
from tests.support.examples import (
    BANK,
    MODEL,
    created,
    evidence,
    failed,
    later,
    preserved,
    recorded,
    refresh_record,
    unchanged,
    written,
)

FACT = {"id": "f", "text": "1402.", "type": "world", "context": None, "version": 1, "position": 4}
FOUND = [[column] for column in FACT.values()]


def row(event: Event) -> dict[str, Any]:
    (statement,) = history.project(recorded(event, 4, at=later(2), actor="cron"))
    return {name: value.value if isinstance(value, Json) else value for name, value in statement.params.items()}


@pytest.mark.parametrize(
    ("event", "kind", "content"),
    [
        (created(), "created", ""),
        (written("Text.\n"), "version", "Text.\n"),
        (written("Text.\n", effective_mode="delta"), "version", "Text.\n"),
        (ContentEdited(text="By hand.\n", sha256="", ids=()), "edited", "By hand.\n"),
        (ContentReverted(to_version=2, text="Then.\n", sha256="", ids=()), "reverted", "Then.\n"),
        (ContentCleared(), "cleared", ""),
        (failed(), "refresh_failed", None),
        (RefreshFailedEmptyCandidate(record=refresh_record()), "refresh_failed", None),
    ],
    ids=lambda each: each.TOPIC if isinstance(each, Event) else "",
)
def test_every_text_and_every_failure_is_a_row(event: Event, kind: str, content: str | None) -> None:
    kept = row(event)
    assert (kept["kind"], kept["content"]) == (kind, content)
    assert (kept["bank_id"], kept["id"], kept["version"]) == (BANK, MODEL, 4)
    assert (kept["at"], kept["actor"], kept["operation_id"]) == (later(2), "cron", None)


def test_hi_03_a_text_is_kept_with_the_trace_of_its_refresh_if_that_was_asked_for() -> None:
    kept = row(written("Text.\n", evidence=(evidence(1),), warnings=("a warning",)))
    assert kept["trace"] is None
    traced = written("Text.\n", keep_trace=True)
    assert row(traced)["trace"] == trace_of(traced, later(2))
    assert (kept["outcome"], kept["failure_reason"], kept["error_message"]) == ("content_written", None, None)


def test_a_transient_failure_is_kept_as_any_other() -> None:
    kept = row(failed(transient=True))
    assert (kept["outcome"], kept["failure_reason"]) == ("refresh_failed_error", "unexpected_error")
    assert kept["error_message"] == "the endpoint answered 500"


def test_an_empty_candidate_says_that_the_document_was_kept() -> None:
    kept = row(RefreshFailedEmptyCandidate(record=refresh_record()))
    assert (kept["outcome"], kept["failure_reason"]) == ("refresh_failed_empty_candidate", "empty_candidate")
    assert "the present one was kept" in kept["error_message"]


def test_edits_that_were_not_applied_and_a_view_that_was_not_had_are_failures() -> None:
    record = refresh_record()
    edits = row(
        RefreshFailedDeltaNotApplied(
            failure_reason="delta_ops_failed", error_message="no reply", transient=True, record=record
        )
    )
    view = row(RefreshFailedStructuredOutput(error_message="no view", transient=False, record=record))
    assert [
        (each["kind"], each["outcome"], each["failure_reason"], each["error_message"]) for each in (edits, view)
    ] == [
        ("refresh_failed", "refresh_failed_delta_not_applied", "delta_ops_failed", "no reply"),
        ("refresh_failed", "refresh_failed_structured_output", "structured_output_failed", "no view"),
    ]


@pytest.mark.parametrize("event", [unchanged(), preserved()], ids=lambda event: event.TOPIC)
def test_a_refresh_that_changed_nothing_is_no_history(event: Event) -> None:
    assert list(history.project(recorded(event))) == []


def test_entries_are_read_as_they_are() -> None:
    entry: dict[str, Any] = {
        "version": 4,
        "kind": "version",
        "changed_at": later(2),
        "previous_content": "Old.\n",
        "outcome": "content_written",
        "failure_reason": None,
        "error_message": None,
        "operation_id": None,
        "actor": "cron",
    }
    query = history.entries(BANK, MODEL, per_kind=50)
    first, later_one, traced = query.read(
        [
            {**entry, "grounds": None, "trace": None},
            {**entry, "grounds": FOUND, "trace": None},
            {**entry, "grounds": [None] * 6, "trace": {"outcome": "content_written"}},
        ]
    )
    assert first == history.HistoryEntry(**entry, previous_reflect_response=None)
    assert later_one.previous_reflect_response == {"based_on": based_on([FACT])}
    assert traced.previous_reflect_response == {"based_on": based_on([]), "trace": {"outcome": "content_written"}}
    assert query.params["per_kind"] == 50
