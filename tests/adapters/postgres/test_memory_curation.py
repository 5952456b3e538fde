"""Curation over a real database: what others do meanwhile is not undone, and what was paid for is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from adapters.app import build
from adapters.clock import RandomIdentities
from adapters.postgres import memory_listing
from adapters.postgres.memory_consolidation import PostgresObservationStore
from adapters.postgres.memory_curation import PostgresFactCuration
from adapters.postgres.memory_listing import FactFilter
from adapters.postgres.migrations import migrate
from adapters.service import Service, opened
from adapters.settings import Settings
from application.curation import Asked
from application.ports import EmbeddedChanges, Embeddings, Extraction
from domain.consolidation import ObservationChanges, WrittenObservation
from domain.curation import CuratedFact, DocumentEdit, FactEdit
from domain.memory import Fact, RetainItem
from domain.refusals import FactNotCurated, FactNotFound
from domain.scope import Scope
from tests.support.examples import call
from tests.support.services import TickingClock, context, retain, run_pending

BANK = "team"
ADA = "Ada Lovelace works at Acme."
BOB = "Bob Stone lives in Oslo."


class Interrupted:
    """An embedder and an extractor during whose next call something happens elsewhere."""

    rereads = True
    model = "interrupted"
    dimensions = 3

    def __init__(self, extractor: Any) -> None:
        self._extractor = extractor
        self.meanwhile: list[Callable[[], object]] = []
        self.embedded: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str]) -> Embeddings:
        self._interrupt()
        self.embedded.append(texts)
        return Embeddings([(1.0, 0.0, 0.0)] * len(texts), (call("embed", 7, 0),))

    def extract(self, item: RetainItem, **steering: Any) -> Extraction:
        self._interrupt()
        read: Extraction = self._extractor.extract(item, **steering)
        return read

    def _interrupt(self) -> None:
        if self.meanwhile:
            self.meanwhile.pop(0)()

    def warm_up(self) -> None: ...

    def close(self) -> None: ...


class Team:
    """A service with one bank."""

    def __init__(self, service: Service, mind: Interrupted) -> None:
        self.service, self.mind = service, mind

    def edit(self, fact: Fact, **fields: Any) -> CuratedFact:
        return self.service.curation.curate(context(self.service), BANK, fact.id, Asked(FactEdit(**fields)))

    def fact(self, text: str) -> Fact:
        (found,) = [fact for fact in self.facts() if fact.text == text]
        return found

    def observed(self) -> UUID:
        """An observation that rests on all facts; nothing waits any more."""
        facts, space = self.facts(), f"{self.mind.model}/{self.mind.dimensions}"
        store = PostgresObservationStore(self.service.database, RandomIdentities(), space=lambda: space)
        written = WrittenObservation(text="Two people.", source_ids=tuple(fact.id for fact in facts))
        changes = EmbeddedChanges(ObservationChanges(scope=("a",), written=(written,)), [(1.0, 0.0, 0.0)])
        with self.service.database.begin() as tx:
            store.write(BANK, facts, [changes], facts[0].recorded_at, tx)
        found, _ = self.service.reader.ask(
            memory_listing.page(BANK, FactFilter(scope=Scope(fact_types=("observation",))), 10, 0)
        )
        return found[0].fact.id

    def waiting(self) -> list[str]:
        found, _ = self.service.reader.ask(memory_listing.page(BANK, FactFilter(consolidation="pending"), 10, 0))
        return sorted(each.fact.text for each in found)

    def edit_document(self, **fields: Any) -> int:
        return self.service.curation.edit_document(context(self.service), BANK, "one", DocumentEdit(**fields))

    def facts(self) -> Sequence[Fact]:
        with self.service.database.begin() as tx:
            found = PostgresFactCuration(self.service.database, lambda: "").document(BANK, "one", tx)
        return found.facts if found else ()


@pytest.fixture
def team(conninfo: str) -> Iterator[Team]:
    migrate(conninfo)
    settings, clock = Settings(_env_file=None), TickingClock()
    service = build(settings, conninfo, clock=clock)
    mind = Interrupted(service.minds.extractor)
    service.database.close()
    minds = replace(service.minds, extractor=mind)
    with opened(build(settings, conninfo, clock=clock, minds=minds, embedder=mind)) as service:
        retain(service, BANK, f"{ADA} {BOB}", tags=("a",), document_id="one")
        mind.embedded.clear()
        yield Team(service, mind)


def test_an_edit_is_made_again_on_what_another_made_of_the_fact_meanwhile_and_asks_for_nothing_twice(
    team: Team,
) -> None:
    ada = team.fact(ADA)
    team.mind.meanwhile = [lambda: team.edit(ada, context="at work")]

    edited = team.edit(ada, text="Ada Lovelace works at Globex.").fact

    assert (edited.text, edited.context, edited.version) == ("Ada Lovelace works at Globex.", "at work", 3)
    assert len(team.mind.embedded) == 1


def test_an_edit_of_a_fact_that_is_deleted_meanwhile_is_refused_and_its_cost_is_told(team: Team) -> None:
    ada = team.fact(ADA)
    team.mind.meanwhile = [lambda: team.service.curation.delete_fact(context(team.service), BANK, ada.id)]

    with pytest.raises(FactNotFound):
        team.edit(ada, text="Ada Lovelace works at Globex.")

    assert [fact.text for fact in team.facts()] == [BOB]
    assert [[each["purpose"] for each in event["calls"]] for event in _told(team.service)] == [["embed"]]


def test_new_tags_given_while_a_text_is_appended_are_those_it_is_read_again_with(team: Team) -> None:
    retag = DocumentEdit(tags=("b",))
    team.mind.meanwhile = [lambda: team.service.curation.edit_document(context(team.service), BANK, "one", retag)]
    item = RetainItem(content="Cleo Park lives in Rome.", document_id="one", tags=("c",), update_mode="append")

    team.service.memories.retain(context(team.service), BANK, [item])

    assert {fact.text: fact.tags for fact in team.facts()} == {
        ADA: ("b",), BOB: ("b",), "Cleo Park lives in Rome.": ("c",)
    }  # fmt: skip
    stored = team.service.memory.stored_documents(BANK, ["one"])["one"]
    assert [item.given["tags"] for part in stored.parts for item in part.items] == [["b"], ["c"]]


def test_an_observation_is_not_edited_and_when_it_is_deleted_what_it_rested_on_waits_again(team: Team) -> None:
    observation = team.observed()
    assert team.waiting() == []
    for asked in (Asked(FactEdit(text="Three people.")), Asked(FactEdit(), state="invalidated")):
        with pytest.raises(FactNotCurated, match="the facts it rests on"):
            team.service.curation.curate(context(team.service), BANK, observation, asked)

    assert team.service.curation.delete_fact(context(team.service), BANK, observation).facts == 1
    assert team.waiting() == [ADA, BOB]


def test_what_rests_on_a_document_is_made_anew_only_where_other_tags_come_to_other_scopes(team: Team) -> None:
    """TS-09, its second half."""
    assert team.edit_document(observation_scopes="shared") == 2
    observation = team.observed()

    assert team.edit_document(tags=("b", "c")) == 2
    assert team.edit_document(observation_scopes=((),)) == 2
    assert team.waiting() == []
    assert team.service.reader.ask(memory_listing.find(BANK, observation)) is not None

    assert team.edit_document(observation_scopes="combined") == 2
    assert team.waiting() == [ADA, BOB]
    assert team.service.reader.ask(memory_listing.find(BANK, observation)) is None


def test_a_document_stored_before_there_were_parts_is_read_again_with_its_tags(team: Team) -> None:
    with team.service.database.connection() as connection:
        connection.execute("UPDATE memory_documents SET parts = '[]'")

    team.service.memories.reprocess_later(context(team.service), BANK, "one")
    run_pending(team.service, BANK)

    assert {fact.text: fact.tags for fact in team.facts()} == {ADA: ("a",), BOB: ("a",)}


def _told(service: Service) -> list[dict[str, Any]]:
    """What models were asked for edits."""
    with service.database.connection() as connection:
        rows = connection.execute("SELECT payload FROM event_log WHERE payload ->> 'request' = 'curate'").fetchall()
    return [row["payload"] for row in rows]
