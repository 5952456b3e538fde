"""The REST application over a service."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from adapters import console
from adapters.console.mounting import is_console_path
from adapters.http import (
    bank_config,
    bank_templates,
    banks,
    consolidation,
    curation,
    directives,
    document_versions,
    documents,
    dry_run_extract,
    dry_runs,
    entities,
    errors,
    files,
    health,
    knowledge_base,
    knowledge_base_files,
    memories,
    memory_timeseries,
    mental_models,
    metrics,
    observations,
    operations,
    recall,
    reflect,
    tags,
    transfer,
)
from adapters.http.backend import Backend
from adapters.http.in_process_worker import InProcessWorker
from adapters.http.key_gate import RequireKey
from adapters.http.key_ring import KeyRing
from adapters.http.limits import BodyLimit
from adapters.http.request_watch import WatchRequests
from adapters.http.wire_route import encoded_slash, has_encoded_slash
from adapters.mcp.endpoint import McpEndpoint, is_mcp_path
from adapters.postgres.reader import AsyncReader
from adapters.service import Service

NOTHING_HERE = "Nothing is served at this path; /docs lists what is"
ROUTES = (
    mental_models,
    dry_runs,
    document_versions,
    knowledge_base,
    knowledge_base_files,
    memories,
    dry_run_extract,
    files,
    recall,
    reflect,
    curation,
    documents,
    entities,
    banks,
    memory_timeseries,
    consolidation,
    observations,
    bank_config,
    bank_templates,
    directives,
    operations,
    transfer,
    tags,
    health,
    metrics,
)
"""In this order: of two that take a path, the first has it."""


def create_app(service: Service, *, run_worker: bool) -> FastAPI:
    """The application; while it runs, and with `run_worker`, background work is done in its event loop.

    At shutdown running operations get a few seconds to finish; those that do not are done again by the next worker."""
    app = routed(_lifespan(service, run_worker))
    app.add_middleware(
        BodyLimit, max_bytes=service.settings.max_body_bytes, max_archive_bytes=service.settings.max_archive_bytes
    )
    app.add_middleware(
        RequireKey,
        requests_per_minute=service.settings.requests_per_minute,
        shows_itself=is_console_path,
        asks_on=is_mcp_path,
    )
    app.add_middleware(metrics.CountRequests, counted=service.metrics)
    app.add_middleware(WatchRequests, tracing=service.tracing)
    app.state.numbers = metrics.NumbersKept()
    app.add_exception_handler(HTTPException, _unrouted)
    if service.settings.mcp_enabled:
        app.state.mcp = McpEndpoint(app, service.settings)
        app.state.mcp.mount(app.router)
    if service.settings.console_enabled:
        console.serve_beside(app)
    return app


def routed(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None) -> FastAPI:
    """An application with all routes, which its OpenAPI document is made of; it serves them once there is a backend."""
    app = FastAPI(
        title="Palimpsest",
        version=health.PALIMPSEST_VERSION,
        summary="Living markdown documents over an agent's memory.",
        lifespan=lifespan,
        generate_unique_id_function=_operation_id,
    )
    for routes in ROUTES:
        app.include_router(routes.router)
    app.include_router(documents.chunks_router)
    app.include_router(transfer.downloads_router)
    return app


def _operation_id(route: APIRoute) -> str:
    """Clients are generated from these: the names of the functions are those of the contract."""
    return route.name


def _lifespan(service: Service, run_worker: bool) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        reader = service.async_reader()
        try:
            await reader.open()
            async with InProcessWorker(service.worker() if run_worker else None) as worker:
                app.state.keys = keys = _key_ring(service, reader)
                await keys.wants_keys()
                app.state.backend = Backend(service, reader, worker, started_at=time.monotonic())
                async with app.state.mcp.running() if service.settings.mcp_enabled else nullcontext():
                    yield
                await keys.close()
        finally:
            await reader.close()

    return lifespan


def _key_ring(service: Service, reader: AsyncReader) -> KeyRing:
    others = not service.settings.only_for_this_machine
    return KeyRing(reader, service.key_uses, service.clock.now, always=others)


async def _unrouted(request: Request, error: Exception) -> Response:
    """Errors from outside a route: no such path, a method it does not have."""
    if isinstance(error, HTTPException) and error.status_code == 404:
        if has_encoded_slash(request):
            return errors.answer_to(encoded_slash())
        return JSONResponse({"detail": NOTHING_HERE}, 404)
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        detail = f"{request.method} is not served at this path{f'; it takes {allowed}' if allowed else ''}"
        return JSONResponse({"detail": detail}, 405, error.headers)
    return errors.answer_to(error)
