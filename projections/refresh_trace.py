"""What a refresh did, call by call and operation by operation: the `trace` of the wire contract, made of its outcome.

Source: spec of the system of reference, refresh pipeline, "Trace". All calls to a model are told here and counted in
`usage`, those for edits, retractions and structured output included.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from domain.mental_model.events import RefreshOutcome
from domain.mental_model.record import DeltaRecord, Edit, RefreshRecord, RetractionRecord, ToolCallRecord
from domain.refresh import outcome_name
from domain.usage import total


def trace_of(outcome: RefreshOutcome, recorded_at: datetime | None) -> dict[str, Any]:
    """The trace of a run; `recorded_at` is None for one that is not recorded. Tool calls are told without what they
    returned, which keeps it small."""
    record = outcome.record
    return {
        "recorded_at": None if recorded_at is None else recorded_at.isoformat(),
        "effective_mode": record.effective_mode,
        "mode_fallback_reason": record.mode_fallback_reason,
        "outcome": outcome_name(outcome),
        "tool_calls": _tool_calls(record),
        "llm_calls": [{"scope": call.purpose, "duration_ms": call.duration_ms} for call in record.calls],
        "delta_operations": None if record.delta is None else delta_operations(record.delta),
        "retraction": None if record.retraction is None else _retraction(record.retraction),
        "usage": total(record.calls).model_dump(),
        "duration_ms": record.duration_ms,
        "warnings": list(record.warnings),
    }


def delta_operations(delta: DeltaRecord) -> dict[str, list[dict[str, Any]]]:
    """The operations `applied` and `skipped`, in their order, without the texts they carry: those are in the document,
    and in the log."""
    return {
        "applied": [_operation(edit) for edit in delta.edits if edit.skipped is None],
        "skipped": [_operation(edit) for edit in delta.edits if edit.skipped is not None],
    }


def _operation(edit: Edit) -> dict[str, Any]:
    told = (
        edit.operation.model_dump(mode="json", exclude={"text", "blocks"})
        if edit.operation is not None
        else {"raw": edit.raw}
    )
    came_of_it = {
        "reason": edit.skipped,
        "assigned_id": edit.assigned_id,
        "merged_into_block_id": edit.merged_into_block_id,
    }
    told |= {name: value for name, value in came_of_it.items() if value is not None}
    return {**told, "edit_pass": edit.edit_pass, "facts": [str(fact) for fact in edit.facts]}


def _tool_calls(record: RefreshRecord) -> list[dict[str, Any]]:
    read_after = record.window.created_after
    return [
        {
            "tool": call.tool,
            "reason": call.reason,
            "input": tool_input(call),
            "updated_at": None if read_after is None else read_after.isoformat(),
            "result_count": call.result_count,
            "duration_ms": call.duration_ms,
            "iteration": call.iteration,
        }
        for call in record.tool_calls
    ]


def tool_input(call: ToolCallRecord) -> dict[str, Any]:
    """What a tool was asked: a query, or ids."""
    asked: dict[str, Any] = {"ids": list(call.ids)} if call.ids else {"query": call.query}
    return {"tool": call.tool, **asked, "max_tokens": call.max_tokens}


def _retraction(retraction: RetractionRecord) -> dict[str, Any]:
    return {
        "fact_ids": [str(fact) for fact in retraction.fact_ids],
        "fact_texts": list(retraction.fact_texts),
        "applied": retraction.applied,
        "deferred_reason": retraction.deferred_reason,
        "broken": [str(fact) for fact in retraction.broken],
        "relinked": [{"before": str(each.before), "after": str(each.after.fact_id)} for each in retraction.relinked],
    }
