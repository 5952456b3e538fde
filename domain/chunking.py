"""Cutting a text into parts a model reads well in one go."""

from __future__ import annotations

import re
from collections.abc import Iterator

CHUNK_SIZE = 3000
"""Characters, as in the system of reference."""

_BORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\r?\n[ \t]*\r?\n\s*",  # paragraphs
        r"\r?\n",  # lines
        r"[.!?…][\"'”’)\]]*\s+|[。！？]",  # sentences
        r"\s+",  # words
    )
)


def chunks(text: str, size: int = CHUNK_SIZE) -> Iterator[str]:
    """Parts of at most `size` characters that joined are the text; cut at the best border not too early in each."""
    start = 0
    while len(text) - start > size:
        end = _cut(text, start, start + size)
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def _cut(text: str, start: int, limit: int) -> int:
    earliest = start + (limit - start) // 3
    for border in _BORDERS:
        ends = [found.end() for found in border.finditer(text, start, limit) if found.end() >= earliest]
        if ends:
            return ends[-1]
    return limit
