"""What a delta has to read, on real PostgreSQL and in the double: new facts, facts newly in scope, facts left over."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.postgres.database import Database
from domain.memory import UnreadQuery
from domain.scope import EVERYTHING, FACT_TYPES, Scope, TagLeaf, TagNot
from tests.adapters.postgres.twin_bank import TwinBank
from tests.domain.test_scope import scopes
from tests.support.memories import BankMemory, document, said

ALICE, BOB = (Scope(tags=(tag,), tags_match="any_strict") for tag in ("alice", "bob"))
EITHER = Scope(tags=("alice", "bob"), tags_match="any_strict")


@pytest.fixture
def bank(memory: BankMemory) -> TwinBank:
    return TwinBank(memory)


def positions(bank: TwinBank, scope: Scope = EVERYTHING, **query: object) -> list[int]:
    return [fact.position for fact in bank.unread(scope, **query)]


def test_what_became_valid_in_the_window_is_read_in_the_order_of_positions(bank: TwinBank) -> None:
    bank.retain(*(document(f"d{number}", f"tea {number}") for number in range(1, 7)))

    assert [fact.text for fact in bank.unread(after=2, upto=5)] == ["tea 3", "tea 4", "tea 5"]
    assert positions(bank) == [1, 2, 3, 4, 5, 6]
    assert positions(bank, after=4, upto=99) == [5, 6]
    assert positions(bank, after=6) == []
    assert positions(bank, upto=0) == []
    assert positions(bank, after=5, upto=3, pending=(2, 4)) == [2]


def test_a_fact_comes_with_all_it_was_stored_with(bank: TwinBank) -> None:
    fact = said("Ada moved", fact_type="experience", entities=("Ada",))
    bank.retain(document("d1", fact, tags=("work", "ada", "work"), context="a letter", metadata=(("page", "2"),)))

    [found] = bank.unread()

    assert (found.text, found.fact_type, found.tags) == ("Ada moved", "experience", ("ada", "work"))
    assert (found.context, found.metadata, found.entities) == ("a letter", (("page", "2"),), ("Ada",))
    assert (found.id, found.version) == (bank.real.current()["Ada moved"]["fact_id"], 1)


def test_a_window_of_the_past_is_read_as_it_was(bank: TwinBank) -> None:
    bank.retain(document("d1", "one"))
    bank.retain(document("d1", "two"))
    bank.revise(3, "two, revised")

    assert [fact.text for fact in bank.unread()] == ["two, revised"]
    assert [fact.text for fact in bank.unread(upto=1)] == ["one"]
    assert [fact.text for fact in bank.unread(upto=2)] == []
    assert [fact.text for fact in bank.unread(upto=3)] == ["two"]
    assert [(fact.text, fact.version) for fact in bank.unread(after=3)] == [("two, revised", 2)]


def test_only_what_is_in_scope_is_read(bank: TwinBank) -> None:
    bank.retain(
        document("d1", "of alice", tags=("alice",)), document("d2", "of bob", tags=("bob",)), document("d3", "of none")
    )

    assert positions(bank, ALICE) == [1]
    assert positions(bank, Scope(tags_match="exact")) == [3]
    assert positions(bank, ALICE, after=1, pending=(2, 3)) == []


def test_what_came_into_scope_is_read_however_old_it_is(bank: TwinBank) -> None:
    bank.retain(*(document(f"d{number}", f"tea {number}", tags=(who,)) for number, who in enumerate(("bob", "alice"))))
    bank.retain(document("d2", "of both", tags=("alice", "bob")), document("d3", "new", tags=("alice",)))

    assert positions(bank, EITHER, after=3, covered_scope=ALICE) == [1, 4]
    assert positions(bank, EITHER, after=3, covered_scope=EITHER) == [4]
    assert positions(bank, ALICE, after=3, covered_scope=EVERYTHING) == [4]
    assert positions(bank, ALICE, after=3) == [4]
    assert positions(bank, EVERYTHING, after=4, covered_scope=Scope(fact_types=())) == [1, 2, 3, 4]


def test_what_came_into_scope_and_is_gone_is_not_read(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea", tags=("bob",)), document("d2", "more", tags=("alice",)))
    bank.retain(document("d1", tags=("bob",)))

    assert positions(bank, EITHER, after=2, covered_scope=ALICE) == []
    assert positions(bank, EITHER, after=2, upto=2, covered_scope=ALICE) == [1]


def test_a_tag_filter_that_covers_by_groups_and_types_does_not_mix_with_the_scope(bank: TwinBank) -> None:
    """Both scopes stand in one statement, with parameters of their own."""
    bank.retain(
        document("d1", "tea", tags=("alice", "old")),
        document("d2", said("I like tea", fact_type="experience"), tags=("alice",)),
        document("d3", "milk", tags=("bob",)),
    )
    not_old = TagNot(none_of=TagLeaf(tags=("old",)))
    covered = Scope(tags=("alice",), tags_match="all", tag_groups=(not_old,), fact_types=("world", "observation"))
    scope = Scope(tags=("alice",), tags_match="any_strict", fact_types=("world", "experience"))

    assert positions(bank, scope, after=3, covered_scope=covered) == [1, 2]


def test_what_is_left_over_is_read_again_while_it_is_there(bank: TwinBank) -> None:
    bank.retain(*(document(f"d{number}", f"tea {number}") for number in range(1, 5)))
    bank.retain(document("d2"))

    assert positions(bank, after=3, pending=(3, 1, 2, 4, 99, 0)) == [1, 3, 4]
    assert positions(bank, after=3, upto=4, pending=(2,)) == [2, 4]


def test_a_fact_that_is_unread_for_several_reasons_is_read_once(bank: TwinBank) -> None:
    bank.retain(*(document(f"d{number}", f"tea {number}", tags=("bob",)) for number in range(1, 4)))

    assert positions(bank, EITHER, after=2, covered_scope=ALICE, pending=(1, 3)) == [1, 2, 3]


def test_a_limit_leaves_out_the_newest(bank: TwinBank) -> None:
    bank.retain(*(document(f"d{number}", f"tea {number}", tags=("bob",)) for number in range(1, 6)))

    assert positions(bank, EITHER, after=3, covered_scope=ALICE, pending=(2,), limit=3) == [1, 2, 3]
    assert positions(bank, after=3, pending=(2,), limit=2) == [2, 4]
    assert positions(bank, limit=0) == []
    assert positions(bank, limit=99) == [1, 2, 3, 4, 5]


def test_nothing_of_another_bank_is_unread(bank: TwinBank) -> None:
    bank.real.neighbour().retain(document("d1", "tea", tags=("bob",)))

    assert positions(bank, EVERYTHING, upto=9, covered_scope=ALICE, pending=(1,)) == []


def test_tags_too_long_for_an_index_come_into_scope_too(bank: TwinBank) -> None:
    tags = tuple(f"{number:05d}" * 40 for number in range(100))
    bank.retain(document("d1", "tea", tags=tags))

    assert positions(bank, Scope(tags=tags[:1], tags_match="any_strict"), after=1, covered_scope=ALICE) == [1]


# Against the matcher of scopes, over one random history


@pytest.fixture(scope="module")
def history(shared_database: Database) -> TwinBank:
    """Documents of all sets of tags and all types, written, rewritten and emptied in random order."""
    chance, bank = random.Random(11), TwinBank(BankMemory(shared_database))
    kinds = [
        (tags, fact_type)
        for size in range(4)
        for tags in itertools.combinations("abc", size)
        for fact_type in FACT_TYPES
    ]
    for turn in range(80):
        number = turn if turn < len(kinds) else chance.randrange(len(kinds))
        tags, fact_type = kinds[number]
        words = chance.sample(range(8), k=chance.randint(0 if turn > len(kinds) else 1, 4))
        bank.retain(
            document(f"d{number}", *(said(f"{number} {word}", fact_type=fact_type) for word in words), tags=tags)
        )
    return bank


LAST = 250
"""A little more than the positions of the history."""


@settings(max_examples=400)
@given(
    scope=scopes,
    covered_scope=st.none() | scopes,
    after=st.integers(0, LAST),
    upto=st.integers(0, LAST),
    pending=st.lists(st.integers(0, LAST), max_size=30).map(tuple),
    limit=st.none() | st.integers(0, 40),
)
@example(scope=EVERYTHING, covered_scope=None, after=0, upto=LAST, pending=(), limit=None)
@example(scope=EVERYTHING, covered_scope=Scope(fact_types=()), after=LAST, upto=LAST, pending=(), limit=None)
@example(scope=EVERYTHING, covered_scope=Scope(tags=("a",)), after=90, upto=120, pending=tuple(range(99)), limit=None)
def test_unread_is_what_the_window_the_scopes_and_what_is_left_over_say(
    history: TwinBank,
    scope: Scope,
    covered_scope: Scope | None,
    after: int,
    upto: int,
    pending: tuple[int, ...],
    limit: int | None,
) -> None:
    query = UnreadQuery(
        bank_id=history.real.bank_id,
        scope=scope,
        covered_scope=covered_scope,
        after=after,
        upto=upto,
        pending=pending,
        limit=limit,
    )

    found = [fact.position for fact in history.real.store.unread(query)]

    assert found == [fact.position for fact in history.double.unread(query)]


def test_the_history_has_what_can_be_unread(history: TwinBank) -> None:
    closed = history.real.rows("SELECT 1 FROM fact_versions WHERE bank_id = %s AND to_position IS NOT NULL")

    assert len(history.unread()) > 30
    assert len(closed) > 20
    assert 200 < history.real.store.position(history.real.bank_id) < LAST
