"""The parts of an operation, on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.http.operation_responses import ChildOperationStatus
from projections.operation_parts import PartRow


def child_of(part: PartRow) -> ChildOperationStatus:
    return ChildOperationStatus(
        operation_id=part.operation_id,
        status=part.status,
        sub_batch_index=part.number,
        items_count=part.items_count,
        error_message=part.error_message,
    )


def result_of(parts: Sequence[PartRow]) -> dict[str, Any]:
    """What the parts came to together: facts, and each item that was not retained, by its place in the request."""
    return {
        "type": "batch_retain",
        "facts": sum((part.result or {}).get("facts", 0) for part in parts),
        "failed_items": [failed for part in parts if part.status == "failed" for failed in _failed_items(part)],
    }


def _failed_items(part: PartRow) -> list[dict[str, Any]]:
    """Those that the part names, else all of its items for the reason of the whole."""
    named: list[dict[str, Any]] | None = (part.result or {}).get("failed_items")
    if named is not None:
        return named
    return [{"index": place, "document_id": None, "reason": part.error_message} for place in part.places]
