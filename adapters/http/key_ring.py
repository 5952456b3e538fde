"""The API keys as a process knows them: asked of the database when a second has passed since it was asked last.

So a key that is revoked anywhere opens nothing after a second, without a connection that listens, and a service without
keys pays one small query a second for finding out that there are none. When the database does not answer, no key opens
anything that is not known from within that second; a service that had no keys stays as it was.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

import psycopg

from adapters.postgres.reader import AsyncReader
from domain.api_keys import ANYBODY, Principal
from domain.api_keys.token import NO_DIGEST, is_token_of, key_id_of
from projections import api_keys
from projections.api_keys import KeyRow

KNOWN_SECONDS = 1.0
ANSWER_WITHIN_SECONDS = 2.0
MOST_KNOWN = 10_000
NOTED_EVERY = timedelta(minutes=1)


class KeyUses(Protocol):
    def note(self, key_id: str, at: datetime) -> None: ...


class KeyRing:
    """`always`: a key is asked for though there is none, because others than this machine reach the service."""

    def __init__(
        self,
        reader: AsyncReader,
        uses: KeyUses,
        now: Callable[[], datetime],
        *,
        always: bool,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reader = reader
        self._uses = uses
        self._now = now
        self._always = always
        self._seconds = seconds
        self._wanted: bool | None = None
        self._wanted_until = 0.0
        self._known: dict[str, tuple[float, KeyRow | None]] = {}
        self._noted: dict[str, datetime] = {}
        self._notes: set[asyncio.Task[None]] = set()

    async def wants_keys(self) -> bool:
        if self._always:
            return True
        if self._wanted is None or self._seconds() >= self._wanted_until:
            self._wanted_until = self._seconds() + KNOWN_SECONDS  # others go by what was known, and do not ask as well
            try:
                async with asyncio.timeout(ANSWER_WITHIN_SECONDS):
                    self._wanted = await self._reader.ask(api_keys.any_not_revoked())
            except (psycopg.OperationalError, TimeoutError):
                if self._wanted is None:
                    raise
        return self._wanted

    async def authenticate(self, header: str | None) -> Principal | None:
        """Who sends this `Authorization` header: `Bearer <key>`, or the key alone. ANYBODY where no keys are asked for,
        None for a header that opens nothing. Raises psycopg.OperationalError."""
        if not await self.wants_keys():
            return ANYBODY
        token = _token(header)
        key_id = key_id_of(token)
        row = None if key_id is None else await self._row(key_id)
        # compared in any case: what there is no key for takes as long as what is wrong
        is_right = is_token_of(token, NO_DIGEST if row is None else row.digest)
        now = self._now()
        if row is None or not is_right or not row.is_live(now):
            return None
        self._note(row.key_id, now)
        return row.principal

    async def close(self) -> None:
        """Waits for what is being noted."""
        if self._notes:
            await asyncio.wait(set(self._notes))

    async def _row(self, key_id: str) -> KeyRow | None:
        until, row = self._known.get(key_id, (0.0, None))
        if (now := self._seconds()) < until:
            return row
        row = await self._reader.ask(api_keys.find(key_id))
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[key_id] = now + KNOWN_SECONDS, row
        return row

    def _note(self, key_id: str, now: datetime) -> None:
        """Beside the request, and not for every one."""
        noted = self._noted.get(key_id)
        if noted is not None and now - noted < NOTED_EVERY:
            return
        self._noted[key_id] = now
        task = asyncio.create_task(asyncio.to_thread(self._uses.note, key_id, now), name="a key was used")
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)


def _token(header: str | None) -> str:
    """The key of a header. The system of reference takes it with and without `Bearer`."""
    kind, _, rest = (header or "").strip().partition(" ")
    if kind.lower() == "bearer":
        return rest.strip()
    return kind if not rest else ""
