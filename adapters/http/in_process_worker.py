"""The job worker as a task of the server's event loop."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Literal, Self

from adapters.jobs import GRACE_SECONDS
from adapters.worker import Worker

STOPS_WITHIN_SECONDS = GRACE_SECONDS + 1.0
"""A worker that takes longer is cancelled once more: cancelling it while it starts can be lost."""


class InProcessWorker:
    """Runs a worker while the context is entered."""

    def __init__(self, worker: Worker | None) -> None:
        self._worker = worker
        self._task: asyncio.Task[None] | None = None

    @property
    def state(self) -> Literal["running", "stopped", "none"]:
        """`stopped` when it ended by itself and has not come up again yet; `none` when this process has no worker."""
        if self._worker is None:
            return "none"
        return "running" if self._worker.up and self._task is not None and not self._task.done() else "stopped"

    async def __aenter__(self) -> Self:
        if self._worker is not None:
            self._task = asyncio.create_task(self._worker.run(), name="job worker")
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
