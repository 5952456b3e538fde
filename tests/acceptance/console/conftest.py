"""A live server with the console, a real browser, and pictures of what it showed in `test-artefacts/`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.browser import CHROMIUM, OpenTab, Tab, browser
from tests.support.live_server import live_server
from tests.support.rest import RestBank

PICTURES = Path(__file__).parents[3] / "test-artefacts"
DESK = (1280, 860)
PHONE = (390, 844)


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str) -> Iterator[Service]:
    settings = Settings(_env_file=None, console_enabled=True, worker_retry_seconds=0)
    with opened(build(settings, shared_conninfo)) as service:
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


@pytest.fixture(scope="session")
def chromium() -> Iterator[OpenTab]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine")
    with browser() as open_tab:
        yield open_tab


@pytest.fixture
def tab(chromium: OpenTab) -> Iterator[Tab]:
    """A tab of the test's own, of the size of a desk's screen, in light colours."""
    with chromium() as tab:
        tab.shape(*DESK)
        yield tab
