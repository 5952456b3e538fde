"""Replies of language models that were paid for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from application.ports.log import Transaction


@dataclass(frozen=True)
class KeptReply:
    """`payload` is the reply as it came. `counted`: an event tells already what it cost."""

    payload: Mapping[str, Any]
    counted: bool = False


class KeptReplies(Protocol):
    """Replies of language models, kept by the operation they were asked for until it ends: what an attempt has paid for
    is not paid again by the next. `key` stands for the whole request."""

    def reply(self, operation_id: UUID, key: str) -> KeptReply | None:
        """The reply to the same request of the same operation. Raises MindFailed when that cannot be told now."""
        ...

    def keep(self, operation_id: UUID, key: str, payload: Mapping[str, Any]) -> None:
        """Keeps a reply at once, whatever becomes of the transaction of the attempt; one that is kept stays. Where
        keeping fails, the reply is not kept, and the work goes on."""
        ...

    def count(self, operation_id: UUID, tx: Transaction) -> None:
        """An event in `tx` tells what the attempt cost: all that is kept of it is counted."""
        ...

    def drop(self, operation_id: UUID, tx: Transaction | None = None) -> None:
        """Forgets the replies: the operation has ended, or what was answered could not be used."""
        ...

    def drop_before(self, moment: datetime) -> int:
        """Forgets what was kept before a time, and tells how many replies: those of attempts that went on after their
        operation had ended."""
        ...
