"""Events of an API key. Names and shapes are permanent."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from domain.event import Event


class KeyCreated(Event):
    """A key was made. `banks` and `tags` are what it is held to (None: to none); `digest` is all that is kept of its
    secret (`domain.api_keys.token`)."""

    TOPIC: ClassVar[str] = "api_key.created"

    key_id: str
    name: str
    banks: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    read_only: bool = False
    digest: str
    expires_at: datetime | None = None


class KeyRevoked(Event):
    """The key opens nothing any more."""

    TOPIC: ClassVar[str] = "api_key.revoked"


ApiKeyEvent = KeyCreated | KeyRevoked
