"""Many services and workers on one database: every operation is done once, and no two runs of a model overlap."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from uuid import UUID

from adapters.app import build
from adapters.engines import Minds
from adapters.jobs import JobWorker
from adapters.offline.editor import OfflineDocumentEditor
from adapters.offline.facts import OfflineFactExtractor
from adapters.service import Service, opened
from adapters.settings import Settings
from adapters.worker import Worker
from application.command_handler import mental_model_stream, operation_stream
from domain.memory import RetainItem
from domain.operation import OperationCompleted, OperationStarted
from domain.reflection import ReflectQuestion, Thought, ToolResult
from tests.support.eventually import eventually
from tests.support.services import AnsweringPolicy, context, define, retain

BANK = "busy"
MODELS = [f"boat-{number}" for number in range(12)]
AGAIN = 28
"""Refreshes beside the first of each model."""
RETAINS = 9


class WatchedPolicy(AnsweringPolicy):
    """Tells which models were refreshed by two runs at the same time; a run is under way from its first question to its
    answer."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: Counter[str] = Counter()
        self.overlapped: set[str] = set()
        self.at_most = 0
        self._under_way: set[str] = set()
        self._watching = threading.Lock()

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        thought = super().next_step(question, results, must_finish=must_finish)
        with self._watching:
            if results:
                self._under_way.discard(question.name)
            else:
                self.runs[question.name] += 1
                self.overlapped |= self._under_way & {question.name}
                self._under_way.add(question.name)
                self.at_most = max(self.at_most, len(self._under_way))
        return thought


@contextmanager
def working(workers: Sequence[Worker | JobWorker]) -> Iterator[None]:
    """They work in a thread with an event loop of its own, as in a process."""
    ready = threading.Event()
    stopping: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def work() -> None:
        stop = asyncio.Event()
        stopping.append((asyncio.get_running_loop(), stop))
        tasks = [asyncio.create_task(each.run()) for each in workers]
        ready.set()
        await stop.wait()
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    thread = threading.Thread(target=lambda: asyncio.run(work()), name="workers", daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        loop, stop = stopping[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        assert not thread.is_alive()


def asks_again(service: Service, names: Sequence[str], times: int) -> list[UUID]:
    """Asks for refreshes, again and again, until so many were queued and not folded into one that waits."""
    queued: list[UUID] = []

    def ask() -> bool:
        for name in names:
            asked = service.refresh_requests.refresh(context(service), BANK, name)
            if asked.status == "queued" and asked.operation_id is not None:
                queued.append(asked.operation_id)
            if len(queued) == times:
                return True
        return False

    eventually(ask, timeout=30)
    return queued


def retains_later(service: Service, number: int) -> UUID:
    item = RetainItem(content=f"The boat-{number} is new.", document_id=f"document-{number % 4}", update_mode="append")
    return service.memories.retain_later(context(service), BANK, [item])


def test_each_operation_is_done_once_by_ten_workers_of_three_services(conninfo: str) -> None:
    policy = WatchedPolicy()
    with ExitStack() as stack:
        settings = Settings(_env_file=None, worker_concurrency=1)
        minds = Minds(OfflineFactExtractor(), policy, OfflineDocumentEditor())
        services = [stack.enter_context(opened(build(settings, conninfo, minds=minds))) for _ in range(3)]
        retain(services[0], BANK, *(f"The {name} is white." for name in MODELS))
        refreshes = [define(services[number % 3], BANK, name) for number, name in enumerate(MODELS)]
        retains = [retains_later(services[number % 3], number) for number in range(RETAINS)]
        for service, more in zip(services, (3, 2, 2), strict=True):
            jobs = [JobWorker(conninfo, service.background.run, concurrency=1) for _ in range(more)]
            stack.enter_context(working([service.worker(), *jobs]))
        with ThreadPoolExecutor(3) as askers:
            shares = [
                (service, MODELS[place:] + MODELS[:place]) for service, place in zip(services, (0, 4, 8), strict=True)
            ]
            asked = [
                askers.submit(asks_again, service, names, times)
                for (service, names), times in zip(shares, (10, 9, 9), strict=True)
            ]
            refreshes += [each for future in asked for each in future.result()]
        log = services[0].log
        everything = [*refreshes, *retains]

        def ended() -> bool:
            return all(
                isinstance(log.events(operation_stream(BANK, each))[-1].event, OperationCompleted)
                for each in everything
            )

        eventually(ended, timeout=30)
        started = Counter(
            each.stream.name
            for operation_id in everything
            for each in log.events(operation_stream(BANK, operation_id))
            if isinstance(each.event, OperationStarted)
        )
        outcomes = [
            str(each.operation_id)
            for name in MODELS
            for each in log.events(mental_model_stream(BANK, name))
            if each.operation_id is not None and each.event.TOPIC.startswith("mental_model.content_")
        ]
    assert started == Counter(str(each) for each in everything)
    assert sorted(outcomes) == sorted(str(each) for each in refreshes)
    assert len(refreshes) == len(MODELS) + AGAIN
    assert (policy.overlapped, sum(policy.runs.values())) == (set(), len(refreshes))
    assert policy.at_most > 1, "different models were refreshed at the same time"
