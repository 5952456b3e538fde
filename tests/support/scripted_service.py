"""A live service whose mind is a scripted language model, and a client of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.scripted_llm import ScriptedLlm


@contextmanager
def client_of_scripted_service(conninfo: str, llm: ScriptedLlm, **settings: float) -> Iterator[httpx.Client]:
    configured = Settings(
        _env_file=None, llm_base_url=llm.base_url, llm_api_key="none", llm_model="scripted", **settings
    )
    with (
        opened(build(configured, conninfo)) as service,
        live_server(service) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield client
