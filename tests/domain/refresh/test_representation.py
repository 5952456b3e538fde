"""Facts and the observation made of them, new at the same time, are read once."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from domain.memory import Fact
from domain.refresh.coverage import reading
from domain.refresh.representation import represented


def fact(number: int, *sources: int) -> Fact:
    return Fact(
        id=UUID(int=number),
        version=1,
        position=number,
        text=f"{number}",
        fact_type="observation" if sources else "world",
        source_ids=tuple(UUID(int=each) for each in sources),
        recorded_at=datetime(2026, 5, 4, tzinfo=UTC),
    )


RAW, OTHER, SECOND = fact(1), fact(2), fact(3)
OBSERVED, ALSO = fact(4, 1, 3, 99), fact(5, 1)


def test_an_observation_is_read_in_the_place_of_its_facts() -> None:
    found = represented([RAW, OTHER, SECOND, OBSERVED, ALSO])
    assert found.read == (OTHER, OBSERVED, ALSO)
    assert found.with_facts([OBSERVED]) == [OBSERVED, RAW, SECOND]


def test_what_became_of_the_observation_became_of_its_facts() -> None:
    found = represented([RAW, OTHER, OBSERVED])
    readings = found.with_those([reading(OTHER, "irrelevant"), reading(OBSERVED, "integrated")])
    assert {(each.position, each.verdict) for each in readings} == {
        (2, "irrelevant"),
        (4, "integrated"),
        (1, "integrated"),
    }


def test_a_fact_that_says_something_else_now_is_read_itself() -> None:
    """The editor is shown its text before, so that what the document says of it can be mended."""
    assert represented([RAW, OBSERVED], unless=[RAW.id]).read == (RAW, OBSERVED)


def test_no_fact_is_lost() -> None:
    facts = [RAW, OTHER, SECOND, OBSERVED, ALSO]
    found = represented(facts)
    assert sorted(each.position for each in found.with_facts(found.read)) == [1, 2, 3, 4, 5]
