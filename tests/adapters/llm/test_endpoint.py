"""Calls to a model endpoint: what each kind of failure becomes, what is counted, and what is asked again."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from pydantic import BaseModel

from adapters.llm.endpoint import Endpoint
from application.ports import MindFailed
from domain.usage import ModelCall
from tests.support.scripted_llm import (
    Reply,
    ScriptedLlm,
    Usage,
    body,
    cut_off,
    failing,
    garbage,
    hang,
    json_content,
    late,
    refusal,
    server_error,
    text,
    too_many_requests,
    tool_call,
    tool_calls,
    trickle,
    truncated,
    unauthorized,
    wrong_shape,
)

API_KEY = "sk-very-secret-key"


class Colour(BaseModel):
    """Say which colour it is."""

    name: str
    shade: int | None = None


class Tree(BaseModel):
    branches: list[Tree]


def chat(endpoint: Endpoint, paid: list[ModelCall] | None = None) -> str:
    messages = [{"role": "user", "content": "Hello"}]
    return endpoint.chat(messages, purpose="test", paid=[] if paid is None else paid).content


def colour(endpoint: Endpoint, paid: list[ModelCall] | None = None) -> Colour:
    messages = [{"role": "user", "content": "Which colour?"}]
    return endpoint.typed(messages, Colour, purpose="test", paid=[] if paid is None else paid)


def test_an_answer_is_given_and_counted(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(text("Hello yourself", usage=Usage(prompt=11, completion=7, cached=5, reasoning=3)))
    paid: list[ModelCall] = []

    assert chat(endpoint, paid) == "Hello yourself"

    (call,) = paid
    expected = ModelCall(
        purpose="test", model="tester-1", input_tokens=11, output_tokens=7, cached_tokens=5, thoughts_tokens=3
    )
    assert call.model_copy(update={"duration_ms": 0}) == expected
    assert llm.requests[0].headers["authorization"] == f"Bearer {API_KEY}"
    assert llm.requests[0].body["model"] == "tester-1"
    assert llm.requests[0].body["temperature"] == 0.0
    assert "max_completion_tokens" not in llm.requests[0].body


FAULTS = [
    (server_error(), True, "failed (500): The server had an error."),
    (failing(503, "Overloaded"), True, "failed (503): Overloaded"),
    (too_many_requests(), True, "takes no more requests for now (429): Rate limit reached."),
    (too_many_requests(retry_after=7), True, "(429, retry after 7 s)"),
    (unauthorized(), False, "does not accept the API key (401): Incorrect API key provided."),
    (failing(403, "Not yours"), False, "does not accept the API key (403): Not yours"),
    (failing(404, "No such model"), False, "check the model's name and the base URL"),
    (failing(400, "Bad messages"), False, "refused the request (400): Bad messages"),
    (garbage(), False, "is no JSON object ('<html><body>Welcome! Please sign in.</body></html>')"),
    (body(["a", "list"]), False, "is no JSON object"),
    (wrong_shape(), False, "JSON that is no chat completion"),
    (body({"choices": [{"message": None}]}), False, "JSON that is no chat completion"),
    (body({"error": {"code": 429, "message": "Upstream is busy"}}), True, "(429): Upstream is busy"),
    (body({"error": "broken"}), True, "failed (500): broken"),
    (cut_off(text("Hello")), True, "closed the connection in the middle of its answer"),
    (truncated("Half of this", usage=Usage(9, 512)), False, "was truncated at 512 tokens"),
    (refusal("I cannot help with that."), False, "refused to answer: 'I cannot help with that.'"),
    (text("", finish_reason="content_filter"), False, "its provider filtered the content"),
]


@pytest.mark.parametrize(("reply", "transient", "message"), FAULTS, ids=[fault[2] for fault in FAULTS])
def test_each_fault_is_one_line_that_names_endpoint_and_model(
    llm: ScriptedLlm, endpoint: Endpoint, reply: Reply, transient: bool, message: str
) -> None:
    llm.script(reply)

    with pytest.raises(MindFailed) as failed:
        chat(endpoint)

    said = str(failed.value)
    assert message in said
    assert f"tester-1 at {llm.base_url}" in said
    assert "\n" not in said
    assert failed.value.transient is transient
    assert failed.value.reason == "unexpected_error"
    assert [call.purpose for call in failed.value.calls] == ["test"]
    assert len(llm.requests) == 1


@pytest.mark.parametrize(
    ("reply", "on_request"),
    [
        (server_error(), True),
        (failing(502, "Bad gateway"), True),
        (failing(504, "Upstream gave no answer"), True),
        (cut_off(text("Hello")), True),
        (hang(), True),
        (failing(503, "Overloaded"), False),
        (too_many_requests(), False),
        (failing(500, "Wait", headers={"retry-after": "5"}), False),
        (failing(400, "Bad messages"), False),
    ],
)
def test_a_failure_that_a_single_request_may_cause_is_told_from_that_of_an_endpoint_that_takes_no_more(
    llm: ScriptedLlm, reply: Reply, on_request: bool
) -> None:
    llm.script(reply)
    with (
        Endpoint(base_url=llm.base_url, api_key=API_KEY, model="tester-1", timeout_seconds=0.3) as endpoint,
        pytest.raises(MindFailed) as failed,
    ):
        chat(endpoint)

    assert failed.value.on_request is on_request


@pytest.mark.parametrize(("reply", "transient", "message"), FAULTS, ids=[fault[2] for fault in FAULTS])
def test_a_typed_call_fails_as_a_plain_one_does_and_is_not_asked_again(
    llm: ScriptedLlm, endpoint: Endpoint, reply: Reply, transient: bool, message: str
) -> None:
    llm.script(reply)

    with pytest.raises(MindFailed) as failed:
        colour(endpoint)

    assert message in str(failed.value)
    assert failed.value.transient is transient
    assert len(failed.value.calls) == len(llm.requests) == 1


def test_a_truncated_answer_is_counted_and_kept_as_raw(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(truncated("Half of this", usage=Usage(9, 512)))

    with pytest.raises(MindFailed) as failed:
        chat(endpoint)

    assert failed.value.raw == "Half o"
    assert [(call.input_tokens, call.output_tokens) for call in failed.value.calls] == [(9, 512)]


@pytest.mark.parametrize("reply", [hang(), trickle(), late(5, text("too late"))], ids=["hang", "trickle", "late"])
def test_an_answer_that_does_not_come_in_time_fails_and_may_be_tried_again(
    llm: ScriptedLlm, impatient: Endpoint, reply: Reply
) -> None:
    llm.script(reply)

    with pytest.raises(MindFailed, match=r"gave no complete answer within 0\.3 s") as failed:
        chat(impatient)

    assert failed.value.transient
    assert 250 <= failed.value.calls[0].duration_ms < 3000


def test_an_answer_that_comes_late_but_in_time_is_taken(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(late(0.05, text("here")))
    paid: list[ModelCall] = []

    assert chat(endpoint, paid) == "here"
    assert paid[0].duration_ms >= 50


def test_an_endpoint_that_does_not_run_may_be_tried_again() -> None:
    with ScriptedLlm() as stopped:
        url = stopped.base_url
    with Endpoint(base_url=url, api_key=None, model="tester-1") as endpoint:
        with pytest.raises(MindFailed, match=r"cannot be reached .*check that it runs and its base URL") as failed:
            chat(endpoint)
        assert failed.value.transient


def test_the_key_is_never_quoted_even_when_the_endpoint_does(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(unauthorized(f"Incorrect API key provided: {API_KEY}"), Reply(body=f"Bearer {API_KEY}".encode()))

    for _ in range(2):
        with pytest.raises(MindFailed) as failed:
            chat(endpoint)
        assert API_KEY not in str(failed.value)
        assert API_KEY not in failed.value.raw


def test_credentials_in_the_base_url_are_not_shown() -> None:
    with Endpoint(base_url="http://user:password@127.0.0.1:9/v1", api_key=None, model="m") as endpoint:
        assert endpoint.target == "m at http://127.0.0.1:9/v1"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host/v1", "http://"])
def test_a_base_url_that_cannot_be_one_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="must look like http://host/v1"):
        Endpoint(base_url=url, api_key=None, model="m")


def test_a_model_must_be_named() -> None:
    with pytest.raises(ValueError, match="needs the name of a model"):
        Endpoint(base_url=None, api_key=None, model=" ")


def test_the_environment_of_the_library_is_not_sent_along(
    llm: ScriptedLlm, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-other")
    llm.script(text("ok"))

    chat(endpoint)

    assert "org-other" not in llm.requests[0].headers.values()
    assert "project-other" not in llm.requests[0].headers.values()


def test_limits_are_sent_when_given(llm: ScriptedLlm) -> None:
    llm.script(text("ok"))
    with Endpoint(
        base_url=llm.base_url, api_key=None, model="m", max_completion_tokens=900, temperature=None
    ) as endpoint:
        chat(endpoint)

    assert llm.requests[0].body["max_completion_tokens"] == 900
    assert "temperature" not in llm.requests[0].body


def test_a_temperature_the_endpoint_refuses_is_left_out_from_then_on(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(failing(400, "temperature does not support 0.0", param="temperature"), text("ok"), text("ok"))
    paid: list[ModelCall] = []

    assert chat(endpoint, paid) == "ok"
    assert chat(endpoint, paid) == "ok"

    assert ["temperature" in request.body for request in llm.requests] == [True, False, False]
    assert len(paid) == 3


@pytest.mark.parametrize(("own", "asked", "sent"), [(900, 700, 700), (500, 700, 500), (None, 700, 700)])
def test_one_answer_can_be_capped_below_what_the_endpoint_may(
    llm: ScriptedLlm, own: int | None, asked: int, sent: int
) -> None:
    llm.script(text("ok"))
    with Endpoint(base_url=llm.base_url, api_key=None, model="m", max_completion_tokens=own) as endpoint:
        endpoint.chat([], purpose="test", paid=[], max_completion_tokens=asked)

    assert llm.requests[0].body["max_completion_tokens"] == sent


def test_a_cap_the_endpoint_refuses_is_left_out_from_then_on(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        failing(400, "unknown field", param="max_completion_tokens"),
        failing(400, "temperature is fixed", param="temperature"),
        text("ok"),
        text("ok"),
    )

    for _ in range(2):
        assert endpoint.chat([], purpose="test", paid=[], max_completion_tokens=700).content == "ok"

    sent = [request.body.keys() & {"max_completion_tokens", "temperature"} for request in llm.requests]
    assert sent == [{"max_completion_tokens", "temperature"}, {"temperature"}, set(), set()]


def test_an_endpoint_closed_can_be_used_again(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(text("one"), text("two"))

    assert chat(endpoint) == "one"
    endpoint.close()
    assert chat(endpoint) == "two"


# Typed answers


def test_a_typed_answer_is_asked_for_as_a_tool_in_plain_json_schema(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("Colour", {"name": "green"}))

    assert colour(endpoint) == Colour(name="green")

    assert llm.requests[0].tool_choice == "Colour"
    function = llm.requests[0].body["tools"][0]["function"]
    assert function["description"] == "Say which colour it is."
    assert function["parameters"] == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "shade": {"type": "integer"}},
        "required": ["name"],
    }


def test_an_answer_that_does_not_fit_is_asked_again_with_its_errors_and_both_calls_are_counted(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    llm.script(
        tool_call("Colour", {"shade": "dark"}, usage=Usage(10, 1, cached=2, reasoning=3)),
        tool_call("Colour", {"name": "green"}, usage=Usage(20, 2, cached=4, reasoning=5)),
    )
    paid: list[ModelCall] = []

    assert colour(endpoint, paid) == Colour(name="green")

    counted = [(call.input_tokens, call.output_tokens, call.cached_tokens, call.thoughts_tokens) for call in paid]
    assert counted == [(10, 1, 2, 3), (20, 2, 4, 5)]
    correction = llm.requests[1].messages[-1]["content"]
    assert "name" in correction
    assert "Field required" in correction
    assert "shade" in correction
    assert llm.requests[1].messages[-2]["tool_calls"][0]["function"]["arguments"] == '{"shade": "dark"}'


@pytest.mark.parametrize(
    "second",
    [tool_call("Colour", {}, usage=Usage(20, 2)), text("Green, I think.", usage=Usage(20, 2))],
    ids=["wrong again", "text"],
)
def test_a_second_answer_that_does_not_fit_fails(llm: ScriptedLlm, endpoint: Endpoint, second: Reply) -> None:
    llm.script(tool_call("Colour", "{not json", usage=Usage(10, 1)), second)

    with pytest.raises(MindFailed, match="did not give a usable answer, nor when asked again") as failed:
        colour(endpoint)

    assert [call.input_tokens for call in failed.value.calls] == [10, 20]
    assert failed.value.raw in ("{}", "Green, I think.")
    assert not failed.value.transient


def test_a_fault_in_the_second_answer_is_that_fault_with_both_calls(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("Colour", {}, usage=Usage(10, 1)), too_many_requests())

    with pytest.raises(MindFailed, match="429") as failed:
        colour(endpoint)

    assert failed.value.transient
    assert [call.input_tokens for call in failed.value.calls] == [10, 0]


@pytest.mark.parametrize("written", [json_content({"name": "green"}), text('```json\n{"name": "green"}\n```')])
def test_an_answer_written_as_text_is_taken_when_it_is_the_json_asked_for(
    llm: ScriptedLlm, endpoint: Endpoint, written: Reply
) -> None:
    llm.script(written)

    assert colour(endpoint) == Colour(name="green")


def test_two_answers_in_one_turn_are_not_silently_cut_to_one(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        tool_calls(("Colour", {"name": "green"}), ("Colour", {"name": "red"})), tool_call("Colour", {"name": "red"})
    )

    assert colour(endpoint) == Colour(name="red")


def test_what_cannot_be_stored_is_cleaned_on_the_way_out_and_in(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("Colour", r'{"name": "gr\u0000een \ud83d \ud83d\ude00 <|endoftext|>"}'))
    messages = [{"role": "user", "content": "a\x00b \ud83d tail <|endoftext|>"}]

    answer = endpoint.typed(messages, Colour, purpose="test", paid=[])

    assert answer.name == "green \ufffd 😀 <|endoftext|>"
    assert llm.requests[0].text == "ab \ufffd tail <|endoftext|>"


def test_a_type_that_contains_itself_is_refused_before_any_call(endpoint: Endpoint) -> None:
    with pytest.raises(ValueError, match="Tree contains itself"):
        endpoint.typed([{"role": "user", "content": "x"}], Tree, purpose="test", paid=[])


def test_importing_and_building_everything_loads_no_client_library() -> None:
    script = """
import importlib, pkgutil, sys
import adapters.llm, adapters.embeddings.openai_compatible
for module in pkgutil.iter_modules(adapters.llm.__path__):
    importlib.import_module(f"adapters.llm.{module.name}")
from adapters.embeddings.openai_compatible import OpenAICompatibleEmbedder
from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from adapters.llm.reflect import LlmReflectPolicy
endpoint = Endpoint(base_url="http://127.0.0.1:9/v1", api_key="k", model="m")
LlmFactExtractor(endpoint), LlmReflectPolicy(endpoint)
OpenAICompatibleEmbedder(base_url="http://127.0.0.1:9/v1", api_key="k", model="m")
print(sorted({"openai", "instructor", "httpx2", "httpx"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_calls_from_several_threads_share_one_client(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    from concurrent.futures import ThreadPoolExecutor

    llm.fallback = lambda request: text(request.text)

    def ask(number: int) -> Any:
        return endpoint.chat([{"role": "user", "content": str(number)}], purpose="test", paid=[]).content

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(24))) == [str(number) for number in range(24)]
