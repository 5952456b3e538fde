"""What an operation has paid for is not paid again, after a crash or in a retry. The database is a real one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel

from adapters.llm.editor import LlmDocumentEditor
from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from adapters.llm.reflect import LlmReflectPolicy
from adapters.llm.structured import LlmStructuredExtractor
from adapters.postgres.database import Database
from adapters.postgres.kept_replies import PostgresKeptReplies
from application.current_operation import working_on
from application.ports import MindFailed, RetainSteering
from domain.memory import RetainItem
from domain.usage import ModelCall
from tests.adapters.llm.edit_requests import edit_request
from tests.adapters.llm.found_facts import fact, found, question
from tests.support.eventually import eventually
from tests.support.scripted_llm import (
    Reply,
    Request,
    ScriptedLlm,
    Usage,
    body,
    edits,
    failing,
    garbage,
    hang,
    server_error,
    text,
    tool_call,
    truncated,
    values,
)

API_KEY = "sk-very-secret-key"
USAGE = Usage(prompt=100, completion=20, cached=10, reasoning=5)


class Colour(BaseModel):
    """Say which colour it is."""

    name: str


@pytest.fixture
def kept(shared_database: Database) -> PostgresKeptReplies:
    return PostgresKeptReplies(shared_database)


def opened(llm: ScriptedLlm, kept: PostgresKeptReplies, **options: Any) -> Endpoint:
    return Endpoint(
        base_url=llm.base_url, api_key=API_KEY, timeout_seconds=10, kept=kept, **{"model": "tester-1", **options}
    )


@pytest.fixture
def endpoint(llm: ScriptedLlm, kept: PostgresKeptReplies) -> Iterator[Endpoint]:
    with opened(llm, kept) as endpoint:
        yield endpoint


@pytest.fixture
def rescuer(llm: ScriptedLlm, kept: PostgresKeptReplies) -> Iterator[Endpoint]:
    """The endpoint of another process, which knows nothing of what the first one learned."""
    with opened(llm, kept) as endpoint:
        yield endpoint


@pytest.fixture
def operation_id() -> UUID:
    return uuid4()


def chat(endpoint: Endpoint, said: str = "Hello", paid: list[ModelCall] | None = None, **options: Any) -> str:
    messages = [{"role": "user", "content": said}]
    return endpoint.chat(messages, purpose="test", paid=[] if paid is None else paid, **options).content


WORKER = """
import sys
from uuid import UUID
from adapters.llm.endpoint import Endpoint
from adapters.postgres.database import Database
from adapters.postgres.kept_replies import PostgresKeptReplies
from application.current_operation import working_on

base_url, conninfo, operation_id = sys.argv[1:]
with (
    Database(conninfo) as database,
    Endpoint(base_url=base_url, api_key=None, model="tester-1", kept=PostgresKeptReplies(database)) as endpoint,
    working_on(UUID(operation_id)),
):
    for said in ("one", "two", "three"):
        endpoint.chat([{"role": "user", "content": said}], purpose="test", paid=[])
"""


def test_a_worker_killed_after_its_second_call_leaves_both_replies_to_the_rescue(
    llm: ScriptedLlm, endpoint: Endpoint, shared_conninfo: str, operation_id: UUID
) -> None:
    llm.script(text("1", usage=USAGE), text("2", usage=USAGE), hang())
    arguments = [sys.executable, "-c", WORKER, llm.base_url, shared_conninfo, str(operation_id)]
    with subprocess.Popen(arguments) as worker:
        eventually(lambda: len(llm.requests) == 3, timeout=60)
        worker.send_signal(signal.SIGKILL)
    llm.script(text("3", usage=USAGE))
    paid: list[ModelCall] = []

    with working_on(operation_id):
        answers = [chat(endpoint, said, paid) for said in ("one", "two", "three")]

    assert answers == ["1", "2", "3"]
    assert [request.text for request in llm.requests] == ["one", "two", "three", "three"]
    expected = ModelCall(
        purpose="test", model="tester-1", input_tokens=100, output_tokens=20, cached_tokens=10, thoughts_tokens=5
    )
    assert [call.model_copy(update={"duration_ms": 0}) for call in paid] == [expected] * 3


def test_a_reply_whose_cost_is_on_record_is_replayed_for_nothing(
    llm: ScriptedLlm,
    endpoint: Endpoint,
    rescuer: Endpoint,
    kept: PostgresKeptReplies,
    shared_database: Database,
    operation_id: UUID,
) -> None:
    llm.script(text("1", usage=USAGE), server_error(), text("2", usage=USAGE))
    with working_on(operation_id):
        chat(endpoint, "one")
        with pytest.raises(MindFailed):
            chat(endpoint, "two")
    with shared_database.begin() as tx:
        kept.count("", operation_id, kept.uncounted("", operation_id), tx)
    paid: list[ModelCall] = []

    with working_on(operation_id):
        assert [chat(rescuer, said, paid) for said in ("one", "two")] == ["1", "2"]

    assert paid[0] == ModelCall(purpose="test (kept)", model="tester-1")
    assert (paid[1].purpose, paid[1].input_tokens) == ("test", 100)
    assert len(llm.requests) == 3


def test_a_reply_is_for_its_own_operation_and_request_only(
    llm: ScriptedLlm, kept: PostgresKeptReplies, endpoint: Endpoint, operation_id: UUID
) -> None:
    llm.fallback = lambda _request: text(f"answer {len(llm.requests)}")
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    with (
        opened(llm, kept, model="tester-2") as other_model,
        opened(llm, kept, temperature=0.7) as warmer,
    ):
        with working_on(operation_id):
            chat(endpoint)
        with working_on(operation_id):
            assert chat(endpoint) == "answer 1"
            others = [
                chat(endpoint, "Hello!"),
                chat(endpoint, tools=[tool]),
                chat(endpoint, tools=[tool], tool_choice="required"),
                chat(endpoint, max_completion_tokens=100),
                chat(other_model),
                chat(warmer),
            ]
        with working_on(uuid4()):
            others.append(chat(endpoint))
        others.append(chat(endpoint))  # of no operation at all

    assert others == [f"answer {number}" for number in range(2, 10)]


def test_the_same_request_twice_in_one_attempt_is_asked_twice_and_replayed_twice(
    llm: ScriptedLlm, endpoint: Endpoint, rescuer: Endpoint, operation_id: UUID
) -> None:
    llm.script(text("first", usage=USAGE), text("second", usage=USAGE))
    paid: list[ModelCall] = []
    with working_on(operation_id):
        assert [chat(endpoint), chat(endpoint)] == ["first", "second"]

    with working_on(operation_id):
        assert [chat(rescuer, paid=paid), chat(rescuer, paid=paid)] == ["first", "second"]

    assert [call.input_tokens for call in paid] == [100, 100]
    assert len(llm.requests) == 2


@pytest.mark.parametrize(
    "failure",
    [server_error(), failing(400, "no"), body({"error": {"code": 502, "message": "upstream"}}), garbage()],
    ids=["500", "400", "error in a success", "no JSON"],
)
def test_what_is_no_reply_is_not_kept(llm: ScriptedLlm, endpoint: Endpoint, operation_id: UUID, failure: Reply) -> None:
    llm.script(failure, text("now"))

    with working_on(operation_id), pytest.raises(MindFailed):
        chat(endpoint)
    with working_on(operation_id):
        assert chat(endpoint) == "now"


def test_a_reply_that_cannot_be_used_is_replayed_until_it_is_dropped(
    llm: ScriptedLlm,
    endpoint: Endpoint,
    kept: PostgresKeptReplies,
    shared_database: Database,
    operation_id: UUID,
) -> None:
    llm.script(truncated("Half of this", usage=USAGE), text("All of this"))
    for _ in range(2):
        with working_on(operation_id), pytest.raises(MindFailed, match="was truncated") as failed:
            chat(endpoint)
        assert [call.output_tokens for call in failed.value.calls] == [20]
    assert len(llm.requests) == 1

    with shared_database.begin() as tx:
        kept.count("", operation_id, kept.uncounted("", operation_id), tx)
        kept.drop("", operation_id, tx)

    with working_on(operation_id):
        assert chat(endpoint) == "All of this"


def test_an_option_that_the_endpoint_refuses_is_no_other_request(
    llm: ScriptedLlm, endpoint: Endpoint, rescuer: Endpoint, operation_id: UUID
) -> None:
    llm.script(failing(400, "temperature is fixed", param="temperature"), text("ok"))
    with working_on(operation_id):
        chat(endpoint)

    with working_on(operation_id):
        assert chat(rescuer) == "ok"

    assert len(llm.requests) == 2


# The minds


def test_a_typed_answer_that_was_mended_is_replayed_with_its_correction(
    llm: ScriptedLlm, endpoint: Endpoint, rescuer: Endpoint, operation_id: UUID
) -> None:
    llm.script(tool_call("Colour", {"shade": "dark"}), tool_call("Colour", {"name": "green"}))
    messages = [{"role": "user", "content": "Which colour?"}]
    paid: list[ModelCall] = []
    with working_on(operation_id):
        endpoint.typed(messages, Colour, purpose="test", paid=[])

    with working_on(operation_id):
        assert rescuer.typed(messages, Colour, purpose="test", paid=paid) == Colour(name="green")

    assert len(llm.requests) == len(paid) == 2


def test_arguments_that_came_as_an_object_are_the_same_again_in_the_correction(
    llm: ScriptedLlm, endpoint: Endpoint, rescuer: Endpoint, operation_id: UUID
) -> None:
    def as_object(arguments: dict[str, Any]) -> Reply:
        call = {"id": "c", "type": "function", "function": {"name": "Colour", "arguments": arguments}}
        return body({"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})

    llm.script(as_object({"shade": "dark", "a": 1.50, "bb": None}), as_object({"name": "green"}))
    messages = [{"role": "user", "content": "Which colour?"}]
    for each in (endpoint, rescuer):
        with working_on(operation_id):
            assert each.typed(messages, Colour, purpose="test", paid=[]) == Colour(name="green")

    assert len(llm.requests) == 2


def test_parts_of_a_text_read_at_once_are_replayed_each(
    llm: ScriptedLlm, endpoint: Endpoint, rescuer: Endpoint, operation_id: UUID
) -> None:
    failing_part = ["part 3 of"]

    def one_fact(request: Request) -> Reply:
        if any(part in request.text for part in failing_part):
            return server_error()
        return tool_call("record_facts", {"facts": [{"what": f"fact of {request.text[-60:-50]}"}]}, usage=USAGE)

    llm.fallback = one_fact
    item = RetainItem(content="\n\n".join(f"Paragraph {number}. " + "word " * 500 for number in range(4)))
    now = datetime(2026, 3, 1, tzinfo=UTC)
    with working_on(operation_id), pytest.raises(MindFailed):
        LlmFactExtractor(endpoint).extract(item, steering=RetainSteering(), now=now)
    answered = len({request.text for request in llm.requests if "part 3 of" not in request.text})
    asked = len(llm.requests)
    failing_part.clear()

    with working_on(operation_id):
        read = LlmFactExtractor(rescuer).extract(item, steering=RetainSteering(), now=now)

    assert answered >= 1
    assert len(llm.requests) - asked == 4 - answered
    assert [call.input_tokens for call in read.calls] == [100] * 4


def test_a_search_a_document_an_edit_and_values_are_replayed(
    llm: ScriptedLlm, endpoint: Endpoint, rescuer: Endpoint, operation_id: UUID
) -> None:
    document = {"sections": [{"heading": "Colour", "level": 2, "blocks": ["Green."]}]}
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    llm.script(
        tool_call("recall", {"reason": "to start", "query": "bridge colour"}),
        tool_call("done", {"answer_found": True, "document": document, "memory_ids": ["f1"]}),
        edits(),
        values({"colour": "green"}),
    )

    def work(used: Endpoint) -> list[Any]:
        reflect = LlmReflectPolicy(used)
        return [
            reflect.next_step(question(), [], must_finish=False).step,
            reflect.next_step(question(), [found(fact(7))], must_finish=False).step,
            LlmDocumentEditor(used).propose(edit_request()).edits,
            LlmStructuredExtractor(used).extract("# Colour\n\nGreen.\n", schema, max_tokens=100).value,
        ]

    with working_on(operation_id):
        first = work(endpoint)
    with working_on(operation_id):
        assert work(rescuer) == first

    assert len(llm.requests) == 4
