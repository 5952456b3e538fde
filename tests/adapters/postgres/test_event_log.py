"""The event log on real PostgreSQL: order, conflicts, snapshots, one transaction for events, read models and jobs."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from psycopg.errors import LockNotAvailable

from adapters.service import Service
from application.command_handler import BANK, CommandHandler, Step, bank_stream, mental_model_stream
from application.ports import StreamAppend
from domain.bank import Bank, BankOpened, BankRenamed, OpenBank, PutBank
from domain.mental_model.trigger import Trigger
from domain.refusals import StaleVersion
from projections import banks, documents, operations
from tests.support.services import context


def create(service: Service, bank_id: str, mental_model_id: str) -> None:
    service.mental_models.create(
        context(service),
        bank_id,
        mental_model_id=mental_model_id,
        name="Team",
        source_query="How does the team work?",
        tags=(),
        max_tokens=2048,
        trigger=Trigger(),
    )


def jobs(service: Service) -> int:
    with service.database.connection() as connection:
        row = connection.execute("SELECT count(*) AS n FROM procrastinate_jobs").fetchone()
    return row["n"] if row else -1


def test_an_append_folds_read_models_and_queues_the_job_at_once(service: Service) -> None:
    create(service, "b", "team")

    found = service.reader.ask(documents.find("b", "team"))
    assert found is not None
    assert (found.name, found.version) == ("Team", 1)
    asked, total = service.reader.ask(operations.page("b", status=None, operation_type=None, limit=10, offset=0))
    assert (total, asked[0].status, asked[0].mental_model_id) == (1, "pending", "team")
    assert jobs(service) == 1


def test_a_failed_transaction_leaves_no_event_no_row_and_no_job(service: Service) -> None:
    def append_then_fail() -> None:
        with service.database.begin() as tx:
            loaded = service.log.load(BANK, bank_stream("b"))
            append = StreamAppend(bank_stream("b"), 0, (BankOpened(bank_id="b", name="b"),), loaded.state, 1)
            service.log.append([append], context(service), tx)
            raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        append_then_fail()

    assert service.log.after(0, limit=10) == []
    assert service.reader.ask(banks.page(None, 10, 0)) == ([], 0)
    assert jobs(service) == 0


def test_of_two_writers_at_one_version_one_is_refused(service: Service) -> None:
    handler = CommandHandler(service.log, service.database)
    handler.execute(context(service), Step(BANK, bank_stream("b"), OpenBank("b")))
    loaded = service.log.load(BANK, bank_stream("b"))
    both_ready = threading.Barrier(2)

    def rename(name: str) -> str:
        append = StreamAppend(bank_stream("b"), loaded.version, (BankRenamed(name=name),), loaded.state, 1)
        both_ready.wait(timeout=10)
        try:
            with service.database.begin() as tx:
                service.log.append([append], context(service), tx)
        except StaleVersion:
            return "refused"
        return "recorded"

    with ThreadPoolExecutor(2) as pool:
        outcomes = sorted(pool.map(rename, ["one", "two"]))
    assert outcomes == ["recorded", "refused"]
    assert service.log.load(BANK, bank_stream("b")).version == 2


def test_many_writers_of_one_stream_all_get_through(service: Service) -> None:
    """More of them than there are connections: whoever waits for the stream needs no second one."""
    writers = 24
    assert service.database.pool.max_size < writers
    handler = CommandHandler(service.log, service.database)
    all_ready = threading.Barrier(writers)

    def rename(number: int) -> None:
        command = PutBank("b", name=f"name {number}")
        all_ready.wait(timeout=30)
        handler.execute(context(service), Step(BANK, bank_stream("b"), command))

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(rename, range(writers)))
    state = service.log.load(BANK, bank_stream("b"))
    assert isinstance(state.state, Bank)
    recorded = service.log.events(bank_stream("b"))
    assert [each.version for each in recorded] == list(range(1, writers + 1))
    assert isinstance(recorded[0].event, BankOpened)
    renames = [each.event for each in recorded[1:]]
    assert len({event.name for event in renames if isinstance(event, BankRenamed)}) == writers - 1
    served = service.reader.ask(banks.find("b"))
    assert served is not None
    assert served.name == state.state.name


def test_many_writers_of_different_streams_of_a_new_bank_open_it_once(service: Service) -> None:
    writers = 24
    all_ready = threading.Barrier(writers)

    def make(number: int) -> None:
        all_ready.wait(timeout=30)
        create(service, "b", f"team-{number}")

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(make, range(writers)))
    assert len(service.log.events(bank_stream("b"))) == 1
    assert len(service.reader.ask(documents.ids("b"))) == writers
    assert jobs(service) == writers


def test_a_shared_stream_is_held_by_several_at_once_and_alone_by_none_of_them(service: Service) -> None:
    with service.database.begin() as one, service.database.begin() as other, service.database.begin() as third:
        service.log.lock([], [bank_stream("b")], one)
        other.connection.execute("SET LOCAL lock_timeout = '5s'")
        service.log.lock([], [bank_stream("b")], other)
        third.connection.execute("SET LOCAL lock_timeout = '10ms'")
        with pytest.raises(LockNotAvailable), third.connection.transaction():
            service.log.lock([bank_stream("b")], [], third)
        service.log.lock([bank_stream("another")], [], third)


def test_a_long_stream_is_read_from_its_snapshot(service: Service) -> None:
    create(service, "b", "team")
    for number in range(60):
        service.mental_models.change(context(service), "b", "team", name=f"name {number}")
    stream = mental_model_stream("b", "team")
    with service.database.connection() as connection:
        connection.execute(
            "UPDATE stored_events SET state = 'unreadable'::bytea WHERE originator_id = %s AND originator_version < 50",
            (stream.uuid,),
        )

    assert service.mental_models.load("b", "team").model.name == "name 59"

    with service.database.connection() as connection:
        connection.execute("UPDATE snapshots SET topic = 'mental_model.state.0'")
    with pytest.raises(Exception, match="unreadable"):
        service.mental_models.load("b", "team")


def test_psql_reads_the_log(service: Service) -> None:
    create(service, "b", "team")
    with service.database.connection() as connection:
        row = connection.execute(
            "SELECT bank_id, stream, version, actor, cause, payload ->> 'name' AS name FROM event_log"
            " WHERE topic = 'mental_model.created'"
        ).fetchone()
    assert row == {
        "bank_id": "b",
        "stream": "mental_model",
        "version": 1,
        "actor": "user",
        "cause": "test",
        "name": "Team",
    }


def test_an_event_stored_in_an_older_shape_is_read_in_the_present_one(service: Service) -> None:
    stream = bank_stream("old")
    envelope = {
        "schema": 1,
        "stream": "bank",
        "bank_id": "old",
        "name": "old",
        "actor": "user",
        "operation_id": None,
        "cause": "",
        "occurred_at": "2026-01-01T00:00:00+00:00",
    }
    state = json.dumps({"envelope": envelope, "payload": {"bank_id": "old"}}).encode()
    with service.database.connection() as connection:
        connection.execute(
            "INSERT INTO stored_events (originator_id, originator_version, topic, state)"
            " VALUES (%s, 1, 'bank.opened', %s)",
            (stream.uuid, state),
        )

    loaded = service.log.load(BANK, stream)
    assert isinstance(loaded.state, Bank)
    assert loaded.state.name == "old"
    service.read_models.rebuild()
    served = service.reader.ask(banks.find("old"))
    assert served is not None
    assert served.name == "old"
