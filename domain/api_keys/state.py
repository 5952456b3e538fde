"""What the events of an API key add up to: only what decisions need."""

from __future__ import annotations

from typing import assert_never

from domain.api_keys.events import ApiKeyEvent, KeyCreated, KeyRevoked
from domain.event import Recorded
from domain.value import Value

STATE_VERSION = 1


class NoKey(Value):
    """There is none."""


class ApiKey(Value):
    is_revoked: bool = False


KeyState = NoKey | ApiKey


def evolve(state: KeyState, recorded: Recorded) -> KeyState:  # noqa: ARG001 - a fold takes both
    event: ApiKeyEvent = recorded.event  # type: ignore[assignment]  # the stream holds no others
    match event:
        case KeyCreated():
            return ApiKey()
        case KeyRevoked():
            return ApiKey(is_revoked=True)
        case _:
            assert_never(event)
