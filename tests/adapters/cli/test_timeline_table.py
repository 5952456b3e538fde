"""The timeline as people read it in a terminal."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from io import StringIO

from rich.console import Console

from adapters.cli.timeline_table import timeline_table
from projections.timeline import TimelineEntry

WRITTEN = TimelineEntry(
    version=2,
    position=5,
    topic="mental_model.content_written",
    occurred_at=datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC),
    actor="worker",
    cause="operation",
    operation_id="7a0c200a-8b9d-4683-b01d-a80b167922e1",
    key_id=None,
    sentence="Wrote 4029 characters resting on 37 facts (read to position 212, full, offline)",
    calls=2,
    tokens=240,
    duration_ms=1403,
)


def printed(entry: TimelineEntry, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(timeline_table([entry]))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def words(text: str) -> list[str]:
    return text.split()


def test_80_columns_show_every_word_of_it() -> None:
    shown = printed(WRITTEN)
    assert max(map(len, shown.splitlines())) <= 80
    for word in [*words(WRITTEN.sentence), "2026-03-01", "09:30:05", "worker", "operation", str(WRITTEN.operation_id)]:
        assert word in words(shown)


def test_it_tells_what_an_event_cost() -> None:
    assert "2 calls" in printed(WRITTEN)
    assert "240 tokens" in printed(WRITTEN)
    assert "1403 ms" in printed(WRITTEN)
    assert "1 call " in printed(replace(WRITTEN, calls=1))
    assert "no model" in printed(replace(WRITTEN, calls=0, tokens=0))


def test_a_change_by_a_person_has_no_cost_and_no_operation() -> None:
    renamed = replace(WRITTEN, actor="user", cause="PATCH mental model", operation_id=None)
    shown = printed(replace(renamed, sentence="Renamed", calls=0, tokens=0, duration_ms=0))
    assert "why: PATCH mental model" in shown
    assert "ms" not in words(shown)


def test_brackets_of_a_text_are_shown_as_they_are() -> None:
    assert "[bold]not markup[/bold]" in printed(replace(WRITTEN, sentence="Asks [bold]not markup[/bold]"), width=200)


def test_times_are_shown_in_utc() -> None:
    east = WRITTEN.occurred_at.astimezone(timezone(timedelta(hours=9)))
    assert "09:30:05" in printed(replace(WRITTEN, occurred_at=east))
