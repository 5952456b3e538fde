"""Carrying out proposed edits, and recording each: what it did and on which facts, or why it did nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    Applied,
    AppliedOperation,
    Document,
    InsertBlock,
    InsertItem,
    SkippedOperation,
    apply,
)
from domain.editing import ProposedEdit, RefusedEdit
from domain.mental_model.record import Edit, EditPass

JUST_WRITTEN = "this refresh wrote it: a shorter document never loses what is new"
ADDS = "shortening adds nothing: replace or remove"
_ADDING = (AddSection, AppendBlock, InsertBlock, AppendItem, InsertItem)
ALL_SKIPPED = "none of {count} operation(s) could be applied: {reasons}"


@dataclass(frozen=True)
class CarriedOut:
    """The document after proposed edits, the record of each, and what to tell the editor when asked to mend them:
    entries that were no operation, references to what is not there, or all of them when none could be applied."""

    document: Document
    edits: tuple[Edit, ...]
    problems: tuple[str, ...]

    @property
    def applied(self) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.skipped is None)


def carry_out(
    document: Document,
    proposed: Sequence[ProposedEdit],
    edit_pass: EditPass,
    *,
    refused: Sequence[RefusedEdit] = (),
    protected: Collection[str] = (),
    reserved: Iterable[str] = (),
) -> CarriedOut:
    """Applies edits in order. A compaction may neither add nor change or remove what is `protected`."""
    forbidden = {
        place: ADDS
        for place, each in enumerate(proposed)
        if edit_pass == "compaction" and isinstance(each.operation, _ADDING)
    }
    results, applied = _applied(document, proposed, forbidden, reserved)
    while harmful := _harmful(results, forbidden, protected if edit_pass == "compaction" else ()):
        forbidden |= dict.fromkeys(harmful, JUST_WRITTEN)
        results, applied = _applied(document, proposed, forbidden, reserved)
    edits = [_edit(each, edit_pass, result) for each, result in zip(proposed, results, strict=True)]
    edits += [Edit(edit_pass=edit_pass, raw=each.raw, skipped=each.reason) for each in refused]
    return CarriedOut(applied.document, tuple(edits), _problems(applied, refused))


Results = Sequence[AppliedOperation | SkippedOperation]


def _applied(
    document: Document, proposed: Sequence[ProposedEdit], forbidden: Mapping[int, str], reserved: Iterable[str]
) -> tuple[Results, Applied]:
    """What became of each edit, those forbidden included, and of the document."""
    allowed = [each.operation for place, each in enumerate(proposed) if place not in forbidden]
    applied = apply(document, allowed, reserved)
    done = iter(applied.results)
    results = [
        SkippedOperation(each.operation, forbidden[place]) if place in forbidden else next(done)
        for place, each in enumerate(proposed)
    ]
    return results, applied


def _harmful(results: Results, forbidden: Mapping[int, str], protected: Collection[str]) -> list[int]:
    """The places of edits that change or remove what is protected."""
    return [
        place
        for place, result in enumerate(results)
        if place not in forbidden
        and isinstance(result, AppliedOperation)
        and not set(protected).isdisjoint((*result.wrote, *result.removed))
    ]


def all_skipped(edits: Sequence[Edit]) -> str:
    """What to say of edits none of which could be applied."""
    reasons = "; ".join(dict.fromkeys(edit.skipped for edit in edits if edit.skipped))
    return ALL_SKIPPED.format(count=len(edits), reasons=reasons)


def not_done(edits: Sequence[Edit]) -> str | None:
    """What to say of edits for facts that none of those applied was for; None when there are none."""
    done = {fact_id for edit in edits if edit.skipped is None for fact_id in edit.facts}
    skipped = [edit for edit in edits if edit.skipped is not None]
    if any(not done.issuperset(edit.facts) for edit in skipped) or (skipped and len(skipped) == len(edits)):
        return all_skipped(skipped)
    return None


def again(document: Document, edits: Sequence[Edit]) -> tuple[Document, tuple[Edit, ...]]:
    """The edits of a run on another document than the one they were proposed for: by id, so that each does what it
    did, or nothing. What did nothing then is not tried again."""
    done = {
        place: ProposedEdit(edit.operation, edit.facts)
        for place, edit in enumerate(edits)
        if edit.operation is not None and edit.skipped is None
    }
    applied = apply(document, [each.operation for each in done.values()])
    results = dict(zip(done, applied.results, strict=True))
    anew = tuple(
        _edit(done[place], edit.edit_pass, results[place]) if place in done else edit
        for place, edit in enumerate(edits)
    )
    return applied.document, anew


def _edit(proposed: ProposedEdit, edit_pass: EditPass, result: AppliedOperation | SkippedOperation) -> Edit:
    if isinstance(result, SkippedOperation):
        return Edit(edit_pass=edit_pass, operation=proposed.operation, facts=proposed.facts, skipped=result.reason)
    return Edit(
        edit_pass=edit_pass,
        operation=proposed.operation,
        facts=proposed.facts,
        before=result.before,
        after=result.after,
        wrote=result.wrote,
        removed=result.removed,
        assigned_id=result.assigned_id,
        merged_into_block_id=result.merged_into_block_id,
    )


def _problems(applied: Applied, refused: Sequence[RefusedEdit]) -> tuple[str, ...]:
    skipped = [result for result in applied.results if isinstance(result, SkippedOperation)]
    nothing_applied = len(skipped) == len(applied.results)
    told = [f"{each.raw}: {each.reason}" for each in refused]
    told += [
        f"{result.operation.model_dump_json()[:600]}: {result.reason}"
        for result in skipped
        if nothing_applied or result.bad_reference
    ]
    return tuple(told)
