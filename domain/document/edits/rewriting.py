"""A list or table written anew: what did not change keeps its bytes and ids, so only what changed has changed."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from domain.document.alignment import align
from domain.document.cuts import BlockCut
from domain.document.edits.itemized import ITEMIZED, is_ordered, rebuilt, separator_at, with_rows_below, words_of
from domain.document.edits.markers import marker_of, with_marker
from domain.document.edits.rows import header_of
from domain.document.ids import BLOCK_PREFIX, ITEM_PREFIX, Ids, fingerprint
from domain.document.model import Block, Item
from domain.document.parsing import built_block


def rewritten(block: Block, cuts: Sequence[BlockCut], ids: Ids, line_break: str) -> list[Block]:
    """The blocks that come instead of a block; the first has its id.

    A list or table among them continues one: an item whose words stay keeps its id, its source and the gap after it,
    wherever it goes. New items are set apart as the old ones were and get the bullet or delimiter of the list; numbers
    are those given. A header of which only the padding changed stays.
    """
    cuts[0].id = block.id
    heir = next((cut for cut in cuts if cut.kind == block.kind and cut.kind in ITEMIZED), None)
    return [_continued(block, cut, ids, line_break) if cut is heir else built_block(cut, ids) for cut in cuts]


def _continued(block: Block, given: BlockCut, ids: Ids, line_break: str) -> Block:
    items = tuple(_items(block, given, ids, line_break))
    stays = block.kind == "table" and header_of(block.prefix) == header_of(given.prefix)
    prefix = block.prefix if stays else given.prefix
    prefix = with_rows_below(prefix, line_break) if items else prefix.rstrip("\r\n")
    continued = replace(rebuilt(block, items, prefix), gap=given.gap)
    return replace(continued, id=given.id or ids.give(fingerprint(BLOCK_PREFIX, continued.source)))


def _items(block: Block, given: BlockCut, ids: Ids, line_break: str) -> Iterator[Item]:
    old = [words_of(block, item.source) for item in block.items]
    new = [words_of(given, item.source) for item in given.items]
    for at, (item, place) in enumerate(zip(given.items, align(old, new), strict=True)):
        former = None if place is None else block.items[place]
        source = _source(block, given, item.source, former, line_break)
        yield Item(
            id=ids.give(fingerprint(ITEM_PREFIX, source)) if former is None else former.id,
            source=source,
            gap=(former.gap if former else "") or separator_at(block, at, item.gap or line_break),
        )


def _source(block: Block, given: BlockCut, source: str, former: Item | None, line_break: str) -> str:
    """The item as it is to stand in the list or table: the former one where the words are the same."""
    if block.kind == "table":
        return source if former is None else former.source
    if is_ordered(block) != is_ordered(given):
        return source
    kept = source if former is None else former.source
    own = marker_of(block.items[0].source if former is None else former.source)
    return with_marker(kept, replace(own, number=marker_of(source).number), line_break)
