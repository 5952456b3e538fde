"""The worker inside the server: it stops in time whatever its jobs do, and comes up again when it ends by itself."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from adapters.app import build
from adapters.engines import Minds
from adapters.http.in_process_worker import InProcessWorker
from adapters.jobs import GRACE_SECONDS, JobWorker
from adapters.offline.editor import OfflineDocumentEditor
from adapters.offline.facts import OfflineFactExtractor
from adapters.service import Service, opened
from adapters.settings import Settings
from domain.mental_model.trigger import Trigger
from domain.reflection import NoAnswer, ReflectQuestion, Thought, ToolResult
from projections import operations
from tests.support.services import context

BANK = "bank"


class HangingPolicy:
    """A mind that does not answer until it is let go."""

    engine = "hanging"
    deterministic = True

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        assert (question.name, list(results), must_finish) == ("Ada", [], False)
        self.asked.set()
        self.let_go.wait(60)
        return Thought(step=NoAnswer(reason="let go"))

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def policy() -> Iterator[HangingPolicy]:
    policy = HangingPolicy()
    yield policy
    policy.let_go.set()


@pytest.fixture
def service(conninfo: str, policy: HangingPolicy) -> Iterator[Service]:
    minds = Minds(OfflineFactExtractor(), policy, OfflineDocumentEditor())
    with opened(build(Settings(_env_file=None), conninfo, minds=minds)) as service:
        yield service


def _ask_refresh(service: Service) -> str:
    from domain.memory import RetainItem

    service.memories.retain(context(service), BANK, [RetainItem(content="Ada Lovelace works at Acme.")])
    created = service.mental_models.create(
        context(service),
        BANK,
        mental_model_id="ada",
        name="Ada",
        source_query="Who is Ada?",
        tags=(),
        max_tokens=512,
        trigger=Trigger(),
    )
    return str(created.operation_id)


def _status(service: Service, operation_id: str) -> str:
    row = service.reader.ask(operations.find(BANK, operation_id))
    assert row is not None
    return row.status


async def _until_asked(policy: HangingPolicy) -> None:
    async with asyncio.timeout(10):
        while not policy.asked.is_set():
            await asyncio.sleep(0.01)


def test_an_idle_worker_stops_at_once(service: Service) -> None:
    async def stop_after_start(turns: int) -> float:
        async with InProcessWorker(service.worker()) as worker:
            for _ in range(turns):
                await asyncio.sleep(0)
            assert worker.state == "running"
            began = time.monotonic()
        return time.monotonic() - began

    for turns in (1, 2, 1000):
        # a pool that is closed while it opens waits up to five seconds for itself
        assert asyncio.run(stop_after_start(turns)) < GRACE_SECONDS + 5


def test_a_job_that_ends_soon_is_finished_before_the_worker_stops(service: Service, policy: HangingPolicy) -> None:
    operation_id = _ask_refresh(service)

    async def stop_while_running() -> None:
        async with InProcessWorker(service.worker()):
            await _until_asked(policy)
            asyncio.get_running_loop().call_later(0.2, policy.let_go.set)

    asyncio.run(stop_while_running())
    assert _status(service, operation_id) == "failed", "the mind had no answer, and that was recorded"


def test_a_job_that_hangs_does_not_keep_the_server_from_stopping_and_is_put_back_in_line(
    service: Service, policy: HangingPolicy
) -> None:
    operation_id = _ask_refresh(service)

    async def stop_while_hanging() -> float:
        async with InProcessWorker(service.worker()):
            await _until_asked(policy)
            began = time.monotonic()
        return time.monotonic() - began

    assert asyncio.run(stop_while_hanging()) < GRACE_SECONDS + 2
    assert _status(service, operation_id) == "processing"
    with service.database.connection() as connection:
        jobs = connection.execute("SELECT status FROM procrastinate_jobs").fetchall()
    assert [job["status"] for job in jobs] == ["todo"], "the next worker does it"


def test_a_worker_that_ends_by_itself_is_started_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("adapters.jobs.RESTART_SECONDS", 0.05)
    runs: list[str] = []

    class EndingWorker(JobWorker):
        async def work(self) -> None:
            runs.append("run")
            if len(runs) == 2:
                raise RuntimeError("cannot start")
            if len(runs) == 3:
                await asyncio.Event().wait()

    async def watch() -> list[str]:
        states: list[str] = []
        async with InProcessWorker(EndingWorker(service.conninfo, service.background.run, concurrency=1)) as worker:
            async with asyncio.timeout(5):
                while len(runs) < 3:
                    states.append(worker.state)
                    await asyncio.sleep(0.01)
            states.append(worker.state)
        return states

    states = asyncio.run(watch())
    assert "stopped" in states
    assert states[-1] == "running"
    assert "ended by itself" in caplog.text
    assert "cannot start" in caplog.text


def test_a_server_without_a_worker_says_none() -> None:
    async def state() -> str:
        async with InProcessWorker(None) as worker:
            return worker.state

    assert asyncio.run(state()) == "none"
