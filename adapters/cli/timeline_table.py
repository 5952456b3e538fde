"""The timeline of a document as a table that fits a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC

from rich import box
from rich.table import Table
from rich.text import Text

from projections.timeline import TimelineEntry


def timeline_table(entries: Iterable[TimelineEntry], title: str | None = None) -> Table:
    """One row an event: version, when, who, what with its reason below, and what it cost."""
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("v", "when (UTC)", "who"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what, and why", overflow="fold")
    table.add_column("cost", no_wrap=True)
    for each in entries:
        when = each.occurred_at.astimezone(UTC).strftime("%Y-%m-%d\n%H:%M:%S")
        table.add_row(str(each.version), when, _who(each), _what_and_why(each), _cost(each))
    return table


def _who(entry: TimelineEntry) -> str:
    return f"{entry.actor}\n{entry.key_id}" if entry.key_id else entry.actor


def _what_and_why(entry: TimelineEntry) -> Text:
    why = f"{entry.cause} {entry.operation_id}" if entry.operation_id else entry.cause
    return Text.assemble(entry.sentence, (f"\nwhy: {why}", "dim"))  # as Text: brackets in it are no markup


def _cost(entry: TimelineEntry) -> str:
    if not (entry.calls or entry.duration_ms):
        return "-"
    plural = "" if entry.calls == 1 else "s"
    asked = f"{entry.calls} call{plural}\n{entry.tokens} tokens" if entry.calls else "no model"
    return f"{asked}\n{entry.duration_ms} ms"
