"""What operations on blocks change. All raise Unfit when they cannot be done."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from domain.document.carry_over import carry_over
from domain.document.cuts import BlockCut, SectionCut
from domain.document.edits.block_texts import blocks_of_text, blocks_of_texts
from domain.document.edits.draft import Draft, Piece, SectionPlace, with_gap
from domain.document.edits.gaps import LINE_FEED, text_of, with_breaks
from domain.document.edits.item_texts import is_rows
from domain.document.edits.itemized import continues
from domain.document.edits.items import items_inserted
from domain.document.edits.operations import AppendBlock, InsertBlock, RemoveBlock, ReplaceBlock, ReplaceSectionBlocks
from domain.document.edits.references import BlockPlace, block_named, require_text, section_named
from domain.document.edits.rewriting import rewritten
from domain.document.edits.splicing import Splice
from domain.document.edits.unfit import Unfit
from domain.document.model import Block, Document, Section
from domain.document.parsing import built_block

_BLANK: Final = " \t\n"


def append_block(draft: Draft, operation: AppendBlock) -> Splice:
    """The blocks of the text behind the last of the section."""
    section = section_named(draft, operation.section_id)
    require_text(operation.text)
    return _inserted(draft, section, section.stop, operation.text)


def insert_block(draft: Draft, operation: InsertBlock) -> Splice:
    """The blocks of the text behind the anchor, or first in the section; front matter remains the first of all."""
    section = section_named(draft, operation.section_id)
    require_text(operation.text)
    if operation.after_block_id is not None:
        at = block_named(draft, section, operation.after_block_id, "after_block_id").at + 1
    else:
        at = section.start + 1 + _has_front_matter(draft, section)
    return _inserted(draft, section, at, operation.text)


def replace_block(draft: Draft, operation: ReplaceBlock) -> Splice:
    """The blocks of the text in the place of the block; the first of them keeps its id."""
    section = section_named(draft, operation.section_id)
    require_text(operation.text)
    block, at = block_named(draft, section, operation.block_id)
    if _trimmed(operation.text) == _trimmed(block.source):
        return Splice(at, at + 1, [block])
    cuts = _cuts(draft, section, operation.text, begins_document=block.kind == "front_matter")
    return Splice(at, at + 1, _ending_with(block.gap, rewritten(block, cuts, draft.ids, draft.line_break)))


def remove_block(draft: Draft, operation: RemoveBlock) -> Splice:
    """Nothing in the place of the block."""
    section = section_named(draft, operation.section_id)
    at = block_named(draft, section, operation.block_id).at
    return Splice(at, at + 1)


def replace_section_blocks(draft: Draft, operation: ReplaceSectionBlocks) -> Splice:
    """The blocks of the texts in the place of all those of the section.

    A block or item whose text was there before keeps its id, and a block the gap after it, unless that was the last.
    """
    section = section_named(draft, operation.section_id)
    heading = section.opening.heading
    old = [piece for piece in draft.pieces[section.start : section.stop] if isinstance(piece, Block)]
    cuts = blocks_of_texts(
        operation.blocks,
        draft.line_break,
        title=section.title,
        begins_document=_has_front_matter(draft, section),
    )
    carry_over(Document("", (Section("", heading, tuple(old)),)), [SectionCut(heading, cuts)])
    gaps = {block.id: block.gap for block in old[:-1]}
    new = [with_gap(block, gaps.get(block.id) or block.gap or draft.blank_line) for block in _built(cuts, draft)]
    return Splice(section.start + 1, section.stop, _ending_with(old[-1].gap if old else draft.blank_line, new))


def _inserted(draft: Draft, section: SectionPlace, at: int, text: str) -> Splice:
    """The blocks of a text at a place of the section, or its items or rows in the list or table they would continue."""
    left, right = _block_at(draft, section, at - 1), _block_at(draft, section, at)
    if left is not None and left.kind == "table" and is_rows(text):
        return replace(items_inserted(draft, BlockPlace(left, at - 1), len(left.items), text), merged_into=left.id)
    cuts = _cuts(draft, section, text)
    items = text_of(cuts)
    if left is not None and len(cuts) == 1 and continues(left, cuts[0]):
        return replace(items_inserted(draft, BlockPlace(left, at - 1), len(left.items), items), merged_into=left.id)
    if right is not None and len(cuts) == 1 and continues(cuts[0], right):
        return replace(items_inserted(draft, BlockPlace(right, at), 0, items), merged_into=right.id)
    return Splice(at, at, _ending_with(draft.blank_line, _built(cuts, draft)))


def _cuts(draft: Draft, section: SectionPlace, text: str, *, begins_document: bool = False) -> list[BlockCut]:
    cuts = blocks_of_text(text, draft.line_break, title=section.title, begins_document=begins_document)
    if not cuts:
        raise Unfit("block text is empty")
    return cuts


def _built(cuts: Iterable[BlockCut], draft: Draft) -> list[Block]:
    return [built_block(cut, draft.ids) for cut in cuts]


def _ending_with(gap: str, pieces: Sequence[Piece]) -> list[Piece]:
    return [*pieces[:-1], *(with_gap(piece, gap) for piece in pieces[-1:])]


def _block_at(draft: Draft, section: SectionPlace, at: int) -> Block | None:
    piece = draft.pieces[at] if section.start < at < section.stop else None
    return piece if isinstance(piece, Block) else None


def _has_front_matter(draft: Draft, section: SectionPlace) -> bool:
    first = _block_at(draft, section, section.start + 1)
    return first is not None and first.kind == "front_matter"


def _trimmed(text: str) -> str:
    """The text without the blank lines at its edges, for comparison."""
    text = with_breaks(text, LINE_FEED)
    first = len(text) - len(text.lstrip(_BLANK))
    last = text.find(LINE_FEED, len(text.rstrip(_BLANK)))
    return text[text.rfind(LINE_FEED, 0, first) + 1 : len(text) if last < 0 else last]
