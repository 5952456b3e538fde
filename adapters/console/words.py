"""What the API tells in names and numbers, in words for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

Tone = Literal["calm", "good", "warn", "bad", "quiet"]

STALE_REASONS = {
    "new_memories": "new memories since it was written",
    "scope_changed": "its scope was changed",
    "evidence_changed": "facts it rests on have changed or gone",
    "unread_memories": "memories the last refresh did not get to",
    "pending_consolidation": "memories that wait for consolidation",
}
OUTCOMES = {
    "content_written": "Written",
    "content_unchanged": "Nothing to change",
    "content_preserved_no_new_facts": "Kept: no new facts",
    "refresh_failed_empty_candidate": "Failed: the new text was empty",
    "refresh_failed_delta_not_applied": "Failed: the edits could not be applied",
    "refresh_failed_structured_output": "Failed: the structured view could not be read",
    "refresh_failed_error": "Failed",
}
OPERATIONS = {
    "refresh_mental_model": "Refresh",
    "retain": "Retain",
    "batch_retain": "Retain in parts",
    "consolidation": "Consolidation",
}
STATUSES: Mapping[str, tuple[str, Tone]] = {
    "pending": ("Waits", "calm"),
    "processing": ("Runs", "calm"),
    "completed": ("Done", "good"),
    "failed": ("Failed", "bad"),
    "cancelled": ("Cancelled", "quiet"),
}
PARKED = {
    "min_interval": "refreshed too recently",
    "token_budget": "the bank has spent its tokens of the day",
    "quota": "the model endpoint asked to come back later",
}
FACT_TYPES = {"world": "Fact", "experience": "Experience", "observation": "Observation", "opinion": "Opinion"}
ACTORS = {
    "user": "a person",
    "worker": "the worker",
    "cron": "the clock",
    "consolidation": "the worker, after a consolidation",
    "retraction sweep": "the worker, after facts were taken back",
    "system": "the service",
}


def read_time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def ago(text: str, now: datetime | None = None) -> str:
    """A time of the API as a reader counts: “3 minutes ago”, “in 2 hours”."""
    passed = (now or datetime.now(UTC)) - read_time(text)
    told = span(abs(passed))
    if told == "moments":
        return "just now"
    return f"{told} ago" if passed >= timedelta() else f"in {told}"


def span(length: timedelta) -> str:
    seconds = length.total_seconds()
    for unit, name in ((86400 * 365, "year"), (86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            return counted(int(seconds // unit), name)
    return "moments" if seconds < 10 else counted(int(seconds), "second")


def in_full(text: str) -> str:
    return f"{read_time(text).astimezone(UTC):%A %d %B %Y, %H:%M:%S} UTC"


def short(moment: datetime) -> str:
    return f"{moment:%a %d %b %Y, %H:%M} UTC"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def took(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else span(timedelta(seconds=seconds))


def cost(calls: int, tokens: int, duration_ms: float) -> str:
    """What something took, of models and of time."""
    of_models = f"{counted(calls, 'call')}, {counted(tokens, 'token')}" if calls else "no model"
    return f"{of_models}, {took(duration_ms)}" if duration_ms else of_models


def stale(model: Mapping[str, Any]) -> str:
    """Why a mental model is stale, as a sentence; "" when it is not."""
    if not model.get("is_stale"):
        return ""
    reasons = [STALE_REASONS.get(each, each.replace("_", " ")) for each in model.get("stale_reasons") or ()]
    return f"Stale: {', '.join(reasons)}" if reasons else "Stale"


def outcome(name: str | None) -> str:
    return OUTCOMES.get(name or "", (name or "").replace("_", " ").capitalize())


def operation(name: str) -> str:
    return OPERATIONS.get(name, name.replace("_", " ").capitalize())


def progress(told: Mapping[str, Any]) -> str:
    """How far an operation is that runs: “Editing, 3 of 10”."""
    stage = str(told.get("stage") or "working").capitalize()
    processed, total = told.get("processed"), told.get("total")
    return f"{stage}, {processed or 0} of {total}" if total else stage


def actor(name: str | None) -> str:
    return ACTORS.get(name or "", name or "somebody")


def when_refreshed(trigger: Mapping[str, Any]) -> str:
    """How a mental model is refreshed, in a word."""
    if trigger.get("refresh_cron"):
        return "Scheduled"
    return "After writes" if trigger.get("refresh_after_consolidation") else "By hand"
