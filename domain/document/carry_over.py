"""Which ids of a previous document the pieces of a rewritten text keep.

A block or an item keeps its id if its text is unchanged, wherever it went. A section does if its title is unchanged,
or if it was renamed with all its blocks unchanged. Where a text occurs several times, its surroundings decide, then
the order.
"""

from collections.abc import Sequence

from domain.document.alignment import align
from domain.document.cuts import BlockCut, SectionCut
from domain.document.model import Block, Document, Section


def carry_over(previous: Document, sections: Sequence[SectionCut]) -> None:
    """Give the pieces that continue one of `previous` its id; no id is given twice."""
    _carry_unchanged_sections(previous, sections)
    _carry_titles_and_blocks(previous, sections)
    _carry_renamed_sections(previous, sections)
    _carry_items(previous, sections)


def _carry_unchanged_sections(previous: Document, sections: Sequence[SectionCut]) -> None:
    before = [(_key(section), *map(_key, section.blocks)) for section in previous.sections]
    after = [(_key(section), *map(_key, section.blocks)) for section in sections]
    for section, place in zip(sections, align(before, after), strict=True):
        if place is not None:
            former = previous.sections[place]
            section.id = former.id
            for block, kept in zip(section.blocks, former.blocks, strict=True):
                block.id = kept.id


def _carry_titles_and_blocks(previous: Document, sections: Sequence[SectionCut]) -> None:
    """Those of sections that changed, and blocks that went to another section."""
    former: list[Section | Block] = []
    for section in previous.sections:
        former += [section, *section.blocks]
    pieces: list[SectionCut | BlockCut] = []
    for section_cut in sections:
        pieces += [section_cut, *section_cut.blocks]
    places = {piece.id: place for place, piece in enumerate(former)}
    known = [(places[piece.id], place) for place, piece in enumerate(pieces) if piece.id is not None]
    for piece, place in zip(pieces, align([*map(_key, former)], [*map(_key, pieces)], known), strict=True):
        if place is not None:
            piece.id = former[place].id


def _key(piece: Section | SectionCut | Block | BlockCut) -> tuple[str, str]:
    if isinstance(piece, Block | BlockCut):
        return "block", piece.source
    return ("preamble", "") if piece.heading is None else ("section", piece.heading.title)


def _carry_renamed_sections(previous: Document, sections: Sequence[SectionCut]) -> None:
    continued = {section.id for section in sections}
    renamed: dict[tuple[str | None, ...], str] = {
        tuple(block.id for block in section.blocks): section.id
        for section in previous.sections
        if section.blocks and section.heading is not None and section.id not in continued
    }
    for section in sections:
        if section.id is None and section.heading is not None:
            section.id = renamed.get(tuple(block.id for block in section.blocks))


def _carry_items(previous: Document, sections: Sequence[SectionCut]) -> None:
    former = {block.id: block for section in previous.sections for block in section.blocks if block.items}
    blocks = [block for section in sections for block in section.blocks if block.items]
    for block in blocks:
        same = former.get(block.id) if block.id is not None else None
        if same is not None and [item.source for item in same.items] == [item.source for item in block.items]:
            del former[same.id]
            for item, kept in zip(block.items, same.items, strict=True):
                item.id = kept.id
    old = [item for block in former.values() for item in block.items]
    new = [item for block in blocks for item in block.items if item.id is None]
    for item, place in zip(new, align([item.source for item in old], [item.source for item in new]), strict=True):
        if place is not None:
            item.id = old[place].id
