"""The scripted server does what tests rely on."""

from __future__ import annotations

import json
import math
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

import pytest

from tests.support.scripted_llm import Request, ScriptedLlm, hashed_words, late, text, tool_call


def post(url: str, body: dict[str, Any]) -> Any:
    request = HttpRequest(url, json.dumps(body).encode(), {"content-type": "application/json", "X-Trace": "7"})
    with urlopen(request, timeout=10) as response:
        return json.load(response)


def test_replies_come_in_the_order_of_the_script_and_requests_are_kept(llm: ScriptedLlm) -> None:
    llm.script(text("one"), late(0.01, tool_call("recall", {"query": "x"})))
    asked = {"messages": [{"role": "user", "content": "Hello"}], "tools": [{"function": {"name": "recall"}}]}
    url = f"{llm.base_url}/chat/completions"

    answers = [post(url, asked)["choices"][0]["message"] for _ in range(2)]

    assert answers[0]["content"] == "one"
    assert answers[1]["tool_calls"][0]["function"] == {"name": "recall", "arguments": '{"query": "x"}'}
    assert [request.body for request in llm.requests] == [asked, asked]
    assert llm.requests[0].path == "/v1/chat/completions"
    assert llm.requests[0].headers["x-trace"] == "7"
    assert llm.requests[0].text == "Hello"
    assert llm.requests[0].tools == ["recall"]


def test_an_unexpected_request_gets_an_error_and_is_recorded() -> None:
    with ScriptedLlm() as llm:
        with pytest.raises(HTTPError) as refused:
            post(f"{llm.base_url}/chat/completions", {"messages": []})
        with refused.value:
            assert refused.value.code == 500
            assert "did not expect" in refused.value.read().decode()
        assert [request.path for request in llm.unexpected] == ["/v1/chat/completions"]


def test_the_fallback_answers_when_the_script_is_empty() -> None:
    def parrot(request: Request) -> Any:
        return text(request.text.upper())

    with ScriptedLlm(fallback=parrot) as llm:
        answer = post(f"{llm.base_url}/chat/completions", {"messages": [{"role": "user", "content": "hello"}]})
        assert answer["choices"][0]["message"]["content"] == "HELLO"
        assert llm.unexpected == []


def test_texts_that_share_words_have_similar_vectors() -> None:
    def similarity(one: str, other: str) -> float:
        return sum(x * y for x, y in zip(hashed_words(one, 256), hashed_words(other, 256), strict=True))

    assert math.isclose(similarity("the green bridge", "the green bridge"), 1.0)
    assert similarity("the green bridge", "a green bridge") > 0.5
    assert abs(similarity("the green bridge", "coffee at noon")) < 0.3


def test_embeddings_need_no_script(llm: ScriptedLlm) -> None:
    answer = post(f"{llm.base_url}/embeddings", {"input": ["one", "two words"], "dimensions": 8})

    assert [row["embedding"] for row in answer["data"]] == [hashed_words("one", 8), hashed_words("two words", 8)]
    assert answer["usage"]["prompt_tokens"] == 3
