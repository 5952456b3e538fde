"""Applying operations to a document: in order, on ids, never guessing.

Pieces that no operation names keep their bytes; what happens to the gaps beside a change is said in `splicing`, how
texts are made to fit in `block_texts` and `item_texts`, what ids name in `references`.

Sections are flat: an operation on a section means its heading and the blocks up to the next heading of any level, never
the deeper sections after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from domain.document.edits import blocks, items, sections
from domain.document.edits import operations as op
from domain.document.edits.draft import Draft
from domain.document.edits.operations import Operation
from domain.document.edits.splicing import Splice, splice
from domain.document.edits.unfit import NOT_VERIFIED, READ_DIFFERENTLY, Unfit
from domain.document.edits.verification import Verification
from domain.document.model import Document


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

    The text of the new document, parsed again, is the new document: its ids are those of `identified`. Where too many
    operations would make it something else, some are skipped untried: the time that takes is bounded (`verification`).
    """
    if not operations:
        return Applied(document, ())
    given = Draft.of(document, reserved)
    draft, results = _applied(given, operations, Verification(of_everything=False))
    everything = Verification(of_everything=True)
    if not everything.passes(given, draft):
        draft, results = _applied(given, operations, everything)
    return Applied(draft.document(), tuple(results))


def _applied(draft: Draft, operations: Sequence[Operation], verification: Verification) -> tuple[Draft, list[Result]]:
    """A draft that is read as it was built, and what each operation did to it.

    Most batches are read as they were built. One that is not is applied in halves, so that an operation that changes
    how its surroundings are read is found, and skipped, at the price of a few more readings.
    """
    if verification.is_spent:
        return draft, [SkippedOperation(operation, NOT_VERIFIED) for operation in operations]
    tried = draft.copy()
    results = [_perform(tried, operation) for operation in operations]
    if verification.passes(draft, tried):
        return tried, results
    if len(operations) == 1:
        return draft, [SkippedOperation(operations[0], READ_DIFFERENTLY)]
    middle = len(operations) // 2
    draft, first = _applied(draft, operations[:middle], verification)
    draft, second = _applied(draft, operations[middle:], verification)
    return draft, first + second


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
            return blocks.append_block(draft, operation)
        case op.InsertBlock():
            return blocks.insert_block(draft, operation)
        case op.ReplaceBlock():
            return blocks.replace_block(draft, operation)
        case op.RemoveBlock():
            return blocks.remove_block(draft, operation)
        case op.AddSection():
            return sections.add_section(draft, operation)
        case op.RemoveSection():
            return sections.remove_section(draft, operation)
        case op.ReplaceSectionBlocks():
            return blocks.replace_section_blocks(draft, operation)
        case op.RenameSection():
            return sections.rename_section(draft, operation)
        case op.MoveSection():
            return sections.move_section(draft, operation)
        case op.AppendItem():
            return items.append_item(draft, operation)
        case op.InsertItem():
            return items.insert_item(draft, operation)
        case op.ReplaceItem():
            return items.replace_item(draft, operation)
        case op.RemoveItem():
            return items.remove_item(draft, operation)
