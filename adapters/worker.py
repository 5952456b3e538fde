"""What runs in the background of a process: jobs, and beside them the duties of time."""

from __future__ import annotations

import asyncio

from adapters.jobs import JobWorker
from adapters.scheduling import SchedulerLoop


class Worker:
    """Runs both until it is cancelled; each comes up again by itself, whatever ends it."""

    def __init__(self, jobs: JobWorker, scheduler: SchedulerLoop) -> None:
        self._jobs = jobs
        self._scheduler = scheduler

    @property
    def up(self) -> bool:
        """False from an end of the job worker that nobody asked for until it is tried again."""
        return self._jobs.up

    async def run(self) -> None:
        """Works until cancelled. Running jobs get some time to finish."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._jobs.run(), name="jobs")
            both.create_task(self._scheduler.run(), name="scheduler")
