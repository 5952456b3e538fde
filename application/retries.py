"""When an attempt at an operation is made again, and what it has of the one before."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

UNSURE = (
    "no_answer",
    "empty_candidate",
    "delta_ops_failed",
    "delta_ops_all_skipped",
    "delta_not_applied",
    "structured_output_failed",
)
"""Failures that another try may not come to, unless the mind always thinks the same."""


@dataclass(frozen=True)
class RetryPolicy:
    """A failed attempt is repeated `at_most` times: `delay` after it failed, twice that after the next failure, and so
    on. One whose worker died is repeated `at_most_cut_off` times, at once."""

    at_most: int = 3
    delay: timedelta = timedelta(seconds=60)
    at_most_cut_off: int = 5


Replies = Literal["of_use", "useless", "untold"]
"""Of models, kept for another attempt: to be had again, their cost being on record with this one; no good, as asking
again may give others; or to be had again, their cost being on record nowhere yet."""

CLOCKS_DIFFER = timedelta(seconds=5)
"""By how much the clock that queued a job may be ahead of the one that runs it."""
