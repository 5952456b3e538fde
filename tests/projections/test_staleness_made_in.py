"""The scopes that the text of a document was made from, as they are kept."""

from __future__ import annotations

import pytest

from domain.event import Event
from domain.mental_model.events import ContentCleared, ContentReverted
from projections import staleness
from tests.support.examples import preserved, recorded, unchanged, written


@pytest.mark.parametrize(
    ("event", "made_in"),
    [
        (written(), "made_in = ARRAY[%(scope)s::text],"),
        (unchanged(), "made_in = ARRAY[%(scope)s::text],"),
        (written(effective_mode="delta"), "made_in || %(scope)s::text END,"),
        (ContentReverted(to_version=2, text="", sha256="", ids=()), "made_in = ever_made_in"),
        (ContentCleared(), "made_in = %(made_in)s"),
    ],
    ids=["anew", "the same anew", "edited", "put back", "cleared"],
)
def test_the_scopes_a_text_was_made_from_are_those_of_all_that_is_left_of_it(event: Event, made_in: str) -> None:
    (statement,) = staleness.project(recorded(event))
    assert f" {made_in}" in statement.sql


@pytest.mark.parametrize("event", [unchanged(effective_mode="delta"), preserved(effective_mode="delta"), preserved()])
def test_a_run_that_writes_nothing_adds_no_scope_to_the_text(event: Event) -> None:
    (statement,) = staleness.project(recorded(event))
    assert "made_in" not in statement.sql
