"""Text that can be kept: PostgreSQL holds no NUL characters, UTF-8 no lone surrogates."""

from __future__ import annotations


def storable(text: str) -> str:
    """The text without NUL, surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    without_nul = text.replace("\x00", "") if "\x00" in text else text
    try:
        without_nul.encode()
    except UnicodeEncodeError:
        return without_nul.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return without_nul
