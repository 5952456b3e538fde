"""What a reflection works with: where it may look, and what is on its desk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from application.ports import MemoryStore
from application.ports.pages import Pages, SourceTexts
from application.recall import Recalls
from domain.memory import FACTS_OF_BUDGET, Budget, Fact, Window
from domain.reflection import ReflectQuestion, ToolResult
from domain.scope import Scope


@dataclass(frozen=True)
class Readable:
    """Where a reflection may look. Pages are kept out one by one, or all of them."""

    bank_id: str
    scope: Scope
    window: Window
    exclude_pages: bool = False
    excluded_page_ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Desk:
    """One turn of a reflection, for the tools: what it may read, and what it has read so far. `vectors` are those of
    the queries of the turn."""

    memory: MemoryStore
    pages: Pages
    texts: SourceTexts
    question: ReflectQuestion
    readable: Readable
    budget: Budget
    results: Sequence[ToolResult] = ()
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    recalls: Recalls | None = None
    """How the bank recalls; without it, as the memory does."""
    waiting: int = 0
    """Facts that wait to be worked into observations."""

    @property
    def most_facts(self) -> int:
        return FACTS_OF_BUDGET[self.budget]

    @property
    def shown_facts(self) -> dict[str, Fact]:
        return {str(found.fact.id): found.fact for result in self.results for found in result.facts}

    @property
    def shown_whole(self) -> frozenset[str]:
        """Ids of the pages that were shown whole."""
        return frozenset(
            shown.page.mental_model_id for result in self.results for shown in result.pages if shown.form == "whole"
        )
