"""What decides by asking a model, or by rules: one Protocol for each decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from domain.bank_labels import LabelGroup
from domain.consolidation import ConsolidationProposal, ConsolidationRequest
from domain.editing import EditRequest, Proposal
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.mental_model.record import FailureReason
from domain.reflection import ReflectQuestion, Thought, ToolResult
from domain.usage import ModelCall


class MindFailed(Exception):
    """A model could not be asked or gave nothing usable. `transient` tells whether the same call may work later;
    `reason` is the finer failure reason; `calls` are the calls already paid for; `raw` the last reply, if any;
    `resume_at` (UTC) is when a transient failure passes, where the endpoint told that and it is not soon; `on_request`
    tells that a transient failure may be of this request only, as no answer in time is."""

    def __init__(
        self,
        message: str,
        *,
        reason: FailureReason,
        transient: bool,
        calls: Sequence[ModelCall] = (),
        raw: str = "",
        resume_at: datetime | None = None,
        on_request: bool = False,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.transient = transient
        self.calls = tuple(calls)
        self.raw = raw
        self.resume_at = resume_at
        self.on_request = on_request


@dataclass(frozen=True)
class Embeddings:
    vectors: Sequence[Sequence[float]]
    calls: Sequence[ModelCall] = ()


class Embedder(Protocol):
    model: str

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One unit-length vector a text, in order. Raises MindFailed."""
        ...

    def close(self) -> None:
        """Frees what it holds; it is not used afterwards."""
        ...


@dataclass(frozen=True)
class Extraction:
    facts: Sequence[ExtractedFact]
    calls: Sequence[ModelCall] = ()


@dataclass(frozen=True)
class RetainSteering:
    """How facts are to be read, as the bank says: `mission` is what to look for, `mode` how much of it (`custom`: as
    `custom_instructions` say), `labels` the kinds of labels that are given beside free names."""

    mission: str | None = None
    mode: Literal["concise", "verbose", "custom", "verbatim", "chunks"] = "concise"
    custom_instructions: str | None = None
    causal_links: bool = True
    labels: tuple[LabelGroup, ...] = ()
    free_form_entities: bool = True


class FactExtractor(Protocol):
    rereads: bool
    """It costs nothing, and understands a part by the whole: it is given all that stands before the chunks to read."""

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        """The facts of an item, or of some chunks of its content, in their order. Raises MindFailed; an item without
        facts gives none."""
        ...


class ReflectPolicy(Protocol):
    """Decides the next tool call, or the document."""

    engine: str
    deterministic: bool
    """The same question and facts give the same answer: after "no answer" a retry is pointless."""

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        """`must_finish` forbids another tool call. Raises MindFailed."""
        ...


class Consolidator(Protocol):
    """Proposes what observations new facts come to; writing them is not its business."""

    engine: str
    deterministic: bool

    def consolidate(self, request: ConsolidationRequest) -> ConsolidationProposal:
        """Raises MindFailed."""
        ...


class DocumentEditor(Protocol):
    """Proposes typed operations on a document; applying them is not its business."""

    engine: str
    deterministic: bool

    def propose(self, request: EditRequest) -> Proposal:
        """Operations for a task; none when nothing is to be changed. Raises MindFailed."""
        ...


@dataclass(frozen=True)
class Structured:
    """A value that fits the schema asked for."""

    value: dict[str, Any]
    raw: str = ""
    calls: Sequence[ModelCall] = ()


class StructuredExtractor(Protocol):
    """Reads a value of a given JSON schema out of a document."""

    def extract(self, markdown: str, schema: Mapping[str, Any], *, max_tokens: int) -> Structured:
        """Raises MindFailed (reason `structured_output_failed`) when no value that fits could be had."""
        ...
