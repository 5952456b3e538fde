"""The endpoint that tells how a bank's memory grew."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import BankId
from adapters.http.responses import Problem, respond
from adapters.http.times import iso
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_timeseries
from adapters.postgres.memory_timeseries import Stretch, TimeField

router = APIRouter(prefix="/v1/default/banks/{bank_id}/stats", tags=["Banks"], route_class=WireRoute)

Period = Literal["1h", "12h", "1d", "7d", "30d", "90d"]
_STRETCHES: dict[Period, tuple[Stretch, int]] = {
    "1h": ("minute", 60),
    "12h": ("hour", 12),
    "1d": ("hour", 24),
    "7d": ("day", 7),
    "30d": ("day", 30),
    "90d": ("day", 90),
}
_LENGTHS: dict[Stretch, timedelta] = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
}


class MemoryTimeseriesBucket(BaseModel):
    """Memories of one stretch of time, which begins at `time`, by type."""

    time: str
    world: int = 0
    experience: int = 0
    observation: int = 0


class MemoriesTimeseriesResponse(BaseModel):
    bank_id: str
    period: str
    trunc: str
    time_field: str
    buckets: list[MemoryTimeseriesBucket] = []


@router.get(
    "/memories-timeseries",
    response_model=MemoriesTimeseriesResponse,
    responses={404: {"model": Problem, "description": "No such bank"}},
)
async def get_memories_timeseries(
    api: Api,
    bank_id: BankId,
    period: Period = "7d",
    time_field: Annotated[
        TimeField, Query(description="A memory without it counts where it was taken in (created_at).")
    ] = "created_at",
) -> Response:
    """Current memories of a period until now, by minute, hour or day: every one of them is listed, also empty ones."""
    stretch, number = _STRETCHES[period]
    length, last = _LENGTHS[stretch], _begin(api.service.clock.now(), stretch)
    times = [last - length * back for back in reversed(range(number))]
    query = memory_timeseries.counts(bank_id, time_field, stretch, times[0], last + length)
    counts = await api.ask(query)
    if not counts:
        await api.require_bank(bank_id)
    buckets = [
        MemoryTimeseriesBucket(
            time=iso(time),
            world=counts.get((time, "world"), 0),
            experience=counts.get((time, "experience"), 0),
            observation=counts.get((time, "observation"), 0),
        )
        for time in times
    ]
    return respond(
        MemoriesTimeseriesResponse(
            bank_id=bank_id, period=period, trunc=stretch, time_field=time_field, buckets=buckets
        )
    )


def _begin(moment: datetime, stretch: Stretch) -> datetime:
    """Of the stretch of time that the moment is in."""
    match stretch:
        case "minute":
            return moment.replace(second=0, microsecond=0)
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0)
        case "day":
            return moment.replace(hour=0, minute=0, second=0, microsecond=0)
