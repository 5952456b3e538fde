"""Operations in the console while no worker runs: what waits is told, cancelled, and done again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.service import Service
from tests.support.browser import Tab
from tests.support.live_server import live_server
from tests.support.rest import RestBank


@pytest.fixture(scope="module")
def address(live_service: Service) -> Iterator[str]:
    with live_server(live_service, run_worker=False) as address:
        yield address


@pytest.fixture
def waiting(bank: RestBank) -> str:
    """A refresh that waits for a worker."""
    bank.retain("Ada Lovelace works at Acme.")
    body = {"id": "ada", "name": "All about Ada", "source_query": "Who is Ada?"}
    return str(bank.post("/mental-models", body)["operation_id"])


def test_a_document_tells_that_its_refresh_waits(tab: Tab, address: str, bank: RestBank, waiting: str) -> None:
    assert waiting
    tab.open(f"{address}/banks/{bank.bank_id}/models/ada")
    tab.sees("Refresh: Waits for a worker")
    tab.sees("Nothing written yet")


def test_what_waits_is_cancelled_and_done_again(tab: Tab, address: str, bank: RestBank, waiting: str) -> None:
    tab.open(f"{address}/banks/{bank.bank_id}/operations")
    tab.sees("All about Ada")
    tab.sees("Waits for a worker")
    tab.click("Cancel")
    tab.sees("Retry")
    assert bank.get(f"/operations/{waiting}")["status"] == "cancelled"
    tab.click("Retry")
    tab.sees("Waits for a worker")
    assert bank.get(f"/operations/{waiting}")["status"] == "pending"


def test_a_refresh_that_is_cancelled_elsewhere_is_told(tab: Tab, address: str, bank: RestBank, waiting: str) -> None:
    tab.open(f"{address}/banks/{bank.bank_id}/models/ada")
    tab.sees("Refresh: Waits for a worker")
    bank.ask("DELETE", f"/operations/{waiting}")
    tab.sees("The refresh ended without a new text: cancelled")
