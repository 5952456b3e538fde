"""What the routes work with: reads in the event loop, commands and models in threads of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends
from starlette.requests import Request

from adapters.daemon_thread import in_daemon_thread
from adapters.http.access import principal_of
from adapters.http.errors import ServiceStopping
from adapters.http.in_process_worker import InProcessWorker
from adapters.postgres.reader import AsyncReader
from adapters.service import Service
from domain.api_keys import ANYBODY, Principal
from domain.event import Context
from domain.refusals import BankNotFound
from projections import banks
from projections.projection import Query

P = ParamSpec("P")
T = TypeVar("T")
U = TypeVar("U")

COMMANDS_AT_ONCE = 16
"""As many as there are connections for them: more would only wait there."""
_SPAN_NAMES = {"Recalls.recall": "recall", "Reflections.answer": "reflect", "Memories.retain": "retain"}
MODEL_CALLS_AT_ONCE = 32
"""They mostly wait for a model, and hold a connection only at their end."""


@dataclass(frozen=True)
class Backend:
    """`commands` and `model_calls` keep what waits for a model from holding up what does not."""

    service: Service
    reader: AsyncReader
    worker: InProcessWorker
    started_at: float
    commands: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(COMMANDS_AT_ONCE))
    model_calls: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(MODEL_CALLS_AT_ONCE))
    principal: Principal = ANYBODY
    """Who asks."""

    @property
    def makes_observations(self) -> bool:
        """Whether banks do that do not say otherwise."""
        return self.service.settings.bank_defaults.enable_observations

    def by_user(self, cause: str) -> Context:
        """The context of a command that a request gives; `cause` says which request."""
        return Context("user", self.service.clock.now(), cause=cause, key_id=self.principal.key_id)

    async def ask(self, query: Query[T]) -> T:
        return await self.reader.ask(query)

    async def ask_both(self, first: Query[T], second: Query[U]) -> tuple[T, U]:
        """Both on one connection: quicker than one after another, and than side by side on two."""
        async with self.reader.pool.connection() as connection:
            rows = await (await connection.execute(first.sql, first.params)).fetchall()
            more = await (await connection.execute(second.sql, second.params)).fetchall()
        return first.read(rows), second.read(more)

    async def command(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs a command, or a read of the log, in a thread."""
        return await to_thread.run_sync(partial(do, *args, **kwargs), limiter=self.commands)

    async def with_model(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs what may ask a model, and so take its time. Raises ServiceStopping when the service stops meanwhile."""
        try:
            async with self.model_calls:
                if (name := _SPAN_NAMES.get(do.__qualname__)) is None:
                    return await in_daemon_thread(do, *args, **kwargs)
                with self.service.tracing.span(name):
                    return await in_daemon_thread(do, *args, **kwargs)
        except asyncio.CancelledError as cut_off:  # only a server that stops cancels a request
            raise ServiceStopping from cut_off

    async def require_bank(self, bank_id: str) -> None:
        """Raises BankNotFound."""
        if await self.ask(banks.find(bank_id)) is None:
            raise BankNotFound(bank_id)


async def _backend(request: Request) -> Backend:
    backend: Backend = request.app.state.backend
    principal = principal_of(request.scope)
    return backend if principal is ANYBODY else replace(backend, principal=principal)


Api = Annotated[Backend, Depends(_backend)]
