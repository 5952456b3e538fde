"""The job worker as a task of the server's event loop."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import Literal, Self

from adapters.jobs import GRACE_SECONDS, JobWorker

logger = logging.getLogger(__name__)

STOPS_WITHIN_SECONDS = GRACE_SECONDS + 1.0
"""A worker that takes longer is cancelled once more: cancelling it while it starts can be lost."""
RESTART_SECONDS = 1.0


class InProcessWorker:
    """Runs a worker while the context is entered, and starts it anew when it ends by itself."""

    def __init__(self, worker: JobWorker | None) -> None:
        self._worker = worker
        self._task: asyncio.Task[None] | None = None
        self._fails = False

    @property
    def state(self) -> Literal["running", "stopped", "none"]:
        """`stopped` when it ended by itself and has not come up again yet; `none` when this process has no worker."""
        if self._worker is None:
            return "none"
        return "stopped" if self._fails or self._task is None or self._task.done() else "running"

    async def __aenter__(self) -> Self:
        if self._worker is not None:
            self._task = asyncio.create_task(self._run(self._worker), name="job worker")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is None:
            return
        self._task.cancel()
        _, pending = await asyncio.wait({self._task}, timeout=STOPS_WITHIN_SECONDS)
        if pending:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=1.0)

    async def _run(self, worker: JobWorker) -> None:
        while True:
            try:
                await worker.run()
                logger.warning("the job worker ended by itself; starting it again")
            except Exception:  # a worker that cannot start must not take the server with it; it is tried again
                logger.exception("the job worker failed; starting it again")
            self._fails = True
            await asyncio.sleep(RESTART_SECONDS)
            self._fails = False
