"""Blocking work in a thread that never keeps the process alive.

What asks a model can hang for minutes, and stopping the service must not wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_daemon_thread(do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Its result, or what it raised; it runs in a copy of the caller's context. Cancelling this stops the waiting, not
    the work."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(tell: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(lambda: None if outcome.done() else tell())

    def work() -> None:
        try:
            result = do(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            raised = error
            settle(lambda: outcome.set_exception(raised))
        else:
            settle(lambda: outcome.set_result(result))

    run, name = contextvars.copy_context().run, getattr(do, "__qualname__", "daemon work")
    threading.Thread(target=run, args=(work,), name=name, daemon=True).start()
    return await outcome
