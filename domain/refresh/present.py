"""The document as it stands when a run is recorded, and what a delta made for an earlier text still does to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from domain.candidate import is_blank
from domain.digest import sha256_of
from domain.document import Document, identified, ids_of
from domain.memory import estimated_tokens
from domain.mental_model.record import DeltaRecord, Edit, FactReading, RefreshRecord
from domain.mental_model.state import MentalModel
from domain.refresh.editing import again, all_skipped
from domain.refresh.retraction import RETRACTION_FAILED
from domain.refresh.run import DeltaFailed, Edited, RefreshRun

CLEARED_MEANWHILE = "the document was cleared while edits to it were made; the next refresh writes it anew"
REBASED = "the document was changed meanwhile: {skipped} of {count} edits do not fit it; their facts stay pending"


def document_of(model: MentalModel) -> Document:
    """The document as it stands, its pieces under the ids they have."""
    return identified(model.content, tuple(piece.id for piece in model.outline))


def on_present_text(run: RefreshRun, model: MentalModel) -> RefreshRun:
    """A delta made for a text that was changed meanwhile, carried out again on the present one: no model is asked.

    What its edits no longer do is not taken for done. A document that was cleared is not begun with them: it would hold
    nothing but the facts of one window."""
    delta = run.record.delta
    if not isinstance(run.result, Edited) or delta is None or delta.baseline_sha256 == sha256_of(model.content):
        return run
    if is_blank(model.content):
        return replace(run, result=DeltaFailed("delta_not_applied", CLEARED_MEANWHILE, transient=True))
    document, edits = again(document_of(model), delta.edits)
    lost = [now for before, now in zip(delta.edits, edits, strict=True) if before.skipped is None and now.skipped]
    changed = delta.model_copy(
        update={
            "baseline_sha256": sha256_of(model.content),
            "edits": edits,
            "document_tokens": None if delta.document_tokens is None else estimated_tokens(document.render()),
        }
    )
    record = run.record.model_copy(update={"delta": changed})
    if not lost:
        return replace(run, record=record, result=Edited(document.render(), ids_of(document)))
    if all(edit.skipped is not None for edit in edits):
        return replace(run, record=record, result=DeltaFailed("delta_ops_all_skipped", all_skipped(edits)))
    return replace(run, record=_without(record, changed, lost), result=Edited(document.render(), ids_of(document)))


def _without(record: RefreshRecord, delta: DeltaRecord, lost: Sequence[Edit]) -> RefreshRecord:
    """The record of a delta some of whose edits are lost: what they carried is pending, or still to be taken back."""
    carried = {fact for edit in delta.edits if edit.edit_pass == "edit" and edit.skipped is None for fact in edit.facts}

    def is_lost(reading: FactReading) -> bool:
        return reading.verdict == "integrated" and reading.fact_id not in carried

    fallen = [reading for reading in delta.readings if is_lost(reading)]
    readings = [each.model_copy(update={"verdict": "pending"}) if is_lost(each) else each for each in delta.readings]
    warnings = [*record.warnings, REBASED.format(skipped=len(lost), count=len(delta.edits))]
    retraction = record.retraction
    if retraction is not None and retraction.applied and any(_takes_back(edit) for edit in lost):
        retraction = retraction.model_copy(update={"applied": False})
        warnings.append(RETRACTION_FAILED)
    return record.model_copy(
        update={
            "delta": delta.model_copy(update={"readings": tuple(readings)}),
            "evidence": tuple(each for each in record.evidence if each.fact_id not in {one.fact_id for one in fallen}),
            "pending": tuple(sorted({*record.pending, *(each.position for each in fallen)})),
            "retraction": retraction,
            "warnings": tuple(warnings),
        }
    )


def _takes_back(edit: Edit) -> bool:
    return edit.edit_pass in ("blame", "retraction")
