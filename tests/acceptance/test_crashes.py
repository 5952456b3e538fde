"""Workers in processes of their own, killed in the middle of a refresh: what they paid for is not paid again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from application.command_handler import mental_model_stream, operation_stream
from domain.mental_model.events import ContentWritten
from domain.operation import OperationCompleted, OperationRequested, OperationStarted
from tests.support.eventually import eventually
from tests.support.scripted_llm import Reply, Request, ScriptedLlm, Usage, held, tool_call
from tests.support.services import define, retain

USAGE = Usage(prompt=100, completion=20)
WITHIN_SECONDS = 60.0


@pytest.fixture
def service(conninfo: str) -> Iterator[Service]:
    """What asks for the work, without doing any."""
    with opened(build(Settings(_env_file=None), conninfo)) as service:
        yield service


@contextmanager
def command(service: Service, llm: ScriptedLlm, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command line at work on the database of the service; killed at the end, if it is not gone by then."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "DATABASE_"))}
    env = {
        **others,
        "DATABASE_URL": service.conninfo,
        "PALIMPSEST_LLM_BASE_URL": llm.base_url,
        "PALIMPSEST_LLM_API_KEY": "none",
        "PALIMPSEST_LLM_MODEL": "tester-1",
        "PALIMPSEST_ENABLE_OBSERVATIONS": "false",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "adapters.cli", *arguments], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def searches(query: str) -> Reply:
    return tool_call("recall", {"reason": "to know", "query": query, "max_tokens": 2048}, usage=USAGE)


def delivers(block: str) -> Reply:
    sections = [{"heading": "Ada", "level": 2, "blocks": [block]}]
    arguments = {"document": {"sections": sections}, "answer_found": True, "memory_ids": ["f1"]}
    return tool_call("done", arguments, usage=USAGE)


def is_completed(service: Service, operation_id: UUID) -> bool:
    return isinstance(service.log.events(operation_stream("b", operation_id))[-1].event, OperationCompleted)


def kept_replies(service: Service) -> int:
    with service.database.connection() as connection:
        return len(connection.execute("SELECT 1 FROM kept_replies").fetchall())


@pytest.mark.parametrize("arguments", [("worker",), ("serve", "--port", "0")], ids=["worker", "serve"])
def test_a_refresh_whose_worker_is_killed_is_finished_by_another_for_the_calls_that_are_left(
    service: Service, arguments: tuple[str, ...]
) -> None:
    retain(service, "b", "Ada paints.")
    operation_id = define(service, "b", "ada")
    never = threading.Event()
    with ScriptedLlm() as llm:
        llm.script(searches("Ada"), searches("paint"), held(never, delivers("Never heard of.")))
        with command(service, llm, *arguments) as process:
            eventually(lambda: len(llm.requests) == 3, timeout=WITHIN_SECONDS)
            process.kill()
            process.wait(timeout=30)
        assert kept_replies(service) == 2

        llm.script(delivers("Ada paints [f1]."))
        with command(service, llm, *arguments):
            eventually(lambda: is_completed(service, operation_id), timeout=WITHIN_SECONDS)
        first, second, third, again = (request.body["messages"] for request in llm.requests)
        assert llm.unexpected == []

    assert again == third
    assert again not in (first, second)
    assert kept_replies(service) == 0
    assert [each.event for each in service.log.events(operation_stream("b", operation_id))][1:3] == [
        OperationStarted(attempt=1),
        OperationStarted(attempt=2),
    ]
    outcome = service.log.events(mental_model_stream("b", "ada"))[-1].event
    assert isinstance(outcome, ContentWritten)
    assert outcome.text == "## Ada\n\nAda paints.\n"
    assert [call.input_tokens for call in outcome.record.calls if call.purpose != "embed"] == [100] * 3


def test_a_worker_runs_as_many_operations_at_a_time_as_it_is_told(service: Service) -> None:
    retain(service, "b", "Ada paints.")
    operations = [define(service, "b", name) for name in ("ada", "bo", "cy")]
    release = threading.Event()

    def answer(request: Request) -> Reply:
        return delivers("Ada paints [f1].") if "done" in request.tools else held(release, searches("Ada"))

    with ScriptedLlm(fallback=answer) as llm, command(service, llm, "worker", "--concurrency", "2") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("palimpsest worker: 2 operations at a time")
        eventually(lambda: len(llm.requests) == 2, timeout=WITHIN_SECONDS)
        (waiting,) = (each for each in operations if not is_begun(service, each))
        release.set()
        eventually(lambda: all(is_completed(service, each) for each in operations), timeout=WITHIN_SECONDS)
    ended = [service.log.events(operation_stream("b", each))[-1].occurred_at for each in operations if each != waiting]
    began = service.log.events(operation_stream("b", waiting))[1].occurred_at
    assert min(ended) <= began, "the third began when one of the first two had ended"


def is_begun(service: Service, operation_id: UUID) -> bool:
    return not isinstance(service.log.events(operation_stream("b", operation_id))[-1].event, OperationRequested)
