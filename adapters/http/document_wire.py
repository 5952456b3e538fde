"""Blame and comparisons of documents as responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from adapters.http.document_responses import (
    BlamedFact,
    BlamedPiece,
    BlameResponse,
    CitedFact,
    DiffResponse,
    DocumentOperation,
)
from adapters.http.times import iso, iso_or_none
from application import document_versions
from application.document_versions import Blame, Comparison, KnownFacts, RestsOn
from application.text_diff import unified_diff
from domain.document import to_structure
from domain.event import Recorded
from domain.mental_model.events import ContentCleared, ContentEdited, ContentReverted, ContentWritten
from domain.mental_model.record import Edit, Evidence


def blame(blamed: Blame) -> BlameResponse:
    model = blamed.at.model
    return BlameResponse(
        mental_model_id=model.mental_model_id,
        bank_id=model.bank_id,
        version=blamed.at.version,
        pieces=[_piece(each) for each in blamed.pieces],
        structured_content={**to_structure(blamed.document)},
    )


def _piece(blamed: document_versions.BlamedPiece) -> BlamedPiece:
    written = blamed.written
    return BlamedPiece(
        id=blamed.id,
        kind=blamed.kind,
        section_id=blamed.section_id,
        block_id=blamed.block_id,
        text=blamed.text,
        version=blamed.piece.version if blamed.piece else None,
        written_at=iso_or_none(blamed.piece.written_at if blamed.piece else None),
        actor=written.actor if written else None,
        operation_id=_text(written.operation_id if written else None),
        facts=[_blamed_fact(each) for each in blamed.facts],
    )


def _blamed_fact(fact: RestsOn) -> BlamedFact:
    return BlamedFact(**_fact(fact.fact_id, fact.evidence), current=fact.current)


def diff(comparison: Comparison, context: int) -> DiffResponse:
    before, after = comparison.before, comparison.after
    names = (f"version {before.version}", f"version {after.version}")
    return DiffResponse(
        mental_model_id=after.model.mental_model_id,
        bank_id=after.model.bank_id,
        from_version=before.version,
        to_version=after.version,
        diff=unified_diff(before.model.content, after.model.content, names=names, context=context),
        operations=[each for change in comparison.changes for each in _operations(change, comparison.facts)],
    )


def _operations(change: Recorded, facts: KnownFacts) -> Iterator[DocumentOperation]:
    match change.event:
        case ContentWritten(record=record) if record.delta is not None and record.delta.edits:
            for edit in record.delta.edits:
                yield _operation(change, **_edit(edit), facts=_facts(edit.facts, facts))
        case ContentWritten(record=record):
            evidence = [CitedFact(**_fact(each.fact_id, each)) for each in record.evidence]
            yield _operation(change, op="rewrite", facts=evidence)
        case ContentEdited():
            yield _operation(change, op="edit_by_hand")
        case ContentReverted() as event:
            yield _operation(change, op="revert", operation={"to_version": event.to_version})
        case ContentCleared():
            yield _operation(change, op="clear")


def _edit(edit: Edit) -> dict[str, Any]:
    """An edit that did nothing has no text before and after."""
    operation = edit.operation.model_dump(mode="json") if edit.operation else {"raw": edit.raw}
    return {
        "op": edit.operation.op if edit.operation else None,
        "edit_pass": edit.edit_pass,
        "operation": operation,
        "before": edit.before if edit.skipped is None else None,
        "after": edit.after if edit.skipped is None else None,
        "skipped": edit.skipped,
    }


def _operation(change: Recorded, *, facts: list[CitedFact] | None = None, **more: Any) -> DocumentOperation:
    absent = dict.fromkeys(("edit_pass", "operation", "before", "after", "skipped"))
    return DocumentOperation(
        version=change.version,
        occurred_at=iso(change.occurred_at),
        actor=change.actor,
        cause=change.cause,
        operation_id=_text(change.operation_id),
        facts=facts or [],
        **{**absent, **more},
    )


def _facts(fact_ids: Iterable[UUID], known: KnownFacts) -> list[CitedFact]:
    return [CitedFact(**_fact(fact_id, known.get(fact_id))) for fact_id in fact_ids]


def _fact(fact_id: UUID, evidence: Evidence | None) -> dict[str, Any]:
    return {
        "id": str(fact_id),
        "text": evidence.text if evidence else None,
        "type": evidence.fact_type if evidence else None,
        "position": evidence.position if evidence else None,
    }


def _text(operation_id: UUID | None) -> str | None:
    return None if operation_id is None else str(operation_id)
