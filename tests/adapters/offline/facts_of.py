"""Facts as the tests of this folder make them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from hypothesis import settings

from adapters.offline.facts import OfflineFactExtractor
from application.ports import RetainSteering
from domain.memory import ExtractedFact, Fact, RecalledFact, RecallScores, RetainItem

unhurried = settings(deadline=None)  # a busy machine is no failure

SAID = datetime(2024, 5, 15, 12, 30, tzinfo=UTC)
"""A Wednesday."""


def extracted(content: str, **item: object) -> tuple[ExtractedFact, ...]:
    """What the offline engine reads out of an item said on 15 May 2024."""
    retained = RetainItem.model_validate({"content": content, "timestamp": SAID, **item})
    return tuple(OfflineFactExtractor().extract(retained, steering=RetainSteering(), now=datetime.now(UTC)).facts)


def texts(content: str, **item: object) -> list[str]:
    return [fact.text for fact in extracted(content, **item)]


def stored(
    number: int,
    text: str,
    *,
    names: Sequence[str] = (),
    occurred: datetime | None = None,
    until: datetime | None = None,
    mentioned: datetime | None = SAID,
) -> Fact:
    """A fact as memory keeps it, at position `number`."""
    return Fact(
        id=UUID(int=number),
        version=1,
        position=number,
        fact_type="world",
        text=text,
        entities=tuple(names),
        occurred_start=occurred,
        occurred_end=until,
        mentioned_at=mentioned,
        recorded_at=SAID,
    )


def recalled(
    fact: Fact, final: float = 1.0, *, semantic: float | None = 0.9, keyword: float | None = None
) -> RecalledFact:
    return RecalledFact(fact=fact, scores=RecallScores(semantic=semantic, keyword=keyword, final=final))
