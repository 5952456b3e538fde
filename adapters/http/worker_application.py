"""What a process that only works in the background tells of itself: its health, and what it did for Prometheus."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
import uvicorn
from anyio import CapacityLimiter, to_thread
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import CollectorRegistry
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.http.health import ANSWER_WITHIN_SECONDS, SET_ASIDE
from adapters.http.metrics import health_gauges
from adapters.service import Service
from adapters.worker import Worker

ENDS_WITHIN_SECONDS = 3.0
_THREADS = 2
"""That may wait for a database which does not answer; who asks meanwhile is told so."""


@dataclass(frozen=True)
class _WorkerHealth:
    service: Service
    worker: Worker
    threads: CapacityLimiter

    async def live(self, _request: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def ready(self, _request: Request) -> Response:
        connected = await self._database_answers()
        reasons = [] if connected else ["the database does not answer"]
        if not self.worker.up:
            reasons.append("the background worker is down and being started again")
        body = {
            "status": "not_ready" if reasons else "ready",
            "database": "connected" if connected else "unreachable",
            "worker": "running" if self.worker.up else "stopped",
            "reasons": reasons,
        }
        return JSONResponse(body, 503 if reasons else 200)

    async def metrics(self, _request: Request) -> Response:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(health_gauges(worker_up=self.worker.up, database_up=await self._database_answers()))
        body = generate_latest(self.service.metrics.registry) + generate_latest(registry)
        return Response(body, media_type=CONTENT_TYPE_LATEST)

    async def _database_answers(self) -> bool:
        try:
            async with asyncio.timeout(ANSWER_WITHIN_SECONDS):
                await to_thread.run_sync(
                    self.service.reader.ask, SET_ASIDE, limiter=self.threads, abandon_on_cancel=True
                )
        except (psycopg.Error, TimeoutError):
            return False
        return True


def worker_application(service: Service, worker: Worker) -> Starlette:
    """`/metrics`, `/health/live`, and `/health/ready`, which `/health` is too."""
    health = _WorkerHealth(service, worker, CapacityLimiter(_THREADS))
    return Starlette(
        routes=[
            Route("/metrics", health.metrics),
            Route("/health/live", health.live),
            Route("/health/ready", health.ready),
            Route("/health", health.ready),
        ]
    )


@contextmanager
def served(service: Service, worker: Worker, listener: socket.socket) -> Iterator[None]:
    """Serves in a thread of its own while the block runs: work that keeps the event loop busy does not silence it."""
    config = uvicorn.Config(
        worker_application(service, worker), log_config=None, log_level="warning", access_log=False, ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(ENDS_WITHIN_SECONDS)
