"""The duties of time on real PostgreSQL: in one process at a time, and no refresh asked for twice by many."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

import psycopg
import pytest

from adapters.clock import RandomIdentities
from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.read_models import ReadModels
from adapters.postgres.reader import Reader
from adapters.scheduling import ADVISORY_LOCK, BROKEN, Duty, ReadSchedules, SchedulerLoop, duties
from application.command_handler import CommandHandler
from application.mental_models import MentalModels
from application.refresh_requests import RefreshRequests
from application.scheduler import Scheduler
from domain.event import Context
from domain.mental_model.trigger import Trigger
from projections import operations
from tests.support.examples import NOW
from tests.support.in_memory import FixedClock
from tests.support.memories import BankMemory, document

PAUSE = 0.005
WITHIN = 20.0


# --- the loop ---------------------------------------------------------------------------------------------------------


class Counted:
    """A duty that counts; `fails` makes it raise."""

    def __init__(self, name: str = "counting", every_seconds: float = 0.0) -> None:
        self.times = 0
        self.fails: Exception | None = None
        self.duty = Duty(name, every_seconds, self._do)

    def _do(self) -> None:
        self.times += 1
        if self.fails is not None:
            raise self.fails


def loop(conninfo: str, *counted: Counted) -> SchedulerLoop:
    return SchedulerLoop(conninfo, [each.duty for each in counted], pause_seconds=PAUSE)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN):
        while not condition():
            await asyncio.sleep(PAUSE)


async def stop(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    done, pending = await asyncio.wait(tasks, timeout=WITHIN)
    assert not pending
    assert all(task.cancelled() for task in done)


def holders(conninfo: str) -> list[int]:
    """The processes of the server that hold the lock of the duties."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objid = %s AND classid = 0"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
            (ADVISORY_LOCK,),
        ).fetchall()
    return [row[0] for row in rows]


def end_connection(conninfo: str, pid: int) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s)", (pid,))


def test_one_process_does_the_duties_and_another_takes_over_when_it_ends(conninfo: str) -> None:
    async def take_turns() -> None:
        first, second = Counted(), Counted()
        one = asyncio.create_task(loop(conninfo, first).run())
        await until(lambda: first.times > 0)
        other = asyncio.create_task(loop(conninfo, second).run())
        since = first.times
        await until(lambda: first.times > since + 20)
        assert second.times == 0
        await stop(one)
        await until(lambda: second.times > 0)
        last = first.times
        await until(lambda: second.times > 20)
        assert first.times == last
        await stop(other)

    asyncio.run(take_turns())
    assert holders(conninfo) == []


def test_a_process_that_loses_the_lock_does_no_more_until_it_has_it_again(
    conninfo: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def lose() -> None:
        counted = Counted()
        working = asyncio.create_task(loop(conninfo, counted).run())
        await until(lambda: counted.times > 0)
        (holder,) = holders(conninfo)
        end_connection(conninfo, holder)
        await until(lambda: holders(conninfo) not in ([holder], []))
        since = counted.times
        await until(lambda: counted.times > since)
        await stop(working)

    with caplog.at_level(logging.WARNING, logger="adapters.scheduling"):
        asyncio.run(lose())
    first, last = (record.getMessage() for record in caplog.records if record.name == "adapters.scheduling")
    assert first.startswith("the scheduler failed (")
    assert "\n" not in first
    assert last == "the scheduler is back"


def test_a_database_that_is_away_is_said_once_and_waited_for(conninfo: str, caplog: pytest.LogCaptureFixture) -> None:
    nowhere = psycopg.conninfo.make_conninfo(conninfo, dbname=f"none_{uuid4().hex}")

    async def wait() -> None:
        counted = Counted()
        scheduler = loop(nowhere, counted)
        waiting = asyncio.create_task(scheduler.run())
        await until(lambda: bool(caplog.records))
        for _ in range(20):
            await asyncio.sleep(PAUSE)
        scheduler._conninfo = conninfo
        await until(lambda: counted.times > 0)
        await stop(waiting)

    with caplog.at_level(logging.WARNING, logger="adapters.scheduling"):
        asyncio.run(wait())
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == [
        "the scheduler failed",
        "the scheduler is back",
    ]


def test_a_duty_that_fails_is_said_once_tried_again_and_does_not_stop_the_others(
    conninfo: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        failing, other = Counted("pruning"), Counted()
        failing.fails = ValueError("no such table")
        working = asyncio.create_task(loop(conninfo, failing, other).run())
        await until(lambda: failing.times > 5 and other.times > 5)
        failing.fails = None
        since = failing.times
        await until(lambda: failing.times > since + 1)
        await stop(working)

    with caplog.at_level(logging.WARNING, logger="adapters.scheduling"):
        asyncio.run(fail())
    assert [record.getMessage() for record in caplog.records] == [
        "pruning failed (ValueError: no such table); trying again",
        "pruning is back",
    ]


def test_a_duty_is_done_at_once_and_then_when_it_is_due_again(conninfo: str) -> None:
    async def work() -> None:
        hourly, always = Counted(every_seconds=3600), Counted()
        working = asyncio.create_task(loop(conninfo, hourly, always).run())
        await until(lambda: always.times > 20)
        await stop(working)
        assert hourly.times == 1

    asyncio.run(work())


def test_it_stops_while_a_duty_hangs(conninfo: str) -> None:
    begun, released = threading.Event(), threading.Event()

    def hang() -> None:
        begun.set()
        released.wait(WITHIN)

    async def work() -> None:
        working = asyncio.create_task(SchedulerLoop(conninfo, [Duty("hanging", 0.0, hang)]).run())
        await until(begun.is_set)
        since = time.monotonic()
        await stop(working)
        assert time.monotonic() - since < WITHIN / 4
        released.set()

    asyncio.run(work())


def test_without_duties_it_waits_and_needs_no_database() -> None:
    async def work() -> None:
        waiting = asyncio.create_task(SchedulerLoop("host=/nowhere", []).run())
        await asyncio.sleep(0)
        assert not waiting.done()
        await stop(waiting)

    asyncio.run(work())


@pytest.mark.parametrize(
    ("tick_seconds", "prunes", "expected"),
    [
        (300, False, {"reconcile": 300, "tick": 1}),
        (300, True, {"reconcile": 300, "tick": 1, "prune": 3600}),
        (0, True, {"prune": 3600}),
        (0, False, {}),
    ],
)
def test_the_settings_choose_the_duties(tick_seconds: int, prunes: bool, expected: dict[str, float]) -> None:
    done: list[tuple[str, datetime | None]] = []
    chosen = duties(
        now=lambda: NOW,
        tick=lambda now: done.append(("tick", now)),
        reconcile=lambda now: done.append(("reconcile", now)),
        refresh_tick_seconds=tick_seconds,
        prune=(lambda: done.append(("prune", None))) if prunes else None,
    )
    for duty in chosen:
        duty.do()
    assert dict(zip([name for name, _ in done], [duty.every_seconds for duty in chosen], strict=True)) == expected
    assert {now for name, now in done if name != "prune"} <= {NOW}


# --- many processes ---------------------------------------------------------------------------------------------------


@dataclass
class Process:
    """What one process has of its own: connections, and a scheduler."""

    database: Database
    log: PostgresEventLog
    models: MentalModels
    scheduler: Scheduler


def process(conninfo: str) -> Process:
    database = Database(conninfo)
    database.open()
    log = PostgresEventLog(database, lambda _connection, _events: None)
    ReadModels(database, log).prepare()
    reader, identities = Reader(database), RandomIdentities()
    handler = CommandHandler(log, database)
    requests = RefreshRequests(
        handler, log, identities, lambda bank, model, tx: reader.ask(operations.in_flight(bank, model), tx)
    )
    memory = BankMemory(database).store
    scheduler = Scheduler(requests, log, memory, ReadSchedules(reader), FixedClock(), broken=BROKEN)
    return Process(database, log, MentalModels(handler, log, identities), scheduler)


@pytest.fixture
def processes(conninfo: str) -> Iterator[Sequence[Process]]:
    several = [process(conninfo) for _ in range(4)]
    yield several
    for each in several:
        each.database.close()


def make(one: Process, trigger: Trigger, count: int) -> None:
    """Models `m0`, `m1` ... of bank `b`, whose first refreshes are done with, and a fact that they have not read."""
    for number in range(count):
        one.models.create(
            Context("user", NOW),
            "b",
            mental_model_id=f"m{number}",
            name="M",
            source_query="Q?",
            tags=(),
            max_tokens=1000,
            trigger=trigger,
        )
    with one.database.connection() as connection:
        connection.execute("UPDATE operations SET status = 'completed', completed_at = created_at")
    BankMemory(one.database, "b").retain(document("guide", "The bridge is of stone."))


def together(looks: Sequence[Callable[[], int]]) -> list[int]:
    """All looks at the same time, each in a thread."""
    ready = threading.Barrier(len(looks))

    def look(which: Callable[[], int]) -> int:
        ready.wait(WITHIN)
        return which()

    with ThreadPoolExecutor(len(looks)) as threads:
        return list(threads.map(look, looks))


def asked_for(one: Process) -> Counter[str]:
    with one.database.connection() as connection:
        rows = connection.execute("SELECT mental_model_id FROM operations WHERE status = 'pending'").fetchall()
    return Counter(row["mental_model_id"] for row in rows)


MODELS = 12
ONCE_EACH = Counter({f"m{number}": 1 for number in range(MODELS)})


def test_sc_07_many_processes_that_tick_at_once_ask_for_one_refresh_of_each_model(
    processes: Sequence[Process],
) -> None:
    make(processes[0], Trigger(refresh_cron="0 3 * * *"), MODELS)
    now = NOW + timedelta(days=1)
    queued = together([lambda each=each: each.scheduler.tick(now) for each in processes])
    assert (sum(queued), asked_for(processes[0])) == (MODELS, ONCE_EACH)
    assert together([lambda each=each: each.scheduler.tick(now) for each in processes]) == [0] * len(processes)


def test_many_writes_at_once_ask_for_one_refresh_of_each_model(processes: Sequence[Process]) -> None:
    make(processes[0], Trigger(refresh_after_consolidation=True), MODELS)
    looks = [lambda each=each: each.scheduler.after_write("b") for each in processes]
    looks += [lambda each=each: each.scheduler.reconcile(NOW) for each in processes[:1]]
    assert (sum(together(looks)), asked_for(processes[0])) == (MODELS, ONCE_EACH)


def test_a_deleted_model_and_a_deleted_cron_are_left_alone(processes: Sequence[Process]) -> None:
    one = processes[0]
    make(one, Trigger(refresh_cron="0 3 * * *"), 3)
    one.models.delete(Context("user", NOW), "b", "m0")
    one.models.change(Context("user", NOW), "b", "m1", trigger={"refresh_cron": None})
    assert one.scheduler.tick(NOW + timedelta(days=1)) == 1
    assert asked_for(one) == Counter({"m2": 1})


def test_what_is_stale_comes_with_the_time_of_its_last_refresh(processes: Sequence[Process]) -> None:
    one = processes[0]
    make(one, Trigger(), 2)
    one.models.change(Context("user", NOW), "b", "m1", tags=("elsewhere",))
    reader = ReadSchedules(Reader(one.database))
    assert reader.stale("b", ["m0", "m1", "none"]) == {"m0": NOW}
    assert reader.stale("b", []) == {}


def test_a_look_that_finds_no_database_says_so(processes: Sequence[Process]) -> None:
    one = processes[0]
    one.database.close()
    for look in (lambda: one.scheduler.tick(NOW), lambda: one.scheduler.after_write("b")):
        with pytest.raises(BROKEN):
            look()
