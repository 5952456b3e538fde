"""What the offline engine makes of facts: the same once, what changed with what was, everything else as it was said."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.consolidation import OfflineConsolidator
from domain.consolidation import (
    LONGEST_OBSERVATION,
    ConsolidationProposal,
    ConsolidationRequest,
    RelatedObservation,
    decide,
)
from domain.memory import Fact
from tests.adapters.offline.facts_of import stored, unhurried

NOW = datetime(2025, 1, 1, tzinfo=UTC)
OBSERVATION = 1000
"""Number of the first observation, behind those of all facts."""


def on(day: str | None) -> datetime | None:
    return datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None


def said(*texts: str | tuple[str, str | None]) -> list[Fact]:
    """Facts in their order, each said on its day."""
    pairs = [(each, "2024-01-01") if isinstance(each, str) else each for each in texts]
    return [stored(number, text, mentioned=on(day)) for number, (text, day) in enumerate(pairs, start=1)]


def requested(
    facts: Sequence[Fact], related: Iterable[RelatedObservation] = (), room: int | None = None
) -> ConsolidationRequest:
    return ConsolidationRequest(scope=(), facts=tuple(facts), related=tuple(related), room=room, asked_at=NOW)


def consolidated(
    facts: Sequence[Fact], related: Iterable[RelatedObservation] = (), room: int | None = None
) -> ConsolidationProposal:
    return OfflineConsolidator().consolidate(requested(facts, related, room))


def observed(number: int, text: str, *sources: Fact, names: Sequence[str] = ()) -> RelatedObservation:
    """An observation as memory keeps it: with the days of its sources."""
    starts = [fact.occurred_start for fact in sources if fact.occurred_start]
    ends = [fact.occurred_end or fact.occurred_start for fact in sources if fact.occurred_start]
    heard = [fact.mentioned_at for fact in sources if fact.mentioned_at]
    observation = stored(
        OBSERVATION + number,
        text,
        names=names,
        occurred=min(starts, default=None),
        until=max((end for end in ends if end), default=None),
        mentioned=max(heard, default=None),
    ).model_copy(update={"fact_type": "observation", "source_ids": tuple(fact.id for fact in sources)})
    return RelatedObservation(observation=observation, sources=sources)


def stored_observations(
    proposal: ConsolidationProposal, facts: Sequence[Fact], before: Sequence[RelatedObservation] = ()
) -> list[RelatedObservation]:
    """What memory holds after a proposal was followed."""
    known = {fact.id: fact for fact in [*facts, *(source for each in before for source in each.sources)]}
    kept = {each.observation.id: (each.observation.text, [s.id for s in each.sources]) for each in before}
    for dropped in proposal.deletes:
        _, sources = kept.pop(dropped.observation_id)
        if dropped.merged_into:
            kept[dropped.merged_into][1].extend(sources)
    for changed in proposal.updates:
        kept[changed.observation_id] = (changed.text, [*kept[changed.observation_id][1], *changed.source_ids])
    numbered = [*kept.values(), *((new.text, list(new.source_ids)) for new in proposal.creates)]
    return [
        observed(number, text, *(known[each] for each in dict.fromkeys(ids)))
        for number, (text, ids) in enumerate(numbered)
    ]


def texts(proposal: ConsolidationProposal) -> list[str]:
    return [new.text for new in proposal.creates]


def numbers(ids: Iterable[UUID]) -> list[int]:
    return [each.int for each in ids]


# --- the same, said again ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ada likes tea.", "Ada likes tea."),
        ("Ada likes tea.", "Ada **really** likes the tea"),
        ("Ada likes tea", "ada likes “tea”!"),
        ("Ada lives in Oslo.", "Ada now lives in Oslo."),
        ("The bridge isn't red.", "The bridge is not red."),
        ("艾达喜欢茶。", "艾达喜欢茶"),
        ("Аде нравится чай.", "Аде нравится чай"),
        ("آدا تحب الشاي", "آدا تحب الشاي."),
    ],
)
def test_what_is_said_twice_is_one_observation_in_the_words_of_the_first(first: str, second: str) -> None:
    proposal = consolidated(said((first, "2024-01-01"), (second, "2024-02-01")))

    assert [(new.text, numbers(new.source_ids)) for new in proposal.creates] == [(first, [1, 2])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ada likes tea", "Bob likes tea"),
        ("Alice gave Bob a book", "Bob gave Alice a book"),
        ("Ada likes tea", "Ada liked tea"),
        ("The team uses C", "The team uses C++"),
        ("Ada visited Rome", "Ada visited Oslo"),
        ("Room 5 has 3 windows", "Room 6 has 4 windows"),
        ("Ada is an engineer", "Ada is a mother"),
        ("Ada read chapter 3", "Ada read chapter 4"),
        ("The concert is on 5 May", "The concert is on 7 May"),
        ("John is hooked on FIFA 23", "John is hooked on FIFA 24"),
        ("He lives in Rome", "He lives in Oslo"),
        ("It is open", "It is not open"),
        ("Ada lives in a flat", "Ada lives in Rome"),
        ("Bob said Ada lives in Rome", "Bob said Ada lives in Oslo"),
        ("Ada wants to live in Rome", "Ada wants to live in Oslo"),
        ("Ada is a member of the club", "Ada is a former member of the club"),
        ("The office is open on Mondays", "The office is open on Mondays unless it rains"),
        ("Done", "Done?"),
        ("Rate limit: cap; Value: 3", "Rate limit: size; Value: 4"),
        ("The long version: take the road to Oslo", "The long version: wait for the train to Rome"),
        ("The default is 5", "The default is 6"),
        ('name = "Ada"', 'name = "Bob"'),
        ("A.", "The."),
        ("The call match('', 1) fails", "The call match('a', 1) fails"),
        ("The schedule is * * * 15,25", "The schedule is 15,25 * * *"),
        ("艾达去了罗马", "艾达去了奥斯陆"),
    ],
)
def test_what_may_both_be_so_stays_two_observations(first: str, second: str) -> None:
    assert texts(consolidated(said((first, "2024-01-01"), (second, "2024-02-01")))) == [first, second]


def test_the_more_informative_words_win() -> None:
    short, long = "Ada keeps bees in Oslo", "Ada keeps bees in Oslo, on the roof of the library."

    assert texts(consolidated(said((short, "2024-01-01"), (long, "2024-01-01")))) == [long]
    assert texts(consolidated(said((long, "2024-01-01"), (short, "2024-01-01")))) == [long]


def test_an_event_of_two_days_is_two_events() -> None:
    """Observed as one, the second would be lost, or the first would seem to last until it."""
    events = [
        stored(number, "Ada went camping", occurred=on(day), until=on(day))
        for number, day in enumerate(["2024-05-03", "2024-06-01", "2024-05-03"], start=1)
    ]

    assert [(new.text, numbers(new.source_ids)) for new in consolidated(events).creates] == [
        ("Ada went camping (2024-05-03)", [1, 3]),
        ("Ada went camping (2024-06-01)", [2]),
    ]


def test_names_that_have_nothing_in_common_tell_two_things_apart() -> None:
    facts = [stored(1, "The budget is 5 euros", names=["Apollo"]), stored(2, "The budget is 5 euros", names=["Zeus"])]

    assert len(consolidated(facts).creates) == 2


def test_a_related_observation_gets_the_facts_that_say_it_and_keeps_its_text() -> None:
    old = stored(1, "Ada likes tea.")
    proposal = consolidated(
        [stored(2, "Ada likes the tea"), stored(3, "Bob sings")], [observed(1, "Ada likes tea.", old)]
    )

    assert [(each.observation_id.int, each.text, numbers(each.source_ids)) for each in proposal.updates] == [
        (OBSERVATION + 1, "Ada likes tea.", [2])
    ]
    assert texts(proposal) == ["Bob sings"]


# --- what has changed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("older", "newer", "observation"),
    [
        (
            "Ada lives in Rome.",
            "Ada lives in Oslo.",
            "Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)",
        ),
        (
            "The deadline of Apollo is 3 May.",
            "The deadline of Apollo was moved to 5 June.",
            "The deadline of Apollo was moved to 5 June (since 2024-03-02); "
            "before: The deadline of Apollo is 3 May (2023-01-10)",
        ),
        (
            "Ada has two cats",
            "Ada has 3 cats",
            "Ada has 3 cats (since 2024-03-02); before: Ada has two cats (2023-01-10)",
        ),
        (
            "Ada likes tea",
            "Ada no longer likes tea",
            "Ada no longer likes tea (since 2024-03-02); before: Ada likes tea (2023-01-10)",
        ),
        (
            "Feature X is enabled",
            "Feature X is disabled",
            "Feature X is disabled (since 2024-03-02); before: Feature X is enabled (2023-01-10)",
        ),
        (
            "Project owner: Alice",
            "Project owner: Bob",
            "Project owner: Bob (since 2024-03-02); before: Project owner: Alice (2023-01-10)",
        ),
        (
            "Ada: I live in Rome",
            "Ada: I live in Oslo",
            "Ada: I live in Oslo (since 2024-03-02); before: Ada: I live in Rome (2023-01-10)",
        ),
        (
            "Ada wohnt in Rom",
            "Ada wohnt in Köln",
            "Ada wohnt in Köln (seit 2024-03-02); vorher: Ada wohnt in Rom (2023-01-10)",
        ),
        ("艾达住在罗马。", "艾达住在奥斯陆。", "艾达住在奥斯陆 (自 2024-03-02); 此前: 艾达住在罗马 (2023-01-10)"),
        ("团队有5人", "团队有7人", "团队有7人 (自 2024-03-02); 此前: 团队有5人 (2023-01-10)"),
        (
            "Ада живёт в Москве",
            "Ада живёт в Риме",
            "Ада живёт в Риме (с 2024-03-02); ранее: Ада живёт в Москве (2023-01-10)",
        ),
        (
            "締め切りは5月3日です",
            "締め切りは5月4日です",
            "締め切りは5月4日です (2024-03-02 から); 以前: 締め切りは5月3日です (2023-01-10)",
        ),
    ],
)
def test_what_excludes_each_other_is_one_observation_in_the_order_of_days(
    older: str, newer: str, observation: str
) -> None:
    facts = said((newer, "2024-03-02"), (older, "2023-01-10"))

    assert [(new.text, numbers(new.source_ids)) for new in consolidated(facts).creates] == [(observation, [1, 2])]


def test_a_fact_changes_the_observation_it_excludes() -> None:
    rome = stored(1, "Ada lives in Rome", mentioned=on("2023-01-10"))
    oslo = stored(2, "Ada lives in Oslo", mentioned=on("2024-03-02"))

    proposal = consolidated([oslo], [observed(1, "Ada lives in Rome", rome)])

    assert [each.text for each in proposal.updates] == [
        "Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)"
    ]
    assert numbers(proposal.updates[0].source_ids) == [2]


def test_a_state_takes_its_place_in_a_history_that_was_written_before() -> None:
    text = "Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)"
    sources = said(("Ada lives in Rome", "2023-01-10"), ("Ada lives in Oslo", "2024-03-02"))
    facts = [
        stored(3, "Ada lives in Paris", mentioned=on("2023-06-01")),
        stored(4, "Ada lives in Rome", mentioned=on("2024-09-01")),
        stored(5, "Ada lives in Oslo", mentioned=on("2024-05-01")),
    ]

    proposal = consolidated(facts, [observed(1, text, *sources)])

    assert [(each.text, numbers(each.source_ids)) for each in proposal.updates] == [
        (
            "Ada lives in Rome (since 2024-09-01); before: Ada lives in Oslo (2024-03-02); "
            "before: Ada lives in Paris (2023-06-01); before: Ada lives in Rome (2023-01-10)",
            [3, 4, 5],
        )
    ]
    assert not proposal.creates


def test_a_fact_that_quotes_a_history_is_a_source_of_it() -> None:
    """As a document does that rests on the observation, and is retained in its turn."""
    text = "Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)"
    sources = said(("Ada lives in Rome", "2023-01-10"), ("Ada lives in Oslo", "2024-03-02"))

    proposal = consolidated([stored(3, text)], [observed(1, text, *sources)])

    assert [(each.text, numbers(each.source_ids)) for each in proposal.updates] == [(text, [3])]
    assert not proposal.creates


def test_what_was_said_again_since_is_not_over_before() -> None:
    sources = said(
        ("Ada lives in Rome", "2023-01-10"), ("Ada lives in Oslo", "2024-03-02"), ("Ada lives in Oslo", "2024-09-01")
    )
    text = "Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)"

    proposal = consolidated([stored(4, "Ada lives in Bonn", mentioned=on("2024-06-01"))], [observed(1, text, *sources)])

    assert texts(proposal) == ["Ada lives in Bonn"]
    assert not proposal.updates


@pytest.mark.parametrize(
    ("first", "second"),
    [("2024-01-01", "2024-01-01"), (None, "2024-01-01"), (None, None)],
)
def test_without_an_order_of_days_both_stay(first: str | None, second: str | None) -> None:
    facts = said(("Ada lives in Rome", first), ("Ada lives in Oslo", second))

    assert sorted(texts(consolidated(facts))) == ["Ada lives in Oslo", "Ada lives in Rome"]


def test_what_happened_before_and_was_said_after_has_no_order() -> None:
    """Said in 2024, "since 2020" may or may not still be so; said in 2023, "lives in Rome" may be its past."""
    since = stored(1, "Ada lives in Oslo since 2020", occurred=on("2020-01-01"), mentioned=on("2024-01-01"))
    rome = stored(2, "Ada lives in Rome", mentioned=on("2023-01-01"))

    assert len(consolidated([since, rome]).creates) == 2


def test_an_observation_at_its_length_gets_a_second_beside_it_and_nothing_is_cut() -> None:
    """TK-10: a merge into a capped record silently cut the middle of what it said before."""
    facts = [
        stored(
            number,
            f"Ada lives in City{number}, in the house with the {'very ' * 10}long name number {number}",
            mentioned=on("2024-01-01") + timedelta(days=number),  # type: ignore[operator]
        )
        for number in range(1, 61)
    ]

    proposal = consolidated(facts)

    assert len(proposal.creates) > 1
    assert all(len(new.text) <= LONGEST_OBSERVATION for new in proposal.creates)
    for fact in facts:
        holders = [new for new in proposal.creates if fact.id in new.source_ids]
        assert [fact.text in new.text for new in holders] == [True]


# --- observations that others contain ---------------------------------------------------------------------------------


def test_an_observation_that_another_contains_is_merged_into_it_and_facts_go_there() -> None:
    short, long = stored(1, "Ada keeps bees in Oslo"), stored(2, "Ada keeps bees in Oslo and sells honey")
    related = [observed(1, short.text, short), observed(2, long.text, long)]

    proposal = consolidated([stored(3, "Ada keeps bees in Oslo")], related)

    assert [(each.observation_id.int, each.merged_into) for each in proposal.deletes] == [
        (OBSERVATION + 1, UUID(int=OBSERVATION + 2))
    ]
    assert [(each.observation_id.int, each.text) for each in proposal.updates] == [(OBSERVATION + 2, long.text)]


def test_a_state_of_a_history_is_contained_in_it() -> None:
    rome, oslo = said(("Ada lives in Rome", "2023-01-10"), ("Ada lives in Oslo", "2024-03-02"))
    history = "Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)"

    proposal = consolidated([stored(3, "Bob sings")], [observed(1, rome.text, rome), observed(2, history, rome, oslo)])

    assert [each.observation_id.int for each in proposal.deletes] == [OBSERVATION + 1]


# --- any facts --------------------------------------------------------------------------------------------------------

_TEXTS = st.one_of(
    st.builds(
        "{} {} {}{}".format,
        st.sampled_from(["Ada", "Bob", "The team", "Ada's deadline", "Feature X", "He"]),
        st.sampled_from(["lives in", "likes", "does not like", "is", "is not", "has", "visited", "works at"]),
        st.sampled_from(["Rome", "Oslo", "tea", "3 cats", "4 cats", "open", "closed", "3 May", "the club of bees"]),
        st.sampled_from(["", ".", ", they say", " with her dog", " but not now", " since 2020"]),
    ),
    st.builds(
        "艾达{}{}".format, st.sampled_from(["住在", "喜欢", "不喜欢", "有"]), st.sampled_from(["罗马", "茶", "3只猫"])
    ),
    st.sampled_from(
        ["?", "…", "Ada lives in Rome (since 2024-01-02); before: Ada lives in Oslo (2023-01-01)", "\ud800"]
    ),
    st.text(min_size=1, max_size=30),
)
_DAYS = st.sampled_from([None, *(NOW - timedelta(days=days) for days in (1, 2, 2.5, 40, 400))])
_NAMES = st.sampled_from([(), ("Ada",), ("Bob",), ("Ada", "Rome")])


@st.composite
def _facts(draw: st.DrawFn) -> list[Fact]:
    drawn = draw(st.lists(st.tuples(_TEXTS, _DAYS, _DAYS, _NAMES), max_size=12))
    return [
        stored(number, text, names=names, occurred=happened, mentioned=mentioned)
        for number, (text, happened, mentioned, names) in enumerate(drawn, start=1)
        if text.strip()
    ]


def _named(proposal: ConsolidationProposal) -> Counter[UUID]:
    return Counter(each for change in (*proposal.creates, *proposal.updates) for each in change.source_ids)


@unhurried
@given(_facts(), _facts())
def test_every_fact_is_named_once_and_nothing_unknown_ever(first: list[Fact], second: list[Fact]) -> None:
    related = stored_observations(consolidated(first), first)
    later = [fact.model_copy(update={"id": UUID(int=500 + fact.position)}) for fact in second]

    proposal = consolidated(later, related)

    dropped = {each.observation_id for each in proposal.deletes}
    shown = {each.observation.id for each in related}
    assert _named(proposal) == Counter(fact.id for fact in later)
    assert dropped <= shown
    assert {each.observation_id for each in proposal.updates} <= shown - dropped
    assert {each.merged_into for each in proposal.deletes} <= shown - dropped


@unhurried
@given(_facts(), _facts())
def test_all_that_is_proposed_can_be_followed(first: list[Fact], second: list[Fact]) -> None:
    related = stored_observations(consolidated(first), first)
    later = [fact.model_copy(update={"id": UUID(int=500 + fact.position)}) for fact in second]

    changes = decide(requested(later, related), consolidated(later, related))

    resting_on = {each for written in changes.written for each in written.source_ids}
    assert changes.refused == ()
    assert {fact.id for fact in later if any(map(str.isalnum, fact.text))} <= resting_on


@unhurried
@given(_facts(), st.randoms(use_true_random=False))
def test_the_order_of_facts_in_a_request_changes_nothing(facts: list[Fact], random: object) -> None:
    shuffled = sorted(facts, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert consolidated(shuffled) == consolidated(facts)


@unhurried
@given(_facts())
def test_the_same_facts_again_change_nothing_but_sources(drawn: list[Fact]) -> None:
    facts = [fact for fact in drawn if "; before: " not in fact.text]  # a quoted history is read as one from then on
    related = stored_observations(consolidated(facts), facts)
    again = [fact.model_copy(update={"id": UUID(int=500 + fact.position)}) for fact in facts]

    proposal = consolidated(again, related)

    assert proposal.creates == ()
    assert {(each.observation_id, each.text) for each in proposal.updates} <= {
        (each.observation.id, each.observation.text) for each in related
    }


@unhurried
@given(_facts())
def test_no_word_of_a_fact_is_lost(facts: list[Fact]) -> None:
    """Every fact stands in its observation, whole or in the words of one that says the same or more."""
    by_id = {fact.id: fact for fact in facts}
    for new in consolidated(facts).creates:
        sources = [by_id[each].text.rstrip().rstrip(".。") for each in new.source_ids]
        assert any(text.strip() in new.text for text in sources)


def test_room_is_for_the_best_proved() -> None:
    facts = said("Ada sings", "Bob likes tea", "Bob likes the tea", "Eve runs")

    assert texts(consolidated(facts, room=2)) == ["Ada sings", "Bob likes tea"]
    assert consolidated(facts, room=0).creates == ()


def test_it_costs_nothing_and_is_the_offline_engine() -> None:
    consolidator = OfflineConsolidator()

    assert (consolidator.engine, consolidator.deterministic) == ("offline", True)
    assert consolidated(said("Ada sings")).calls == ()
    assert consolidated([]) == ConsolidationProposal()


@pytest.mark.parametrize(
    "text", ["Ada lives in City{0}", "Ada lives in Rome", "Word{0} is said of Ada and of Bob, and of {0} others"]
)
@pytest.mark.parametrize("days", [1, 3000])
@pytest.mark.parametrize("happened", [False, True])
def test_a_thousand_facts_take_less_than_two_seconds(text: str, days: int, happened: bool) -> None:
    facts = []
    for number in range(1, 1001):
        day = NOW - timedelta(days=number % days)
        facts.append(stored(number, text.format(number), mentioned=day, occurred=day if happened else None))
    started = time.process_time()

    proposal = consolidated(facts)

    assert time.process_time() - started < 2
    assert sum(_named(proposal).values()) == 1000


def test_a_thousand_days_of_one_event_take_less_than_two_seconds() -> None:
    facts = [stored(number, "Ada went out", occurred=NOW - timedelta(days=number)) for number in range(1, 1001)]
    started = time.process_time()

    proposal = consolidated(facts)

    assert time.process_time() - started < 2
    assert len(proposal.creates) == 1000
