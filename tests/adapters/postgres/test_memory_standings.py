"""What became of cited facts, on real PostgreSQL and in the double; and how near facts are to vectors."""

from __future__ import annotations

from uuid import uuid4

import pytest

from domain.memory import Fact, Standing
from domain.mental_model.record import Citation
from tests.adapters.postgres.twin_bank import TwinBank, citation
from tests.support.memories import BankMemory, document, said

NORTH, EAST, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NORTH_EAST = (0.8, 0.6, 0.0)


@pytest.fixture
def bank(memory: BankMemory) -> TwinBank:
    return TwinBank(memory)


def told(standing: Standing) -> tuple[str | None, str | None, int | None]:
    """The text cited, the text now, the position of the fact of the same text."""

    def text(fact: Fact | None) -> str | None:
        return fact.text if fact else None

    return text(standing.cited), text(standing.now), standing.same_text.position if standing.same_text else None


# Standings


def test_a_fact_that_stands_is_the_one_cited(bank: TwinBank) -> None:
    bank.retain(document("d1", said("tea", entities=("Ada",)), tags=("a",), context="a letter"))

    [standing] = bank.standings(1)

    assert standing.cited == standing.now == bank.unread()[0]
    assert standing.same_text is None
    assert (standing.version, standing.now.context if standing.now else None) == (1, "a letter")


def test_a_fact_that_was_closed_is_still_known_as_it_was_cited(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea", "milk"))
    bank.retain(document("d1", "milk"))

    assert [told(each) for each in bank.standings(1, 2)] == [("tea", None, None), ("milk", "milk", None)]
    assert [told(each) for each in bank.standings(1, upto=2)] == [("tea", "tea", None)]


def test_a_fact_is_gone_at_a_position_before_it_was_added(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea"), document("d2", "milk"))

    assert [told(each) for each in bank.standings(2, upto=1)] == [("milk", None, None)]


def test_a_revised_fact_has_the_version_cited_and_the_one_of_now(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea"))
    second = bank.revise(1, "green tea")
    third = bank.revise(second, "black tea")

    first_cited, second_cited, last_cited = bank.standings(1, second, third)

    assert told(first_cited) == ("tea", "black tea", None)
    assert told(second_cited) == ("green tea", "black tea", None)
    assert told(last_cited) == ("black tea", "black tea", None)
    assert [each.now.version for each in (first_cited, second_cited) if each.now] == [3, 3]
    assert told(bank.standings(1, upto=second)[0]) == ("tea", "green tea", None)
    assert told(bank.standings(third, upto=1)[0]) == ("black tea", "tea", None)


def test_the_newest_fact_of_the_same_text_is_told_when_the_cited_one_is_gone(bank: TwinBank) -> None:
    bank.retain(*(document(name, "tea") for name in ("d1", "d2", "d3", "d4")))
    bank.retain(document("d5", "Tea"), document("d6", "tea "), document("d1"), document("d4"))

    assert [told(each) for each in bank.standings(1, 2, 4)] == [
        ("tea", None, 3),
        ("tea", "tea", None),
        ("tea", None, 3),
    ]
    assert told(bank.standings(1, upto=7)[0]) == ("tea", None, 4)


def test_the_same_text_is_that_of_the_version_cited(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea"), document("d2", "green tea"), document("d3", "tea"))
    revised = bank.revise(1, "green tea")
    bank.retain(document("d1"))

    assert [told(each) for each in bank.standings(1, revised)] == [("tea", None, 3), ("green tea", None, 2)]


def test_what_the_memory_never_had_is_told_as_such(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea"))
    [fact] = bank.unread()
    never = Citation(fact_id=uuid4(), version=1, position=1, fact_type="world")
    later = citation(fact).model_copy(update={"version": 2})

    [standing, known] = bank.standings(never, 1)

    assert (standing.cited, standing.now, standing.same_text) == (None, None, None)
    assert told(known) == ("tea", "tea", None)
    [unknown_version] = bank.real.store.standings(bank.real.bank_id, [later], 1)
    assert told(unknown_version) == (None, "tea", None)


def test_a_fact_of_another_bank_is_none_of_this_one(bank: TwinBank) -> None:
    other = TwinBank(bank.real.neighbour())
    other.retain(document("d1", "tea"), document("d2", "milk"))
    bank.retain(document("d1", "milk"), document("d1"))
    [cited, _] = (citation(fact) for fact in other.unread())

    assert [told(each) for each in bank.standings(cited, 1)] == [(None, None, None), ("milk", None, None)]


def test_standings_come_in_the_order_asked_each_as_often_as_asked(bank: TwinBank) -> None:
    bank.retain(*(document(f"d{number}", f"tea {number}") for number in range(1, 5)))

    found = bank.standings(3, 1, 3, 4)

    assert [each.cited.text for each in found if each.cited] == ["tea 3", "tea 1", "tea 3", "tea 4"]
    assert bank.standings() == []


def test_a_forgotten_bank_never_had_what_is_cited(bank: TwinBank) -> None:
    bank.retain(document("d1", "tea"))
    [fact] = bank.unread()
    with bank.real.database.begin() as tx:
        bank.real.store.forget_bank(bank.real.bank_id, tx)

    [standing] = bank.real.store.standings(bank.real.bank_id, [citation(fact)], 2)

    assert told(standing) == (None, None, None)


# Nearness


def test_nearness_is_that_to_the_nearest_vector(bank: TwinBank) -> None:
    bank.retain(document("d1", said("north", NORTH), said("north east", NORTH_EAST), said("up", UP)))

    assert bank.nearness([1, 2, 3], NORTH) == {
        1: pytest.approx(1.0),
        2: pytest.approx(0.8, abs=0.001),
        3: pytest.approx(0.0),
    }
    assert bank.nearness([1, 2, 3], NORTH, EAST, tuple(-each for each in UP)) == {
        1: pytest.approx(1.0),
        2: pytest.approx(0.8, abs=0.001),
        3: pytest.approx(0.0),
    }
    assert bank.nearness([3], tuple(-each for each in UP)) == {3: pytest.approx(-1.0)}


def test_nearness_is_told_for_the_positions_asked_and_without_vectors_for_none(bank: TwinBank) -> None:
    bank.retain(document("d1", said("north", NORTH), said("east", EAST)))

    assert set(bank.nearness([2, 2, 7], NORTH)) == {2}
    assert bank.nearness([1, 2]) == {}
    assert bank.nearness([], NORTH) == {}


def test_a_closed_version_is_as_near_as_it_was(bank: TwinBank) -> None:
    bank.retain(document("d1", said("north", NORTH)), document("d1"))

    assert bank.nearness([1], NORTH) == {1: pytest.approx(1.0)}


def test_what_has_no_vector_or_none_with_a_direction_is_left_out(bank: TwinBank) -> None:
    nowhere = (0.0, 0.0, 0.0)
    bank.retain(document("d1", said("north", NORTH), said("mute", ()), said("nowhere", nowhere)))

    assert set(bank.nearness([1, 2, 3], NORTH)) == {1}
    assert bank.nearness([1, 2, 3], nowhere) == {}
    assert bank.nearness([1, 2, 3], nowhere, (), NORTH_EAST) == {1: pytest.approx(0.8, abs=0.001)}
    assert bank.nearness([1, 2, 3], ()) == {}


def test_vectors_of_another_model_size_or_bank_are_not_compared(bank: TwinBank) -> None:
    memory = bank.real
    memory.retain(document("d1", said("by toy", NORTH)))
    other = BankMemory(memory.database, memory.bank_id, model="other")
    other.retain(document("d2", said("by other", NORTH)))
    larger = BankMemory(memory.database, memory.bank_id, dimensions=4)
    larger.retain(document("d3", said("in four dimensions", (1.0, 0.0, 0.0, 0.0))))
    memory.neighbour().retain(document("d1", *(said(f"next door {number}", NORTH) for number in range(3))))

    for store, vector, own in ((memory, NORTH, 1), (other, NORTH, 2), (larger, (*NORTH, 0.0), 3)):
        assert set(store.store.nearness(memory.bank_id, [1, 2, 3], [vector])) == {own}


def test_a_vector_that_is_not_of_the_store_is_refused_with_the_reason(memory: BankMemory) -> None:
    with pytest.raises(ValueError, match="toy gave vectors of 2 numbers, not 3"):
        memory.store.nearness(memory.bank_id, [1], [NORTH, (1.0, 0.0)])
