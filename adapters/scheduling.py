"""The duties of time: refreshes by the clock, what triggers missed, and pruning. They run beside the job worker of
every process, in one process at a time."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from psycopg import AsyncConnection

from adapters.daemon_thread import in_daemon_thread
from adapters.postgres.reader import Reader
from domain.scheduling import CronSchedule, Failures
from projections import schedules, staleness

logger = logging.getLogger(__name__)

ADVISORY_LOCK = 0x70616C73  # "pals": who does the duties
TICK_SECONDS = 1.0
PRUNE_SECONDS = 3600.0
BROKEN: tuple[type[Exception], ...] = (psycopg.OperationalError,)
"""Errors of the database, also of its pool: they are not of the document that met them."""

CONNECTION: Mapping[str, Any] = {
    "application_name": "palimpsest scheduler",
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""A server that is gone without a word is noticed within seconds."""


class ReadSchedules:
    """Schedules, as read models tell."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def by_cron(self) -> Sequence[CronSchedule]:
        return self._reader.ask(schedules.by_cron())

    def after_writes(self, bank_id: str | None = None) -> Sequence[tuple[str, str]]:
        return self._reader.ask(schedules.after_writes(bank_id))

    def stale(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, datetime]:
        if not mental_model_ids:
            return {}
        refreshed_at = self._reader.ask(schedules.refreshed_at(bank_id, mental_model_ids))
        # what waits to be consolidated is nothing to read yet
        found = self._reader.ask(staleness.of_models(bank_id, mental_model_ids, observations=False))
        return {
            each: refreshed_at[each]
            for each in mental_model_ids
            if each in refreshed_at and each in found and found[each].has_to_read
        }

    def waiting(self, bank_id: str, mental_model_ids: Sequence[str]) -> Collection[str]:
        waiting: set[str] = (
            self._reader.ask(schedules.waiting(bank_id, mental_model_ids)) if mental_model_ids else set()
        )
        return waiting

    def failures(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, Failures]:
        return self._reader.ask(schedules.failures(bank_id, mental_model_ids))


@dataclass(frozen=True)
class Duty:
    """Something to do every so many seconds, in a thread, and first at once."""

    name: str
    every_seconds: float
    do: Callable[[], object]


def duties(
    *,
    now: Callable[[], datetime],
    tick: Callable[[datetime], object],
    reconcile: Callable[[datetime], object],
    refresh_tick_seconds: int,
    prune: Callable[[], object] | None = None,
    page_vectors: Callable[[], object] | None = None,
    page_vectors_seconds: float = 5.0,
) -> tuple[Duty, ...]:
    """Crons every second and a look for stale documents every `refresh_tick_seconds`, neither with 0; `prune` every
    hour, if given; `page_vectors` every so many seconds, unless that is 0."""
    kept = []
    if page_vectors is not None and page_vectors_seconds > 0:
        kept.append(Duty("vectors of documents", page_vectors_seconds, page_vectors))
    if refresh_tick_seconds > 0:
        kept.append(Duty("a look for stale documents", refresh_tick_seconds, lambda: reconcile(now())))
        kept.append(Duty("refreshes by cron", TICK_SECONDS, lambda: tick(now())))
    if prune is not None:
        kept.append(Duty("pruning of operations", PRUNE_SECONDS, prune))
    return tuple(kept)


class SchedulerLoop:
    """Does duties one after another, each when it is due, while it holds a lock of the database that one process has at
    a time. When that process ends, or loses its connection, another takes over."""

    def __init__(self, conninfo: str, duties: Sequence[Duty], *, pause_seconds: float = TICK_SECONDS) -> None:
        self._conninfo = conninfo
        self._duties = tuple(duties)
        self._pause_seconds = pause_seconds
        self._told: dict[str, str] = {}
        """What went wrong and was logged, by what it went wrong with."""

    async def run(self) -> None:
        """Works until cancelled; comes up again whatever ends it, the loss of its database included."""
        if not self._duties:
            await asyncio.Event().wait()
        while True:
            try:
                await self._work()
            except Exception as error:  # whatever ends it must not take the process with it
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from error
                self._failed("the scheduler", error)
            await asyncio.sleep(self._pause_seconds)

    async def _work(self) -> None:
        """Waits for the lock, then does the duties; raises when the connection that holds the lock is lost."""
        async with contextlib.AsyncExitStack() as opened:
            connection = await AsyncConnection.connect(self._conninfo, autocommit=True, **CONNECTION)
            opened.push_async_callback(connection.close)
            await self._wait_for_lock(connection)
            self._well("the scheduler")
            loop = asyncio.get_running_loop()
            due = dict.fromkeys(self._duties, loop.time())
            while True:
                for duty in self._duties:
                    if due[duty] <= loop.time():
                        due[duty] = loop.time() + duty.every_seconds
                        await connection.execute("SELECT 1")  # or another may hold the lock by now
                        await self._do(duty)
                await asyncio.sleep(min(self._pause_seconds, max(0.0, min(due.values()) - loop.time())))

    async def _wait_for_lock(self, connection: AsyncConnection) -> None:
        while True:
            cursor = await connection.execute("SELECT pg_try_advisory_lock(%s)", (ADVISORY_LOCK,))
            row = await cursor.fetchone()
            if row is not None and row[0]:
                return
            self._well("the scheduler")
            await asyncio.sleep(self._pause_seconds)

    async def _do(self, duty: Duty) -> None:
        try:
            await in_daemon_thread(duty.do)
        except Exception as error:  # noqa: BLE001 - it is tried again when it is due again
            self._failed(duty.name, error)
        else:
            self._well(duty.name)

    def _failed(self, what: str, error: Exception) -> None:
        """Said once, not at every try."""
        told = " ".join(f"{type(error).__name__}: {error}".split())
        if self._told.get(what) != told:
            logger.warning("%s failed (%s: %s); trying again", what, type(error).__name__, error)
        self._told[what] = told

    def _well(self, what: str) -> None:
        if self._told.pop(what, None) is not None:
            logger.warning("%s is back", what)
