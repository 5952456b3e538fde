"""Locks of streams and snapshots of long ones, on real PostgreSQL."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from adapters.postgres.event_log import SNAPSHOT_EVERY
from adapters.service import Service
from application.command_handler import OPERATION, CommandHandler, Step, bank_stream, operation_stream
from application.ports import StreamAppend
from domain.event import StreamId
from domain.operation import OperationRequested, OperationStarted, RefreshAsked, RequestOperation
from tests.support.eventually import eventually
from tests.support.services import context


def someone_waits_for_an_advisory_lock(service: Service) -> bool:
    with service.database.connection() as connection:
        row = connection.execute(
            "SELECT count(*) AS waiting FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ).fetchone()
    return bool(row and row["waiting"])


def lock(service: Service, streams: list[StreamId]) -> None:
    with service.database.begin() as tx:
        service.log.lock(streams, [], tx)


def test_streams_are_locked_in_one_order_so_that_commands_never_wait_for_each_other_in_a_ring(service: Service) -> None:
    first, second = sorted((bank_stream("a"), bank_stream("b")), key=lambda stream: stream.uuid.int % 2**63)
    with ThreadPoolExecutor(1) as beside:
        with service.database.begin() as tx:
            service.log.lock([first], [], tx)
            waiting = beside.submit(lock, service, [second, first])
            eventually(lambda: someone_waits_for_an_advisory_lock(service))
            with service.database.begin() as other:
                other.connection.execute("SET LOCAL lock_timeout = '5s'")
                service.log.lock([second], [], other)
        waiting.result(timeout=30)


def test_a_snapshot_is_kept_when_one_append_passes_over_its_version(service: Service) -> None:
    operation_id = UUID(int=7)
    stream = operation_stream("b", operation_id)
    work = RefreshAsked(mental_model_id="ships")
    request = Step(OPERATION, stream, RequestOperation("b", operation_id, work))
    (done,) = CommandHandler(service.log, service.database).execute(context(service), request)
    started = tuple(OperationStarted(attempt=attempt) for attempt in range(1, SNAPSHOT_EVERY + 2))
    state = done.state.model_copy(update={"status": "processing", "attempts": len(started)})
    with service.database.begin() as tx:
        append = StreamAppend(stream, 1, started, state, OPERATION.state_version)
        service.log.append([append], context(service), tx)
        tx.connection.execute(
            "DELETE FROM stored_events WHERE originator_id = %s AND topic = %s", (stream.uuid, OperationRequested.TOPIC)
        )
    loaded = service.log.load(OPERATION, stream)
    assert (loaded.version, loaded.state) == (len(started) + 1, state)
