"""Bar charts as SVG text: drawn here, from numbers, so that a page needs no library for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 190
TOP, BOTTOM, LEFT = 10, 24, 42
MOST_LABELS = 8


@dataclass(frozen=True)
class Series:
    """What one colour stands for; `key` is its name in the values of a bar."""

    name: str
    shade: str
    key: str


@dataclass(frozen=True)
class Bar:
    """One column, its parts on top of each other."""

    label: str
    values: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.values.values())


def bars(columns: Sequence[Bar], series: Sequence[Series]) -> str:
    """An SVG; columns in their order, each with its numbers as a tooltip."""
    highest = round_up(max((column.total for column in columns), default=0))
    step = (WIDTH - LEFT) / max(len(columns), 1)
    every = -(-len(columns) // MOST_LABELS)
    parts = [_scale(highest)]
    for number, column in enumerate(columns):
        parts.append(_column(column, series, LEFT + number * step, step, highest))
        if number % every == 0:
            x = LEFT + (number + 0.5) * step
            parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(column.label)}</text>')
    told = escape(", ".join(f"{column.label}: {column.total}" for column in columns if column.total)[:1000])
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{told}">{"".join(parts)}</svg>'


def round_up(number: int) -> int:
    """The next number that is good to read: 1, 2, 5, 10, 20, 50 ..."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if number <= factor * size:
                return factor * size
        size *= 10


def _y(value: float, highest: int) -> float:
    return HEIGHT - BOTTOM - value / highest * (HEIGHT - TOP - BOTTOM)


def _scale(highest: int) -> str:
    lines = []
    middle = [highest // 2] if highest % 2 == 0 else []
    for value in (0, *middle, highest):
        y = _y(value, highest)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,}</text>')
    return "".join(lines)


def _column(column: Bar, series: Sequence[Series], x: float, step: float, highest: int) -> str:
    width = max(min(step * 0.72, 44), 1.0)
    left, below, parts = x + (step - width) / 2, 0, []
    for each in series:
        if value := column.values.get(each.key, 0):
            top, foot = _y(below + value, highest), _y(below, highest)
            size = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{foot - top:.1f}" rx="2"'
            parts.append(f'<rect class="bar-{each.shade}" {size}/>')
            below += value
    told = ", ".join(f"{each.name.lower()} {column.values.get(each.key, 0):,}" for each in series)
    return f"<g><title>{escape(column.label)}: {escape(told)}</title>{''.join(parts)}</g>"
