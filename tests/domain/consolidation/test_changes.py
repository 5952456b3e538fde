"""What of a proposal is followed, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from domain.consolidation import (
    LONGEST_OBSERVATION,
    ChangedObservation,
    ConsolidationProposal,
    ConsolidationRequest,
    DroppedObservation,
    NewObservation,
    ObservationChanges,
    RelatedObservation,
    absorbed,
    decide,
    says_the_same,
)
from domain.consolidation.changes import MOST_ENTITIES
from domain.memory import Fact

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def day(number: int) -> datetime:
    return NOON + timedelta(days=number)


def fact(number: int, text: str | None = None, **fields: Any) -> Fact:
    values: dict[str, Any] = {"fact_type": "world", "recorded_at": NOON, **fields}
    return Fact(id=UUID(int=number), version=1, position=number, text=text or f"Fact {number}.", **values)


def observation(number: int, *sources: int, **fields: Any) -> Fact:
    source_ids = tuple(UUID(int=each) for each in sources)
    return fact(
        number, fields.pop("text", f"Observed {number}."), fact_type="observation", source_ids=source_ids, **fields
    )


def request(*facts: Fact, related: tuple[Fact, ...] = (), room: int | None = None) -> ConsolidationRequest:
    return ConsolidationRequest(
        scope=("team",),
        facts=facts,
        related=tuple(RelatedObservation(observation=each) for each in related),
        room=room,
        asked_at=NOON,
    )


def decided(asked: ConsolidationRequest, **proposed: Any) -> ObservationChanges:
    return decide(asked, ConsolidationProposal(**{key: tuple(value) for key, value in proposed.items()}))


def new(text: str, *sources: int) -> NewObservation:
    return NewObservation(text=text, source_ids=tuple(UUID(int=each) for each in sources))


def changed(number: int, text: str, *sources: int) -> ChangedObservation:
    return ChangedObservation(
        observation_id=UUID(int=number), text=text, source_ids=tuple(UUID(int=each) for each in sources)
    )


def dropped(number: int, into: int | None = None) -> DroppedObservation:
    return DroppedObservation(observation_id=UUID(int=number), merged_into=None if into is None else UUID(int=into))


def sources(changes: ObservationChanges) -> list[tuple[str, list[int]]]:
    return [(each.text, [source.int for source in each.source_ids]) for each in changes.written]


def reasons(changes: ObservationChanges) -> list[str]:
    return [f"{each.part}: {each.reason}" for each in changes.refused]


def test_an_observation_has_the_times_of_all_its_facts() -> None:
    first = fact(1, occurred_start=day(5), occurred_end=day(6), mentioned_at=day(9), entities=("Ada",))
    second = fact(2, occurred_start=day(2), mentioned_at=day(11), entities=("Ada", "Bob"))
    (written,) = decided(request(first, second, fact(3)), creates=[new("All of it.", 1, 2, 3)]).written
    assert (written.occurred_start, written.occurred_end) == (day(2), day(6))
    assert written.mentioned_at == day(11)
    assert written.entities == ("Ada", "Bob")
    old = observation(9, 7, occurred_start=day(1), occurred_end=day(3), mentioned_at=day(30))
    (again,) = decided(request(first, related=(old,)), updates=[changed(9, "More.", 1)]).written
    assert (again.occurred_start, again.occurred_end, again.mentioned_at) == (day(1), day(6), day(30))
    assert (again.before, sources(ObservationChanges(scope=(), written=(again,)))) == (old, [("More.", [7, 1])])


def test_what_a_mind_was_not_shown_it_cannot_name() -> None:
    changes = decided(
        request(fact(1), related=(observation(9, 7),)),
        creates=[new("From nowhere.", 55), new("Half known.", 1, 66)],
        updates=[changed(8, "Another scope's.", 1)],
        deletes=[dropped(77)],
    )
    assert sources(changes) == [("Half known.", [1])]
    assert changes.dropped == ()
    assert [each.part for each in changes.refused] == ["update", "delete", "source", "create", "source"]
    assert f"observation {UUID(int=8)} was not shown" in changes.refused[0].reason


def test_nothing_is_written_for_a_blank_text_or_without_a_fact_that_says_so() -> None:
    changes = decided(
        request(fact(1), related=(observation(9, 7),)),
        creates=[new(" \x00\n", 1), new("No fact.")],
        updates=[changed(9, "\t", 1), changed(9, "For no reason.")],
    )
    assert changes.written == ()
    assert len(changes.refused) == 4


def test_an_observation_may_be_reworded_on_the_facts_it_rests_on() -> None:
    changes = decided(request(fact(1), related=(observation(9, 7),)), updates=[changed(9, "In other words.", 7)])
    assert sources(changes) == [("In other words.", [7])]


def test_what_would_change_nothing_is_no_change() -> None:
    old = observation(9, 1, text="Said.")
    assert decided(request(fact(1), related=(old,)), updates=[changed(9, "Said.", 1)]).written == ()


def test_two_updates_of_one_observation_are_one_and_lose_nothing() -> None:
    asked = request(fact(1), fact(2), related=(observation(9, 7),))
    changes = decided(asked, updates=[changed(9, "It grew.", 1), changed(9, "It is green.", 2)])
    assert sources(changes) == [("It grew.\nIt is green.", [7, 1, 2])]


def test_what_says_the_same_in_the_same_words_is_one_observation() -> None:
    asked = request(fact(1), fact(2), fact(3), related=(observation(9, 7, text="Ada likes tea."),))
    changes = decided(asked, creates=[new("ada likes  TEA", 1), new("Bob runs.", 2), new("Bob runs", 3)])
    assert sources(changes) == [("Ada likes tea.", [7, 1]), ("Bob runs.", [2, 3])]


def test_room_bounds_what_is_added_and_not_what_is_changed() -> None:
    asked = request(fact(1), fact(2), related=(observation(9, 7),), room=1)
    changes = decided(asked, creates=[new("One.", 1), new("Two.", 2)], updates=[changed(9, "Nine.", 2)])
    assert [text for text, _ in sources(changes)] == ["Nine.", "One."]
    assert reasons(changes) == ["create: the scope has all the observations that it may have"]
    assert decided(request(fact(1), room=0), creates=[new("One.", 1)]).written == ()


def test_what_is_merged_takes_over_the_facts() -> None:
    asked = request(fact(1), related=(observation(8, 5, 6), observation(9, 7, occurred_start=day(1))))
    changes = decided(asked, updates=[changed(8, "Both.", 1)], deletes=[dropped(9, into=8)])
    assert sources(changes) == [("Both.", [5, 6, 1, 7])]
    assert changes.written[0].occurred_start == day(1)
    assert [each.id.int for each in changes.dropped] == [9]
    untouched = decided(asked, deletes=[dropped(9, into=8)])
    assert sources(untouched) == [("Observed 8.", [5, 6, 7])]


def test_an_observation_is_not_merged_into_what_is_not_there() -> None:
    asked = request(fact(1), related=(observation(8, 5), observation(9, 7)))
    changes = decided(asked, deletes=[dropped(8, into=9), dropped(9, into=8), dropped(9, into=9), dropped(9, into=4)])
    assert [each.id.int for each in changes.dropped] == [8]
    assert sources(changes) == [("Observed 9.", [7, 5])]
    assert len(changes.refused) == 3


def test_what_is_changed_is_not_deleted_as_well() -> None:
    asked = request(fact(1), related=(observation(9, 7),))
    changes = decided(asked, updates=[changed(9, "New.", 1)], deletes=[dropped(9)])
    assert (sources(changes), changes.dropped) == ([("New.", [7, 1])], ())


def test_merging_into_a_full_observation_makes_a_second_one_and_cuts_nothing() -> None:
    """TK-10: what would grow too long stays as it is; the new facts get an observation of their own words beside it,
    and every fact stays a source of what it is told in."""
    full = observation(9, 7, text="x" * (LONGEST_OBSERVATION - 10))
    facts = [fact(number, f"{number} " + "y" * 148) for number in range(10, 30)]
    asked = request(*facts, related=(full,))
    changes = decided(asked, updates=[changed(9, full.text + " and more of it", *range(10, 30))])
    assert all(each.before is None for each in changes.written), "the full one is as it was"
    assert len(changes.written) == 2
    assert "".join(each.text + "\n" for each in changes.written) == "".join(each.text + "\n" for each in facts)
    assert [source.int for each in changes.written for source in each.source_ids] == list(range(10, 30))
    assert all(len(each.text) <= LONGEST_OBSERVATION for each in changes.written)
    assert f"would be longer than {LONGEST_OBSERVATION} characters" in changes.refused[0].reason


def test_a_fact_that_is_longer_than_an_observation_may_be_is_not_cut() -> None:
    long = fact(1, "z" * (LONGEST_OBSERVATION + 500))
    (written,) = decided(request(long), creates=[new(long.text, 1)]).written
    assert written.text == long.text


def test_what_turns_out_to_be_said_already_is_added_to_it() -> None:
    same = observation(9, 7, text="Ada likes tea.")
    changes = decided(request(fact(1), fact(2)), creates=[new("Tea is what Ada likes.", 1), new("She likes tea.", 2)])
    both = absorbed(changes, {0: same, 1: same})
    assert sources(both) == [("Ada likes tea.", [7, 1, 2])]
    assert both.written[0].before == same


def test_what_is_added_to_an_observation_that_changes_too_is_added_once() -> None:
    same = observation(9, 7)
    asked = request(fact(1), fact(2), related=(same,))
    changes = decided(asked, updates=[changed(9, "It changed.", 1)], creates=[new("It changes.", 2)])
    assert sources(absorbed(changes, {1: same})) == [("It changed.", [7, 1, 2])]


def test_numbers_names_and_negations_keep_texts_apart() -> None:
    """Vectors hardly tell them apart: merging by those alone would lose a new price."""
    assert says_the_same("The team likes good tea.", "the team enjoys tea")
    assert not says_the_same("The rent is 500 euros.", "The rent is 600 euros.")
    assert not says_the_same("they meet with Ada", "they meet with Bob")
    assert not says_the_same("they do meet", "they do not meet")
    assert not says_the_same("they meet", "they don't meet")


def test_the_same_words_about_other_things_are_two_observations() -> None:
    """What the names tell is not in the words: a budget of Apollo is not one of Zeus."""
    budget = "The budget is 5 euros."
    apollo, zeus, nobody = (fact(n, budget, entities=names) for n, names in ((1, ("Apollo",)), (2, ("Zeus",)), (3, ())))
    shown = observation(9, 7, text=budget, entities=("APOLLO", "Ada"))
    changes = decided(request(apollo, zeus, related=(shown,)), creates=[new(budget, 1), new(budget, 2)])
    assert sources(changes) == [(budget, [7, 1]), (budget, [2])]
    fresh = decided(request(apollo, zeus, nobody), creates=[new(budget, 1), new(budget, 2), new(budget, 3)])
    assert sources(fresh) == [(budget, [1, 3]), (budget, [2])], "no name tells nothing apart"
    two = (shown, observation(10, 8, text=budget, entities=("Zeus",)))
    assert sources(decided(request(zeus, related=two), creates=[new(budget, 2)])) == [(budget, [8, 2])]


def test_what_an_observation_said_before_it_was_changed_is_new_again() -> None:
    asked = request(fact(1), fact(2), related=(observation(9, 7, text="Ada is in Rome."),))
    changes = decided(asked, updates=[changed(9, "Ada is in Oslo.", 1)], creates=[new("Ada is in Rome.", 2)])
    assert sources(changes) == [("Ada is in Oslo.", [7, 1]), ("Ada is in Rome.", [2])]


def test_what_is_dropped_takes_in_nothing_more() -> None:
    asked = request(fact(1), related=(observation(9, 7, text="Ada is in Rome."),))
    changes = decided(asked, deletes=[dropped(9)], creates=[new("Ada is in Rome.", 1)])
    assert (sources(changes), len(changes.dropped)) == ([("Ada is in Rome.", [1])], 1)


def test_an_update_may_name_a_fact_that_is_a_source_already_and_no_other() -> None:
    asked = request(fact(1), related=(observation(9, 7),))
    changes = decided(asked, updates=[changed(9, "It changed.", 8)])
    assert (changes.written, reasons(changes)) == (
        (),
        [
            f"source: fact {UUID(int=8)} is not one of those asked about",
            f"update: observation {UUID(int=9)} would change without any fact that says so",
        ],
    )


def test_an_observation_that_is_too_long_already_may_stay_so_and_not_grow() -> None:
    """It is of a fact that is itself longer than an observation may be."""
    long = observation(9, 7, text="x" * (LONGEST_OBSERVATION + 10))
    asked = request(fact(1), related=(long,))
    assert sources(decided(asked, updates=[changed(9, long.text, 1)])) == [(long.text, [7, 1])]
    assert sources(decided(asked, updates=[changed(9, long.text + "y", 1)])) == [("Fact 1.", [1])]


def test_an_observation_is_not_merged_into_one_that_is_dropped() -> None:
    asked = request(fact(1), related=(observation(8, 5), observation(9, 7)))
    changes = decided(asked, deletes=[dropped(8), dropped(9, into=8)])
    assert ([each.id.int for each in changes.dropped], changes.written) == ([8], ())
    assert len(changes.refused) == 1


def test_an_observation_has_the_names_of_all_its_facts_up_to_a_number() -> None:
    names = tuple(f"Name {number}" for number in range(MOST_ENTITIES))
    facts = fact(1, entities=("Ada", "Bob")), fact(2, entities=("Bob", *names))
    (written,) = decided(request(*facts), creates=[new("All.", 1, 2)]).written
    assert written.entities == ("Ada", "Bob", *names[:-2])


def test_what_happened_at_one_time_began_and_ended_then() -> None:
    (written,) = decided(request(fact(1, occurred_start=day(1))), creates=[new("It happened.", 1)]).written
    assert (written.occurred_start, written.occurred_end) == (day(1), day(1))
    (written,) = decided(request(fact(1, occurred_end=day(2))), creates=[new("It ended.", 1)]).written
    assert (written.occurred_start, written.occurred_end) == (day(2), day(2))
