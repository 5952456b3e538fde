"""What commands print: tables and documents for people, the JSON of the API for programs.

Texts of documents and memories may come from anybody. For people they are shown with their control characters spelled
out, so that none of them moves the cursor or hides a word; only `--raw` writes a document as it is."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

_UNSEEN = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Control characters beyond ASCII, marks that turn the direction of writing, and halves of characters."""
_CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSEEN}]")
_ESCAPED_IN_JSON = re.compile(f"[{_UNSEEN}]")


def console(*, errors: bool = False) -> Console:
    """Standard output, or standard error. Colour on a terminal only, and not with NO_COLOR."""
    return Console(stderr=errors, highlight=False, markup=False, emoji=False)


def visible(told: Any) -> Any:
    """The same value with the control characters of its texts spelled out; line ends and tabs stay."""
    if isinstance(told, str):
        return _CONTROLS.sub(_spelled, told.replace("\r\n", "\n"))
    if isinstance(told, list):
        return [visible(each) for each in told]
    if isinstance(told, dict):
        return {visible(name): visible(each) for name, each in told.items()}
    return told


def _spelled(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def as_json(told: Any) -> str:
    """JSON that is safe to look at: what a terminal might obey is escaped, which changes no value."""
    return _ESCAPED_IN_JSON.sub(_spelled, json.dumps(told, ensure_ascii=False, indent=2))


def write_raw(text: str) -> None:
    """The text as UTF-8 and nothing else: no line end is added or changed."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode())
    sys.stdout.buffer.flush()


def moment(iso: str | None) -> str:
    """A time of the API in UTC, to the second; "-" for none."""
    if not iso:
        return "-"
    return datetime.fromisoformat(iso).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def stacked(text: str, *below: str | None) -> Text:
    """A text with more about it in the lines below."""
    made = Text(text)
    for line in below:
        if line:
            made.append(f"\n{line}", style="dim")
    return made


def listed(values: Iterable[str] | None) -> str:
    return ", ".join(values or ()) or "-"


def number(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def table(*headings: str, rows: Iterable[Sequence[RenderableType]], flow: Sequence[str] = ()) -> Table:
    """A row each. Lines break in the columns named in `flow`; the others have room for their longest text."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        made.add_column(heading, no_wrap=heading not in flow, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return made


def fields(told: Iterable[tuple[str, RenderableType | None]]) -> Table:
    """Names and values, one a line; without those that are None."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in told:
        if value is not None:
            grid.add_row(name, Text(value) if isinstance(value, str) else value)
    return grid


def counted(shown: int, total: int, offset: int = 0) -> Text:
    """Below a list: which part of it was shown."""
    if shown == total:
        return Text(f"{total} in all", style="dim")
    return Text(f"{offset + 1}-{offset + shown} of {total}; more with --limit and --offset", style="dim")


def document(content: str) -> RenderableType:
    """Markdown as it is meant to look. Links show where they lead; nothing in it is obeyed by the terminal."""
    from rich.markdown import Markdown

    if not content.strip():
        return Text("(empty)", style="dim")
    return Markdown(content, hyperlinks=False)


def difference(unified: str) -> Text:
    """A unified diff in colours."""
    made = Text()
    for line in unified.splitlines():
        made.append(f"{line}\n", style=_style(line))
    made.rstrip()
    return made


def _style(line: str) -> str:
    if line.startswith(("+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
