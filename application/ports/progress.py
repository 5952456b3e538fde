"""How far operations that run have come: for whoever looks, not for the record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from application.ports.log import Transaction


@dataclass(frozen=True)
class Progress:
    """`stage` is what is being done, in a word a person understands; `processed` of `total` are its units of work;
    `detail` are counters of the operation's own, such as the step of a conversation."""

    stage: str
    processed: int | None = None
    total: int | None = None
    detail: Mapping[str, int] | None = None


class ProgressBoard(Protocol):
    """Where running operations show how far they are. What is shown belongs to an attempt; nothing of an attempt before
    is shown once another has begun."""

    def begin(self, bank_id: str, operation_id: UUID, attempt: int, tx: Transaction) -> None:
        """An attempt begins, in `tx`; what the one before showed is taken down."""
        ...

    def show(self, bank_id: str, operation_id: UUID, attempt: int, progress: Progress) -> None:
        """Shows it in place of what the same attempt showed before. Never raises: no work fails for being shown."""
        ...

    def clear(self, bank_id: str, operation_id: UUID, tx: Transaction) -> None:
        """Nothing is shown any more: the attempt has ended, in `tx`."""
        ...
