"""The job queue on real PostgreSQL: what is deferred for which event, and what becomes of a dead worker's job."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from adapters.jobs import STALLED_SECONDS, TASK, JobQueue, JobWorker
from adapters.postgres.database import Database
from application.command_handler import operation_stream
from domain.event import Event, Recorded
from domain.operation import (
    OperationCompleted,
    OperationRequested,
    OperationRetryScheduled,
    OperationStarted,
    RefreshAsked,
    RetainAsked,
    RetainDone,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
REFRESH = RefreshAsked(mental_model_id="ships")
RETAIN = RetainAsked(items_count=1, items_sha256="0" * 64)


def recorded(operation_id: UUID, event: Event) -> Recorded:
    return Recorded(operation_stream("b", operation_id), 1, 1, event, "user", operation_id, "test", NOW)


def requested(operation_id: UUID, work: RefreshAsked | RetainAsked = REFRESH) -> Recorded:
    return recorded(operation_id, OperationRequested(bank_id="b", operation_id=operation_id, work=work))


def jobs(database: Database) -> list[dict[str, object]]:
    with database.connection() as connection:
        return connection.execute(
            "SELECT task_name, args, lock, scheduled_at, status::text FROM procrastinate_jobs ORDER BY id"
        ).fetchall()


def test_a_request_is_a_job_that_waits_for_others_of_its_model(database: Database) -> None:
    operation_id = uuid4()
    with database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [requested(operation_id)])
    assert jobs(database) == [
        {
            "task_name": TASK,
            "args": {"bank_id": "b", "operation_id": str(operation_id)},
            "lock": "mental_model:b:ships",
            "scheduled_at": None,
            "status": "todo",
        }
    ]


@pytest.mark.parametrize(("document_id", "lock"), [("guide", "document:b:guide"), (None, None)])
def test_a_retain_waits_for_others_of_its_document(database: Database, document_id: str | None, lock: str) -> None:
    work = RETAIN.model_copy(update={"document_id": document_id})
    with database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [requested(uuid4(), work)])
    assert [job["lock"] for job in jobs(database)] == [lock]


def test_a_retry_is_a_job_that_is_due_later(database: Database) -> None:
    retry = OperationRetryScheduled(work=REFRESH, error_message="no", retry_count=1, next_retry_at=LATER)
    with database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [recorded(uuid4(), retry)])
    assert [(job["scheduled_at"], job["lock"]) for job in jobs(database)] == [(LATER, "mental_model:b:ships")]


def test_other_events_ask_for_no_job_and_a_failed_append_leaves_none(database: Database) -> None:
    others = [OperationStarted(attempt=1), OperationCompleted(result=RetainDone(facts=0))]
    with database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [recorded(uuid4(), each) for each in others])
    with suppress(ZeroDivisionError), database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [requested(uuid4())])
        raise ZeroDivisionError
    assert jobs(database) == []


def test_the_job_of_a_dead_worker_is_done_by_another(conninfo: str, database: Database) -> None:
    operation_id = uuid4()
    with database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [requested(operation_id)])
        tx.connection.execute(
            "WITH dead AS (INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - make_interval(secs => %s)) RETURNING id)"
            " UPDATE procrastinate_jobs SET status = 'doing', worker_id = dead.id FROM dead",
            (STALLED_SECONDS + 1,),
        )

    async def work() -> tuple[str, UUID]:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[str, UUID]] = loop.create_future()

        def run(bank_id: str, operation: UUID) -> None:
            loop.call_soon_threadsafe(done.set_result, (bank_id, operation))

        working = asyncio.create_task(JobWorker(conninfo, run, concurrency=1).run())
        try:
            async with asyncio.timeout(20):
                return await done
        finally:
            working.cancel()
            await asyncio.wait({working})

    assert asyncio.run(work()) == ("b", operation_id)
