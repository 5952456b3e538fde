"""Text as PostgreSQL and UTF-8 can hold it: the one place where what goes to a model and comes from it is cleaned."""

from __future__ import annotations

import json
import re
from typing import Any

from domain.storable import storable

_NEEDS_CLEANING = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


def storable_payload(raw: bytes) -> Any:
    """The JSON value in a body, all strings in it storable. Raises ValueError or RecursionError when it is no JSON.

    Most bodies have nothing to clean, and lists of embeddings are long: only those with suspicious escapes are walked.
    """
    value = json.loads(raw.decode("utf-8-sig", "replace"))
    return storable_json(value) if _NEEDS_CLEANING.search(raw) else value


def storable_json(value: Any) -> Any:
    """The JSON value with every string in it made storable, keys included."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_json(key): storable_json(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [storable_json(each) for each in value]
    return value
