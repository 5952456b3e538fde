"""What the ids in an operation name. Exactly that or nothing: an id that names no such piece is never guessed at.

The order of the checks and the reasons are those of the spec of the system of reference, "Application order and
validation"; the reasons for items and for other anchors are in the same spirit.
"""

from typing import NamedTuple

from domain.document.edits.draft import Draft, SectionPlace
from domain.document.edits.itemized import ITEMIZED
from domain.document.edits.unfit import Unfit
from domain.document.ids import slug
from domain.document.model import Block


class BlockPlace(NamedTuple):
    """A block of a draft and where it stands."""

    block: Block
    at: int


def require_text(text: str, what: str = "block") -> None:
    """Raises Unfit if there is nothing but whitespace."""
    if not text.strip():
        raise Unfit(f"{what} text is empty")


def section_named(draft: Draft, section_id: str) -> SectionPlace:
    """The section with this id. Raises Unfit."""
    place = _section(draft, section_id)
    if place is None:
        raise _bad(f"unknown section_id: {section_id}")
    return place


def preamble_of(draft: Draft) -> SectionPlace:
    """What stands before the first heading, be it nothing."""
    return next(draft.sections())


def section_anchor(draft: Draft, anchor: str) -> SectionPlace:
    """The section meant by an anchor: the one with this id; the one added for this heading or id in this batch; the one
    whose id is the slug of it; the one with this title. Raises Unfit."""
    place = _section(draft, anchor) or _section(draft, draft.added.get(anchor)) or _section(draft, slug(anchor))
    if place is None:
        place = next((place for place in draft.sections() if place.title == anchor), None)
    if place is None:
        raise _bad(f"unknown after_section_id: {anchor}")
    return place


def block_named(draft: Draft, section: SectionPlace, block_id: str, field: str = "block_id") -> BlockPlace:
    """The block with this id in a section. Raises Unfit."""
    found = _block(draft, block_id)
    if found is None:
        raise _bad(f"unknown {field}: {block_id}")
    if not section.start < found.at < section.stop:
        owner = next(place.opening for place in draft.sections() if place.start < found.at < place.stop)
        raise _bad(f"{field} {block_id} belongs to section {owner.id}, not {section.opening.id}")
    return found


def itemized_named(draft: Draft, block_id: str) -> BlockPlace:
    """The list or table with this id. Raises Unfit."""
    found = _block(draft, block_id)
    if found is None:
        raise _bad(f"unknown block_id: {block_id}")
    if found.block.kind not in ITEMIZED:
        raise _bad(f"block_id {block_id} has no items")
    return found


def item_named(draft: Draft, block: Block, item_id: str, field: str = "item_id") -> int:
    """Which item of a list or table has this id. Raises Unfit."""
    for at, item in enumerate(block.items):
        if item.id == item_id:
            return at
    for piece in draft.pieces:
        if isinstance(piece, Block) and any(item.id == item_id for item in piece.items):
            raise _bad(f"{field} {item_id} belongs to block {piece.id}, not {block.id}")
    raise _bad(f"unknown {field}: {item_id}")


def _bad(reason: str) -> Unfit:
    return Unfit(reason, bad_reference=True)


def _section(draft: Draft, section_id: str | None) -> SectionPlace | None:
    if section_id is None:
        return None
    return next((place for place in draft.sections() if place.opening.id == section_id), None)


def _block(draft: Draft, block_id: str) -> BlockPlace | None:
    for at, piece in enumerate(draft.pieces):
        if isinstance(piece, Block) and piece.id == block_id:
            return BlockPlace(piece, at)
    return None
