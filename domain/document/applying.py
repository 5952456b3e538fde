"""Applying operations to a document: in order, on ids, never guessing.

Pieces that no operation names keep their bytes; what happens to the gaps beside a change is said in `splicing`, how
texts are made to fit in `fragments` and `item_texts`, what ids name in `references`.

Sections are flat: an operation on a section means its heading and the blocks up to the next heading of any level, never
the deeper sections after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from domain.document import block_edits, item_edits, section_edits
from domain.document import operations as op
from domain.document.draft import Draft
from domain.document.identity import identified, ids_of
from domain.document.model import Document
from domain.document.operations import Operation
from domain.document.splicing import Splice, splice
from domain.document.unfit import READ_DIFFERENTLY, Unfit


@dataclass(frozen=True, slots=True)
class AppliedOperation:
    """What an operation did. `before` and `after` are the exact text of what it changed, then and now (empty where
    nothing stood, or stands)."""

    operation: Operation
    before: str
    after: str
    wrote: tuple[str, ...] = ()
    """Ids of the sections, blocks and items whose text it wrote."""
    removed: tuple[str, ...] = ()
    """Ids that are no longer in the document through it."""
    assigned_id: str | None = None
    """Of a section that was added."""
    merged_into_block_id: str | None = None
    """The list or table that took the items, where the text continued one."""


@dataclass(frozen=True, slots=True)
class SkippedOperation:
    """Why an operation did nothing. `bad_reference`: it names what is not there, so asking again may help."""

    operation: Operation
    reason: str
    bad_reference: bool = False


Result = AppliedOperation | SkippedOperation


@dataclass(frozen=True, slots=True)
class Applied:
    """The document after the operations, and what became of each of them, in their order."""

    document: Document
    results: tuple[Result, ...]


def apply(document: Document, operations: Sequence[Operation], reserved: Iterable[str] = ()) -> Applied:
    """The document after `operations`; each sees what those before it did. Total: what cannot be done is skipped.

    `reserved` are ids that new pieces must not get, besides those the document has or had in this batch.

    The text of the new document, parsed again, is the new document: its ids are those of `identified`.
    """
    if not operations:
        return Applied(document, ())
    draft, results = _applied(Draft.of(document, reserved), operations)
    return Applied(draft.document(), tuple(results))


def _applied(draft: Draft, operations: Sequence[Operation]) -> tuple[Draft, list[Result]]:
    """A draft that is read as it was built, and what each operation did to it.

    Most batches are read as they were built. One that is not is applied in halves, so that an operation that changes
    how its surroundings are read is found, and skipped, at the price of a few more parses.
    """
    tried = draft.copy()
    results = [_perform(tried, operation) for operation in operations]
    if tried.pieces == draft.pieces or _is_read_as_built(tried):
        return tried, results
    if len(operations) == 1:
        return draft, [SkippedOperation(operations[0], READ_DIFFERENTLY)]
    middle = len(operations) // 2
    draft, first = _applied(draft, operations[:middle])
    draft, second = _applied(draft, operations[middle:])
    return draft, first + second


def _is_read_as_built(draft: Draft) -> bool:
    document = draft.document()
    return identified(document.render(), ids_of(document)) == document


def _perform(draft: Draft, operation: Operation) -> Result:
    try:
        change = _change(draft, operation)
        done = splice(draft, change)
    except Unfit as unfit:
        return SkippedOperation(operation, unfit.reason, unfit.bad_reference)
    return AppliedOperation(
        operation, done.before, done.after, done.wrote, done.removed, change.assigned_id, change.merged_into
    )


def _change(draft: Draft, operation: Operation) -> Splice:
    match operation:
        case op.AppendBlock():
            return block_edits.append_block(draft, operation)
        case op.InsertBlock():
            return block_edits.insert_block(draft, operation)
        case op.ReplaceBlock():
            return block_edits.replace_block(draft, operation)
        case op.RemoveBlock():
            return block_edits.remove_block(draft, operation)
        case op.AddSection():
            return section_edits.add_section(draft, operation)
        case op.RemoveSection():
            return section_edits.remove_section(draft, operation)
        case op.ReplaceSectionBlocks():
            return block_edits.replace_section_blocks(draft, operation)
        case op.RenameSection():
            return section_edits.rename_section(draft, operation)
        case op.MoveSection():
            return section_edits.move_section(draft, operation)
        case op.AppendItem():
            return item_edits.append_item(draft, operation)
        case op.InsertItem():
            return item_edits.insert_item(draft, operation)
        case op.ReplaceItem():
            return item_edits.replace_item(draft, operation)
        case op.RemoveItem():
            return item_edits.remove_item(draft, operation)
