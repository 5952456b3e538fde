"""The scripted model server and an endpoint of ours that talks to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.llm.endpoint import Endpoint
from tests.support.scripted_llm import ScriptedLlm

API_KEY = "sk-very-secret-key"


@pytest.fixture
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm() as server:
        yield server
    assert server.unexpected == []
    assert server.unused == 0


@pytest.fixture
def endpoint(llm: ScriptedLlm) -> Iterator[Endpoint]:
    with Endpoint(base_url=llm.base_url, api_key=API_KEY, model="tester-1", timeout_seconds=10) as opened:
        yield opened


@pytest.fixture
def impatient(llm: ScriptedLlm) -> Iterator[Endpoint]:
    """An endpoint that waits a third of a second."""
    with Endpoint(base_url=llm.base_url, api_key=API_KEY, model="tester-1", timeout_seconds=0.3) as opened:
        yield opened
