"""What this process did, counted for Prometheus: requests it answered, and models it asked. Each service has its own
counters: nothing is shared through the module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from domain.usage import purpose_of

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNMATCHED = "unmatched"
"""The route of requests for which there is none: their paths are not told, for there is no end of them."""
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
OPERATION_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
MODEL_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300)


class ProcessMetrics:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._requests = Counter(
            "palimpsest_http_requests_total",
            "HTTP requests answered by this process.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._seconds = Histogram(
            "palimpsest_http_request_duration_seconds",
            "Time to the end of the answer, in this process.",
            ("method", "route"),
            buckets=REQUEST_SECONDS,
            registry=self.registry,
        )
        self._count_model_requests()
        self._count_attempts()

    def _count_model_requests(self) -> None:
        self._calls = Counter(
            "palimpsest_model_requests_total",
            "Requests of this process to models, by what they were for and whether they were answered.",
            ("purpose", "model", "outcome"),
            registry=self.registry,
        )
        self._call_seconds = Histogram(
            "palimpsest_model_request_duration_seconds",
            "Time that a model took to answer, or to fail, in this process.",
            ("purpose", "model"),
            buckets=MODEL_SECONDS,
            registry=self.registry,
        )
        self._tokens = Counter(
            "palimpsest_model_tokens_total",
            "Tokens of requests of this process to models, as their endpoints counted them.",
            ("purpose", "model", "direction"),
            registry=self.registry,
        )

    def _count_attempts(self) -> None:
        self._attempts = Counter(
            "palimpsest_operation_attempts_total",
            "Attempts of this process at operations; one has failed when it broke off with an error.",
            ("type", "outcome"),
            registry=self.registry,
        )
        self._attempt_seconds = Histogram(
            "palimpsest_operation_attempt_duration_seconds",
            "Time that attempts of this process at operations took.",
            ("type",),
            buckets=OPERATION_SECONDS,
            registry=self.registry,
        )

    def tell_looks(self, counts: Mapping[Any, int]) -> None:
        """What looks of the scheduler came to, as it goes on counting them."""
        self.registry.register(_Looks(counts))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """`route` is the template of a path, or `UNMATCHED`."""
        known = method if method in METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._seconds.labels(known, route).observe(seconds)

    def model_asked(
        self, purpose: str, model: str, seconds: float, *, failed: bool, input_tokens: int = 0, output_tokens: int = 0
    ) -> None:
        told = purpose_of(purpose)
        self._tokens.labels(told, model, "input").inc(input_tokens)
        self._tokens.labels(told, model, "output").inc(output_tokens)
        self._calls.labels(told, model, "failed" if failed else "answered").inc()
        self._call_seconds.labels(told, model).observe(seconds)

    def attempted(self, kind: str, seconds: float, *, failed: bool) -> None:
        self._attempts.labels(kind, "failed" if failed else "ended").inc()
        self._attempt_seconds.labels(kind).observe(seconds)


class _Looks(Collector):
    def __init__(self, counts: Mapping[Any, int]) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            "palimpsest_scheduler_looks",
            "What looks of this process at documents that refresh themselves came to.",
            labels=("outcome",),
        )
        for outcome, count in sorted(dict(self._counts).items()):
            family.add_metric((outcome,), count)
        yield family
