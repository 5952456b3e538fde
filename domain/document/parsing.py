"""From text to document: `parse(text).render() == text` for every string."""

from collections.abc import Iterable, Sequence
from typing import Final

from domain.document.carry_over import carry_over
from domain.document.cuts import BlockCut, ItemCut, SectionCut, cut
from domain.document.ids import BLOCK_PREFIX, ITEM_PREFIX, PREAMBLE_SLUG, Ids, fingerprint, slug
from domain.document.model import Block, Document, Item, Section, ids_of

PARSER_VERSION: Final = 1
"""Recorded with every text that was written. Raise it when a text gets other boundaries, kinds or ids than before."""


def parse(markdown: str, previous: Document | None = None) -> Document:
    """The document of any text: total, deterministic, and lossless.

    Ids are derived from content; with `previous`, the document this text replaces, pieces whose text is unchanged
    keep the ids they have there, and new pieces get ids it does not have.
    """
    leading, sections = cut(markdown)
    ids = Ids()
    if previous is not None:
        carry_over(previous, sections)
        ids = Ids(ids_of(previous))
    return built(leading, sections, ids)


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


def built(leading: str, sections: Iterable[SectionCut], ids: Ids) -> Document:
    """The document of what was cut; what has no id yet is given one."""
    return Document(leading, tuple([_section(section, ids) for section in sections]))


def _section(cut: SectionCut, ids: Ids) -> Section:
    wanted = PREAMBLE_SLUG if cut.heading is None else slug(cut.heading.title)
    identity = cut.id or ids.give(wanted)
    return Section(identity, cut.heading, tuple([built_block(block, ids) for block in cut.blocks]))


def built_block(cut: BlockCut, ids: Ids) -> Block:
    """The block of what was cut; it and its items are given the ids they do not have yet."""
    identity = cut.id or ids.give(fingerprint(BLOCK_PREFIX, cut.source))
    return Block(identity, cut.source, cut.gap, cut.kind, cut.prefix, _items(cut.items, ids))


def _items(cuts: Iterable[ItemCut], ids: Ids) -> tuple[Item, ...]:
    return tuple([Item(cut.id or ids.give(fingerprint(ITEM_PREFIX, cut.source)), cut.source, cut.gap) for cut in cuts])


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
