"""Rows of tables: their cells, and the pipes around them."""

import re

from domain.document.edits.gaps import LINE_FEED, with_breaks

_PIPE = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(":?-{3,}:?")


def cells_of(row: str) -> tuple[str, ...]:
    """The text of each cell, whether or not there are pipes around the row."""
    cells = [cell.strip() for cell in _PIPE.split(row.strip())]
    first = 1 if len(cells) > 1 and not cells[0] else 0
    last = len(cells) - 1 if len(cells) > 1 and not cells[-1] else len(cells)
    return tuple(cells[first:last])


def header_of(prefix: str) -> tuple[tuple[str, ...], ...]:
    """The cells of a header and its delimiter row; of the latter only the alignment."""
    header, *delimiter = _lines(prefix)
    return cells_of(header), *(tuple(re.sub("-+", "-", cell) for cell in cells_of(row)) for row in delimiter)


def is_delimiter_row(row: str) -> bool:
    """Whether the row, seen alone, is one that belongs below a header."""
    cells = cells_of(row)
    return bool(cells) and all(_DELIMITER.fullmatch(cell) for cell in cells)


def rows_of(text: str) -> list[str]:
    """The lines of a text that are not blank, without the spaces around them."""
    return [line.strip() for line in _lines(text) if line.strip()]


def row_like(row: str, example: str) -> str:
    """The row, with the outer pipes it lacks where an example of its table has them."""
    example = example.strip()
    if example.startswith("|") and not row.startswith("|"):
        row = "| " + row
    if _ends_with_pipe(example) and not _ends_with_pipe(row):
        row += " |"
    return row


def _ends_with_pipe(row: str) -> bool:
    return row.endswith("|") and not row.endswith("\\|")


def _lines(text: str) -> list[str]:
    return with_breaks(text, LINE_FEED).split(LINE_FEED)
