"""What is new but for its words is added to what says it already; what only looks so is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from application.observation_drafts import ObservationDrafts
from domain.bank_config import BankConfig
from domain.consolidation import Batch
from domain.memory import Fact
from tests.support.consolidating import ToldConsolidator, each_by_itself
from tests.support.examples import BANK, NOW
from tests.support.in_memory import InMemoryMemoryStore
from tests.support.scripted_minds import CountingEmbedder

SCOPE = ("rent",)


class NearObservation:
    """An ObservationStore in which one observation is as near to any new one as it is told to be."""

    def __init__(self, text: str, similarity: float) -> None:
        self.similarity = similarity
        self.there = Fact(
            id=UUID(int=9),
            version=1,
            position=9,
            text=text,
            fact_type="observation",
            tags=SCOPE,
            source_ids=(UUID(int=7),),
            recorded_at=NOW,
        )

    def nearest(self, _bank_id: str, scope: Any, vectors: Sequence[Any]) -> list[tuple[Fact, float] | None]:
        assert scope == SCOPE
        return [(self.there, self.similarity) for _ in vectors]

    def current(self, _bank_id: str, _ids: object) -> list[Fact]:
        return []


def drafted(said: str, near: NearObservation) -> list[tuple[str, list[int]]]:
    """Texts and sources of what would be written of a fact that says something."""
    fact = Fact(id=UUID(int=1), version=1, position=1, text=said, fact_type="world", tags=SCOPE, recorded_at=NOW)
    mind = ToldConsolidator(each_by_itself)
    drafts = ObservationDrafts(InMemoryMemoryStore(), near, CountingEmbedder(), mind)  # type: ignore[arg-type]
    (embedded,) = drafts.make(BANK, Batch((SCOPE,), (fact,)), BankConfig(), NOW, lambda _calls: None)
    assert len(embedded.vectors) == len(embedded.changes.written)
    return [(each.text, [source.int for source in each.source_ids]) for each in embedded.changes.written]


def test_a_near_double_gives_its_facts_to_what_is_there() -> None:
    near = NearObservation("Observed: the rent went up", 0.98)
    assert drafted("the rent rose", near) == [("Observed: the rent went up", [7, 1])]


@pytest.mark.parametrize(
    ("there", "said", "similarity"),
    [
        ("Observed: the rent went up", "the rent rose", 0.96),
        ("Observed: the rent is 500 euros", "the rent is 600 euros", 0.99),
        ("Observed: the rent did go up", "the rent did not go up", 0.99),
        ("Observed: the rent of Ada went up", "the rent of Bob went up", 0.99),
    ],
)
def test_what_differs_in_a_number_a_name_or_a_not_is_told_by_itself(there: str, said: str, similarity: float) -> None:
    assert drafted(said, NearObservation(there, similarity)) == [(f"Observed: {said}", [1])]
