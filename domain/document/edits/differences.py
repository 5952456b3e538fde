"""What a change did to the pieces of a document, by their ids."""

from collections.abc import Iterator, Sequence

from domain.document.edits.draft import Piece
from domain.document.edits.itemized import ITEMIZED, form_of, words_of
from domain.document.model import Block, Item


def removed(old: Sequence[Piece], new: Sequence[Piece]) -> tuple[str, ...]:
    """The ids that are gone, in the order in which they stood."""
    left = set(_present(new))
    return tuple(identity for identity in _present(old) if identity not in left)


def written(old: Sequence[Piece], new: Sequence[Piece]) -> tuple[str, ...]:
    """The ids of what was written, in order: headings, blocks, and items whose words are new.

    An item that only got another marker or another padding says what it said, and was not written. Of a list or table
    that was there before, the block was written only if what is no item was: the header, or the kind of the list.
    """
    return tuple(_written(old, new))


def _present(pieces: Sequence[Piece]) -> Iterator[str]:
    """The ids in the text of the pieces. A preamble is in it as long as it has blocks."""
    for place, piece in enumerate(pieces):
        if isinstance(piece, Block):
            yield piece.id
            yield from (item.id for item in piece.items)
        elif piece.id is not None and (piece.heading is not None or _block_follows(pieces, place)):
            yield piece.id


def _block_follows(pieces: Sequence[Piece], place: int) -> bool:
    return place + 1 < len(pieces) and isinstance(pieces[place + 1], Block)


def _written(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[str]:
    was_there, is_there = set(_present(old)), set(_present(new))
    former: dict[str | None, Piece] = {piece.id: piece for piece in old if piece.id in was_there}
    former_items = {item.id: (block, item) for block in old if isinstance(block, Block) for item in block.items}
    for piece in new:
        if piece.id is None or piece.id not in is_there:
            continue
        if _piece_differs(former.get(piece.id), piece):
            yield piece.id
        if isinstance(piece, Block):
            yield from (item.id for item in piece.items if _item_differs(former_items.get(item.id), piece, item))


def _piece_differs(before: Piece | None, piece: Piece) -> bool:
    if isinstance(before, Block) and isinstance(piece, Block) and before.kind == piece.kind and piece.kind in ITEMIZED:
        return form_of(before) != form_of(piece)
    return before is None or before.source != piece.source


def _item_differs(before: tuple[Block, Item] | None, block: Block, item: Item) -> bool:
    if before is None:
        return True
    former_block, former = before
    return former.source != item.source and words_of(former_block, former.source) != words_of(block, item.source)
