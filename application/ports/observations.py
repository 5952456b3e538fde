"""The observations of a bank, and the facts that wait to be made into them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from application.ports.log import Transaction
from application.ports.memory import MemoryWrite
from domain.consolidation import ObservationChanges, Tags
from domain.memory import Fact

Vector = Sequence[float]


class MemoryMovedOn(Exception):
    """A fact or an observation that a consolidation rests on is no longer as it was read."""


@dataclass(frozen=True)
class EmbeddedChanges:
    """Changes with the vectors of what is written, in its order."""

    changes: ObservationChanges
    vectors: Sequence[Vector]


class ObservationStore(Protocol):
    """Facts wait from when they are written, or from when something that they had part in is gone, until they are
    consolidated or set aside as failed. An observation never rests on a fact that is not current."""

    def pending(
        self, bank_id: str, limit: int, scopes: Sequence[Tags] | None = None, leave_out: Sequence[UUID] = ()
    ) -> Sequence[Fact]:
        """Facts that wait, oldest first: with `scopes` those that have all tags of one of them."""
        ...

    def count_pending(self, bank_id: str, scopes: Sequence[Tags] | None = None) -> int: ...

    def count_waiting(self, bank_id: str, fact_ids: Collection[UUID]) -> int:
        """How many of these facts wait."""
        ...

    def banks_pending(self) -> Sequence[str]:
        """Banks in which facts wait."""
        ...

    def current(self, bank_id: str, fact_ids: Sequence[UUID]) -> Sequence[Fact]:
        """The facts that are current, in the order asked."""
        ...

    def count_in(self, bank_id: str, scope: Tags) -> int:
        """Observations of a scope."""
        ...

    def nearest(self, bank_id: str, scope: Tags, vectors: Sequence[Vector]) -> Sequence[tuple[Fact, float] | None]:
        """For each vector the nearest observation of the scope and its cosine similarity, if any can be compared."""
        ...

    def write(
        self, bank_id: str, facts: Sequence[Fact], changes: Sequence[EmbeddedChanges], at: datetime, tx: Transaction
    ) -> MemoryWrite:
        """Writes the changes, and that the facts are consolidated. Raises MemoryMovedOn when one of them is no longer
        current as it is here, or waits no more, or an observation is not as it was."""
        ...

    def set_aside(self, bank_id: str, facts: Sequence[Fact], failure: str, at: datetime, tx: Transaction) -> int:
        """The facts wait no more, because they failed; those that changed meanwhile still wait. How many there were."""
        ...

    def recover(self, bank_id: str, tx: Transaction) -> int:
        """What failed waits again; how many there were."""
        ...

    def clear(self, bank_id: str, at: datetime, tx: Transaction, of_fact: UUID | None = None) -> MemoryWrite:
        """Ends all observations, or those that rest on one fact; what they rested on waits again."""
        ...
