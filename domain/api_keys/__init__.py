"""API keys: who may call, in which banks, on memory with which tags, and whether to change anything."""

from domain.api_keys.decider import CreateKey, KeyCommand, RevokeKey, decide
from domain.api_keys.events import ApiKeyEvent, KeyCreated, KeyRevoked
from domain.api_keys.principal import ANYBODY, Principal
from domain.api_keys.refusals import Forbidden, KeyAlreadyExists, KeyNotFound
from domain.api_keys.state import STATE_VERSION, ApiKey, KeyState, NoKey, evolve

__all__ = [
    "ANYBODY",
    "STATE_VERSION",
    "ApiKey",
    "ApiKeyEvent",
    "CreateKey",
    "Forbidden",
    "KeyAlreadyExists",
    "KeyCommand",
    "KeyCreated",
    "KeyNotFound",
    "KeyRevoked",
    "KeyState",
    "NoKey",
    "Principal",
    "RevokeKey",
    "decide",
    "evolve",
]
