"""Refusals about API keys, and those of what a key may not."""

from __future__ import annotations

from domain.refusals import Conflict, NotFound, Refusal


class KeyNotFound(NotFound):
    """There is no such key."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"There is no API key '{key_id}'; `palimpsest keys list` shows those there are")


class KeyAlreadyExists(Conflict):
    """A key has this id."""

    def __init__(self, key_id: str) -> None:
        super().__init__(f"There is an API key '{key_id}' already; make the key again")


class Forbidden(Refusal):
    """The caller is known, and may not do this; the text says why."""
