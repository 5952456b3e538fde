"""How much text the tools of a reflection give at a time, where neither the question nor the mind says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from domain.bank_config import BankConfig
from domain.recall.selection import NO_LIMIT
from domain.reflection import ReflectQuestion


@dataclass(frozen=True)
class Amounts:
    """Tokens of facts, of observations, of chunks where a question wants them, and of the facts under observations (0:
    all of them). None: nothing is said, and of facts under observations none are shown."""

    recall: int | None = None
    observations: int | None = None
    chunks: int | None = None
    sources: int | None = None

    @classmethod
    def of(cls, config: BankConfig) -> Self:
        """As a bank says."""
        options, sources = config.reflect_default_options, config.reflect_source_facts_max_tokens
        return cls(
            config.recall_max_tokens,
            options.reflect_search_observations_max_tokens if options else None,
            config.recall_chunks_max_tokens,
            None if sources == NO_LIMIT else sources,
        )

    def in_place_of_none(self, question: ReflectQuestion) -> ReflectQuestion:
        """The question, with these where it names no amounts itself."""
        told = {
            "recall_tokens": self.recall,
            "observation_tokens": self.observations,
            "chunk_tokens": self.chunks,
            "source_tokens": self.sources,
        }
        missing = {name: amount for name, amount in told.items() if getattr(question, name) is None}
        return question.model_copy(update=missing)
