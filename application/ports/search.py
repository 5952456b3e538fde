"""What a recall asks beside the memory: which time a question means, and a second opinion on the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from domain.period import Period
from domain.usage import ModelCall


class PeriodReader(Protocol):
    """Reads which time a text means."""

    def __call__(self, text: str, said_at: datetime | None) -> Period | None:
        """The first date in the text; words such as "yesterday" count from `said_at`, in UTC. None: it names none."""
        ...


@dataclass(frozen=True)
class Judgement:
    """How well each text answers, in their order: 0 to 1 (None: it was not judged)."""

    scores: Sequence[float | None]
    calls: Sequence[ModelCall] = ()


class Reranker(Protocol):
    """Reads question and text together, which no index can."""

    model: str

    def rerank(self, query: str, texts: Sequence[str]) -> Judgement:
        """Raises MindFailed."""
        ...

    def close(self) -> None:
        """Frees what it holds; it is not used afterwards."""
        ...
