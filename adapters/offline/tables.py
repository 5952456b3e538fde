"""Rows of a markdown table."""

from __future__ import annotations

import re
from itertools import zip_longest

_BORDER = re.compile(r":?-+:?")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")


def cells_of(line: str) -> list[str]:
    """Cells of a line without their pipes; an escaped pipe is part of its cell."""
    inner = line.strip().removeprefix("|")
    if inner.endswith("|") and not inner.endswith("\\|"):
        inner = inner[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _UNESCAPED_PIPE.split(inner)]


def starts_table(line: str, following: str | None) -> bool:
    """Whether `line` is the header of a table: the line after it draws the border under as many cells."""
    if following is None or "|" not in line or "-" not in following or following.strip(" \t|:-"):
        return False
    borders = cells_of(following)
    return len(borders) == len(cells_of(line)) and all(_BORDER.fullmatch(border) for border in borders)


def row_text(header: list[str], cells: list[str]) -> str:
    """A row as a statement that is understood without its table: `Header: value; Header: value`."""
    pairs = zip_longest(header, cells, fillvalue="")
    return "; ".join(f"{name}: {value}" if name else value for name, value in pairs if value)
