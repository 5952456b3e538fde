"""What a bank's owner says of it: its missions and its disposition. Both are part of its config, and kept only here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.bank_config import Trait
from domain.value import Value

BANK_ID_LENGTH = 256


def is_bank_id(text: str) -> bool:
    """Whether a bank can be called so: it is a part of a URL, and shown to people."""
    plain = text == text.strip() and "/" not in text and text.isprintable()
    return plain and 0 < len(text) <= BANK_ID_LENGTH and text not in (".", "..")


class Missions(Value):
    """What the bank is for, in its owner's words: for answering, for reading facts, for observations. None: not set."""

    reflect: str | None = None
    retain: str | None = None
    observations: str | None = None


class Disposition(Value):
    """How the bank's mind reads: each trait from 1 to 5. None: not set, which is neutral unless the server says
    otherwise."""

    skepticism: Trait | None = None
    literalism: Trait | None = None
    empathy: Trait | None = None


NEUTRAL = 3

MISSION_KEYS: Mapping[str, str] = {f"{name}_mission": name for name in Missions.model_fields}
"""Keys of the config that are missions, and the mission each is."""
TRAIT_KEYS: Mapping[str, str] = {f"disposition_{name}": name for name in Disposition.model_fields}


def set_keys(missions: Missions, disposition: Disposition) -> dict[str, Any]:
    """Those that are set, by their keys of the config."""
    values = {key: getattr(missions, name) for key, name in MISSION_KEYS.items()}
    values |= {key: getattr(disposition, name) for key, name in TRAIT_KEYS.items()}
    return {key: value for key, value in values.items() if value is not None}
