"""What is embedded of a fact: its text, and the month it is about."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.memory import ExtractedFact
from domain.recall.embedded_text import embedded_text

MAY, JUNE = datetime(2023, 5, 8, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC)


def test_a_fact_is_embedded_with_the_month_it_happened_in_else_was_said_in() -> None:
    assert embedded_text(ExtractedFact(text="Ada moved", occurred_start=MAY), JUNE) == "Ada moved (May 2023)"
    assert embedded_text(ExtractedFact(text="Ada moved"), JUNE) == "Ada moved (June 2023)"
    assert embedded_text(ExtractedFact(text="Ada moved"), None) == "Ada moved"
