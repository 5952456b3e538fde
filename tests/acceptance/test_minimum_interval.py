"""The least time between automatic refreshes: the mental model's own, else its bank's, else the server's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.eventually import eventually
from tests.support.in_memory import FixedClock
from tests.support.rest import RestBank

KEY = "mental_model_min_refresh_interval_seconds"
START = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str) -> Iterator[Service]:
    """The server sets half an hour. Its clock stands still."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(f"HINDSIGHT_API_{KEY.upper()}", "1800")
        settings = Settings(_env_file=None, worker_retry_seconds=0)
    with opened(build(settings, shared_conninfo, clock=FixedClock(START))) as service:
        yield service


def refreshes(bank: RestBank) -> list[Any]:
    return list(bank.get("/operations", type="refresh_mental_model")["operations"])


def after_a_write(service: Service, bank: RestBank, own: int | None) -> Any:
    """The refresh that a write leads to, of a model that was refreshed just now, once it ran or was parked."""
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada", trigger={"refresh_after_consolidation": True, "min_refresh_interval_seconds": own})
    (first,) = refreshes(bank)
    bank.retain("Ada Lovelace lives in Prague.")

    def settled() -> Any:
        assert eventually(lambda: service.after_writes.idle)
        later = [each for each in refreshes(bank) if each["id"] != first["id"]]
        return next((each for each in later if each["status"] == "completed" or each.get("next_retry_at")), None)

    return eventually(settled, timeout=20)


@pytest.mark.parametrize(
    ("of_bank", "own", "seconds"),
    [
        (None, None, 1800),
        (600, None, 600),
        (0, None, 0),
        (600, 7200, 7200),
        (600, 0, 0),
        (None, 0, 0),
    ],
    ids=["the server's", "the bank's", "the bank is exempt", "the model's", "the model is exempt", "of the server's"],
)
def test_an_automatic_refresh_waits_as_long_as_the_model_else_the_bank_else_the_server_says(
    live_service: Service, bank: RestBank, of_bank: int | None, own: int | None, seconds: int
) -> None:
    bank.patch("/config", {"updates": {KEY: of_bank}})
    assert bank.get("/config")["config"][KEY] == (1800 if of_bank is None else of_bank)
    operation = after_a_write(live_service, bank, own)
    if seconds:
        assert (operation["status"], operation["park_reason"]) == ("pending", "min_interval")
        assert datetime.fromisoformat(operation["next_retry_at"]) == START + timedelta(seconds=seconds)
    else:
        assert operation["status"] == "completed"
        assert "Prague" in bank.get("/mental-models/ada")["content"]
