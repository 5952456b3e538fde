"""Facts and the observations made of them in a delta: what both say is read once."""

from __future__ import annotations

from application.delta_observations import SaidAgain
from domain.memory import Fact
from domain.refresh import NothingToRead
from domain.refresh.retraction import REMADE
from domain.scope import Scope
from tests.application.test_delta import LIST, append, page, refresh, verdicts
from tests.support.examples import BANK
from tests.support.world import World


def observed(world: World, text: str, *facts: Fact, **fields: object) -> Fact:
    return world.memory.add(BANK, text, fact_type="observation", source_ids=tuple(fact.id for fact in facts), **fields)


def asked(world: World) -> list[list[str]]:
    """The facts of each request."""
    return [[new.fact.text for new in request.facts] for request in world.editor.asked]


def test_an_observation_stands_for_its_facts_and_all_are_accounted_for() -> None:
    world = World().has_a_model().knows("It has sixteen arches.", "Sixteen arches it has.", "It is old.")
    observed(world, "It has 16 arches.", world.fact(1), world.fact(2))
    world.editor.script = [append("Sixteen arches.", 1)]
    run = refresh(world, page())
    assert asked(world) == [["It is old.", "It has 16 arches."]]
    assert verdicts(run) == {1: "integrated", 2: "integrated", 3: "irrelevant", 4: "integrated"}
    assert [each.position for each in run.record.evidence] == [4], "the document rests on what it was shown"


def test_an_observation_of_what_the_page_has_been_through_is_not_read_again() -> None:
    world = World().has_a_model().knows("It has sixteen arches.", "It is old.")
    observed(world, "It is old and has 16 arches.", world.fact(1), world.fact(2))
    run = refresh(world, page(covered=2))
    assert asked(world) == []
    assert verdicts(run) == {3: "irrelevant"}


def test_an_observation_is_read_when_any_of_its_facts_was_not() -> None:
    world = World().has_a_model().knows("It has sixteen arches.", "It is old.")
    observed(world, "It is old and has 16 arches.", world.fact(1), world.fact(2))
    for model in (page(covered=2, pending=(1,)), page(covered=1)):
        world.editor.asked.clear()
        refresh(world, model)
        assert "It is old and has 16 arches." in asked(world)[0]


def test_an_observation_is_read_when_the_page_does_not_read_its_facts() -> None:
    world = World().has_a_model().knows("It has sixteen arches.")
    observed(world, "It has 16 arches.", world.fact(1))
    only = Scope(fact_types=("observation",))
    model = page(covered=1, covered_scope=only)
    trigger = model.trigger.model_copy(update={"fact_types": ("observation",)})
    refresh(world, model.model_copy(update={"trigger": trigger}))
    assert asked(world) == [["It has 16 arches."]]


def test_an_observation_is_read_when_one_that_the_page_rests_on_is_gone() -> None:
    """One of its facts was taken back: what is left of it was made anew, of what the page has been through."""
    world = World().has_a_model().knows("It has sixteen arches.", "It is old.")
    first = observed(world, "It is old and has 17 arches.", world.fact(1), world.fact(2))
    model = page(("list-1.1", first), covered=3)
    world.memory.close(BANK, world.fact(2), first)
    observed(world, "It has 16 arches.", world.fact(1))
    refresh(world, model)
    assert ["It has 16 arches."] in asked(world)


def test_no_page_in_a_bank_without_observations_asks_for_their_facts() -> None:
    world = World().has_a_model().knows("It is old.")
    world.editor.script = [append("Old.")]
    assert verdicts(refresh(world, page())) == {1: "integrated"}


def test_rt_02_what_was_observed_is_not_unsaid_while_it_is_made_anew() -> None:
    """RT-02: a source was taken back, so the observation went; what is left of it waits to be consolidated."""
    world = World().has_a_model().knows("It has sixteen arches.", "It is old.")
    first = observed(world, "It is old and has 16 arches.", world.fact(1), world.fact(2))
    waits = [1]
    world.deltas._said_again = SaidAgain(
        world.inbox, lambda _bank, facts: waits[0] if first.source_ids[0] in facts else 0
    )
    model = page((LIST.items[0].id, first), covered=3)
    world.memory.close(BANK, world.fact(2), first)
    run = refresh(world, model)
    assert isinstance(run.result, NothingToRead)
    assert run.record.retraction is not None
    assert (run.record.retraction.applied, run.record.retraction.deferred_reason) == (False, REMADE.format(count=1))
    waits[0] = 0
    assert refresh(world, model).record.retraction == run.record.retraction.model_copy(
        update={"applied": True, "deferred_reason": None}
    )
