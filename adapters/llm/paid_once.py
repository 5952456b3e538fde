"""Replies that an operation has paid for: found again by the request that asked for them.

The same request made twice in one attempt is two requests, as without keeping: the n-th is found by the n-th of the
next attempt.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.llm.replies import counted
from application.current_operation import CurrentOperation, current_operation
from application.ports import KeptReplies
from domain.usage import KEPT, ModelCall


@dataclass(frozen=True)
class Asked:
    """One request of the current operation; without one, or without a place to keep replies, nothing is kept."""

    kept: KeptReplies | None = None
    current: CurrentOperation | None = None
    key: str = ""

    def replayed(self, purpose: str, model: str, paid: list[ModelCall]) -> dict[str, Any] | None:
        """The reply that was kept, None when there is none. Its call is appended to `paid`: with its tokens when no
        event tells of them yet, because the attempt that paid was cut off. Raises MindFailed."""
        if self.kept is None or self.current is None:
            return None
        found = self.kept.reply(self.current.bank_id, self.current.operation_id, self.key)
        if found is None:
            return None
        if found.counted:
            paid.append(ModelCall(purpose=purpose + KEPT, model=model))
        else:
            paid.append(counted(found.payload, purpose=purpose, model=model, seconds=0.0))
            self.current.uses(self.key, paid[-1])
        return dict(found.payload)

    def keep(self, payload: Mapping[str, Any], call: ModelCall) -> None:
        """Keeps a reply with what it cost. A failure that came in place of one is not kept: the same may work later."""
        if self.kept is None or self.current is None or payload.get("error"):
            return
        if self.kept.keep(self.current.bank_id, self.current.operation_id, self.key, payload, call):
            self.current.uses(self.key, call)


class PaidOnce:
    def __init__(self, kept: KeptReplies | None) -> None:
        self._kept = kept

    def of(self, request: Mapping[str, Any]) -> Asked:
        """A request as it is made now: model, messages, tools and options."""
        current = current_operation()
        if self._kept is None or current is None:
            return Asked()
        digest = hashlib.sha256(json.dumps(request, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
        return Asked(self._kept, current, f"{digest}-{current.times_asked(digest)}")
