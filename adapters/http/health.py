"""Is it alive, can it serve, which version is it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import psycopg
from fastapi import APIRouter
from starlette.responses import Response

from adapters.http.backend import Api, Backend
from adapters.http.responses import (
    FeaturesInfo,
    LivenessResponse,
    ReadinessResponse,
    VersionResponse,
    respond,
)
from adapters.http.wire_route import WireRoute
from adapters.version import own_version
from projections.projection import Query

CONTRACT_VERSION = "1.1.0"
"""The version of the wire contract that official clients are generated from."""
ANSWER_WITHIN_SECONDS = 2.0


PALIMPSEST_VERSION = own_version()

SET_ASIDE: Query[list[str]] = Query(
    "SELECT name FROM read_models WHERE set_aside_at IS NOT NULL ORDER BY name",
    {},
    lambda rows: [row["name"] for row in rows],
)

NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"model": ReadinessResponse, "description": "It cannot serve, and why"}
}

router = APIRouter(tags=["Monitoring"], route_class=WireRoute)


@router.get("/health", response_model=ReadinessResponse, operation_id="health_endpoint_health_get", responses=NOT_READY)
async def health(api: Api) -> Response:
    """The same as /health/ready."""
    return await _readiness(api)


@router.get("/health/ready", response_model=ReadinessResponse, responses=NOT_READY)
async def get_readiness(api: Api) -> Response:
    """200 when requests can be served; 503 with the reasons when not."""
    return await _readiness(api)


@router.get("/health/live", response_model=LivenessResponse)
async def get_liveness(api: Api) -> Response:
    """Alive as long as it answers; asks nothing of the database."""
    return respond(
        LivenessResponse(version=PALIMPSEST_VERSION, uptime_seconds=round(time.monotonic() - api.started_at, 3))
    )


@router.get("/version", response_model=VersionResponse)
async def get_version(api: Api) -> Response:
    """The contract spoken, what of it is there, and our own version."""
    features = FeaturesInfo(
        observations=api.makes_observations,
        mcp=api.service.settings.mcp_enabled,
        worker=api.worker.state != "none",
    )
    return respond(
        VersionResponse(api_version=CONTRACT_VERSION, features=features, palimpsest_version=PALIMPSEST_VERSION)
    )


async def _readiness(api: Backend) -> Response:
    reasons: list[str] = []
    connected = True
    try:
        async with asyncio.timeout(ANSWER_WITHIN_SECONDS):
            set_aside = await api.ask(SET_ASIDE)
        reasons += [
            f"read model '{name}' was set aside after an error; heal it with: palimpsest rebuild {name}"
            for name in set_aside
        ]
    except (psycopg.Error, TimeoutError) as error:
        connected = False
        reasons.append(f"the database does not answer: {str(error) or 'time ran out'}")
    if api.worker.state == "stopped":
        reasons.append("the background worker is down and being started again")
    body = ReadinessResponse(
        status="not_ready" if reasons else "ready",
        database="connected" if connected else "unreachable",
        worker=api.worker.state,
        reasons=reasons,
    )
    return respond(body, status=503 if reasons else 200)
