"""When an endpoint says that it takes requests again: in all the ways they say it, and over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.embeddings.openai_compatible import OpenAICompatibleEmbedder
from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from adapters.llm.quota import come_back_at
from application.ports import MindFailed, RetainSteering
from domain.memory import RetainItem
from tests.support.scripted_llm import Reply, ScriptedLlm, body, failing, text, too_many_requests

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
UNIX = int(NOW.timestamp())


@pytest.fixture
def endpoint(llm: ScriptedLlm) -> Iterator[Endpoint]:
    with Endpoint(base_url=llm.base_url, api_key="sk-secret", model="tester-1", now=lambda: NOW) as opened:
        yield opened


HEADERS: list[tuple[dict[str, str], timedelta | None]] = [
    ({"retry-after": "7"}, timedelta(seconds=7)),
    ({"retry-after": "0.5"}, timedelta(seconds=0.5)),
    ({"retry-after": "Sun, 01 Mar 2026 13:30:00 GMT"}, timedelta(minutes=90)),
    ({"retry-after-ms": "1500", "retry-after": "2"}, timedelta(seconds=1.5)),
    ({"retry-after": "600", "x-ratelimit-reset-tokens": "2h"}, timedelta(minutes=10)),
    ({"x-ratelimit-reset-requests": "1m30s"}, timedelta(seconds=90)),
    ({"x-ratelimit-reset-tokens": "6ms"}, timedelta(milliseconds=6)),
    ({"x-ratelimit-reset-tokens": "2h3m4.5s"}, timedelta(hours=2, minutes=3, seconds=4.5)),
    ({"x-ratelimit-reset-requests": "120"}, timedelta(minutes=2)),
    ({"x-ratelimit-reset": f"{UNIX + 300}"}, timedelta(minutes=5)),
    ({"x-ratelimit-reset": f"{UNIX + 300}000"}, timedelta(minutes=5)),
    ({"anthropic-ratelimit-tokens-reset": "2026-03-01T12:05:00Z"}, timedelta(minutes=5)),
    ({"x-ratelimit-reset-requests": "5m", "x-ratelimit-reset-tokens": "9m"}, timedelta(minutes=9)),
    (
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": "5m",
            "x-ratelimit-remaining-tokens": "120",
            "x-ratelimit-reset-tokens": "9m",
        },
        timedelta(minutes=5),
    ),
    ({"retry-after": "0"}, None),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "-5"}, None),
    ({"retry-after": "Sun, 01 Mar 2026 11:30:00 GMT"}, None),
    ({"x-ratelimit-reset-tokens": "a while"}, None),
    ({"x-ratelimit-limit-requests": "60"}, None),
    ({}, None),
    ({"retry-after": f"{48 * 3600}"}, timedelta(hours=24)),
    ({"retry-after": "9" * 400}, None),
]


@pytest.mark.parametrize(("headers", "wait"), HEADERS, ids=[str(headers) for headers, _ in HEADERS])
def test_headers_name_the_time(headers: dict[str, str], wait: timedelta | None) -> None:
    assert come_back_at(headers, None, NOW) == (NOW + wait if wait else None)


BODIES: list[tuple[Any, timedelta | None]] = [
    ("Usage limit reached; it resets at 2026-03-01T15:00:00Z.", timedelta(hours=3)),
    ("Your limit resets at 2026-03-01 15:00:00 UTC", timedelta(hours=3)),
    ("The quota will be reset. Try again at 2026-03-01T16:00:00.250+01:00", timedelta(hours=3, milliseconds=250)),
    ("Rate limit reached. Please try again in 7m12s. Visit https://example.org", timedelta(minutes=7, seconds=12)),
    ("Please try again in 1h2m3.5s.", timedelta(hours=1, minutes=2, seconds=3.5)),
    ("Retry after 5 minutes and 10 seconds", timedelta(minutes=5, seconds=10)),
    ({"message": "Quota", "details": [{"retryDelay": "340s"}]}, timedelta(seconds=340)),
    ({"type": "usage_limit_reached", "resets_in_seconds": 3600}, timedelta(hours=1)),
    ({"type": "usage_limit_reached", "resets_at": UNIX + 7200}, timedelta(hours=2)),
    ({"message": "Rate", "metadata": {"headers": {"X-RateLimit-Reset": f"{UNIX + 60}000"}}}, timedelta(minutes=1)),
    ("Only 2000 tokens are available. Limit 500 per day", None),
    ("It was reset at 2026-02-01T00:00:00Z", None),
    ("Try again later", None),
    (None, None),
]


@pytest.mark.parametrize(("said", "wait"), BODIES, ids=[str(said) for said, _ in BODIES])
def test_words_and_fields_of_a_body_name_the_time(said: Any, wait: timedelta | None) -> None:
    assert come_back_at({}, said, NOW) == (NOW + wait if wait else None)


@given(said=st.text(), value=st.text(), name=st.sampled_from(["retry-after", "retry-after-ms", "x-ratelimit-reset-a"]))
def test_whatever_is_said_is_a_time_within_a_day_or_none(said: str, value: str, name: str) -> None:
    moment = come_back_at({name: value}, f"resets at {said}", NOW)
    assert moment is None or NOW < moment <= NOW + timedelta(hours=24)


def failure(endpoint: Endpoint) -> MindFailed:
    with pytest.raises(MindFailed) as failed:
        endpoint.chat([{"role": "user", "content": "Hello"}], purpose="test", paid=[])
    return failed.value


def quota(message: str, status: int = 429, **headers: str) -> Reply:
    return failing(status, message, headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_a_quota_that_is_reset_later_says_when_and_may_be_tried_then(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(quota("Used up.", retry_after="5400"))

    failed = failure(endpoint)

    assert (failed.transient, failed.resume_at) == (True, NOW + timedelta(minutes=90))
    assert "takes no more requests for now (429, until 2026-03-01 13:30:00 UTC): Used up." in str(failed)
    assert len(failed.calls) == 1


@pytest.mark.parametrize(("seconds", "resumes"), [(59, False), (60, True)])
def test_a_short_wait_is_left_to_the_next_retry(
    llm: ScriptedLlm, endpoint: Endpoint, seconds: int, resumes: bool
) -> None:
    llm.script(too_many_requests(retry_after=seconds))

    failed = failure(endpoint)

    assert failed.transient
    assert (failed.resume_at is not None) is resumes


@pytest.mark.parametrize("status", [402, 403])
def test_a_refusal_that_names_a_time_is_a_quota(llm: ScriptedLlm, endpoint: Endpoint, status: int) -> None:
    llm.script(
        quota("Usage limit; resets at 2026-03-01T14:00:00Z", status), quota("No.", status, x_ratelimit_reset="600")
    )

    used_up, forbidden = failure(endpoint), failure(endpoint)

    assert (used_up.transient, used_up.resume_at) == (True, NOW + timedelta(hours=2))
    assert f"takes no more requests for now ({status}, until" in str(used_up)
    assert (forbidden.transient, forbidden.resume_at) == (False, None)


def test_a_server_that_is_overloaded_for_long_says_when(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(quota("Overloaded", 503, retry_after="120"), quota("Broken", 500, x_ratelimit_reset_requests="2m"))

    assert failure(endpoint).resume_at == NOW + timedelta(minutes=2)
    assert failure(endpoint).resume_at is None


def test_a_gateway_says_it_in_the_body_of_a_success(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(body({"error": {"code": 429, "message": "Upstream: try again in 10 minutes"}}))

    assert failure(endpoint).resume_at == NOW + timedelta(minutes=10)


def test_a_typed_call_and_the_reading_of_facts_keep_the_time(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.fallback = lambda _request: quota("Used up.", retry_after="5400")

    for content in ("short", "\n\n".join("word " * 500 for _ in range(3))):
        with pytest.raises(MindFailed) as failed:
            LlmFactExtractor(endpoint).extract(RetainItem(content=content), steering=RetainSteering(), now=NOW)
        assert failed.value.resume_at == NOW + timedelta(minutes=90)


def test_the_time_is_that_of_the_real_world_unless_told(llm: ScriptedLlm) -> None:
    llm.script(quota("Used up.", retry_after="5400"))
    llm.script_embeddings(quota("Used up.", retry_after="5400"))
    soonest = datetime.now(UTC) + timedelta(minutes=90)

    with Endpoint(base_url=llm.base_url, api_key=None, model="m") as endpoint:
        chat = failure(endpoint).resume_at
    with (
        OpenAICompatibleEmbedder(base_url=llm.base_url, api_key=None, model="m") as embedder,
        pytest.raises(MindFailed) as failed,
    ):
        embedder.embed(["text"])

    for moment in (chat, failed.value.resume_at):
        assert moment is not None
        assert soonest <= moment < soonest + timedelta(minutes=1)


def test_after_the_wait_it_works(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(quota("Used up.", retry_after="5400"), text("Hello"))

    failure(endpoint)

    assert endpoint.chat([{"role": "user", "content": "Hello"}], purpose="test", paid=[]).content == "Hello"
