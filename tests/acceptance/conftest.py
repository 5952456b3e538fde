"""A live server for each module, with the engine that needs no model and the worker inside; a bank for each test."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.rest import RestBank
from tests.support.scripted_pages import Page, ScriptedService, scripted_service

if TYPE_CHECKING:
    from hindsight_client import Hindsight


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str) -> Iterator[Service]:
    with opened(
        build(Settings(_env_file=None, max_body_bytes=200_000, worker_retry_seconds=0), shared_conninfo)
    ) as service:
        yield service


@pytest.fixture(scope="module")
def address(live_service: Service) -> Iterator[str]:
    with live_server(live_service) as address:
        yield address


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture
def bank(client: httpx.Client) -> RestBank:
    """A bank of the test's own, not created yet."""
    return RestBank(client, f"bank-{uuid4().hex[:12]}")


@pytest.fixture(scope="module")
def shared_bank(client: httpx.Client) -> RestBank:
    """A bank for all tests of a module that change nothing: one fact, and the mental model 'ada' on it."""
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada")
    return bank


@pytest.fixture
def driven(address: str) -> Iterator[tuple[Hindsight, asyncio.AbstractEventLoop]]:
    """The official client on the live server, with the loop that its sync methods run on."""
    from tests.support.client_bank import official_client

    with official_client(address) as client_and_loop:
        yield client_and_loop


@pytest.fixture
def hindsight(driven: tuple[Hindsight, asyncio.AbstractEventLoop]) -> Hindsight:
    return driven[0]


@pytest.fixture
def loop_of_the_client(driven: tuple[Hindsight, asyncio.AbstractEventLoop]) -> asyncio.AbstractEventLoop:
    return driven[1]


@pytest.fixture(scope="module")
def scripted(shared_conninfo: str) -> Iterator[ScriptedService]:
    """A live server for each module, whose language model answers by script."""
    with scripted_service(shared_conninfo) as service:
        yield service


@pytest.fixture
def page(scripted: ScriptedService) -> Iterator[Page]:
    """A document of the test's own, not created yet, in a bank of its own."""
    llm = scripted.llm
    yield scripted.page()
    unused, unexpected = llm.unused, list(llm.unexpected)
    llm.forget()
    assert unused == 0, "every scripted reply was asked for"
    assert unexpected == []
