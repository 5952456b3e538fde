"""The job queue: jobs are deferred in the transaction of the event that asks for them, and run by workers.

A job is one call of one use case, safe to run twice. Attempts, results and errors are events, not rows of the queue:
it never retries by itself, a retry is a new job deferred by `OperationRetryScheduled`. At most one job of an operation
waits: a job of a later time would hold up all that come after it under the same lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, assert_never
from uuid import UUID
from weakref import WeakKeyDictionary

import procrastinate
from procrastinate import exceptions
from psycopg import AsyncConnection, Connection
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

from adapters.daemon_thread import in_daemon_thread
from domain.event import Recorded, StreamId
from domain.operation import (
    BankCloneAsked,
    BankExportAsked,
    BankImportAsked,
    BatchRetainAsked,
    ConsolidationAsked,
    OperationCancelled,
    OperationFolded,
    OperationParked,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    RefreshAsked,
    RetainAsked,
    Work,
)

logger = logging.getLogger(__name__)

TASK = "palimpsest.run_operation"
POLL_SECONDS = 0.2
"""How long a job that became due, or free of its lock, may wait for a worker that was not notified."""
HEARTBEAT_SECONDS = 2.0
STALLED_SECONDS = 10.0
"""A worker silent for so long is taken for dead; its jobs go back in line."""
RESCUE_SECONDS = 2.0
RESTART_SECONDS = 0.5
GRACE_SECONDS = 3.0
"""How long running jobs may go on when the worker is to stop; those that do not end are put back in line."""

TRUSTED_SECONDS = 1.0
"""How long a connection that was given back whole is taken for whole: asking the server whether it is there is a round
trip more for each look for a job and each end of one."""

RunOperation = Callable[[str, UUID], None]


class JobQueue:
    """Defers jobs on the connection of an append."""

    def __init__(self) -> None:
        self._app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector())

    def queue_jobs(self, connection: Connection[DictRow], events: Sequence[Recorded]) -> None:
        """Defers the jobs that the events ask for, and takes out the waiting ones that they replace or call off."""
        for recorded in events:
            match recorded.event:
                case OperationRequested(work=work):
                    self._defer(connection, recorded.stream, work, None)
                case OperationFolded(work=work, released=True) | OperationRestarted(work=work):
                    self._replace(connection, recorded.stream, work, None)
                case OperationRetryScheduled(work=work, next_retry_at=due) | OperationParked(work=work, until=due):
                    self._replace(connection, recorded.stream, work, due)
                case OperationCancelled():
                    _take_out(connection, recorded.stream)

    def _replace(
        self,
        connection: Connection[DictRow],
        stream: StreamId,
        work: Work,
        due: datetime | None,
    ) -> None:
        """Also an attempt that ends may leave a waiting job: one that was released while it was about to begin."""
        _take_out(connection, stream)
        self._defer(connection, stream, work, due)

    def _defer(
        self,
        connection: Connection[DictRow],
        stream: StreamId,
        work: Work,
        due: datetime | None,
    ) -> None:
        if isinstance(work, BatchRetainAsked):  # its parts have jobs
            return
        lock = _lock(stream.bank_id, work)
        deferrer = self._app.configure_task(TASK, connection=connection, lock=lock, schedule_at=due)
        deferrer.defer(**_arguments(stream))


def _take_out(connection: Connection[DictRow], stream: StreamId) -> None:
    """The waiting job of an operation, if there is one; one that a worker has begun goes on."""
    connection.execute(
        "SELECT procrastinate_cancel_job_v1(id, false, true) FROM procrastinate_jobs"
        " WHERE status = 'todo' AND task_name = %s AND args = %s",
        (TASK, Jsonb(_arguments(stream))),
    )


def _arguments(stream: StreamId) -> dict[str, str]:
    return {"bank_id": stream.bank_id, "operation_id": stream.name}


def _lock(bank_id: str, work: Work) -> str | None:
    """Jobs of one model, of one document, consolidations of one bank, and what becomes one bank, run one after
    another."""
    match work:
        case RefreshAsked(mental_model_id=mental_model_id):
            return f"mental_model:{bank_id}:{mental_model_id}"
        case RetainAsked(document_id=document_id):
            return f"document:{bank_id}:{document_id}" if document_id else None
        case ConsolidationAsked():
            return f"consolidation:{bank_id}"
        case BatchRetainAsked() | BankExportAsked():
            return None
        case BankImportAsked(target_bank_id=target) | BankCloneAsked(target_bank_id=target):
            return f"transfer:{target}"
        case _:
            assert_never(work)


class _Pool(AsyncConnectionPool[AsyncConnection[Any]]):
    """Knows when each connection was last given back, whole; the pool itself drops one that is broken."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "check": self._check})
        self._given_back: WeakKeyDictionary[AsyncConnection[Any], float] = WeakKeyDictionary()

    async def putconn(self, conn: AsyncConnection[Any]) -> None:
        self._given_back[conn] = time.monotonic()
        await super().putconn(conn)

    async def _check(self, connection: AsyncConnection[Any]) -> None:
        if time.monotonic() - self._given_back.get(connection, 0.0) > TRUSTED_SECONDS:
            await self.check_connection(connection)


class JobWorker:
    """Runs jobs until it is stopped; comes up again whatever ends it, the loss of its database included.

    `up` is False from an end that nobody asked for until it is tried again."""

    def __init__(self, conninfo: str, run_operation: RunOperation, *, concurrency: int) -> None:
        self.up = True
        self._conninfo = conninfo
        self._run_operation = run_operation
        self._concurrency = concurrency

    async def run(self) -> None:
        """Works until cancelled. Running jobs get GRACE_SECONDS to finish; those that do not are put back in line, and
        their threads left to die with the process."""
        while True:
            self.up = True
            try:
                await self.work()
                logger.warning("the job worker ended by itself; starting it again")
            except Exception as error:  # whatever ends a worker must not take the process with it
                # the queue's library turns a cancellation into an error of its own when the database is gone
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from error
                logger.warning("the job worker failed (%s: %s); starting it again", type(error).__name__, error)
            self.up = False
            await asyncio.sleep(RESTART_SECONDS)

    async def work(self) -> None:
        """Works until it ends or fails; `run` starts it again."""
        connector = procrastinate.PsycopgConnector(
            conninfo=self._conninfo, min_size=1, max_size=max(2, self._concurrency), pool_factory=_Pool
        )
        app = procrastinate.App(connector=connector)
        app.task(name=TASK, retry=procrastinate.RetryStrategy(retry_exceptions=[exceptions.JobAborted]))(self._job)
        async with contextlib.AsyncExitStack() as opened:
            opened.push_async_callback(app.close_async)  # also when opening is cut off: an open pool hangs the loop
            await app.open_async()
            rescue = asyncio.create_task(_rescue_stalled(app))
            try:
                await app.run_worker_async(
                    concurrency=self._concurrency,
                    fetch_job_polling_interval=POLL_SECONDS,
                    update_heartbeat_interval=HEARTBEAT_SECONDS,
                    stalled_worker_timeout=STALLED_SECONDS,
                    shutdown_graceful_timeout=GRACE_SECONDS,
                    delete_jobs="successful",
                    install_signal_handlers=False,
                )
            finally:
                rescue.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await rescue

    async def _job(self, bank_id: str, operation_id: str) -> None:
        try:
            await in_daemon_thread(self._run_operation, bank_id, UUID(operation_id))
        except asyncio.CancelledError as cut_off:
            raise exceptions.JobAborted from cut_off


async def _rescue_stalled(app: procrastinate.App) -> None:
    """Puts jobs of dead workers back in line."""
    while True:
        try:
            for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
                logger.warning("job %s was left behind by a dead worker; it runs again", job.id)
                await app.job_manager.retry_job(job)
        except exceptions.ConnectorException as error:
            logger.warning("stalled jobs could not be looked for: %s", error)
        await asyncio.sleep(RESCUE_SECONDS)
