"""Kept replies in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from application.ports import KeptReply, Transaction
from domain.usage import ModelCall
from tests.support.examples import NOW
from tests.support.in_memory import undo_of


@dataclass(frozen=True)
class Kept:
    payload: Mapping[str, Any] | None
    call: ModelCall
    at: datetime
    counted: bool = False


class InMemoryKeptReplies:
    """KeptReplies. What is kept is kept at `now`; `dropped` are the operations whose replies were dropped."""

    def __init__(self) -> None:
        self.replies: dict[tuple[str, UUID, str], Kept] = {}
        self.dropped: list[UUID] = []
        self.now = NOW

    def reply(self, bank_id: str, operation_id: UUID, key: str) -> KeptReply | None:
        found = self.replies.get((bank_id, operation_id, key))
        return KeptReply(found.payload, found.counted) if found is not None and found.payload is not None else None

    def keep(self, bank_id: str, operation_id: UUID, key: str, payload: Mapping[str, Any], call: ModelCall) -> bool:
        if (bank_id, operation_id, key) in self.replies:
            return False
        self.replies[bank_id, operation_id, key] = Kept(dict(payload), call, self.now)
        return True

    def uncounted(self, bank_id: str, operation_id: UUID) -> Mapping[str, ModelCall]:
        return {key[2]: kept.call for key, kept in self._of(bank_id, operation_id).items() if not kept.counted}

    def count(self, bank_id: str, operation_id: UUID, keys: Collection[str], tx: Transaction) -> None:
        self._undone_by(tx)
        for key, kept in self._of(bank_id, operation_id).items():
            if key[2] in keys:
                self.replies[key] = replace(kept, counted=True)

    def drop(self, bank_id: str, operation_id: UUID, tx: Transaction) -> None:
        self._undone_by(tx)
        self.dropped.append(operation_id)
        for key, kept in self._of(bank_id, operation_id).items():
            if kept.counted:
                del self.replies[key]

    def drop_bank(self, bank_id: str, tx: Transaction) -> None:
        self._undone_by(tx)
        kept = {key: replace(kept, payload=None) for key, kept in self.replies.items() if key[0] == bank_id}
        others = {key: kept for key, kept in self.replies.items() if key[0] != bank_id}
        self.replies = others | {key: each for key, each in kept.items() if not each.counted}

    def left_behind(self, before: datetime) -> Sequence[tuple[str, UUID]]:
        return list(dict.fromkeys(key[:2] for key, kept in self.replies.items() if kept.at < before))

    def _of(self, bank_id: str, operation_id: UUID) -> dict[tuple[str, UUID, str], Kept]:
        return {key: kept for key, kept in self.replies.items() if key[:2] == (bank_id, operation_id)}

    def _undone_by(self, tx: Transaction) -> None:
        replies, dropped = dict(self.replies), list(self.dropped)

        def restore() -> None:
            self.replies, self.dropped = replies, dropped

        undo_of(tx).append(restore)
