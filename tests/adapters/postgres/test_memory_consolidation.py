"""What waits to be consolidated, and observations on PostgreSQL: never one that rests on a fact that is gone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.clock import RandomIdentities
from adapters.postgres.database import connection_of
from adapters.postgres.fact_versions import Closing, NewVersion, VersionWriter, lock_clock
from adapters.postgres.memory_consolidation import PostgresObservationStore
from adapters.postgres.memory_consolidation_reads import of_bank, scopes_page, told, versions
from adapters.postgres.reader import Reader
from application.ports import EmbeddedChanges, MemoryMovedOn
from domain.consolidation import ObservationChanges, WrittenObservation
from domain.memory import Fact
from tests.support.memories import NOON, SOME_VECTOR, BankMemory, document, hours_later, said


class Observing:
    """A bank whose facts are made into observations by hand."""

    def __init__(self, memory: BankMemory) -> None:
        self.memory = memory
        self.store = PostgresObservationStore(memory.database, RandomIdentities(), space=lambda: memory.store.space)

    def waiting(self, **asked: Any) -> list[str]:
        return [fact.text for fact in self.pending(**asked)]

    def pending(self, **asked: Any) -> Sequence[Fact]:
        return self.store.pending(self.memory.bank_id, 100, **asked)

    def write(self, facts: Sequence[Fact], *changes: ObservationChanges, hour: int = 1) -> None:
        embedded = [EmbeddedChanges(each, [SOME_VECTOR] * len(each.written)) for each in changes]
        with self.memory.database.begin() as tx:
            self.store.write(self.memory.bank_id, facts, embedded, hours_later(hour), tx)

    def observe(self, text: str, *facts: Fact, scope: tuple[str, ...] = (), before: Fact | None = None) -> Fact:
        sources = tuple(dict.fromkeys((*(before.source_ids if before else ()), *(fact.id for fact in facts))))
        written = WrittenObservation(before=before, text=text, source_ids=sources)
        self.write(facts, ObservationChanges(scope=scope, written=(written,)))
        return self.observation(text)

    def observations(self) -> dict[str, dict[str, Any]]:
        return {text: row for text, row in self.memory.current().items() if row["fact_type"] == "observation"}

    def observation(self, text: str) -> Fact:
        (found,) = self.store.current(self.memory.bank_id, [self.observations()[text]["fact_id"]])
        return found

    def do(self, change: Callable[..., Any], *arguments: Any) -> Any:
        with self.memory.database.begin() as tx:
            return change(self.memory.bank_id, *arguments, tx)

    def count(self) -> tuple[int, int]:
        statistics = Reader(self.memory.database).ask(of_bank(self.memory.bank_id))
        return statistics.pending, statistics.failed


@pytest.fixture
def bank(memory: BankMemory) -> Observing:
    return Observing(memory)


def test_facts_wait_oldest_first_until_they_are_consolidated(bank: Observing) -> None:
    bank.memory.retain(document("a", "One.", "Two."))
    bank.memory.retain(document("b", "Three.", tags=("x", "y")))
    assert bank.waiting() == ["One.", "Two.", "Three."]
    assert bank.waiting(scopes=[("x",), ("z",)]) == ["Three."]
    assert bank.waiting(scopes=[("x", "z")]) == []
    assert bank.waiting(leave_out=[bank.pending()[0].id]) == ["Two.", "Three."]
    assert bank.store.count_pending(bank.memory.bank_id) == 3
    assert bank.memory.bank_id in bank.store.banks_pending()
    bank.observe("Both.", *bank.pending()[:2])
    assert bank.waiting() == ["Three."]
    assert bank.count() == (1, 0)


def test_an_observation_stands_in_its_scope_with_what_it_rests_on(bank: Observing) -> None:
    bank.memory.retain(document("a", "One.", "Two.", tags=("x",)))
    facts = bank.pending()
    found = bank.observe("Both.", *facts, scope=("x",))
    assert (found.fact_type, found.tags, found.source_ids) == ("observation", ("x",), tuple(f.id for f in facts))
    assert found.position == 3
    assert bank.store.count_in(bank.memory.bank_id, ("x",)) == 1
    assert bank.store.count_in(bank.memory.bank_id, ()) == 0
    scopes, total = Reader(bank.memory.database).ask(scopes_page(bank.memory.bank_id, 10, 0))
    assert (scopes, total) == ([(["x"], 1)], 1)
    assert Reader(bank.memory.database).ask(scopes_page(bank.memory.bank_id, 10, 5)) == ([], 1)


def test_the_next_version_of_an_observation_keeps_its_id_and_history(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."))
    first = bank.observe("It.", *bank.pending())
    bank.memory.retain(document("b", "Two."))
    (two,) = bank.pending()
    second = bank.observe("It grew.", two, before=first)
    assert (second.id, second.version, second.source_ids) == (first.id, 2, (*first.source_ids, two.id))
    asked = Reader(bank.memory.database).ask(versions(bank.memory.bank_id, first.id, 2))
    assert [(each.version, each.text, each.current) for each in asked] == [(1, "It.", False), (2, "It grew.", True)]
    assert Reader(bank.memory.database).ask(versions(bank.memory.bank_id, first.id, 1)) == asked[1:]
    known = Reader(bank.memory.database).ask(told(bank.memory.bank_id, [str(two.id), str(uuid4())]))
    assert [each.text for each in known.values()] == ["Two."]


def test_an_observation_ends_with_any_fact_it_rests_on_and_the_others_wait_again(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."), document("c", "Three."))
    one, two, three = bank.pending()
    bank.observe("One and two.", one, two)
    bank.observe("Three.!", three)
    bank.memory.retain(document("a", "Other."))
    assert set(bank.observations()) == {"Three.!"}
    assert bank.waiting() == ["Two.", "Other."]


def test_nothing_is_written_when_a_fact_is_gone_or_says_something_else(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."))
    read = bank.pending()
    bank.memory.retain(document("a", "Other."))
    with pytest.raises(MemoryMovedOn):
        bank.observe("Both.", *read)
    assert bank.observations() == {}
    assert bank.waiting() == ["Two.", "Other."]


def test_nothing_is_written_when_an_observation_is_no_longer_as_it_was(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."), document("c", "Three."))
    one, two, three = bank.pending()
    before = bank.observe("One.!", one)
    bank.observe("One and two.", two, before=before)
    with pytest.raises(MemoryMovedOn):
        bank.observe("One and three.", three, before=before)
    gone = ObservationChanges(scope=(), dropped=(before,))
    with pytest.raises(MemoryMovedOn):
        bank.write([three], gone)
    assert set(bank.observations()) == {"One and two."}


def test_what_is_consolidated_already_is_not_consolidated_twice(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."))
    read = bank.pending()
    bank.observe("It.", *read)
    with pytest.raises(MemoryMovedOn):
        bank.observe("It again.", *read)
    assert set(bank.observations()) == {"It."}


def test_what_failed_waits_no_more_until_it_is_recovered(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."))
    one, two = bank.pending()
    assert bank.do(bank.store.set_aside, [one], "no reply", NOON) == 1
    assert bank.do(bank.store.set_aside, [one], "again", NOON) == 0
    assert (bank.waiting(), bank.count()) == (["Two."], (1, 1))
    with pytest.raises(MemoryMovedOn):
        bank.observe("Both.", one, two)
    assert bank.do(bank.store.recover) == 1
    assert (bank.waiting(), bank.count()) == (["One.", "Two."], (2, 0))


def test_clearing_ends_all_observations_and_has_all_facts_wait(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."))
    one, two = bank.pending()
    bank.observe("One.!", one)
    bank.write([two])
    assert bank.waiting() == []
    assert bank.do(bank.store.clear, NOON).closed == 1
    assert (bank.observations(), bank.waiting()) == ({}, ["One.", "Two."])


def test_clearing_for_one_fact_ends_only_what_rests_on_it(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."), document("c", "Three."))
    one, two, three = bank.pending()
    bank.observe("One and two.", one, two)
    bank.observe("Three.!", three)
    with bank.memory.database.begin() as tx:
        assert bank.store.clear(bank.memory.bank_id, NOON, tx, one.id).closed == 1
    assert (set(bank.observations()), bank.waiting()) == ({"Three.!"}, ["One.", "Two."])


def test_the_nearest_observation_is_of_the_scope_and_current(bank: Observing) -> None:
    bank.memory.retain(document("a", "One.", "Two.", "Three."))
    one, two, three = bank.pending()
    bank.observe("Here.", one, scope=("x",))
    bank.observe("There.", two, scope=("y",))
    before = bank.observation("Here.")
    bank.observe("Here now.", three, before=before, scope=("x",))
    ((found, similarity), nothing) = bank.store.nearest(bank.memory.bank_id, ("x",), [SOME_VECTOR, ()])  # type: ignore[misc]
    assert (found.text, nothing) == ("Here now.", None)
    assert similarity == pytest.approx(1.0)
    assert bank.store.nearest(bank.memory.bank_id, ("z",), [SOME_VECTOR]) == [None]
    assert bank.store.nearest(bank.memory.bank_id, ("x",), [(0.0, 0.0, 0.0)]) == [None]


def test_positions_have_no_gaps_whatever_is_written(bank: Observing) -> None:
    bank.memory.retain(document("a", "One."), document("b", "Two."))
    one, two = bank.pending()
    first = bank.observe("One.!", one)
    bank.observe("Both.", two, before=first)
    bank.memory.retain(document("a", "Other."))
    rows = bank.memory.rows("SELECT from_position AS at FROM fact_versions WHERE bank_id = %s") + bank.memory.rows(
        "SELECT to_position AS at FROM fact_versions WHERE bank_id = %s AND to_position IS NOT NULL"
    )
    assert sorted(row["at"] for row in rows) == list(range(1, bank.memory.store.position(bank.memory.bank_id) + 1))


def test_another_bank_is_not_touched(bank: Observing) -> None:
    other = Observing(bank.memory.neighbour())
    other.memory.retain(document("a", said("Theirs.")))
    other.observe("Theirs!", *other.pending())
    bank.memory.retain(document("a", "Ours."))
    assert bank.do(bank.store.clear, NOON).closed == 0
    assert set(other.observations()) == {"Theirs!"}
    assert other.waiting() == []


def test_the_store_knows_facts_by_id_in_the_order_asked(bank: Observing) -> None:
    bank.memory.retain(document("a", "One.", "Two."))
    one, two = bank.pending()
    asked: list[UUID] = [two.id, uuid4(), one.id]
    assert [fact.text for fact in bank.store.current(bank.memory.bank_id, asked)] == ["Two.", "One."]


def test_a_fact_that_waits_goes_on_waiting_when_only_its_tags_change(bank: Observing) -> None:
    """Its next version needs no consolidation again, but it has had none yet."""
    bank.memory.retain(document("a", "One."), document("b", "Two."))
    one, two = bank.pending()
    bank.observe("Two.!", two)
    for fact in (one, two):
        with bank.memory.database.begin() as tx:
            connection = connection_of(tx)
            before = lock_clock(connection, bank.memory.bank_id)
            writer = VersionWriter(connection, bank.memory.bank_id, NOON, bank.memory.store.space)
            closing = Closing(fact.position, fact.id, "world", (), keeps_observations=True)
            new = NewVersion(fact.id, fact.text, "world", ("x",), version=2, consolidated=True)
            writer.apply(before, [closing], [new])
    assert bank.waiting() == ["One."]
    assert set(bank.observations()) == {"Two.!"}
