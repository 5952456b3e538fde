"""The clock and the identities of the real world."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID, uuid4


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIdentities:
    def new(self) -> UUID:
        return uuid4()
