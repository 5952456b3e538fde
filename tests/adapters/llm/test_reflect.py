"""One step of the reflect loop, decided by a model: search, document, or no answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from adapters.llm.endpoint import Endpoint
from adapters.llm.reflect import LlmReflectPolicy
from application.ports import MindFailed
from domain.reflection import Answer, Mention, NoAnswer, Thought, ToolCall, ToolResult
from tests.adapters.llm.found_facts import fact, fact_id, found, question
from tests.support.scripted_llm import (
    FREE,
    Reply,
    ScriptedLlm,
    Usage,
    hang,
    json_content,
    refusal,
    text,
    too_many_requests,
    tool_call,
    tool_calls,
    truncated,
)

SEARCHED = [found(fact(7), fact(3))]


def done(*blocks: Any, found: Any = True, ids: Any = ("f1",), usage: Usage = FREE) -> Reply:
    document = {"sections": [{"heading": "Colour", "level": 2, "blocks": list(blocks)}]}
    return tool_call("done", {"answer_found": found, "document": document, "memory_ids": ids}, usage=usage)


def step(endpoint: Endpoint, results: Sequence[ToolResult] = (), *, must_finish: bool = False) -> Thought:
    return LlmReflectPolicy(endpoint).next_step(question(), results, must_finish=must_finish)


# Which tools the model may call


def test_the_engine_is_the_model(endpoint: Endpoint) -> None:
    assert LlmReflectPolicy(endpoint).engine == "tester-1"


def test_the_first_step_must_be_a_search(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("recall", {"reason": "to start", "query": " bridge colour ", "max_tokens": 3000}))

    thought = step(endpoint)

    assert thought.step == ToolCall(tool="recall", query="bridge colour", max_tokens=3000, reason="to start")
    assert [call.purpose for call in thought.calls] == ["reflect_1"]
    assert llm.requests[0].tools == ["recall"]
    assert llm.requests[0].tool_choice == "recall"
    assert "What colour is the bridge?" in llm.requests[0].text


def test_later_the_model_chooses_between_search_and_document(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("recall", {"reason": "more", "query": "paint"}))

    thought = step(endpoint, [*SEARCHED, found(fact(9), query="age").model_copy(update={"turn": 2})])

    assert thought.step == ToolCall(tool="recall", query="paint", reason="more")
    assert [call.purpose for call in thought.calls] == ["reflect_3"]
    assert llm.requests[0].tools == ["recall", "done"]
    assert llm.requests[0].tool_choice == "required"
    assert [message["role"] for message in llm.requests[0].messages] == [
        *("system", "user"),
        *("assistant", "tool") * 2,
    ]
    assert '"id": "f3"' in llm.requests[0].text


def test_the_last_step_must_be_the_document(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(done("Green."))

    thought = step(endpoint, SEARCHED, must_finish=True)

    assert isinstance(thought.step, Answer)
    assert [call.purpose for call in thought.calls] == ["reflect_document"]
    assert llm.requests[0].tools == ["done"]
    assert llm.requests[0].tool_choice == "done"
    assert "Deliver the document now" in llm.requests[0].messages[-1]["content"]


@pytest.mark.parametrize(("asked", "given"), [(1, 1000), (99999, 16000), ("many", 2048), (True, 2048), (None, 2048)])
def test_the_tokens_a_search_may_read_are_kept_in_bounds(
    llm: ScriptedLlm, endpoint: Endpoint, asked: Any, given: int
) -> None:
    llm.script(tool_call("recall", {"query": "x", "max_tokens": asked, "reason": 5}))

    assert step(endpoint).step == ToolCall(tool="recall", query="x", max_tokens=given)


def test_a_search_beside_a_document_comes_first(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_calls(("done", {"answer_found": False}), ("recall", {"query": "paint"})))

    assert isinstance(step(endpoint, SEARCHED).step, ToolCall)


# The document


def test_the_document_is_markdown_with_the_ids_of_its_facts_and_the_reply_as_it_came(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    llm.script(done("It is green [f2].", "- old", ids=["f1", "f9", "[f1]"], usage=Usage(30, 20, 4, 6)))

    thought = step(endpoint, SEARCHED)

    assert isinstance(thought.step, Answer)
    assert thought.step.markdown == "## Colour\n\nIt is green.\n\n- old\n"
    assert thought.step.used == (fact_id(7), fact_id(3))
    assert thought.step.mentions == (Mention(offset=len("## Colour\n\nIt is green"), fact_id=fact_id(3)),)
    assert json.loads(thought.step.raw)["memory_ids"] == ["f1", "f9", "[f1]"]
    (call,) = thought.calls
    assert (call.input_tokens, call.output_tokens, call.cached_tokens, call.thoughts_tokens) == (30, 20, 4, 6)


def test_each_item_knows_the_facts_that_are_cited_in_it(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(done("- green [f1]\n- old [f2, f9]\n- long [f1, f2]", ids=[]))

    answer = step(endpoint, SEARCHED).step

    assert isinstance(answer, Answer)
    assert answer.markdown == "## Colour\n\n- green\n- old [f2, f9]\n- long\n"
    places = [(answer.markdown[: each.offset].rpartition("\n")[2], each.fact_id) for each in answer.mentions]
    assert places == [("- green", fact_id(7)), ("- long", fact_id(7)), ("- long", fact_id(3))]
    assert answer.used == (fact_id(7), fact_id(3))


def test_the_document_may_be_json_text_and_ids_may_be_missing(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        tool_call("done", {"answer_found": True, "document": '{"sections": [{"heading": "", "blocks": ["Green."]}]}'})
    )

    answer = step(endpoint, SEARCHED).step

    assert isinstance(answer, Answer)
    assert (answer.markdown, answer.used) == ("Green.\n", ())


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (done("It is green.", found=False), "the model found no answer in the memory"),
        (tool_call("done", {"answer_found": False}), "the model found no answer in the memory"),
        (tool_call("done", {"answer_found": True}), "the model delivered an empty document"),
        (
            tool_call("done", {"answer_found": True, "document": {"sections": []}}),
            "the model delivered an empty document",
        ),
        (
            tool_call("done", {"answer_found": True, "document": [{"heading": " ", "blocks": [" \u200b\n"]}]}),
            "the model delivered an empty document",
        ),
    ],
)
def test_no_answer_is_a_type_and_never_a_text(llm: ScriptedLlm, endpoint: Endpoint, reply: Reply, reason: str) -> None:
    llm.script(reply)

    answer = step(endpoint, SEARCHED).step

    assert isinstance(answer, NoAnswer)
    assert answer.reason == reason
    assert "answer_found" in answer.raw


def test_a_document_can_be_stored_whatever_the_model_writes(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        tool_call(
            "done", r'{"answer_found": true, "document": {"sections": [{"blocks": ["a\u0000b \ud83d <|endoftext|>"]}]}}'
        )
    )

    answer = step(endpoint, SEARCHED).step

    assert isinstance(answer, Answer)
    assert answer.markdown == "ab \ufffd <|endoftext|>\n"
    answer.raw.encode()


# Asking again


def test_a_document_of_the_wrong_types_is_asked_for_again_with_all_errors(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(done("ok", 5, {"text": "x"}, ids="f1", usage=Usage(10, 1)), done("Green.", usage=Usage(20, 2)))

    thought = step(endpoint, SEARCHED)

    assert isinstance(thought.step, Answer)
    assert [call.input_tokens for call in thought.calls] == [10, 20]
    rejected, correction = llm.requests[1].messages[-2:]
    assert correction["role"] == "tool"
    assert correction["tool_call_id"] == rejected["tool_calls"][0]["id"]
    assert correction["content"].split("\n")[1:-1] == [
        "- memory_ids: must be a list of texts",
        "- sections[0].blocks[1]: must be text, not a number",
        "- sections[0].blocks[2]: must be text, not an object",
    ]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (done(5), "gave an unusable `done`, also when asked again: sections[0].blocks[0]: must be text, not a number"),
        (done("x", found="yes"), "answer_found: must be true or false"),
        (tool_call("done", "{not json"), "the arguments are not a JSON object"),
        (tool_call("recall", {"query": " \u200b"}), "query: must be a text that is not empty"),
        (tool_call("search_the_web", {"query": "x"}), "this tool cannot be called now, only `recall` or `done`"),
        (done('{"answer": "Green.", "memory_ids": []}'), "must be markdown, not the JSON of a reply"),
    ],
)
def test_a_second_unusable_call_fails_with_both_calls(
    llm: ScriptedLlm, endpoint: Endpoint, bad: Reply, message: str
) -> None:
    llm.script(bad, bad)

    with pytest.raises(MindFailed) as failed:
        step(endpoint, SEARCHED)

    assert message in str(failed.value)
    assert f"tester-1 at {llm.base_url}" in str(failed.value)
    assert failed.value.reason == "unexpected_error"
    assert not failed.value.transient
    assert len(failed.value.calls) == 2


def test_a_document_before_any_search_is_not_accepted(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(done("Green, as everybody knows."), tool_call("recall", {"query": "colour"}))

    assert isinstance(step(endpoint).step, ToolCall)
    assert "only `recall`" in llm.requests[1].text


def test_a_search_when_the_run_must_finish_is_not_accepted(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("recall", {"query": "more"}), done("Green."))

    assert isinstance(step(endpoint, SEARCHED, must_finish=True).step, Answer)
    assert "only `done`" in llm.requests[1].text


# Text instead of a call


@pytest.mark.parametrize(
    "written",
    [
        text("The bridge is green."),
        text("No answer provided."),
        text(""),
        json_content({"answer": "The bridge is green.", "memory_ids": ["f1"], "directive_compliance": "ok"}),
        json_content(["green"]),
        json_content({"name": "done", "arguments": "# Bridge"}),
    ],
    ids=["prose", "placeholder", "nothing", "envelope", "list", "no arguments"],
)
def test_text_is_never_the_document_and_fails_when_it_comes_again(
    llm: ScriptedLlm, endpoint: Endpoint, written: Reply
) -> None:
    llm.script(written, written)

    with pytest.raises(MindFailed, match="answered with text instead of a tool call, also when asked again") as failed:
        step(endpoint, SEARCHED, must_finish=True)

    assert failed.value.reason == "no_answer"
    assert not failed.value.transient
    assert len(failed.value.calls) == 2
    assert llm.requests[1].messages[-1]["role"] == "user"
    assert "Text is not read" in llm.requests[1].messages[-1]["content"]


def test_text_and_then_a_call_is_taken(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(text("Let me look."), tool_call("recall", {"query": "colour"}))

    thought = step(endpoint)

    assert isinstance(thought.step, ToolCall)
    assert len(thought.calls) == 2
    assert llm.requests[1].messages[-2] == {"role": "assistant", "content": "Let me look."}


@pytest.mark.parametrize(
    "written",
    [
        json_content({"answer_found": True, "document": {"sections": [{"blocks": ["Green."]}]}, "memory_ids": ["f2"]}),
        json_content(
            {
                "name": "done",
                "arguments": {"answer_found": True, "document": [{"blocks": ["Green."]}], "memory_ids": ["f2"]},
            }
        ),
    ],
    ids=["arguments", "call"],
)
def test_a_whole_call_written_as_text_is_taken(llm: ScriptedLlm, endpoint: Endpoint, written: Reply) -> None:
    llm.script(written)

    answer = step(endpoint, SEARCHED).step

    assert isinstance(answer, Answer)
    assert (answer.markdown, answer.used) == ("Green.\n", (fact_id(3),))


# Failures of the endpoint


@pytest.mark.parametrize(
    ("reply", "transient"),
    [(too_many_requests(), True), (refusal("No."), False), (truncated("Half of it"), False), (hang(), True)],
    ids=["429", "refusal", "truncated", "hang"],
)
def test_a_failure_of_the_endpoint_is_not_asked_again(
    llm: ScriptedLlm, impatient: Endpoint, reply: Reply, transient: bool
) -> None:
    llm.script(reply)

    with pytest.raises(MindFailed) as failed:
        step(impatient, SEARCHED)

    assert failed.value.transient is transient
    assert [call.purpose for call in failed.value.calls] == ["reflect_2"]


def test_a_truncated_call_of_done_never_becomes_a_document(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    whole = json.dumps({"answer_found": True, "document": [{"blocks": ["Half a sen"]}], "memory_ids": []})
    llm.script(tool_call("done", whole, finish_reason="length", usage=Usage(10, 4096)))

    with pytest.raises(MindFailed, match="truncated at 4096 tokens") as failed:
        step(endpoint, SEARCHED, must_finish=True)

    assert json.loads(failed.value.raw) == json.loads(whole)
