"""An operation whose worker dies after its second call, and the one that rescues it: what is in the log at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest

from adapters.app import build
from adapters.engines import Minds
from adapters.llm.editor import LlmDocumentEditor
from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from adapters.llm.reflect import LlmReflectPolicy
from adapters.llm.structured import LlmStructuredExtractor
from adapters.postgres.database import Database
from adapters.postgres.kept_replies import PostgresKeptReplies
from adapters.service import Service, opened
from adapters.settings import Settings
from application.command_handler import mental_model_stream, operation_stream
from domain.memory import RetainItem
from domain.mental_model.events import ContentWritten
from domain.operation import OperationCompleted, RetainDone
from tests.support.scripted_llm import Reply, ScriptedLlm, Usage, server_error, tool_call
from tests.support.services import TickingClock, context, define

USAGE = Usage(prompt=100, completion=20)


class WorkerDied(BaseException):
    """Nothing in a worker catches it."""


class DyingReplies(PostgresKeptReplies):
    """The worker dies when it is about to make its third call."""

    asked = 0

    def reply(self, bank_id: str, operation_id: UUID, key: str) -> Any:
        self.asked += 1
        if self.asked == 3:
            raise WorkerDied
        return super().reply(bank_id, operation_id, key)


@contextmanager
def worker(llm: ScriptedLlm, kept: PostgresKeptReplies, conninfo: str) -> Iterator[Service]:
    endpoint = Endpoint(base_url=llm.base_url, api_key=None, model="tester-1", timeout_seconds=10, kept=kept)
    minds = Minds(
        LlmFactExtractor(endpoint, parallel=1),
        LlmReflectPolicy(endpoint),
        LlmDocumentEditor(endpoint),
        LlmStructuredExtractor(endpoint),
        close=endpoint.close,
    )
    settings = Settings(_env_file=None, worker_retry_seconds=0)
    with opened(build(settings, conninfo, clock=TickingClock(), minds=minds)) as service:
        yield service


def records(*facts: str) -> Reply:
    return tool_call("record_facts", {"facts": [{"what": fact, "entities": ["Ada"]} for fact in facts]}, usage=USAGE)


def searches(query: str) -> Reply:
    return tool_call("recall", {"reason": "to know", "query": query, "max_tokens": 2048}, usage=USAGE)


def delivers(block: str) -> Reply:
    sections = [{"heading": "Ada", "level": 2, "blocks": [block]}]
    return tool_call(
        "done", {"document": {"sections": sections}, "answer_found": True, "memory_ids": ["f1"]}, usage=USAGE
    )


def rows(database: Database) -> int:
    with database.connection() as connection:
        return len(connection.execute("SELECT 1 FROM kept_replies").fetchall())


def test_a_refresh_makes_no_third_call_for_the_first_two(llm: ScriptedLlm, database: Database, conninfo: str) -> None:
    llm.script(records("Ada paints"), searches("Ada"), searches("paint"), delivers("Ada paints [f1]."))
    with worker(llm, DyingReplies(database), conninfo) as dying:
        dying.memories.retain(context(dying), "b", [RetainItem(content="Ada paints.")])
        operation_id = define(dying, "b", "ada")
        with pytest.raises(WorkerDied):
            dying.background.run("b", operation_id)
    assert (len(llm.requests), rows(database)) == (3, 2)

    with worker(llm, PostgresKeptReplies(database), conninfo) as rescuer:
        rescuer.background.run("b", operation_id)
        outcome = rescuer.log.events(mental_model_stream("b", "ada"))[-1].event

    assert isinstance(outcome, ContentWritten)
    assert [call.input_tokens for call in outcome.record.calls if call.purpose != "embed"] == [100] * 3
    assert (len(llm.requests), rows(database)) == (4, 0)


def test_a_retain_makes_no_third_call_for_the_first_two(llm: ScriptedLlm, database: Database, conninfo: str) -> None:
    items = [RetainItem(content=f"Ada has {number} cats.") for number in range(3)]
    llm.script(*(records(item.content) for item in items))
    with worker(llm, DyingReplies(database), conninfo) as dying:
        operation_id = dying.memories.retain_later(context(dying), "b", items)
        with pytest.raises(WorkerDied):
            dying.background.run("b", operation_id)
    assert (len(llm.requests), rows(database)) == (2, 2)

    with worker(llm, PostgresKeptReplies(database), conninfo) as rescuer:
        rescuer.background.run("b", operation_id)
        end = rescuer.log.events(operation_stream("b", operation_id))[-1].event

    assert isinstance(end, OperationCompleted)
    assert isinstance(end.result, RetainDone)
    assert [call.input_tokens for call in end.result.calls if call.purpose != "embed"] == [100] * 3
    assert (len(llm.requests), rows(database)) == (3, 0)


def test_a_retry_pays_only_for_what_failed(llm: ScriptedLlm, database: Database, conninfo: str) -> None:
    llm.script(records("Ada paints"), searches("Ada"), server_error(), delivers("Ada paints [f1]."))
    with worker(llm, PostgresKeptReplies(database), conninfo) as service:
        service.memories.retain(context(service), "b", [RetainItem(content="Ada paints.")])
        operation_id = define(service, "b", "ada")
        service.background.run("b", operation_id)
        service.background.run("b", operation_id)
        events = [each.event for each in service.log.events(mental_model_stream("b", "ada"))]

    spent = [
        [(call.purpose, call.input_tokens) for call in event.record.calls if not call.purpose.startswith("embed")]
        for event in events[1:]
        if hasattr(event, "record")
    ]
    assert spent == [
        [("reflect_1", 100), ("reflect_2", 0)],
        [("reflect_1 (kept)", 0), ("reflect_2", 100)],
    ]
    assert (len(llm.requests), rows(database)) == (4, 0)
