"""Two attempts at one operation at once, on real PostgreSQL: one is recorded, of the other nothing."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest

from adapters.service import Service
from application.command_handler import mental_model_stream, operation_stream
from application.ports import Extraction
from domain.memory import RetainItem
from domain.mental_model.events import ContentWritten, MentalModelCreated, RefreshFailedError
from domain.mental_model.trigger import Trigger
from domain.operation import OperationCompleted, OperationFailed, OperationRequested, OperationSpent, OperationStarted
from domain.reflection import ReflectQuestion, Thought, ToolResult
from projections import history, operations
from tests.support.services import context, retain, run_pending


def asked_to_refresh(service: Service) -> UUID:
    retain(service, "b", "Ships are white.")
    created = service.mental_models.create(
        context(service),
        "b",
        mental_model_id="ships",
        name="Ships",
        source_query="What about ships?",
        tags=(),
        max_tokens=1024,
        trigger=Trigger(),
    )
    return created.operation_id


def run_twice_at_once(service: Service, operation_id: UUID) -> None:
    with ThreadPoolExecutor(2) as pool:
        for attempt in [pool.submit(service.background.run, "b", operation_id) for _ in range(2)]:
            attempt.result(timeout=60)


def kinds_of_operation(service: Service, operation_id: UUID) -> list[type]:
    return [type(each.event) for each in service.log.events(operation_stream("b", operation_id))]


def test_of_two_refreshes_of_one_operation_one_is_recorded(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    operation_id = asked_to_refresh(service)
    next_step = service.minds.policy.next_step
    both_are_asking = threading.Barrier(2)

    def step(question: ReflectQuestion, results: list[ToolResult], *, must_finish: bool) -> Thought:
        if not results:
            both_are_asking.wait(timeout=30)
        return next_step(question, results, must_finish=must_finish)

    monkeypatch.setattr(service.minds.policy, "next_step", step)
    run_twice_at_once(service, operation_id)

    document = service.log.events(mental_model_stream("b", "ships"))
    assert [type(each.event) for each in document] == [MentalModelCreated, ContentWritten]
    assert kinds_of_operation(service, operation_id) == [
        OperationRequested,
        OperationStarted,
        OperationStarted,
        OperationCompleted,
        OperationSpent,
    ]


def test_of_two_retains_of_one_operation_one_is_stored(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [RetainItem(content="The harbour is deep."), RetainItem(content="Ships are white.")]
    operation_id = service.memories.retain_later(context(service), "b", items)
    extract = service.minds.extractor.extract
    both_are_reading = threading.Barrier(2)

    def read(item: RetainItem, **asked: Any) -> Extraction:
        if item.content == items[0].content:
            both_are_reading.wait(timeout=30)
        return extract(item, **asked)

    monkeypatch.setattr(service.minds.extractor, "extract", read)
    run_twice_at_once(service, operation_id)

    assert kinds_of_operation(service, operation_id) == [
        OperationRequested,
        OperationStarted,
        OperationStarted,
        OperationCompleted,
    ]
    assert service.memory.position("b") == len(items)
    ended = service.reader.ask(operations.find("b", str(operation_id)))
    assert ended is not None
    assert ended.result is not None
    assert ended.result["facts"] == len(items)


def test_an_unexpected_error_of_a_mind_is_in_the_log_the_history_and_pauses_the_document(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_question: object, **_options: object) -> Thought:
        raise ZeroDivisionError("a\x00b \ud83d c")

    operation_id = asked_to_refresh(service)
    monkeypatch.setattr(service.minds.policy, "next_step", broken)
    run_pending(service, "b")

    outcome = service.log.events(mental_model_stream("b", "ships"))[-1].event
    assert isinstance(outcome, RefreshFailedError)
    assert outcome.error_message == "ZeroDivisionError: ab \ufffd c"
    (entry,) = service.reader.ask(history.entries("b", "ships", per_kind=10))
    assert (entry.kind, entry.failure_reason) == ("refresh_failed", "unexpected_error")
    assert service.mental_models.load("b", "ships").model.last_refresh_failed_at is not None
    assert kinds_of_operation(service, operation_id)[-1] is OperationFailed
