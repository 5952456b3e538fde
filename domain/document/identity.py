"""The ids of a document apart from its text: how they are kept from one write to the next."""

from __future__ import annotations

from collections.abc import Sequence

from domain.document.cuts import BlockCut, ItemCut, SectionCut, cut
from domain.document.ids import BLOCK_PREFIX, ITEM_PREFIX, Ids
from domain.document.model import Document
from domain.document.parsing import built


def ids_of(document: Document) -> tuple[str, ...]:
    """All ids in the order of the text: each section, then its blocks, each followed by its items."""
    return tuple(
        identity
        for section in document.sections
        for identity in (
            section.id,
            *(each for block in section.blocks for each in (block.id, *(item.id for item in block.items))),
        )
    )


def identified(markdown: str, ids: Sequence[str]) -> Document:
    """The document of a text whose ids are known, as `ids_of` gave them.

    When they cannot be those of this text (none were kept, or the parser cuts it differently now), ids are derived
    from content, as at birth.
    """
    leading, sections = cut(markdown)
    pieces = _pieces(sections)
    if len(set(ids)) == len(ids) == len(pieces) and all(map(_may_be, ids, pieces)):
        for piece, identity in zip(pieces, ids, strict=True):
            piece.id = identity
    return built(leading, sections, Ids())


def _pieces(sections: Sequence[SectionCut]) -> list[SectionCut | BlockCut | ItemCut]:
    pieces: list[SectionCut | BlockCut | ItemCut] = []
    for section in sections:
        pieces.append(section)
        for block in section.blocks:
            pieces += [block, *block.items]
    return pieces


def _may_be(identity: str, piece: SectionCut | BlockCut | ItemCut) -> bool:
    """Whether a piece of this kind may have the id: those of blocks and items begin with a letter of their own."""
    if isinstance(piece, BlockCut):
        return identity.startswith(BLOCK_PREFIX)
    return isinstance(piece, SectionCut) or identity.startswith(ITEM_PREFIX)
