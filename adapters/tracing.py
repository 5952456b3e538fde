"""Traces of what a process does, sent by OpenTelemetry when that is asked for; else nothing is made and nothing loaded.

A span tells what was done, for which bank and operation, how long it took, and of a model call the tokens: never what
was asked, stored or answered.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from adapters.settings import Settings

Attributes = Mapping[str, str | int]


class TracingUnavailable(Exception):
    """Traces are asked for and cannot be made; the text is one line."""


class Span(Protocol):
    def name(self, name: str) -> None: ...

    def set(self, attributes: Attributes) -> None: ...

    def failed(self, why: str) -> None: ...


class Tracing:
    """Makes no traces. `Spans` of `adapters.opentelemetry_spans` does."""

    enabled = False

    def span(self, name: str, attributes: Attributes | None = None) -> AbstractContextManager[Span | None]:  # noqa: ARG002
        """A span around the block, inside of the one around that; an error that leaves the block fails it."""
        return _NOTHING

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[Span | None]:  # noqa: ARG002
        """A span of a request, inside of the caller's where its headers tell one."""
        return _NOTHING

    def model_called(self, attributes: Attributes, seconds: float, *, failed: bool) -> None:
        """A call of a model that has just ended."""

    def close(self) -> None:
        """Sends what has not been sent yet."""


_NOTHING: AbstractContextManager[None] = nullcontext()


def make_tracing(settings: Settings) -> Tracing:
    """Raises TracingUnavailable."""
    if not settings.otel_enabled:
        return Tracing()
    try:
        from adapters.opentelemetry_spans import exporting
    except ImportError as error:
        raise TracingUnavailable(
            "PALIMPSEST_OTEL_ENABLED is set and OpenTelemetry is not installed; install palimpsest[otel], or unset it"
        ) from error
    return exporting()
