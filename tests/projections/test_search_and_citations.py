"""The text without markup, and which documents rest on which facts."""

from __future__ import annotations

import pytest

from domain.event import Event
from domain.mental_model.events import ContentCleared, MentalModelDeleted, MentalModelRenamed
from projections import citations, search
from tests.support.examples import BANK, MODEL, created, evidence, fact_id, recorded, unchanged, written


@pytest.mark.parametrize(
    ("event", "column", "value"),
    [
        (MentalModelRenamed(name="Most"), "name", "Most"),
        (ContentCleared(), "plain_text", ""),
    ],
)
def test_the_text_searched_follows_the_document(event: Event, column: str, value: str) -> None:
    (statement,) = search.project(recorded(event))
    assert f"SET {column} = %(value)s" in statement.sql
    assert statement.params["value"] == value


def test_a_written_text_is_searched_without_its_markup() -> None:
    (statement,) = search.project(recorded(written("# Bridge\n\n- built of **stone**\n")))
    assert "SET plain_text" in statement.sql
    for word in ("Bridge", "built of stone"):
        assert word in statement.params["value"]
    assert "*" not in statement.params["value"]
    assert "#" not in statement.params["value"]


def test_a_new_document_is_searched_by_its_name_only() -> None:
    (statement,) = search.project(recorded(created()))
    assert statement.params["name"] == "Charles Bridge"
    assert "''" in statement.sql


def test_the_text_is_read_or_there_is_none() -> None:
    assert search.text_of(BANK, MODEL).read([{"plain_text": "Bridge"}]) == "Bridge"
    assert search.text_of(BANK, MODEL).read([]) is None


@pytest.mark.parametrize("outcome", [written, unchanged])
def test_citations_are_replaced_by_what_the_document_rests_on_now(outcome: type) -> None:
    facts = (evidence(1), evidence(2, version=3))
    drop, cite = citations.project(recorded(outcome(evidence=facts)))
    assert drop.sql.startswith("DELETE FROM citations")
    assert (cite.params["facts"], cite.params["versions"]) == ([fact_id(1), fact_id(2)], [1, 3])


@pytest.mark.parametrize("event", [written(), ContentCleared(), MentalModelDeleted()], ids=lambda event: event.TOPIC)
def test_a_document_without_evidence_cites_nothing(event: Event) -> None:
    (drop,) = citations.project(recorded(event))
    assert drop.sql.startswith("DELETE FROM citations")


def test_documents_that_cite_a_fact_are_listed() -> None:
    query = citations.citing(BANK, str(fact_id(1)))
    assert query.read([{"mental_model_id": MODEL}]) == [MODEL]
