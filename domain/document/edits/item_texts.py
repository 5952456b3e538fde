"""The texts that operations bring, read as items of a list or rows of a table.

An item comes with or without a marker, and gets that of its list: the same bullet, or the next number. Rows get the
outer pipes that the table has. Several items or rows in one text are several.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from domain.document.cuts import BYTE_ORDER_MARK, BlockCut, cut
from domain.document.edits.block_texts import blocks_of_text
from domain.document.edits.gaps import text_of
from domain.document.edits.itemized import is_ordered
from domain.document.edits.markers import Marker, content_of, item_of, marker_of, with_marker
from domain.document.edits.rows import is_delimiter_row, row_like, rows_of
from domain.document.edits.unfit import Unfit
from domain.document.model import Block, Item

_LARGEST_ORDINAL = 999  # in a list of bullets a larger number is not that of an item: "2024. A good year."
_NO_LIST = Marker("", None, "-")


def items_of_text(text: str, block: Block, at: int, line_break: str, *, instead: bool = False) -> list[str]:
    """The sources of the items in a text, for this place in a list or table, or instead of the item there. Raises
    Unfit."""
    given = _rows(text, block, at) if block.kind == "table" else _items(text, block, line_break)
    if not given:
        raise Unfit("item text is empty")
    if block.kind == "table":
        return given
    markers = markers_at(block.items, at, instead=instead)
    return [with_marker(item, marker, line_break) for item, marker in zip(given, markers, strict=False)]


def is_rows(text: str) -> bool:
    """Whether a text has nothing but rows of a table that begins elsewhere. Source: spec of the system of reference,
    "Orphan table rows"."""
    rows = rows_of(text)
    return all(row.startswith("|") for row in rows) and not _has_header(text, rows)


def markers_at(items: Sequence[Item], at: int, *, instead: bool = False) -> Iterator[Marker]:
    """The markers of new items at this place of a list, the first that of the item there if it comes instead of it.

    Numbers go on from the item before; in a list that has the same number everywhere they are that number.
    """
    numbers = [marker_of(item.source).number for item in items[max(at - 2, 0) :][:2]]
    step = 0 if len(numbers) > 1 and numbers[0] == numbers[1] else 1
    own = instead or at == 0
    first = marker_of(items[at if own else at - 1].source)
    return (first.plus(number * step) for number in count(0 if own else 1))


def _items(text: str, block: Block, line_break: str) -> list[str]:
    """The items in a text, with any marker; none if they say nothing."""
    blocks = blocks_of_text(text, line_break)
    first = blocks[0] if blocks else None
    if first is None or first.kind != "list" or (len(blocks) == 1 and _is_prose(first, block)):
        content = text_of(blocks).strip(" \t")
        return [item_of(_NO_LIST, content, line_break)] if content.strip() else []
    if len(blocks) > 1:
        raise Unfit("the text has more than the items of a list")
    return [_undoubled(item.source, line_break) for item in first.items if content_of(item.source)]


def _is_prose(given: BlockCut, block: Block) -> bool:
    number = marker_of(given.items[0].source).number
    return number is not None and number > _LARGEST_ORDINAL and not is_ordered(block)


def _undoubled(item: str, line_break: str) -> str:
    """The item without a second marker that only repeats its own."""
    marker = marker_of(item)
    _, sections = cut(content_of(item), begins_document=False)
    inner = [block for section in sections for block in section.blocks]
    if len(inner) == 1 and inner[0].kind == "list" and len(inner[0].items) == 1:
        repeated = marker_of(inner[0].source)
        if (repeated.number, repeated.sign) == (marker.number, marker.sign) and content_of(inner[0].source):
            return item_of(marker, content_of(inner[0].source), line_break)
    return item


def _rows(text: str, block: Block, at: int) -> list[str]:
    rows = rows_of(text.removeprefix(BYTE_ORDER_MARK))
    if _has_header(text, rows):
        raise Unfit("the text is a whole table; only rows can be put into one")
    example = block.items[max(at - 1, 0)].source if block.items else rows_of(block.prefix)[0]
    return [row_like(row, example) for row in rows]


def _has_header(text: str, rows: Sequence[str]) -> bool:
    _, sections = cut(text, begins_document=False)
    is_table = any(block.kind == "table" for section in sections for block in section.blocks)
    return is_table or any(is_delimiter_row(row) for row in rows)
