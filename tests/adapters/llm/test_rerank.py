"""A reranker over real HTTP: what it is asked, how its answers are read, and what is told when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pydantic import ValidationError

from adapters.app import build
from adapters.engines import make_reranker
from adapters.llm.rerank import RerankEndpoint
from adapters.service import opened
from adapters.settings import Settings
from application.ports import MindFailed
from tests.support.live_server import live_server
from tests.support.rest import RestBank
from tests.support.scripted_reranker import ScriptedReranker

SECRET = "secret-key-1234"


@pytest.fixture
def endpoint() -> Iterator[ScriptedReranker]:
    with ScriptedReranker() as endpoint:
        yield endpoint


@pytest.fixture
def reranker(endpoint: ScriptedReranker) -> Iterator[RerankEndpoint]:
    reranker = RerankEndpoint(base_url=f"{endpoint.base_url}/", api_key=SECRET, model="judge", timeout_seconds=5)
    yield reranker
    reranker.close()


def test_it_is_asked_in_the_common_shape_and_its_call_is_counted(
    endpoint: ScriptedReranker, reranker: RerankEndpoint
) -> None:
    endpoint.answers(
        {
            "results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}],
            "usage": {"total_tokens": 42},
        }
    )

    judged = reranker.rerank("tea\ud800", ["one\x00", "two", "three"])

    assert judged.scores == [0.25, 0.9, None]
    assert endpoint.paths == ["/v1/rerank"]
    assert endpoint.keys == [f"Bearer {SECRET}"]
    (asked,) = endpoint.requests
    assert (asked["model"], asked["top_n"], len(asked["documents"])) == ("judge", 3, 3)
    assert "\x00" not in asked["documents"][0]
    (call,) = judged.calls
    assert (call.purpose, call.model, call.input_tokens) == ("rerank", "judge", 42)


def test_logits_are_put_between_0_and_1(endpoint: ScriptedReranker, reranker: RerankEndpoint) -> None:
    endpoint.judges(0.0, 3.0, -800.0)

    scores = reranker.rerank("tea", ["one", "two", "three"]).scores

    assert scores[0] == pytest.approx(0.5)
    assert scores[1] == pytest.approx(0.953, abs=0.001)
    assert scores[2] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("body", "status", "told", "transient"),
    [
        ({"error": f"no such key {SECRET}"}, 401, "does not accept the API key", False),
        ({"detail": "unknown model"}, 404, "unknown model", False),
        ({}, 503, "failed (503)", True),
        (b"<html>", 200, "no JSON object", False),
        ([], 200, "no JSON object", False),
        ({"error": {"message": "overloaded"}}, 200, "overloaded", True),
        ({"data": []}, 200, "no list of scores", False),
        ({"results": []}, 200, "judged none of 1 texts", False),
        ({"results": [{"index": 1, "relevance_score": 1}]}, 200, "no list of scores", False),
        ({"results": [{"index": 0, "relevance_score": "high"}]}, 200, "no list of scores", False),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', 200, "no ", False),
    ],
)
def test_what_cannot_be_used_is_told(
    endpoint: ScriptedReranker, reranker: RerankEndpoint, body: Any, status: int, told: str, transient: bool
) -> None:
    endpoint.answers(body, status)

    with pytest.raises(MindFailed, match=r".") as failed:
        reranker.rerank("tea", ["one"])

    assert told in str(failed.value)
    assert SECRET not in str(failed.value)
    assert failed.value.transient is transient
    assert [each.purpose for each in failed.value.calls] == ["rerank"]


def test_an_endpoint_that_is_not_there_is_told() -> None:
    with ScriptedReranker() as gone:
        address = gone.base_url
    reranker = RerankEndpoint(base_url=address, api_key=None, model="judge", timeout_seconds=2)

    with pytest.raises(MindFailed, match="cannot be reached"):
        reranker.rerank("tea", ["one"])
    reranker.close()


def test_settings_name_the_endpoint_with_its_model(endpoint: ScriptedReranker) -> None:
    assert make_reranker(Settings(_env_file=None)) is None
    made = make_reranker(Settings(_env_file=None, rerank_base_url=endpoint.base_url, rerank_model="judge"))
    assert made is not None
    assert made.model == "judge"
    with pytest.raises(ValidationError, match="PALIMPSEST_RERANK_MODEL"):
        Settings(_env_file=None, rerank_base_url=endpoint.base_url)
    with pytest.raises(ValidationError, match="PALIMPSEST_RERANK_BASE_URL"):
        Settings(_env_file=None, rerank_base_url="somewhere", rerank_model="judge")


def test_a_recall_is_ordered_by_it_and_tells_when_it_failed(endpoint: ScriptedReranker, shared_conninfo: str) -> None:
    settings = Settings(_env_file=None, rerank_base_url=endpoint.base_url, rerank_model="judge")
    with (
        opened(build(settings, shared_conninfo)) as service,
        live_server(service) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
        bank.retain("Tea is served at noon.", document_id="d1")
        bank.retain("Tea is served in the garden every day.", document_id="d2")
        asked = {"query": "tea at noon", "trace": True}
        endpoint.judges(0.2, 0.7)
        judged = bank.post("/memories/recall", asked)
        endpoint.answers({}, 500)
        unjudged = bank.post("/memories/recall", asked)

    assert [each["scores"]["reranker"] for each in judged["results"]] == [0.7, 0.2]
    assert judged["results"][0]["text"] == "Tea is served in the garden every day."
    assert judged["trace"]["reranker"] == {"model": "judge", "failure": None}
    assert unjudged["results"][0]["text"] == "Tea is served at noon."
    assert "failed (500)" in unjudged["trace"]["reranker"]["failure"]
