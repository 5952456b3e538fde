"""Which mode a refresh runs in: a row for every gate."""

from __future__ import annotations

from typing import Any

import pytest

from domain.mental_model.record import FallbackReason
from domain.refresh.mode import AFTER_FAILED_DELTAS, AFTER_OUTGROWING, DELTA_ATTEMPTS, Mode, decide_mode
from tests.support.examples import mental_model

FULL = Mode("full", "full")
DELTA = Mode("delta", "delta")
NO_BASELINE = Mode("delta", "full", "no_baseline_content")
OTHER_QUERY = Mode("delta", "full", "source_query_changed")


@pytest.mark.parametrize(
    ("requested", "content", "answered", "query", "mode"),
    [
        ("full", "", None, "Q", FULL),
        ("full", "Text.", "Old", "Q", FULL),
        ("delta", "", None, "Q", NO_BASELINE),
        ("delta", "", "Q", "Q", NO_BASELINE),
        ("delta", "", "Old", "Q", NO_BASELINE),
        ("delta", " \u200b\n", "Q", "Q", NO_BASELINE),
        ("delta", "Generating content...", "Q", "Q", NO_BASELINE),
        ("delta", "Text.", "Old", "Q", OTHER_QUERY),
        ("delta", "Text.", "q", "Q", OTHER_QUERY),
        ("delta", "Text.", "", "Q", OTHER_QUERY),
        ("delta", "Text.", "Q", "Q", DELTA),
        ("delta", "Text.", " Q\n", "Q", DELTA),
        ("delta", "Text.", "Q", "\tQ  ", DELTA),
        ("delta", "Text.", None, "Q", DELTA),
    ],
    ids=[
        "full is full",
        "full is full whatever changed",
        "delta without a document",
        "delta of an emptied document",
        "no document weighs more than another question",
        "delta of a document in which nothing is seen",
        "delta of a text that only stands for a document",
        "rs-07 delta of a document that answers another question",
        "a question in other letters is another question",
        "an empty question was another question",
        "delta of an answered question",
        "rs-07 whitespace around the answered question is no change",
        "rs-07 whitespace around the question is no change",
        "a document by hand answers no question and passes",
    ],
)
def test_mode_gates(requested: str, content: str, answered: str | None, query: str, mode: Mode) -> None:
    model = mental_model(content=content, answered_query=answered, source_query=query)
    assert decide_mode("delta" if requested == "delta" else "full", model) == mode


def present(**changes: Any) -> Mode:
    return decide_mode("delta", mental_model(content="Text.", **changes))


@pytest.mark.parametrize("reason", ["delta_ops_failed", "delta_ops_all_skipped", "structured_doc_unreadable"])
def test_do_10_a_document_that_deltas_fail_on_is_written_anew_in_the_end(reason: FallbackReason) -> None:
    assert present(delta_failures=DELTA_ATTEMPTS - 1, delta_failure=reason) == DELTA
    told = AFTER_FAILED_DELTAS.format(count=DELTA_ATTEMPTS, reason=reason)
    assert present(delta_failures=DELTA_ATTEMPTS, delta_failure=reason) == Mode("delta", "full", reason, (told,))


def test_tk_02_a_document_that_outgrew_its_budget_is_written_anew() -> None:
    told = AFTER_OUTGROWING.format(budget=300, tokens=500)
    assert present(outgrown_tokens=500, max_tokens=300) == Mode("delta", "full", None, (told,))


def test_what_a_person_wrote_is_written_anew_for_neither_size_nor_failures() -> None:
    assert present(outgrown_tokens=500, max_tokens=300, written_by_hand=True) == DELTA
    failing = {"delta_failures": 9, "delta_failure": "delta_ops_failed"}
    assert present(**failing, written_by_hand=True) == DELTA


def test_another_question_is_told_before_failures_and_size() -> None:
    mode = present(answered_query="Old", delta_failures=9, delta_failure="delta_ops_failed", outgrown_tokens=9999)
    assert mode == OTHER_QUERY
