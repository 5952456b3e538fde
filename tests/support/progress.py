"""The progress of operations, shown in memory."""

from __future__ import annotations

from uuid import UUID

from application.ports import Progress, Transaction
from tests.support.in_memory import undo_of


class InMemoryProgressBoard:
    """ProgressBoard. `shown` is what is shown now, with the attempt it is of; `told` are all stages that were shown."""

    def __init__(self) -> None:
        self.shown: dict[tuple[str, UUID], tuple[int, Progress]] = {}
        self.told: list[Progress] = []

    def begin(self, bank_id: str, operation_id: UUID, attempt: int, tx: Transaction) -> None:
        self._undone_by(tx)
        self.shown[bank_id, operation_id] = attempt, Progress("starting")

    def show(self, bank_id: str, operation_id: UUID, attempt: int, progress: Progress) -> None:
        if self.shown.get((bank_id, operation_id), (0,))[0] == attempt:
            self.shown[bank_id, operation_id] = attempt, progress
            self.told.append(progress)

    def clear(self, bank_id: str, operation_id: UUID, tx: Transaction) -> None:
        self._undone_by(tx)
        self.shown.pop((bank_id, operation_id), None)

    def _undone_by(self, tx: Transaction) -> None:
        shown = dict(self.shown)

        def restore() -> None:
            self.shown = shown

        undo_of(tx).append(restore)
