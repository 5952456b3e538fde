"""Names in a request that nobody asked for: they change nothing, and a response header tells so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote

IGNORED_HEADER = "X-Ignored-Parameters"
AT_MOST = 50
"""Names told at most, each cut at 100 characters: a header has its limits."""

_collected: ContextVar[list[str] | None] = ContextVar("ignored_names", default=None)


@contextmanager
def collecting() -> Iterator[list[str]]:
    """Collects the names noted while a request is read."""
    names: list[str] = []
    token = _collected.set(names)
    try:
        yield names
    finally:
        _collected.reset(token)


def note(unknown: Mapping[str, Any] | None, inside: str = "") -> None:
    """Notes unknown names of an object; one that is null asks for nothing and is not told."""
    names = _collected.get()
    if names is not None and unknown:
        names.extend(f"{inside}{name}" for name, value in unknown.items() if value is not None)


def header_value(names: list[str]) -> str:
    """The names, each once, percent-encoded where a header could not hold them."""
    return ", ".join(quote(name[:100], safe=".-_") for name in list(dict.fromkeys(names))[:AT_MOST])
