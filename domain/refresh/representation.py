"""Facts and the observations made of them: what both say is read once.

Of those that are new at the same time the observation is read, in the place of its facts. An observation of facts that
the document has been through is nothing new to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from domain.memory import Fact
from domain.mental_model.record import FactReading
from domain.mental_model.state import MentalModel
from domain.refresh.coverage import reading
from domain.scope import admits, same


@dataclass(frozen=True)
class Represented:
    """`read` are the facts to be read, in their order; the others come with the observation that stands for them."""

    read: tuple[Fact, ...]
    by: Mapping[UUID, tuple[Fact, ...]]
    """The facts that each observation stands for, by its id."""

    def with_those(self, readings: Iterable[FactReading]) -> list[FactReading]:
        """What became of the facts read, and of those they stand for: the same."""
        found: list[FactReading] = []
        for each in readings:
            found.append(each)
            found.extend(reading(fact, each.verdict) for fact in self.by.get(each.fact_id, ()))
        return found

    def with_facts(self, facts: Iterable[Fact]) -> list[Fact]:
        """The facts, and those they stand for."""
        return [each for fact in facts for each in (fact, *self.by.get(fact.id, ()))]


def represented(facts: Sequence[Fact], unless: Iterable[UUID] = ()) -> Represented:
    """A fact is stood for by the first observation that rests on it. Those in `unless` are to be read themselves."""
    stands_for: dict[UUID, UUID] = {}
    for observation in facts:
        for source in observation.source_ids:
            stands_for.setdefault(source, observation.id)
    themselves = set(unless)
    read: list[Fact] = []
    by: dict[UUID, tuple[Fact, ...]] = {}
    for fact in facts:
        observation_id = None if fact.id in themselves else stands_for.get(fact.id)
        if observation_id is None:
            read.append(fact)
        else:
            by[observation_id] = (*by.get(observation_id, ()), fact)
    return Represented(tuple(read), by)


def told_already(model: MentalModel, facts: Iterable[Fact], sources: Mapping[UUID, Fact]) -> set[UUID]:
    """The observations among the facts that rest on nothing but what the document has been through. `sources` are the
    facts they rest on, as they are now. None after a change of its scope."""
    if model.covered_scope is None or not same(model.covered_scope, model.scope):
        return set()

    def been_through(fact: Fact | None) -> bool:
        return (
            fact is not None
            and fact.position <= model.covered
            and fact.position not in model.pending
            and admits(model.scope, fact.tags, fact.fact_type)
        )

    return {
        fact.id
        for fact in facts
        if fact.source_ids and all(been_through(sources.get(each)) for each in fact.source_ids)
    }
