"""The rules of a refresh: a row for every mode gate, guard and outcome."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshOutcome,
)
from domain.mental_model.record import FailureReason
from domain.refresh import (
    DELTA_ANSWERED_AS_FULL,
    GUARDS,
    OUTCOME_NAMES,
    Candidate,
    Mode,
    NothingToRead,
    RefreshRun,
    RunFailed,
    decide_mode,
    decide_outcome,
    failure_of,
    is_blank,
    outcome_name,
)
from tests.support.examples import failed, preserved, refresh_record, unchanged, written

RECORD = refresh_record()
EMPTY_CANDIDATE = RefreshFailedEmptyCandidate(record=RECORD)
BLANKS = {
    "empty": "",
    "spaces": "   ",
    "line breaks": "\n\r\n\t",
    "form feed": "\x0c\x0b",
    "no-break spaces": "\u00a0\u202f\u3000",
    "line and paragraph separators": "\u2028\u2029\x85",
    "zero-width space": "\u200b",
    "zero-width joiners": "\u200c\u200d\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\u00ad",
    "direction marks": "\u200e\u200f\u202a\u202c",
    "control characters": "\x00\x01\x1b\x7f",
    "Hangul fillers": "\u115f\u1160\u3164\uffa0",
    "the empty Braille cell": "\u2800\u2800",
    "combining marks on nothing": "\u0301\u0308",
    "variation selectors": "\ufe0f\ufe0e",
    "all together": " \u200b\n\ufeff\t\x00\u2028",
}
VISIBLE = ["x", ".", "#", "-", "\u200bx\u200b", "é", "e\u0301", "字", "한", "⠁", "🌉", "```\n```"]


@pytest.mark.parametrize("text", BLANKS.values(), ids=BLANKS.keys())
def test_what_a_reader_does_not_see_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", VISIBLE)
def test_what_a_reader_sees_is_not_blank(text: str) -> None:
    assert not is_blank(text)


@for_all(st.text(), st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_no_invisible_surroundings_make_a_visible_text_blank(around: str, visible: str) -> None:
    assert not is_blank(around + visible + around)


# --- mode gates -------------------------------------------------------------------------------------------------------

AS_FULL = (DELTA_ANSWERED_AS_FULL,)


@pytest.mark.parametrize(
    ("requested", "content", "answered", "query", "mode"),
    [
        ("full", "", None, "Q", Mode("full", "full", None)),
        ("full", "Text.", "Old", "Q", Mode("full", "full", None)),
        ("delta", "", None, "Q", Mode("delta", "full", "no_baseline_content")),
        ("delta", "", "Q", "Q", Mode("delta", "full", "no_baseline_content")),
        ("delta", "", "Old", "Q", Mode("delta", "full", "no_baseline_content")),
        ("delta", "Text.", "Old", "Q", Mode("delta", "full", "source_query_changed")),
        ("delta", "Text.", "q", "Q", Mode("delta", "full", "source_query_changed")),
        ("delta", "Text.", "", "Q", Mode("delta", "full", "source_query_changed")),
        ("delta", "Text.", "Q", "Q", Mode("delta", "full", None, AS_FULL)),
        ("delta", "Text.", " Q\n", "Q", Mode("delta", "full", None, AS_FULL)),
        ("delta", "Text.", "Q", "\tQ  ", Mode("delta", "full", None, AS_FULL)),
        ("delta", "Text.", None, "Q", Mode("delta", "full", None, AS_FULL)),
    ],
    ids=[
        "full is full",
        "full is full whatever changed",
        "delta without a document",
        "delta of an emptied document",
        "no document weighs more than another question",
        "delta of a document that answers another question",
        "a question in other letters is another question",
        "an empty question was another question",
        "delta of an answered question is answered as full and says so",
        "whitespace around the answered question is no change",
        "whitespace around the question is no change",
        "a document by hand answers no question and passes",
    ],
)
def test_mode_gates(requested: str, content: str, answered: str | None, query: str, mode: Mode) -> None:
    assert decide_mode("delta" if requested == "delta" else "full", content, answered, query) == mode


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS.keys())
def test_a_delta_of_a_blank_document_is_a_full_refresh(blank: str) -> None:
    assert decide_mode("delta", blank, "Q", "Q").fallback == "no_baseline_content"


# --- guards and outcomes ----------------------------------------------------------------------------------------------


def run(result: NothingToRead | Candidate | RunFailed) -> RefreshRun:
    return RefreshRun(RECORD, result)


def failure(reason: FailureReason, message: str, transient: bool) -> RefreshFailedError:
    return RefreshFailedError(failure_reason=reason, error_message=message, transient=transient, record=RECORD)


@pytest.mark.parametrize(
    ("result", "current", "outcome"),
    [
        (RunFailed("no_answer", "nothing found"), "", failure("no_answer", "nothing found", False)),
        (RunFailed("retrieval_failed", "down", True), "Text.\n", failure("retrieval_failed", "down", True)),
        (NothingToRead(), "", preserved()),
        (NothingToRead(), "Text.\n", preserved()),
        (Candidate(""), "", EMPTY_CANDIDATE),
        (Candidate(" \u200b\n"), "Text.\n", EMPTY_CANDIDATE),
        (Candidate("Text.\n"), "Text.\n", unchanged()),
        (Candidate("\n Text."), "Text.\n", unchanged()),
        (Candidate("Text."), "", written("Text.\n")),
        (Candidate("New.\n"), "Text.\n", written("New.\n")),
        (Candidate("New."), "Text.\n", written("New.\n")),
        (Candidate("New.\n\n"), "Text.\n", written("New.\n\n")),
        (Candidate("  indented"), "Text.\n", written("  indented\n")),
    ],
    ids=[
        "failed run without a document",
        "failed run keeps the document",
        "nothing readable without a document",
        "nothing readable keeps the document",
        "empty text where there was none",
        "blank text never replaces a document",
        "the same text",
        "the same text but for the space around it",
        "first text",
        "another text",
        "a text without a final newline gets one",
        "a text with newlines keeps its own",
        "leading space is kept",
    ],
)
def test_every_run_has_its_outcome(
    result: NothingToRead | Candidate | RunFailed, current: str, outcome: RefreshOutcome
) -> None:
    assert decide_outcome(run(result), current) == outcome


@pytest.mark.parametrize("blank", BLANKS.values(), ids=BLANKS.keys())
@pytest.mark.parametrize("current", ["", "Text.\n"])
def test_rs_02_an_answer_nobody_can_see_is_refused(blank: str, current: str) -> None:
    assert decide_outcome(run(Candidate(blank)), current) == EMPTY_CANDIDATE


def test_rs_02_no_answer_is_a_failure_and_not_a_text() -> None:
    outcome = decide_outcome(run(RunFailed("no_answer", "No answer provided.")), "Text.\n")
    assert failure_of(outcome) == ("no_answer", "No answer provided.", False)


RESULTS = st.one_of(
    st.just(NothingToRead()),
    st.text().map(Candidate),
    st.builds(RunFailed, st.sampled_from(["no_answer", "retrieval_failed"]), st.text(), st.booleans()),
)


@for_all(RESULTS, st.text())
def test_any_run_becomes_exactly_one_outcome_that_loses_nothing(
    result: NothingToRead | Candidate | RunFailed, current: str
) -> None:
    outcome = decide_outcome(run(result), current)
    assert outcome.record == RECORD
    assert (failure_of(outcome) is None) == (outcome_name(outcome).startswith("content_"))
    if isinstance(outcome, ContentWritten):
        assert isinstance(result, Candidate)
        assert outcome.text in (result.markdown, result.markdown + "\n")
        assert outcome.text.endswith("\n")
        assert not is_blank(outcome.text)
        assert outcome.sha256 == hashlib.sha256(outcome.text.encode()).hexdigest()


@for_all(st.text())
def test_writing_what_was_written_is_unchanged(markdown: str) -> None:
    outcome = decide_outcome(run(Candidate(markdown)), "")
    if isinstance(outcome, ContentWritten):
        assert isinstance(decide_outcome(run(Candidate(markdown)), outcome.text), ContentUnchanged)


def test_guards_are_asked_in_this_order() -> None:
    assert [guard.__name__ for guard in GUARDS] == ["failed_run", "no_sources", "empty_candidate", "same_text"]


@pytest.mark.parametrize(
    ("outcome", "name", "expected"),
    [
        (written(), "content_written", None),
        (unchanged(), "content_unchanged", None),
        (preserved(), "content_preserved_no_new_facts", None),
        (
            EMPTY_CANDIDATE,
            "refresh_failed_empty_candidate",
            ("empty_candidate", "the refresh came to an empty document; the present one was kept", False),
        ),
        (
            failed(transient=True),
            "refresh_failed_error",
            ("unexpected_error", "the endpoint answered 500", True),
        ),
    ],
)
def test_every_outcome_has_its_public_name_and_its_failure(
    outcome: RefreshOutcome, name: str, expected: tuple[str, str, bool] | None
) -> None:
    assert (outcome_name(outcome), failure_of(outcome)) == (name, expected)


def test_no_outcome_is_without_a_name() -> None:
    assert set(OUTCOME_NAMES) == {
        ContentWritten,
        ContentUnchanged,
        ContentPreservedNoNewFacts,
        RefreshFailedEmptyCandidate,
        RefreshFailedError,
    }
    assert len(set(OUTCOME_NAMES.values())) == len(OUTCOME_NAMES)
