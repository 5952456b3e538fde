"""The tool by which a model says what new facts come to: one flat entry for all changes, as for the edits of a
document, because a shape for each of them would cost more tokens in every prompt."""

from __future__ import annotations

from typing import Any, Final

CONSOLIDATE: Final = "record_observations"
CHANGES: Final = "changes"
OPS: Final = ("create", "update", "delete")

_TEXT: Final = {"type": "string"}
_ENTRY: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "op": {"type": "string", "enum": list(OPS)},
        "observation": _TEXT,
        "text": _TEXT,
        "facts": {"type": "array", "items": _TEXT},
        "merged_into": _TEXT,
        "reason": _TEXT,
    },
    "required": ["op"],
}

CONSOLIDATE_TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": CONSOLIDATE,
        "description": "Create, update and delete observations.",
        "parameters": {
            "type": "object",
            "properties": {CHANGES: {"type": "array", "items": _ENTRY}},
            "required": [CHANGES],
        },
    },
}
