"""A dry run as people read it: what would come of a refresh, and on what it rests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from adapters.cli.remote.output import difference, fields, number


def rendered(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    """The outcome with its numbers, then the difference it would make."""
    why = told.get("mode_fallback_reason")
    mode = told["effective_mode"] + (f" ({told['requested_mode']} was asked for: {why})" if why else "")
    operations = told.get("delta_operations") or {}
    yield fields(
        [
            ("outcome", told["outcome"]),
            ("would be written", "yes" if told["would_persist"] else "no"),
            ("mode", mode),
            ("facts read", _counted(told["facts"]["retrieved"])),
            ("facts used", _counted(told["facts"]["used"])),
            ("operations", _operations(operations) if operations else None),
            ("tokens", number(told["usage"]["total_tokens"])),
            ("time", f"{number(told['duration_ms'])} ms"),
            *(("warning", each) for each in told["warnings"]),
        ]
    )
    yield ""
    yield difference(told["diff"]) if told["diff"] else "the document would say the same"


def _counted(by_type: Mapping[str, int]) -> str:
    return ", ".join(f"{number(count)} {fact_type}" for fact_type, count in by_type.items()) or "none"


def _operations(operations: Mapping[str, Any]) -> str:
    skipped = [f"skipped: {each.get('op')}: {each.get('reason')}" for each in operations["skipped"]]
    return "\n".join([f"{len(operations['applied'])} applied", *skipped])
