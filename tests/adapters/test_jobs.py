"""The job queue on real PostgreSQL: what is deferred for which event, and what becomes of a dead worker's job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from adapters.jobs import STALLED_SECONDS, TASK, JobQueue, JobWorker
from adapters.postgres.database import Database
from application.command_handler import operation_stream
from domain.event import Event, Recorded
from domain.operation import (
    OperationCancelled,
    OperationCompleted,
    OperationEvent,
    OperationFailed,
    OperationFolded,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    OperationStarted,
    RefreshAsked,
    RetainAsked,
    RetainDone,
)

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
REFRESH = RefreshAsked(mental_model_id="ships")
PARKED = OperationParked(work=REFRESH, reason="min_interval", until=LATER)
RELEASED = OperationFolded(work=REFRESH, released=True)
RESTARTED = OperationRestarted(work=REFRESH)
RETRY = OperationRetryScheduled(work=REFRESH, error_message="no", retry_count=1, next_retry_at=LATER)
RETAIN = RetainAsked(items_count=1, items_sha256="0" * 64)


def recorded(operation_id: UUID, event: Event) -> Recorded:
    return Recorded(operation_stream("b", operation_id), 1, 1, event, "user", operation_id, "test", NOW)


def requested(operation_id: UUID, work: RefreshAsked | RetainAsked = REFRESH) -> Recorded:
    return recorded(operation_id, OperationRequested(bank_id="b", operation_id=operation_id, work=work))


def queue(database: Database, *events: Recorded) -> None:
    """Each event is an append of its own."""
    for each in events:
        with database.begin() as tx:
            JobQueue().queue_jobs(tx.connection, [each])


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


@pytest.mark.parametrize("event", [RETRY, PARKED], ids=lambda each: each.TOPIC)
def test_a_retry_and_a_parked_operation_are_jobs_that_are_due_later(database: Database, event: OperationEvent) -> None:
    queue(database, recorded(uuid4(), event))
    assert [(job["scheduled_at"], job["lock"]) for job in jobs(database)] == [(LATER, "mental_model:b:ships")]


@pytest.mark.parametrize("waits", [RETRY, PARKED], ids=lambda each: each.TOPIC)
@pytest.mark.parametrize("event", [RELEASED, RESTARTED], ids=lambda each: each.TOPIC)
def test_what_runs_now_has_one_job_and_the_one_of_later_is_gone(
    database: Database, waits: OperationEvent, event: OperationEvent
) -> None:
    operation_id, other = uuid4(), uuid4()
    queue(database, recorded(operation_id, waits), recorded(other, waits), recorded(operation_id, event))
    waiting = [(job["args"], job["scheduled_at"], job["status"]) for job in jobs(database)]
    assert waiting == [
        ({"bank_id": "b", "operation_id": str(other)}, LATER, "todo"),
        ({"bank_id": "b", "operation_id": str(operation_id)}, None, "todo"),
    ]


@pytest.mark.parametrize("event", [RETRY, PARKED], ids=lambda each: each.TOPIC)
def test_a_job_left_from_before_the_attempt_does_not_make_its_retry_early(
    database: Database, event: OperationEvent
) -> None:
    operation_id = uuid4()
    queue(database, recorded(operation_id, RELEASED), recorded(operation_id, event))
    assert [job["scheduled_at"] for job in jobs(database)] == [LATER]


def test_a_folded_request_that_releases_nothing_leaves_the_job_as_it_is(database: Database) -> None:
    operation_id = uuid4()
    folded = OperationFolded(work=REFRESH, released=False)
    queue(database, recorded(operation_id, PARKED), recorded(operation_id, folded))
    assert [job["scheduled_at"] for job in jobs(database)] == [LATER]


@pytest.mark.parametrize("waits", [None, RETRY, PARKED], ids=["now", "for its retry", "parked"])
def test_a_cancelled_operation_has_no_job(database: Database, waits: OperationEvent | None) -> None:
    cancelled, other = uuid4(), uuid4()
    queue(database, requested(cancelled) if waits is None else recorded(cancelled, waits), requested(other))
    queue(database, recorded(cancelled, OperationCancelled()))
    assert [job["args"] for job in jobs(database)] == [{"bank_id": "b", "operation_id": str(other)}]


def test_a_cancel_that_is_rolled_back_leaves_the_job(database: Database) -> None:
    operation_id = uuid4()
    queue(database, requested(operation_id))
    with suppress(ZeroDivisionError), database.begin() as tx:
        JobQueue().queue_jobs(tx.connection, [recorded(operation_id, OperationCancelled())])
        raise ZeroDivisionError
    assert [job["status"] for job in jobs(database)] == ["todo"]


def test_a_job_that_a_worker_has_begun_is_not_taken_from_it(database: Database) -> None:
    operation_id = uuid4()
    queue(database, requested(operation_id))
    with database.connection() as connection:
        connection.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    queue(database, recorded(operation_id, OperationCancelled()))
    assert [job["status"] for job in jobs(database)] == ["doing"]


def test_other_events_ask_for_no_job_and_a_failed_append_leaves_none(database: Database) -> None:
    others = [
        OperationStarted(attempt=1),
        OperationCompleted(result=RetainDone(facts=0)),
        OperationFailed(error_message="no"),
        OperationRemoved(),
    ]
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

    assert run_jobs(conninfo, until=lambda ran: len(ran) == 1) == [operation_id]


def test_a_released_operation_runs_at_once_and_only_once_and_holds_nobody_up(conninfo: str, database: Database) -> None:
    released, next_of_the_model = uuid4(), uuid4()
    parked = PARKED.model_copy(update={"until": datetime.now(UTC) + timedelta(days=1)})
    queue(database, recorded(released, parked), recorded(released, RELEASED), requested(next_of_the_model))
    ran = run_jobs(conninfo, until=lambda ran: next_of_the_model in ran)
    assert ran == [released, next_of_the_model]
    assert jobs(database) == [], "nothing is left that could run it again"


def test_a_cancelled_operation_never_runs(conninfo: str, database: Database) -> None:
    cancelled, parked, last = uuid4(), uuid4(), uuid4()
    later = PARKED.model_copy(update={"until": datetime.now(UTC) + timedelta(days=1)})
    queue(database, requested(cancelled), recorded(parked, later))
    queue(database, *(recorded(each, OperationCancelled()) for each in (cancelled, parked)), requested(last))
    assert run_jobs(conninfo, until=lambda ran: last in ran) == [last]
    assert jobs(database) == []


def test_a_restarted_operation_runs_again(conninfo: str, database: Database) -> None:
    operation_id = uuid4()
    queue(database, requested(operation_id), recorded(operation_id, OperationCancelled()))
    queue(database, recorded(operation_id, RESTARTED))
    assert run_jobs(conninfo, until=bool) == [operation_id]


def run_jobs(conninfo: str, *, until: Callable[[list[UUID]], bool]) -> list[UUID]:
    """The operations that a worker ran, one at a time, in order, when it was stopped: as soon as `until` says so."""

    async def work() -> list[UUID]:
        loop = asyncio.get_running_loop()
        enough = asyncio.Event()
        ran: list[UUID] = []

        def run(bank_id: str, operation: UUID) -> None:
            assert bank_id == "b"
            ran.append(operation)
            if until(ran):
                loop.call_soon_threadsafe(enough.set)

        working = asyncio.create_task(JobWorker(conninfo, run, concurrency=1).run())
        try:
            async with asyncio.timeout(20):
                await enough.wait()
        finally:
            working.cancel()
            await asyncio.wait({working})
        return ran

    return asyncio.run(work())
