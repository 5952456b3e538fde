"""The text of an API key: `pal_<id>_<secret>`. The id is public, and what a key is looked up by.

The secret is random, of 32 bytes: nobody can try them all, so that a fast hash of it is as good as a slow one (which
guards passwords, that can be guessed), and a request pays nothing for it. The id is hashed along, as a salt.
"""

from __future__ import annotations

import hashlib
import hmac
import re

_TOKEN = re.compile(r"pal_([0-9a-f]{12})_([A-Za-z0-9_-]{32,200})", re.ASCII)
KEY_ID_LENGTH = 12
NO_DIGEST = "0" * 64
"""Of no token; compared with when there is no key, so that this takes as long."""


def token_of(key_id: str, secret: str) -> str:
    """Raises ValueError for parts that would not be told apart again."""
    token = f"pal_{key_id}_{secret}"
    if key_id_of(token) != key_id:
        raise ValueError("an id is 12 hexadecimal digits, a secret at least 32 letters, digits, '-' or '_'")
    return token


def key_id_of(token: str) -> str | None:
    """The id of the key that a token claims to be; None for what is no token."""
    found = _TOKEN.fullmatch(token)
    return found[1] if found else None


def digest_of(token: str) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()


def is_token_of(token: str, digest: str) -> bool:
    """Whether a token has the digest; takes as long for any token."""
    return hmac.compare_digest(digest_of(token), digest)
