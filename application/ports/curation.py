"""The store of facts, for a person who corrects it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from application.ports.log import Transaction
from application.ports.memory import MemoryWrite
from domain.curation import CuratedFact, ErasedFacts
from domain.memory import Fact, ObservationScopes
from domain.retain import Part
from domain.scope import Scope


@dataclass(frozen=True)
class Replacement:
    """A fact as it is to be, in place of its current version. `vector` is that of its new text; None keeps the one it
    has. `keeps_observations`: what rests on it need not be made anew."""

    fact: Fact
    vector: Sequence[float] | None = None
    keeps_observations: bool = False


@dataclass(frozen=True)
class DocumentFacts:
    """A document with its current facts, observations not among them, and those of its facts that are set aside."""

    tags: tuple[str, ...]
    parts: Sequence[Part]
    observation_scopes: ObservationScopes | None
    facts: Sequence[Fact]
    set_aside: Sequence[Fact] = ()


@dataclass(frozen=True)
class DocumentSettings:
    """What is kept of a document beside its text. `read_with`: what its chunks were read with, by what they would be
    read with now; those that are in neither stay."""

    tags: tuple[str, ...]
    parts: Sequence[Part]
    observation_scopes: ObservationScopes | None
    read_with: Mapping[str, str]


class FactCuration(Protocol):
    """Changes to single facts and to documents. Whoever changes something holds the memory of the bank (`hold`) from
    before it reads what it changes to the end of the transaction."""

    def hold(self, bank_id: str, tx: Transaction) -> None: ...

    def fact(self, bank_id: str, fact_id: UUID, tx: Transaction | None = None) -> CuratedFact | None:
        """A fact that is current or was invalidated, as it is now or was then; None for any other."""
        ...

    def replace(self, bank_id: str, replacements: Sequence[Replacement], at: datetime, tx: Transaction) -> MemoryWrite:
        """Adds a version to each; they are consolidated anew unless their observations are kept."""
        ...

    def invalidate(self, bank_id: str, fact: Fact, reason: str | None, at: datetime, tx: Transaction) -> MemoryWrite:
        """Closes a current fact, and the observations that rest on it, so that it can be restored."""
        ...

    def restore(self, bank_id: str, restored: Replacement, at: datetime, tx: Transaction) -> MemoryWrite:
        """Adds a version to an invalidated fact, which is current again and waits for consolidation; of no chunk, when
        its own is gone."""
        ...

    def document(self, bank_id: str, document_id: str, tx: Transaction) -> DocumentFacts | None: ...

    def keep_settings(
        self, bank_id: str, document_id: str, settings: DocumentSettings, at: datetime, tx: Transaction
    ) -> None:
        """A retain that has read the document before is done again."""
        ...

    def retag_set_aside(self, bank_id: str, facts: Sequence[Fact], tx: Transaction) -> None:
        """Invalidated facts have these tags and scopes from now on, and when they are restored."""
        ...

    def erase(
        self, bank_id: str, scope: Scope, at: datetime, tx: Transaction, fact_ids: Sequence[UUID] | None = None
    ) -> ErasedFacts:
        """Closes the current facts in a scope for good (those named, or all), and the observations that rest on them.
        Invalidated ones go too."""
        ...

    def erase_document(self, bank_id: str, document_id: str, at: datetime, tx: Transaction) -> ErasedFacts | None:
        """Deletes a document with its text, its chunks and its facts; None when there is none."""
        ...

    def erase_documents(self, bank_id: str, scope: Scope, document_ids: Sequence[str], tx: Transaction) -> int:
        """Deletes those of these documents, and of those in the scope, that have no facts left, with their texts."""
        ...
