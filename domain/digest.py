"""The fingerprint of a text."""

from __future__ import annotations

import hashlib


def sha256_of(text: str) -> str:
    """SHA-256 of the text in UTF-8, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()
