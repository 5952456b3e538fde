"""Work that is told to stop does stop."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from adapters.cli.serving import until_stopped


async def stubborn(times: int, began: asyncio.Event) -> None:
    """Takes being cancelled for a lost connection so many times."""
    began.set()
    for _ in range(times):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue
    await asyncio.Event().wait()


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [0, 2])
def test_work_that_swallows_a_cancellation_is_cancelled_again(told: signal.Signals, times: int) -> None:
    async def run() -> None:
        began = asyncio.Event()
        stopping = asyncio.create_task(until_stopped(stubborn(times, began), again_after=0.01))
        await began.wait()
        os.kill(os.getpid(), told)
        await asyncio.wait_for(stopping, timeout=10)

    asyncio.run(run())


def test_work_that_fails_by_itself_is_not_taken_for_stopped() -> None:
    async def failing() -> None:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        asyncio.run(until_stopped(failing()))
