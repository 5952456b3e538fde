"""The rules of a refresh: mode, window, edits, retraction, guards and outcome. Pure: no clock, no model, no store."""

from domain.refresh.mode import Mode, decide_mode
from domain.refresh.outcome import OUTCOME_NAMES, decide_outcome, failure_of, outcome_name
from domain.refresh.present import document_of
from domain.refresh.run import (
    Candidate,
    DeltaFailed,
    Edited,
    NothingToRead,
    RefreshRun,
    RunFailed,
    RunResult,
    StructuredOutputFailed,
)

__all__ = [
    "OUTCOME_NAMES",
    "Candidate",
    "DeltaFailed",
    "Edited",
    "Mode",
    "NothingToRead",
    "RefreshRun",
    "RunFailed",
    "RunResult",
    "StructuredOutputFailed",
    "decide_mode",
    "decide_outcome",
    "document_of",
    "failure_of",
    "outcome_name",
]
