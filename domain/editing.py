"""What passes between a refresh and an editor: the document, the facts to work in, and the operations proposed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.document import Document, Operation
from domain.memory import Fact
from domain.persona import NOBODY, Persona
from domain.usage import ModelCall

Task = Literal["edit", "retraction", "compaction"]
"""Work new facts in; take out what rests on facts that are no longer true; make the document shorter."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact the document has not seen. `was` is its text before, when the document rests on an older version of it."""

    fact: Fact
    was: str | None = None


@dataclass(frozen=True, slots=True)
class RetractedFact:
    """A fact that the document rests on and that no longer holds, with its text as it was read."""

    fact_id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class Grounds:
    """Where a piece of the document comes from: when it was written, and on which facts it rests (none: not known)."""

    written_at: datetime | None
    facts: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Correction:
    """A reply that could not be taken as it was, and what was wrong with it, one line each. The whole list of
    operations is asked for again."""

    reply: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class EditRequest:
    """One request for operations. `facts` are those to work in (task edit) or those that still stand (retraction);
    `retracted` only for a retraction; `grounds` by id of a section, block or item, for a compaction."""

    task: Task
    name: str
    source_query: str
    document: Document
    max_tokens: int
    document_tokens: int
    asked_at: datetime
    facts: tuple[NewFact, ...] = ()
    retracted: tuple[RetractedFact, ...] = ()
    grounds: tuple[tuple[str, Grounds], ...] = ()
    shown: frozenset[str] | None = None
    """Ids of the sections to show in full, for a document too large for one prompt; of the others only the headings.
    None shows all."""
    last_part: bool = True
    """Whether no further part of the document will be shown for these facts."""
    correction: Correction | None = None
    persona: Persona = NOBODY
    """Who edits: its directives are rules for the text, never facts."""


@dataclass(frozen=True, slots=True)
class ProposedEdit:
    """An operation and the facts it rests on."""

    operation: Operation
    facts: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedEdit:
    """An entry of a reply that is no operation: as it came (shortened), and what is wrong with it."""

    raw: str
    reason: str


@dataclass(frozen=True)
class Proposal:
    """A reply: the operations in their order, what in it was none, the reply as it came, and what it cost."""

    edits: tuple[ProposedEdit, ...]
    refused: tuple[RefusedEdit, ...] = ()
    raw: str = ""
    calls: tuple[ModelCall, ...] = ()
