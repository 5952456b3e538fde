"""What an API key answers to a command: events, or a refusal. Pure and total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from domain.api_keys.events import KeyCreated, KeyRevoked
from domain.api_keys.refusals import KeyAlreadyExists, KeyNotFound
from domain.api_keys.state import ApiKey, KeyState
from domain.event import Event
from domain.refusals import InvalidInput, Refusal

NAME_LENGTH = 200
BANKS_AT_MOST = 1_000
TAGS_AT_MOST = 100


@dataclass(frozen=True)
class CreateKey:
    """None for `banks` and `tags`: the key is held to none."""

    key_id: str
    name: str
    banks: tuple[str, ...] | None
    tags: tuple[str, ...] | None
    read_only: bool
    digest: str
    now: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True)
class RevokeKey:
    key_id: str


KeyCommand = CreateKey | RevokeKey


def decide(command: KeyCommand, state: KeyState) -> Sequence[Event] | Refusal:
    """The events a command causes in a state; none when it is already so."""
    match command:
        case CreateKey():
            return KeyAlreadyExists(command.key_id) if isinstance(state, ApiKey) else _created(command)
        case RevokeKey():
            if not isinstance(state, ApiKey):
                return KeyNotFound(command.key_id)
            return () if state.is_revoked else (KeyRevoked(),)
        case _:
            assert_never(command)


def _created(command: CreateKey) -> Sequence[Event] | Refusal:
    if len(command.name) > NAME_LENGTH:
        return InvalidInput("name", f"has {len(command.name)} characters; the limit is {NAME_LENGTH}")
    for field, given, most in (("banks", command.banks, BANKS_AT_MOST), ("tags", command.tags, TAGS_AT_MOST)):
        if given is not None and (refused := _held_to(field, given, most)):
            return refused
    if command.expires_at is not None and command.expires_at <= command.now:
        return InvalidInput("expires_at", "is past; the key would open nothing")
    return (
        KeyCreated(
            key_id=command.key_id,
            name=command.name,
            banks=None if command.banks is None else tuple(dict.fromkeys(command.banks)),
            tags=None if command.tags is None else tuple(dict.fromkeys(command.tags)),
            read_only=command.read_only,
            digest=command.digest,
            expires_at=command.expires_at,
        ),
    )


def _held_to(field: str, given: Sequence[str], most: int) -> Refusal | None:
    """An empty list is no limit that anybody means: it is asked what was meant."""
    if not given:
        return InvalidInput(field, "is empty; leave it out for all, or name some")
    if any(not each.strip() for each in given):
        return InvalidInput(field, "holds a blank name")
    return InvalidInput(field, f"has {len(given)} names; the limit is {most}") if len(given) > most else None
