"""A delta in its course: what it reads, the document so far, and what it asked and did."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.digest import sha256_of
from domain.document import Document
from domain.editing import Grounds
from domain.memory import Fact
from domain.mental_model.record import DeltaRecord, Edit, EditPass, Evidence, FactReading, RetractionRecord
from domain.mental_model.state import MentalModel
from domain.persona import NOBODY, Persona
from domain.refresh.coverage import pending_of
from domain.refresh.editing import CarriedOut
from domain.refresh.run import DeltaFailed, Edited, NothingToRead
from domain.storable import storable
from domain.usage import ModelCall


@dataclass
class DeltaRun:
    """A delta in its course: the document so far, each edit, what was read and asked; `result` when it has ended."""

    model: MentalModel
    upto: int
    asked_at: datetime
    document: Document
    persona: Persona = NOBODY
    """With the directives that the document keeps to."""
    facts: Sequence[Fact] = ()
    result: NothingToRead | Edited | DeltaFailed = field(default_factory=NothingToRead)
    edits: list[Edit] = field(default_factory=list)
    read: list[FactReading] = field(default_factory=list)
    evidence: tuple[Evidence, ...] = ()
    retraction: RetractionRecord | None = None
    unmade: frozenset[UUID] = frozenset()
    """Facts that observations rested on which the document rests on, and which are gone."""
    unread: tuple[int, ...] = ()
    skipped: Literal["no_new_facts", "no_relevant_facts"] | None = None
    sizes: tuple[int, int] | None = None
    asked: bool = False
    """Whether an editor was asked; all but nothing is read from the memory afterwards."""
    replies: list[str] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def record(self) -> DeltaRecord:
        return DeltaRecord(
            baseline_sha256=sha256_of(self.model.content),
            skipped_reason=self.skipped,
            edits=tuple(self.edits),
            readings=tuple(self.read),
            replies=tuple(map(storable, self.replies)),
            document_tokens=self.sizes[0] if self.sizes else None,
            document_budget=self.sizes[1] if self.sizes else None,
        )

    @property
    def pending(self) -> tuple[int, ...]:
        return tuple(sorted({*pending_of(self.read), *self.unread}))

    def applied(self, *passes: EditPass) -> tuple[Edit, ...]:
        return tuple(edit for edit in self.edits if edit.skipped is None and edit.edit_pass in passes)

    def take(self, carried: CarriedOut) -> None:
        self.document = carried.document
        self.edits.extend(carried.edits)


def older(model: MentalModel, written: Collection[str]) -> tuple[tuple[str, Grounds], ...]:
    """Where the pieces come from that this refresh did not write."""
    return tuple(
        (piece.id, Grounds(piece.written_at, piece.facts)) for piece in model.outline if piece.id not in written
    )
