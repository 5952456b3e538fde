"""`GET /metrics` in the text format of Prometheus, and the middleware that counts requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import psycopg
from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adapters.http.backend import Api, Backend
from adapters.http.health import ANSWER_WITHIN_SECONDS, SET_ASIDE
from adapters.http.wire_route import WireRoute
from adapters.metrics import UNMATCHED, ProcessMetrics
from adapters.postgres import metrics
from adapters.postgres.metrics import DatabaseNumbers

KEPT_SECONDS = 5.0
"""How long what the database told is told again, so that scraping often does not load it."""
KEPT_TIMES = 20.0
"""And at least so many times as long as it took to ask: it is busy with this for a twentieth of the time at most."""

router = APIRouter(tags=["Monitoring"], route_class=WireRoute)


@router.get(
    "/metrics",
    operation_id="metrics_endpoint_metrics_get",
    response_class=Response,
    responses={200: {"content": {"text/plain": {}}}},
)
async def get_metrics(api: Api, request: Request) -> Response:
    """Metrics for Prometheus. Without its database the process still tells its own, and `palimpsest_database_up 0`."""
    kept: NumbersKept = request.app.state.numbers
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_OfDatabase(await kept.numbers(api), worker_up=api.worker.state == "running"))
    body = generate_latest(api.service.metrics.registry) + generate_latest(registry)
    return Response(body, media_type=CONTENT_TYPE_LATEST)


@dataclass
class NumbersKept:
    """What the database told last, for all who scrape."""

    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _told: DatabaseNumbers | None = None
    _until: float = 0.0

    async def numbers(self, api: Backend) -> DatabaseNumbers | None:
        """None when the database does not answer."""
        async with self._asking:
            if time.monotonic() >= self._until:
                self._told, kept_for = await self._ask(api), KEPT_SECONDS
                if self._told is not None:
                    kept_for = max(KEPT_SECONDS, KEPT_TIMES * self._told.seconds)
                self._until = time.monotonic() + kept_for
            return self._told

    async def _ask(self, api: Backend) -> DatabaseNumbers | None:
        try:
            async with asyncio.timeout(ANSWER_WITHIN_SECONDS):
                await api.ask(SET_ASIDE)
            service = api.service
            return await api.command(metrics.read, service.reader, service.clock.now(), api.makes_observations)
        except (psycopg.Error, TimeoutError):
            return None


Labelled = tuple[str, str, str, tuple[str, ...]]
_ONE: tuple[tuple[str, str, str], ...] = (
    ("banks", "palimpsest_banks", "Banks."),
    ("models", "palimpsest_mental_models", "Mental models."),
    (
        "paused",
        "palimpsest_mental_models_paused",
        "Mental models whose last refresh failed for good: they are not refreshed automatically until somebody acts, or"
        " PALIMPSEST_RESUME_AFTER_SECONDS have passed.",
    ),
    ("facts", "palimpsest_memory_facts", "Current facts in memory."),
    ("documents", "palimpsest_memory_documents", "Documents in memory."),
    ("size", "palimpsest_database_size_bytes", "Size of the database on disk."),
    (
        "oldest",
        "palimpsest_queue_oldest_due_seconds",
        "How long the operation has been due that waits longest for a worker; 0 when none is due.",
    ),
)
_LABELLED: tuple[Labelled, ...] = (
    ("set_aside", "palimpsest_read_model_set_aside", "1 for a read model that failed and was set aside.", ("name",)),
    (
        "consolidation",
        "palimpsest_consolidation_facts",
        "Facts that wait for consolidation, or were set aside because it failed for them.",
        ("status",),
    ),
    ("open", "palimpsest_operations", "Operations that wait or run.", ("type", "status")),
    ("parked", "palimpsest_operations_parked", "Operations that wait for a time, by reason.", ("reason",)),
    (
        "ended",
        "palimpsest_operations_ended_today",
        "Operations that ended since midnight (UTC) and were not deleted.",
        ("type", "status"),
    ),
    (
        "outcomes",
        "palimpsest_refresh_outcomes_today",
        "What refreshes that ended since midnight (UTC) came to.",
        ("outcome", "failure_reason"),
    ),
    ("calls", "palimpsest_model_calls_today", "Calls of models recorded since midnight (UTC).", ("purpose", "model")),
    (
        "input",
        "palimpsest_model_input_tokens_today",
        "Tokens that models read since midnight (UTC).",
        ("purpose", "model"),
    ),
    (
        "output",
        "palimpsest_model_output_tokens_today",
        "Tokens that models wrote since midnight (UTC).",
        ("purpose", "model"),
    ),
)


def health_gauges(*, worker_up: bool, database_up: bool) -> Collector:
    """Whether this process works, and whether the database answers."""
    return _Health(worker_up=worker_up, database_up=database_up)


class _Health(Collector):
    def __init__(self, *, worker_up: bool, database_up: bool) -> None:
        self._worker_up, self._database_up = worker_up, database_up

    def collect(self) -> Iterator[Metric]:
        yield _gauge("palimpsest_worker_up", "1 while this process runs background work.", {(): self._worker_up})
        yield _gauge("palimpsest_database_up", "1 when the database answered.", {(): self._database_up})


class _OfDatabase(Collector):
    def __init__(self, numbers: DatabaseNumbers | None, *, worker_up: bool) -> None:
        self._numbers = numbers
        self._worker_up = worker_up

    def collect(self) -> Iterator[Metric]:
        yield from health_gauges(worker_up=self._worker_up, database_up=self._numbers is not None).collect()
        if self._numbers is None:
            return
        yield _gauge(
            "palimpsest_mental_models_stale",
            "Mental models that have something to read or to take back.",
            {(): self._numbers.stale},
        )
        for what, name, told in _ONE:
            yield _gauge(name, told, {(): self._numbers.one(what)})
        for what, name, told, labels in _LABELLED:
            yield _gauge(name, told, self._numbers.of(what), labels)


def _gauge(
    name: str, told: str, numbers: Mapping[tuple[str, ...], float], labels: Iterable[str] | None = None
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, told, labels=tuple(labels or ()))
    for values, number in sorted(numbers.items()):
        family.add_metric(values, number)
    return family


class CountRequests:
    """Counts requests by the template of their route and their status, and how long they took."""

    def __init__(self, app: ASGIApp, *, counted: ProcessMetrics) -> None:
        self._app = app
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", UNMATCHED)
            self._counted.answered(scope["method"], route, status, time.perf_counter() - began)
