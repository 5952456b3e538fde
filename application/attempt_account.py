"""What one attempt at an operation paid for, and what of it, and of the attempts before, no event tells yet."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from application.current_operation import CurrentOperation
from application.ports import KeptReplies, Transaction
from domain.usage import ModelCall


class AttemptAccount:
    """Kept replies are the ledger: each holds what it cost until an event tells it. `calls` are those of the attempt,
    as the event that records what it came to tells them."""

    def __init__(self, kept: KeptReplies, bank_id: str, operation_id: UUID) -> None:
        self._kept = kept
        self._bank_id = bank_id
        self._operation_id = operation_id
        self.current: CurrentOperation | None = None
        self.calls: Sequence[ModelCall] = ()
        self._told: set[str] = set()
        self._untold: set[str] = set()

    def begins(self, current: CurrentOperation) -> None:
        self.current = current

    def tells(self, calls: Sequence[ModelCall]) -> None:
        """An event will tell these calls, whatever becomes of the attempt."""
        self.calls = tuple(calls)
        self._told, _ = self._split()

    def tells_nothing(self) -> tuple[ModelCall, ...]:
        """No event tells what the attempt came to. The calls that no kept reply stands for, which must be told now."""
        self._told = set()
        return self._split()[1]

    def untold(self) -> tuple[ModelCall, ...]:
        """The calls of kept replies that no event tells, this attempt's included: they are told when it settles."""
        found = self._kept.uncounted(self._bank_id, self._operation_id)
        self._untold = set(found) - self._told
        return tuple(call for key, call in found.items() if key in self._untold)

    def settle(self, tx: Transaction, *, drop: bool) -> None:
        """The events in `tx` tell the calls of the attempt. With `drop` they tell all that was `untold`, and what was
        answered is forgotten."""
        keys = self._told | self._untold if drop else self._told
        self._kept.count(self._bank_id, self._operation_id, keys, tx)
        if drop:
            self._kept.drop(self._bank_id, self._operation_id, tx)

    def _split(self) -> tuple[set[str], tuple[ModelCall, ...]]:
        """Of the calls of the attempt: the keys of the kept replies that some stand for, and the other calls."""
        others, keys = list(self.calls), set[str]()
        for key, call in (self.current.used if self.current else {}).items():
            if call in others:
                others.remove(call)
                keys.add(key)
        return keys, tuple(others)
