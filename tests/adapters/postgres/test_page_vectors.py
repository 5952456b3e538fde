"""The index of pages and the texts behind facts, on a real database."""

from __future__ import annotations

import pytest

from adapters.postgres.page_vectors import PostgresPageIndex
from adapters.postgres.source_texts import PostgresSourceTexts
from adapters.service import Service
from application.ports.pages import PageOrigin
from domain.memory import RecallQuery
from domain.scope import Scope
from tests.support.services import context, define, retain, run_pending

BANK = "pages"
TEAS = Scope(tags=("tea",), tags_match="all_strict")
"""What a page of this tag reads."""


def index_of(service: Service, model: str = "some-model", *, observations: bool = False) -> PostgresPageIndex:
    return PostgresPageIndex(service.database, embedding_model=model, dimensions=lambda: 2, observations=observations)


@pytest.fixture
def pages(service: Service) -> PostgresPageIndex:
    """Two pages: one that says something, one that waits for its first refresh."""
    retain(service, BANK, "Tea grows on hills.", tags=("tea",))
    define(service, BANK, "tea", tags=("tea",))
    run_pending(service, BANK)
    define(service, BANK, "empty")
    return index_of(service)


def makes_all(index: PostgresPageIndex, vector: tuple[float, ...] = (1.0, 0.0)) -> None:
    index.keep_vectors([(page, vector) for page in index.without_vector(BANK, 10)])


def test_pages_wait_for_their_vectors_and_are_found_by_word_meanwhile(pages: PostgresPageIndex) -> None:
    assert pages.pending(BANK) == 2
    by_id = {each.mental_model_id: each for each in pages.matches(BANK, ["tea", "hill", "none"], (1.0, 0.0))}
    assert (by_id["tea"].semantic, by_id["tea"].terms, by_id["tea"].tags) == (None, {"tea", "hill"}, ("tea",))
    assert (by_id["empty"].is_empty, by_id["empty"].terms) == (True, frozenset())
    assert pages.origins(BANK) == {"tea": PageOrigin(("tea",), (TEAS,))}
    assert (by_id["tea"].made_in, by_id["empty"].made_in) == ((TEAS,), ())
    assert pages.read(BANK, ["tea"])["tea"].made_in == (TEAS,)
    makes_all(pages)
    assert (pages.pending(BANK), list(pages.without_vector(None, 10))) == (0, [])
    (tea,) = [each for each in pages.matches(BANK, [], (0.6, 0.8)) if each.mental_model_id == "tea"]
    assert tea.semantic == pytest.approx(0.6, abs=0.01)
    assert pages.matches("another", ["tea"], (1.0, 0.0)) == []


def test_a_vector_of_another_model_counts_as_missing(service: Service, pages: PostgresPageIndex) -> None:
    makes_all(pages)
    other = index_of(service, "other-model")
    assert other.pending(BANK) == 2
    assert {each.semantic for each in other.matches(BANK, ["tea"], (1.0, 0.0))} == {None}
    makes_all(other)
    assert (other.pending(BANK), pages.pending(BANK)) == (0, 2)


def test_a_page_that_was_renamed_or_written_waits_again(service: Service, pages: PostgresPageIndex) -> None:
    makes_all(pages)
    before = pages.without_vector(BANK, 10)
    service.mental_models.change(context(service), BANK, "tea", name="Green tea")
    (waiting,) = pages.without_vector(BANK, 10)
    assert (list(before), waiting.name, "hills" in waiting.text) == ([], "Green tea", True)
    current = {each.mental_model_id: each.vector_is_current for each in pages.matches(BANK, [], (1.0, 0.0))}
    assert current == {"tea": False, "empty": True}


def test_a_vector_of_an_older_text_is_dropped(service: Service, pages: PostgresPageIndex) -> None:
    slow = pages.without_vector(BANK, 10)
    service.mental_models.change(context(service), BANK, "tea", name="Green tea")
    pages.keep_vectors([(page, (1.0, 0.0)) for page in slow])
    assert [page.name for page in pages.without_vector(BANK, 10)] == ["Green tea"]


def test_a_text_without_a_vector_does_not_wait_for_ever(pages: PostgresPageIndex) -> None:
    makes_all(pages, ())
    assert pages.pending(BANK) == 0
    assert {each.semantic for each in pages.matches(BANK, ["tea"], (1.0, 0.0))} == {None}


def test_a_page_is_read_with_what_makes_it_stale(service: Service, pages: PostgresPageIndex) -> None:
    fresh = pages.read(BANK, ["tea", "unknown"])["tea"]
    assert (fresh.is_stale, fresh.tags, "hills" in fresh.content) == (False, ("tea",), True)
    retain(service, BANK, "Tea is picked in spring.", tags=("tea",))
    assert pages.read(BANK, ["tea"])["tea"].stale_because == ("new_memories",)
    observing = index_of(service, observations=True)
    assert observing.read(BANK, ["tea"])["tea"].stale_because == ("new_memories", "pending_consolidation")


def test_the_vectors_of_a_deleted_bank_go_with_it(service: Service, pages: PostgresPageIndex) -> None:
    makes_all(pages)
    service.banks.delete(context(service), BANK)
    with service.database.connection() as connection:
        assert connection.execute("SELECT count(*) AS n FROM page_vectors").fetchone() == {"n": 0}


@pytest.mark.parametrize(("tags", "seen"), [(("a",), True), (("b",), False), ((), True)])
def test_a_text_is_shown_where_all_that_was_read_from_it_may_be(
    service: Service, tags: tuple[str, ...], seen: bool
) -> None:
    retain(service, BANK, "Ada likes tea. Ada lives in Oslo.", tags=("a",), document_id="notes")
    facts = [
        found.fact
        for found in service.memory.recall(
            RecallQuery(bank_id=BANK, text="Ada"), service.embedder.embed(["Ada"]).vectors[0]
        )
    ]
    assert facts
    texts = PostgresSourceTexts(service.database)
    scope = Scope(tags=tags, tags_match="any_strict")
    whole = texts.documents(BANK, facts, scope)
    assert whole == ({fact.id: "Ada likes tea. Ada lives in Oslo." for fact in facts} if seen else {})
    assert set(texts.chunks(BANK, facts, scope)) == ({fact.id for fact in facts if fact.chunk_id} if seen else set())
    assert texts.documents("another", facts, scope) == {}
    newest = service.memory.position(BANK)
    for upto, there in ((newest, seen), (newest - 1, False)):
        assert bool(texts.documents(BANK, facts, scope, upto)) is there
        assert bool(texts.chunks(BANK, facts, scope, upto)) is (there and any(fact.chunk_id for fact in facts))


def test_the_vector_of_a_deleted_page_is_forgotten(service: Service, pages: PostgresPageIndex) -> None:
    makes_all(pages)
    service.mental_models.delete(context(service), BANK, "empty")
    pages.forget_gone()
    with service.database.connection() as connection:
        assert connection.execute("SELECT mental_model_id AS id FROM page_vectors").fetchall() == [{"id": "tea"}]


def test_words_with_signs_in_them_are_found(service: Service, pages: PostgresPageIndex) -> None:
    service.mental_models.change(context(service), BANK, "tea", name="v1.2 of foo:bar a/b it's 42-x 東京")
    asked = ["v1.2", "foo:bar", "a/b", "42-x", "東京", "o'neil"]
    (tea,) = [each for each in pages.matches(BANK, asked, ()) if each.mental_model_id == "tea"]
    assert tea.terms == set(asked[:-1])
