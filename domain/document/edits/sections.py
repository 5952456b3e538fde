"""What operations on sections change. All raise Unfit when they cannot be done."""

from dataclasses import replace

from domain.document.edits.block_texts import blocks_of_texts
from domain.document.edits.draft import Draft, Opening, Piece, with_gap
from domain.document.edits.gaps import text_of
from domain.document.edits.heading_texts import new_heading, renamed_heading, title_of_text
from domain.document.edits.operations import AddSection, MoveSection, RemoveSection, RenameSection
from domain.document.edits.references import preamble_of, section_anchor, section_named
from domain.document.edits.splicing import Splice
from domain.document.edits.unfit import Unfit
from domain.document.ids import slug
from domain.document.parsing import built_block

_NO_HEADING = "the section has no heading: it is what precedes the first one"


def add_section(draft: Draft, operation: AddSection) -> Splice:
    """A heading and the blocks of the texts behind the anchor, or at the end."""
    title = title_of_text(operation.heading)
    heading = new_heading(title, operation.level, draft.blank_line)
    anchor = operation.after_section_id
    at = len(draft.pieces) if anchor is None else section_anchor(draft, anchor).stop
    cuts = blocks_of_texts(operation.blocks, draft.line_break, title=heading.title)
    identity = draft.ids.give(operation.new_id or slug(heading.title))
    pieces: list[Piece] = [Opening(identity, heading), *(built_block(cut, draft.ids) for cut in cuts)]
    pieces[-1] = with_gap(pieces[-1], draft.blank_line)
    draft.added.update(dict.fromkeys((operation.heading, title, heading.title), identity))
    if operation.new_id:
        draft.added[operation.new_id] = identity
    return Splice(at, at, pieces, assigned_id=identity)


def remove_section(draft: Draft, operation: RemoveSection) -> Splice:
    """Nothing in the place of the section; of a preamble, nothing but the beginning of the text."""
    opening, start, stop = section_named(draft, operation.section_id)
    if opening.heading is not None:
        return Splice(start, stop)
    return Splice(start, stop, [replace(opening, id=None)])


def rename_section(draft: Draft, operation: RenameSection) -> Splice:
    """Another heading in the place of the one the section has."""
    opening, start, _ = section_named(draft, operation.section_id)
    title = title_of_text(operation.new_heading)
    if opening.heading is None:
        raise Unfit(_NO_HEADING)
    if title == opening.heading.title:
        return Splice(start, start + 1, [opening])
    return Splice(start, start + 1, [replace(opening, heading=renamed_heading(opening.heading, title))])


def move_section(draft: Draft, operation: MoveSection) -> Splice:
    """The section and what it passes over, in their new order."""
    opening, start, stop = section_named(draft, operation.section_id)
    anchor = operation.after_section_id
    behind = preamble_of(draft) if anchor is None else section_anchor(draft, anchor)
    if opening.heading is None:
        raise Unfit(_NO_HEADING)
    if behind.start == start:
        raise Unfit("a section cannot follow itself")
    section = draft.pieces[start:stop]
    text = text_of(section)
    if behind.stop > start:
        return Splice(start, behind.stop, [*draft.pieces[stop : behind.stop], *section], texts=(text, text))
    return Splice(behind.stop, stop, [*section, *draft.pieces[behind.stop : start]], texts=(text, text))
