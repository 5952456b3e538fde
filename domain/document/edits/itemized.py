"""Blocks made of items: lists and tables."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Final

from domain.document.cuts import BlockCut
from domain.document.edits.markers import content_of, marker_of
from domain.document.edits.rows import cells_of, header_of
from domain.document.ids import ITEM_PREFIX, Ids, fingerprint
from domain.document.model import Block, Item

ITEMIZED: Final = ("list", "table")


def continues(block: Block | BlockCut | None, following: Block | BlockCut | None) -> bool:
    """Whether markdown reads the second as the rest of the first: both are lists with the same kind of marker."""
    if block is None or following is None or block.kind != "list" or following.kind != "list":
        return False
    return marker_of(block.items[-1].source).sign == marker_of(following.items[0].source).sign


def is_ordered(block: Block | BlockCut) -> bool:
    """Whether the items of a list have numbers."""
    return marker_of(block.items[0].source).number is not None


def words_of(block: Block | BlockCut, item: str) -> Hashable:
    """What an item says, apart from its marker, the spaces around it, or the padding of its cells."""
    return content_of(item) if block.kind == "list" else cells_of(item)


def form_of(block: Block) -> Hashable:
    """What a list or table says apart from its items: whether it is ordered, or the header."""
    return is_ordered(block) if block.kind == "list" else header_of(block.prefix)


def rebuilt(block: Block, items: Sequence[Item], prefix: str | None = None) -> Block:
    """The block made of these items; the last is followed by none, so it has no gap."""
    items = (*items[:-1], *(replace(item, gap="") for item in items[-1:]))
    prefix = block.prefix if prefix is None else prefix
    source = prefix + "".join(item.source + item.gap for item in items)
    return replace(block, source=source, prefix=prefix, items=items)


def with_items(block: Block, at: int, sources: Sequence[str], ids: Ids, line_break: str) -> Block:
    """The block with new items, set apart as the items around them are."""
    separator = separator_at(block, at, line_break)
    new = [Item(ids.give(fingerprint(ITEM_PREFIX, source)), source, separator) for source in sources]
    before = list(block.items[:at])
    if before and not before[-1].gap:
        before[-1] = replace(before[-1], gap=separator)
    return rebuilt(block, [*before, *new, *block.items[at:]], with_rows_below(block.prefix, line_break))


def separator_at(block: Block, at: int, line_break: str) -> str:
    """What sets an item at this place apart: what does so for its neighbours, in a single item a line break."""
    separators = [item.gap for item in block.items[:-1]]
    return separators[min(max(at - 1, 0), len(separators) - 1)] if separators else line_break


def with_rows_below(prefix: str, line_break: str) -> str:
    """The prefix of a block that has items: a header ends its line."""
    return prefix if not prefix or prefix.endswith(("\n", "\r")) else prefix + line_break
