"""Chunks that are kept as they are (retain mode "chunks" of the system of reference)."""

from __future__ import annotations

from collections.abc import Sequence

from domain.memory import Chunk, ExtractedFact


def facts_of_chunks(chunks: Sequence[Chunk]) -> tuple[ExtractedFact, ...]:
    """Each chunk that says something, as one fact."""
    return tuple(
        ExtractedFact(text=text, chunk=each.number)
        for each in chunks
        if (text := each.text.strip("\ufeff \t\r\n").strip())
    )
