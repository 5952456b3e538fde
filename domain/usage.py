"""Money: every call to a model is counted, whoever made it and whatever came of it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from domain.value import Value


class ModelCall(Value):
    """One call to a language or embedding model. Tokens as the endpoint counted them; `duration_ms` is wall time."""

    purpose: str
    """What the call was for: `extract_facts`, `reflect_1`, `reflect_document`, `embed` ..."""
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0
    duration_ms: int = 0


class TokenUsage(Value):
    """Sum over calls, in the wire shape of the system of reference."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cached_tokens: int = 0
    thoughts_tokens: int = 0


KEPT = " (kept)"
"""Ends the purpose of a call that is free, because an event before tells already what it cost."""

_NUMBERED = re.compile(r"[ _]\d+\b")


def purpose_of(told: str) -> str:
    """What a call was for without its number in a conversation, and whether it was made or found again: `reflect` for
    `reflect_3 (kept)`. There are few of them."""
    return _NUMBERED.sub("", told.removesuffix(KEPT))


def total(calls: Iterable[ModelCall]) -> TokenUsage:
    """Sum of all calls; `total_tokens` is input plus output."""
    counted = tuple(calls)
    read = sum(call.input_tokens for call in counted)
    written = sum(call.output_tokens for call in counted)
    return TokenUsage(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written,
        cached_tokens=sum(call.cached_tokens for call in counted),
        thoughts_tokens=sum(call.thoughts_tokens for call in counted),
    )
