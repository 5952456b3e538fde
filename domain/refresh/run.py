"""What a refresh read and came to, before anything is decided of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from domain.mental_model.record import FailureReason, RefreshRecord
from domain.reflection import Mention, ToolResult


@dataclass(frozen=True)
class NothingToRead:
    """Nothing to read in scope and window: no model was asked, or none found the document concerned."""


@dataclass(frozen=True)
class Candidate:
    """The markdown a mind answered with, as it came, and where in it facts are named."""

    markdown: str
    mentions: tuple[Mention, ...] = ()


@dataclass(frozen=True)
class Edited:
    """The document after the edits that the record holds; `ids` are those of its pieces."""

    markdown: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class DeltaFailed:
    """The edits of a delta could not be had, or none of them could be applied."""

    reason: FailureReason
    message: str
    transient: bool = False
    resume_at: datetime | None = None


@dataclass(frozen=True)
class StructuredOutputFailed:
    """There is a text, but no structured view of it."""

    message: str
    transient: bool = False
    resume_at: datetime | None = None


@dataclass(frozen=True)
class RunFailed:
    """The run could not be finished. A transient failure may go away by itself; with `resume_at` not before then."""

    reason: FailureReason
    message: str
    transient: bool = False
    resume_at: datetime | None = None


RunResult = NothingToRead | Candidate | Edited | DeltaFailed | StructuredOutputFailed | RunFailed


@dataclass(frozen=True)
class RefreshRun:
    """What a refresh read and got. The executor makes it and writes nothing; `decide_outcome` makes an event of it.

    `outputs` are what each tool call gave, in order, for a preview; they are recorded nowhere."""

    record: RefreshRecord
    result: RunResult
    outputs: tuple[ToolResult, ...] = ()
