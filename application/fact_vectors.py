"""The vector of a fact that a person changes."""

from __future__ import annotations

from collections.abc import Sequence

from application.ports import Embedder, MindFailed
from domain.memory import ExtractedFact, Fact
from domain.recall.embedded_text import embedded_text
from domain.usage import ModelCall


class FactVectors:
    """Vectors of facts, none asked for twice, and what they cost."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Sequence[float]] = {}
        self.calls: list[ModelCall] = []

    def of(self, fact: Fact) -> Sequence[float]:
        """Raises MindFailed."""
        text = embedded_text(ExtractedFact(text=fact.text, occurred_start=fact.occurred_start), fact.mentioned_at)
        if text not in self._known:
            try:
                embedded = self._embedder.embed([text])
            except MindFailed as failure:
                self.calls.extend(failure.calls)
                raise
            self.calls.extend(embedded.calls)
            self._known[text] = embedded.vectors[0]
        return self._known[text]
