"""Spans made with the SDK of OpenTelemetry. The standard OTEL_ variables say where they go and how many are kept."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from adapters.tracing import Attributes, Span, Tracing
from adapters.version import own_version


class _Span:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def name(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, attributes: Attributes) -> None:
        self._span.set_attributes(dict(attributes))

    def failed(self, why: str) -> None:
        self._span.set_attribute("error.type", why)
        self._span.set_status(Status(StatusCode.ERROR, why))


class Spans(Tracing):
    """Safe to use from several threads; a thread that runs in a copy of a context goes on with its span."""

    enabled = True

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("palimpsest", own_version())
        self._callers = TraceContextTextMapPropagator()

    @contextmanager
    def span(self, name: str, attributes: Attributes | None = None) -> Iterator[Span]:
        with self._current(name, SpanKind.INTERNAL, attributes) as span:
            yield span

    @contextmanager
    def request(self, headers: Mapping[str, str]) -> Iterator[Span]:
        with self._current("HTTP", SpanKind.SERVER, None, dict(headers)) as span:
            yield span

    @contextmanager
    def _current(
        self, name: str, kind: SpanKind, attributes: Attributes | None, caller: dict[str, str] | None = None
    ) -> Iterator[Span]:
        # What an error says may quote what people stored: its type is told, its text is not.
        with self._tracer.start_as_current_span(
            name,
            context=self._callers.extract(caller) if caller else None,
            kind=kind,
            attributes=dict(attributes or {}),
            record_exception=False,
            set_status_on_exception=False,
        ) as started:
            span = _Span(started)
            try:
                yield span
            except BaseException as error:
                span.failed(type(error).__name__)
                raise

    def model_called(self, attributes: Attributes, seconds: float, *, failed: bool) -> None:
        ended = time.time_ns()
        name = f"{attributes['gen_ai.operation.name']} {attributes['gen_ai.request.model']}"
        started = self._tracer.start_span(
            name, kind=SpanKind.CLIENT, attributes=dict(attributes), start_time=ended - round(seconds * 1e9)
        )
        if failed:
            _Span(started).failed("ModelFailed")
        started.end(ended)

    def close(self) -> None:
        self._provider.shutdown()


def exporting() -> Tracing:
    """Spans sent by OTLP over HTTP. Raises ImportError without the exporter."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "palimpsest"}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider)
