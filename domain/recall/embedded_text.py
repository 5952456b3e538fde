"""What is embedded of a fact."""

from __future__ import annotations

from datetime import datetime

from domain.memory import ExtractedFact
from domain.terms import MONTHS


def embedded_text(fact: ExtractedFact, mentioned_at: datetime | None) -> str:
    """The text with the month and year of what it tells, else of when it was said: questions ask for times, and few
    texts name theirs (the system of reference embeds "text + dates"; measured in docs/recall.md)."""
    at = fact.occurred_start or mentioned_at
    return f"{fact.text} ({MONTHS[at.month - 1].title()} {at.year})" if at is not None else fact.text
