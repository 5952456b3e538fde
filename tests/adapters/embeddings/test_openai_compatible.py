"""Vectors from an OpenAI-compatible endpoint, over real HTTP."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pytest

from adapters.embeddings.openai_compatible import BATCH, OpenAICompatibleEmbedder
from application.ports import MindFailed
from tests.support.scripted_llm import (
    Reply,
    ScriptedLlm,
    body,
    cut_off,
    embeddings,
    failing,
    garbage,
    hang,
    hashed_words,
    server_error,
    too_many_requests,
    trickle,
    unauthorized,
    wrong_shape,
)

API_KEY = "sk-very-secret-key"


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm(dimensions=32) as server:
        yield server
    assert server.unexpected == []
    assert server.unused == 0


@pytest.fixture
def embedder(llm: ScriptedLlm) -> Iterator[OpenAICompatibleEmbedder]:
    with OpenAICompatibleEmbedder(base_url=llm.base_url, api_key=API_KEY, model="vectors-1") as opened:
        yield opened


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


def test_each_text_gets_its_vector_in_order(llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder) -> None:
    given = embedder.embed(["the green bridge", "coffee at noon", "a green bridge"])

    expected = hashed_words("coffee at noon", 32)
    assert given.vectors[1] == pytest.approx(expected, abs=1e-6)
    assert cosine(given.vectors[0], given.vectors[2]) > cosine(given.vectors[0], given.vectors[1])
    assert llm.requests[0].body["model"] == "vectors-1"
    assert llm.requests[0].headers["authorization"] == f"Bearer {API_KEY}"
    assert "dimensions" not in llm.requests[0].body
    (call,) = given.calls
    assert (call.purpose, call.model, call.input_tokens, call.output_tokens) == ("embed", "vectors-1", 9, 0)


def test_no_texts_cost_nothing(llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder) -> None:
    given = embedder.embed([])

    assert (list(given.vectors), given.calls, llm.requests) == ([], (), [])


def test_many_texts_are_sent_in_batches_and_each_is_counted(
    llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder
) -> None:
    texts = [f"text number {number}" for number in range(2 * BATCH + 1)]

    given = embedder.embed(texts)

    assert [len(request.body["input"]) for request in llm.requests] == [BATCH, BATCH, 1]
    assert len(given.vectors) == len(texts)
    assert given.vectors[-1] == pytest.approx(hashed_words(texts[-1], 32), abs=1e-6)
    assert [call.input_tokens for call in given.calls] == [3 * BATCH, 3 * BATCH, 3]


def test_the_size_of_vectors_is_found_out_once_and_its_call_reported_with_the_next(
    llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder
) -> None:
    assert [embedder.dimensions, embedder.dimensions] == [32, 32]
    assert len(llm.requests) == 1

    assert len(embedder.embed(["x"]).calls) == 2
    assert len(embedder.embed(["x"]).calls) == 1


def test_the_size_is_known_from_the_first_vectors(llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder) -> None:
    embedder.embed(["x"])

    assert embedder.dimensions == 32
    assert len(llm.requests) == 1


def test_a_size_that_is_given_is_asked_for_and_needs_no_call(llm: ScriptedLlm) -> None:
    with OpenAICompatibleEmbedder(base_url=llm.base_url, api_key=None, model="m", dimensions=8) as embedder:
        assert embedder.dimensions == 8
        assert llm.requests == []
        assert len(embedder.embed(["x"]).vectors[0]) == 8
    assert llm.requests[0].body["dimensions"] == 8


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_vectors_come_as_numbers_or_base64_and_leave_at_length_one(
    llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder, encoding: str
) -> None:
    llm.script_embeddings(embeddings([[3.0, 4.0], [0.0, -2.0]], encoding=encoding))

    vectors = embedder.embed(["a", "b"]).vectors

    assert vectors[0] == pytest.approx([0.6, 0.8])
    assert vectors[1] == pytest.approx([0.0, -1.0])


def test_vectors_sent_out_of_order_are_put_in_order(llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder) -> None:
    llm.script_embeddings(body({"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}))

    assert list(embedder.embed(["a", "b"]).vectors) == [[1.0, 0.0], [0.0, 1.0]]


def test_texts_that_endpoints_cannot_take_are_made_harmless(
    llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder
) -> None:
    vectors = embedder.embed(["", " \n", "a\x00b \ud83d <|endoftext|>"]).vectors

    assert llm.requests[0].body["input"] == [" ", " ", "ab \ufffd <|endoftext|>"]
    assert all(math.isclose(math.hypot(*vector), 1.0, abs_tol=1e-6) for vector in vectors)


FAULTS = [
    (server_error(), True, "failed (500)"),
    (too_many_requests(retry_after=3), True, "(429, retry after 3 s)"),
    (unauthorized(f"Bad key {API_KEY}"), False, "does not accept the API key (401): Bad key ***"),
    (failing(400, "dimensions not supported"), False, "refused the request (400): dimensions not supported"),
    (garbage(), False, "is no JSON object"),
    (wrong_shape(), False, "JSON that is no list of embeddings"),
    (body({"error": {"message": "Busy", "code": 503}}), True, "failed (503): Busy"),
    (body({"data": [{"embedding": "!"}]}), False, "JSON that is no list of embeddings"),
    (body({"data": [{"embedding": ["a"]}]}), False, "JSON that is no list of embeddings"),
    (body({"data": [{"embedding": [0, 0]}]}), False, "JSON that is no list of embeddings"),
    (body({"data": [None]}), False, "JSON that is no list of embeddings"),
    (embeddings([[1, 0], [0, 1]]), False, "gave 2 vectors for 1 texts"),
    (embeddings([]), False, "gave 0 vectors for 1 texts"),
    (cut_off(embeddings([[1, 0]])), True, "closed the connection"),
]


@pytest.mark.parametrize(("reply", "transient", "message"), FAULTS)
def test_each_fault_is_one_line_that_names_endpoint_and_model(
    llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder, reply: Reply, transient: bool, message: str
) -> None:
    llm.script_embeddings(reply)

    with pytest.raises(MindFailed) as failed:
        embedder.embed(["x"])

    assert message in str(failed.value)
    assert f"vectors-1 at {llm.base_url}" in str(failed.value)
    assert failed.value.transient is transient
    assert failed.value.reason == "unexpected_error"
    assert [call.purpose for call in failed.value.calls] == ["embed"]


@pytest.mark.parametrize("reply", [hang(), trickle()], ids=["hang", "trickle"])
def test_vectors_that_do_not_come_in_time_may_be_asked_for_again(llm: ScriptedLlm, reply: Reply) -> None:
    llm.script_embeddings(reply)
    with (
        OpenAICompatibleEmbedder(base_url=llm.base_url, api_key=None, model="m", timeout_seconds=0.3) as embedder,
        pytest.raises(MindFailed, match=r"within 0\.3 s") as failed,
    ):
        embedder.embed(["x"])
    assert failed.value.transient


def test_a_failure_after_some_batches_carries_their_calls(llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder) -> None:
    llm.script_embeddings(embeddings([[1, 0]] * BATCH, prompt_tokens=50), server_error())

    with pytest.raises(MindFailed) as failed:
        embedder.embed(["x"] * (BATCH + 1))

    assert [call.input_tokens for call in failed.value.calls] == [50, 0]


def test_vectors_of_another_size_than_before_are_refused(llm: ScriptedLlm, embedder: OpenAICompatibleEmbedder) -> None:
    llm.script_embeddings(embeddings([[1, 0]]), embeddings([[1, 0, 0]]))
    embedder.embed(["x"])

    with pytest.raises(MindFailed, match="vectors of 3 dimensions instead of 2; was its model changed"):
        embedder.embed(["x"])
