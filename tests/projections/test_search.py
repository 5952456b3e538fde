"""The text without markup."""

from __future__ import annotations

import pytest

from domain.event import Event
from domain.mental_model.events import ContentCleared, ContentEdited, ContentReverted, MentalModelRenamed
from projections import search
from tests.support.examples import BANK, MODEL, created, recorded, written

MARKED_UP = "# Bridge\n\n- built of **stone**\n"


@pytest.mark.parametrize(
    ("event", "column", "value"),
    [
        (MentalModelRenamed(name="Most"), "name", "Most"),
        (ContentCleared(), "plain_text", ""),
    ],
)
def test_kp_03_the_text_searched_follows_the_document(event: Event, column: str, value: str) -> None:
    (statement,) = search.project(recorded(event))
    assert f"{column} = %({column})s" in statement.sql
    assert statement.params[column] == value


@pytest.mark.parametrize(
    "event",
    [
        written(MARKED_UP),
        ContentEdited(text=MARKED_UP, sha256="", ids=()),
        ContentReverted(to_version=2, text=MARKED_UP, sha256="", ids=()),
    ],
    ids=lambda event: event.TOPIC,
)
def test_a_text_is_searched_without_its_markup_whoever_wrote_it(event: Event) -> None:
    (statement,) = search.project(recorded(event))
    assert "plain_text = %(plain_text)s" in statement.sql
    for word in ("Bridge", "built of stone"):
        assert word in statement.params["plain_text"]
    assert "*" not in statement.params["plain_text"]
    assert "#" not in statement.params["plain_text"]


def test_a_new_document_is_searched_by_its_name_only() -> None:
    (statement,) = search.project(recorded(created()))
    assert statement.params["name"] == "Charles Bridge"
    assert "''" in statement.sql


def test_a_document_is_found_by_the_words_of_its_name_and_of_its_text() -> None:
    (named,) = search.project(recorded(MentalModelRenamed(name="The old bridges")))
    assert named.params["name_terms"] == ["old", "bridg"]
    (told,) = search.project(recorded(written(MARKED_UP)))
    assert set(told.params["text_terms"]) >= {"bridg", "built", "stone"}
    (emptied,) = search.project(recorded(ContentCleared()))
    assert emptied.params["text_terms"] == []


def test_the_text_is_read_or_there_is_none() -> None:
    assert search.text_of(BANK, MODEL).read([{"plain_text": "Bridge"}]) == "Bridge"
    assert search.text_of(BANK, MODEL).read([]) is None
