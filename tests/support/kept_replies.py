"""Kept replies in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from application.ports import KeptReply, Transaction
from tests.support.examples import NOW
from tests.support.in_memory import undo_of


class InMemoryKeptReplies:
    """KeptReplies. What is kept is kept at `now`; `dropped` are the operations whose replies were dropped."""

    def __init__(self) -> None:
        self.replies: dict[tuple[UUID, str], KeptReply] = {}
        self.dropped: list[UUID] = []
        self.now = NOW
        self._kept_at: dict[tuple[UUID, str], datetime] = {}

    def reply(self, operation_id: UUID, key: str) -> KeptReply | None:
        return self.replies.get((operation_id, key))

    def keep(self, operation_id: UUID, key: str, payload: Mapping[str, Any]) -> None:
        self.replies.setdefault((operation_id, key), KeptReply(dict(payload)))
        self._kept_at.setdefault((operation_id, key), self.now)

    def count(self, operation_id: UUID, tx: Transaction) -> None:
        self._undone_by(tx)
        self.replies = {
            key: replace(reply, counted=reply.counted or key[0] == operation_id) for key, reply in self.replies.items()
        }

    def drop(self, operation_id: UUID, tx: Transaction | None = None) -> None:
        if tx is not None:
            self._undone_by(tx)
        self.dropped.append(operation_id)
        self.replies = {key: reply for key, reply in self.replies.items() if key[0] != operation_id}

    def drop_before(self, moment: datetime) -> int:
        old = [key for key in self.replies if self._kept_at[key] < moment]
        for key in old:
            del self.replies[key]
        return len(old)

    def _undone_by(self, tx: Transaction) -> None:
        replies, dropped = dict(self.replies), list(self.dropped)

        def restore() -> None:
            self.replies, self.dropped = replies, dropped

        undo_of(tx).append(restore)
