"""Replies of language models that were paid for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from application.ports.log import Transaction
from domain.usage import ModelCall


@dataclass(frozen=True)
class KeptReply:
    """`payload` is the reply as it came. `counted`: an event tells already what it cost."""

    payload: Mapping[str, Any]
    counted: bool = False


class KeptReplies(Protocol):
    """Replies of language models, kept by the operation they were asked for until it ends: what an attempt has paid for
    is not paid again by the next, and what it cost is told by an event, whatever becomes of the attempt. `key` stands
    for the whole request. Another bank may have an operation of the same id."""

    def reply(self, bank_id: str, operation_id: UUID, key: str) -> KeptReply | None:
        """The reply to the same request of the same operation. Raises MindFailed when that cannot be told now."""
        ...

    def keep(self, bank_id: str, operation_id: UUID, key: str, payload: Mapping[str, Any], call: ModelCall) -> bool:
        """Keeps a reply and what it cost at once, whatever becomes of the transaction of the attempt; one that is kept
        stays. Where keeping fails, the reply is not kept, and the work goes on. Whether it is kept now."""
        ...

    def uncounted(self, bank_id: str, operation_id: UUID) -> Mapping[str, ModelCall]:
        """What those replies cost, by key, of which no event tells yet."""
        ...

    def count(self, bank_id: str, operation_id: UUID, keys: Collection[str], tx: Transaction) -> None:
        """Events in `tx` tell what these replies cost."""
        ...

    def drop(self, bank_id: str, operation_id: UUID, tx: Transaction) -> None:
        """Forgets the replies that are counted: the operation has ended, or what was answered could not be used."""
        ...

    def drop_bank(self, bank_id: str, tx: Transaction) -> None:
        """Forgets what was answered for a bank. What it cost, where no event tells it yet, is kept for the end of the
        operations."""
        ...

    def left_behind(self, before: datetime) -> Sequence[tuple[str, UUID]]:
        """Bank and id of operations with replies kept before a time: of attempts that were cut off and not made again,
        or went on after their operation had ended."""
        ...
