"""Calls to a model while the time for an operation runs out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

import pytest

from adapters.embeddings.openai_compatible import OpenAICompatibleEmbedder
from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from application.current_operation import working_on
from application.deadline import Deadline, DeadlinePassed
from application.ports import MindFailed, RetainSteering
from domain.memory import RetainItem
from domain.usage import ModelCall
from tests.support.scripted_llm import Reply, ScriptedLlm, hang, text, trickle, unauthorized

OPERATION = UUID(int=1)


class UsedUp(Deadline):
    """A deadline that passes at the first look after the request was sent."""

    def __init__(self) -> None:
        self.readings: Iterator[float] = iter([0, 1, 1])
        super().__init__(10, lambda: next(self.readings, 11))


def chat(endpoint: Endpoint, paid: list[ModelCall] | None = None) -> str:
    messages = [{"role": "user", "content": "Hello"}]
    return endpoint.chat(messages, purpose="test", paid=[] if paid is None else paid).content


@pytest.mark.parametrize("reply", [hang(), trickle()], ids=["hangs", "trickles"])
def test_an_answer_is_waited_for_to_the_deadline_only(llm: ScriptedLlm, endpoint: Endpoint, reply: Reply) -> None:
    llm.script(text("the library is loaded"), reply)
    chat(endpoint)
    started = time.monotonic()

    with (
        working_on(OPERATION, deadline=Deadline(0.5)),
        pytest.raises(DeadlinePassed, match=r"took longer than 0\.5 s") as passed,
    ):
        chat(endpoint)

    assert time.monotonic() - started < 5
    assert not passed.value.transient
    assert len(passed.value.calls) == 1


def test_nothing_is_asked_when_no_time_is_left(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    with working_on(OPERATION, deadline=Deadline(0)):
        with pytest.raises(DeadlinePassed):
            chat(endpoint)
        with pytest.raises(DeadlinePassed):
            endpoint.chat([], purpose="test", paid=[], tools=[])
        with (
            OpenAICompatibleEmbedder(base_url=llm.base_url, api_key=None, model="m") as embedder,
            pytest.raises(DeadlinePassed),
        ):
            embedder.embed(["text"])

    assert llm.requests == []


def test_the_timeout_of_the_endpoint_counts_when_it_is_shorter(llm: ScriptedLlm, impatient: Endpoint) -> None:
    llm.script(hang())

    with (
        working_on(OPERATION, deadline=Deadline(60)),
        pytest.raises(MindFailed, match=r"gave no complete answer within 0\.3 s") as failed,
    ):
        chat(impatient)

    assert failed.value.transient


def test_an_answer_in_time_is_taken_as_without_a_deadline(
    llm: ScriptedLlm, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-other")
    llm.script(text("one"), text("two"))

    with working_on(OPERATION, deadline=Deadline(5)):
        assert chat(endpoint) == "one"
    assert chat(endpoint) == "two"

    bounded, plain = (request.headers for request in llm.requests)
    assert "org-other" not in bounded.values()
    assert bounded["authorization"] == plain["authorization"]


def test_what_the_endpoint_says_counts_even_when_it_comes_late(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(unauthorized())

    with working_on(OPERATION, deadline=UsedUp()), pytest.raises(MindFailed, match="does not accept the API key"):
        chat(endpoint)


def test_parts_that_are_read_at_once_all_know_the_deadline(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    content = "\n\n".join("word " * 500 for _ in range(4))

    with working_on(OPERATION, deadline=Deadline(0)), pytest.raises(DeadlinePassed):
        LlmFactExtractor(endpoint).extract(
            RetainItem(content=content), steering=RetainSteering(), now=datetime(2026, 1, 1, tzinfo=UTC)
        )

    assert llm.requests == []
