"""Who is logged in: API keys by session, in this process only. Nothing is written to disk or to the browser."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

COOKIE = "palimpsest_session"
IDLE_SECONDS = 12 * 3600.0
TOKEN_BYTES = 32
MOST_SESSIONS = 10_000


@dataclass(frozen=True)
class _Session:
    key: str
    used_at: float


class Sessions:
    """A session ends when it was not used for a while, when its holder logs out, or with the process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._by_token: dict[str, _Session] = {}
        """The one first that was not used for longest."""

    def begin(self, key: str) -> str:
        """A new session for a key that was checked; its token is the cookie."""
        while self._by_token and (len(self._by_token) >= MOST_SESSIONS or self._is_idle(next(iter(self._by_token)))):
            del self._by_token[next(iter(self._by_token))]
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._by_token[token] = _Session(key, self._now())
        return token

    def key_of(self, token: str | None) -> str | None:
        if token is None or token not in self._by_token or self._is_idle(token):
            return None
        session = self._by_token.pop(token)
        self._by_token[token] = _Session(session.key, self._now())
        return session.key

    def end(self, token: str | None) -> None:
        self._by_token.pop(token or "", None)

    def _is_idle(self, token: str) -> bool:
        return self._now() - self._by_token[token].used_at > IDLE_SECONDS
