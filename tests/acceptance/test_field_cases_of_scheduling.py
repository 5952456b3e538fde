"""Reports from the field about documents that should refresh themselves: too often, never, twice, or at any odd time.

The clock of the service all but stands still until a test moves it; it only ever goes forward."""

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
from tests.support.rest import RestBank, assert_refused

AFTER_WRITES = {"refresh_after_consolidation": True}
AT_THREE = {"refresh_cron": "0 3 * * *"}
MODEL = {"id": "ada", "name": "Ada", "source_query": "What is known about Ada?"}


class CreepingClock(FixedClock):
    """Moves by the least there is at every reading, so that what is listed by time has an order."""

    def now(self) -> datetime:
        self.move(timedelta(microseconds=1))
        return super().now()


@pytest.fixture(scope="module")
def clock() -> FixedClock:
    return CreepingClock(datetime(2026, 3, 2, 12, tzinfo=UTC))


@pytest.fixture(scope="module")
def live_service(shared_conninfo: str, clock: FixedClock) -> Iterator[Service]:
    settings = Settings(_env_file=None, worker_retry_seconds=0)
    with opened(build(settings, shared_conninfo, clock=clock)) as service:
        yield service


@pytest.fixture(autouse=True)
def _looks_are_over_before_what_they_led_to_is_told(live_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows a write follows the reply to it, so a test that sees nothing has to wait until it did."""
    ask = RestBank.ask

    def ask_when_looked(bank: RestBank, method: str, path: str = "", **options: Any) -> Any:
        if method == "GET" and path == "/operations":
            assert eventually(lambda: live_service.after_writes.idle)
        return ask(bank, method, path, **options)

    monkeypatch.setattr(RestBank, "ask", ask_when_looked)


def it_becomes(clock: FixedClock, time: str) -> None:
    """The next time the clock says so, in UTC."""
    now = clock.now()
    then = datetime.fromisoformat(f"{now.date()}T{time}+00:00")
    clock.move((then if then > now else then + timedelta(days=1)) - now)


def refreshes(bank: RestBank, mental_model_id: str) -> list[Any]:
    """The operations that refreshed a model since its first, or will."""
    listed = bank.get("/operations", type="refresh_mental_model", limit=100)["operations"]
    of_model = [each for each in listed if each["mental_model_id"] == mental_model_id]
    return of_model[:-1]


def says(bank: RestBank, mental_model_id: str, text: str) -> Any:
    """The model, once its document says something and nothing of it waits."""

    def written() -> Any:
        model = bank.get(f"/mental-models/{mental_model_id}")
        ended = all(each["status"] == "completed" for each in refreshes(bank, mental_model_id))
        return model if text in model["content"] and ended else None

    return eventually(written, timeout=20)


# --- after memory was written -----------------------------------------------------------------------------------------


def test_a_model_that_wants_it_is_refreshed_after_a_retain(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada", trigger=AFTER_WRITES)
    bank.model("by-hand")
    bank.retain("Ada Lovelace lives in Prague.")
    model = says(bank, "ada", "Prague")
    assert model["is_stale"] is False
    assert len(refreshes(bank, "ada")) == 1
    assert refreshes(bank, "by-hand") == []
    assert bank.get("/mental-models/by-hand")["is_stale"] is True


def test_a_retain_in_the_background_is_followed_by_it_too(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada", trigger=AFTER_WRITES)
    bank.post("/memories", {"items": [{"content": "Ada Lovelace lives in Prague."}], "async": True})
    says(bank, "ada", "Prague")
    assert len(refreshes(bank, "ada")) == 1


def test_a_retain_that_changes_nothing_is_not_followed_by_it(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.", document_id="guide")
    bank.model("ada", trigger=AFTER_WRITES)
    bank.retain("Ada Lovelace works at Acme.", document_id="guide")
    assert refreshes(bank, "ada") == []


def test_rs_12_models_of_a_new_bank_are_refreshed_after_its_first_memory_and_not_before(bank: RestBank) -> None:
    names = [f"page-{number}" for number in range(5)]
    for name in names:
        bank.model(name, trigger=AFTER_WRITES)
    assert [refreshes(bank, name) for name in names] == [[]] * 5
    bank.retain("Ada Lovelace works at Acme.")
    for name in names:
        says(bank, name, "Acme")
    assert [len(refreshes(bank, name)) for name in names] == [1] * 5


@pytest.mark.parametrize("match", ["any", "all", "any_strict", "all_strict", "exact", None])
def test_ws_05_memory_out_of_its_scope_is_no_reason_to_refresh_a_model(bank: RestBank, match: str | None) -> None:
    bank.retain("Ada Lovelace works at Acme.", tags=["a"])
    bank.model("ada", tags=["a"], trigger={**AFTER_WRITES, "tags_match": match} if match else AFTER_WRITES)
    bank.retain("Ada Lovelace lives in Prague.")
    bank.retain("Ada Lovelace likes tea.", tags=["b"])
    assert refreshes(bank, "ada") == []
    assert bank.get("/mental-models/ada")["is_stale"] is False


def test_ws_02_memory_that_says_nothing_of_its_question_is_read_once(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    before = bank.model("ada", trigger={**AFTER_WRITES, "mode": "delta"})
    bank.retain("The market sells fish on Fridays.")
    (refresh,) = refreshes(bank, "ada")
    assert bank.finished(refresh["id"])["status"] == "completed"
    after = bank.get("/mental-models/ada")
    assert (after["content"], after["is_stale"]) == (before["content"], False)


# --- by the clock -----------------------------------------------------------------------------------------------------


def test_sc_07_a_stale_model_is_refreshed_at_its_time_once_and_a_fresh_one_is_not(
    bank: RestBank, clock: FixedClock
) -> None:
    bank.retain("Ada Lovelace works at Acme.", tags=["a"])
    bank.model("ada", trigger=AT_THREE)
    bank.model("fresh", tags=["a"], trigger=AT_THREE)
    bank.model("earlier", trigger={"refresh_cron": "59 2 * * *"})
    bank.retain("Ada Lovelace lives in Prague.", tags=["b"])
    it_becomes(clock, "02:59:59")
    says(bank, "earlier", "Prague")  # so that somebody looked at that time
    assert refreshes(bank, "ada") == []
    it_becomes(clock, "03:00:00")
    model = says(bank, "ada", "Prague")
    assert model["last_refreshed_at"].startswith(clock.now().date().isoformat() + "T03:00:00")
    assert (len(refreshes(bank, "ada")), refreshes(bank, "fresh")) == (1, [])


def test_sc_07_times_missed_are_caught_up_once(bank: RestBank, clock: FixedClock) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada", trigger={"refresh_cron": "*/5 * * * *"})
    bank.model("later", trigger={"refresh_cron": "30 5 * * *"})
    bank.retain("Ada Lovelace lives in Prague.")
    clock.move(timedelta(days=3))
    it_becomes(clock, "05:31")
    says(bank, "ada", "Prague")
    says(bank, "later", "Prague")
    assert [len(refreshes(bank, name)) for name in ("ada", "later")] == [1, 1]


def test_a_full_refresh_by_cron_is_made_when_something_ran_since_the_last_one(
    bank: RestBank, clock: FixedClock
) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada", trigger={"mode": "delta", "full_refresh_cron": "0 4 * * *"})
    bank.model("unchanged", trigger={"mode": "delta", "full_refresh_cron": "0 4 * * *"})
    clock.move(timedelta(minutes=1))
    bank.patch("/mental-models/ada", {"content": "# By hand\n"})
    it_becomes(clock, "04:00")
    says(bank, "ada", "Acme")
    assert (len(refreshes(bank, "ada")), refreshes(bank, "unchanged")) == (1, [])


# --- what may be asked for --------------------------------------------------------------------------------------------


def test_sc_06_both_automatic_triggers_at_once_are_refused_and_one_drops_the_other(bank: RestBank) -> None:
    both = {**AT_THREE, **AFTER_WRITES}
    assert_refused(bank.ask("POST", "/mental-models", json={**MODEL, "trigger": both}), 422, "exclude each other")
    bank.model("ada", trigger=AT_THREE)
    assert_refused(bank.ask("PATCH", "/mental-models/ada", json={"trigger": both}), 422, "exclude each other")

    def automatic(change: Any) -> tuple[str | None, bool]:
        trigger = bank.patch("/mental-models/ada", {"trigger": change})["trigger"]
        return trigger.get("refresh_cron"), trigger["refresh_after_consolidation"]

    assert automatic(AFTER_WRITES) == (None, True)
    assert automatic({"refresh_cron": None}) == (None, True)
    assert automatic(AT_THREE) == ("0 3 * * *", False)
    assert automatic({"refresh_after_consolidation": False}) == ("0 3 * * *", False)
    assert automatic({"full_refresh_cron": "0 4 * * 0"}) == ("0 3 * * *", False)
    assert automatic({"refresh_cron": ""}) == (None, False)


NO_CRON = ["0 0 3 * * *", "@every 5m", "@daily", "99 * * * *", "0 0 31 2 *", "0 3 * *", "never", "0 3 * * *; ls"]


@pytest.mark.parametrize("field", ["refresh_cron", "full_refresh_cron"])
@pytest.mark.parametrize("cron", NO_CRON)
def test_sc_09_what_is_no_cron_expression_or_never_fires_is_refused_with_its_field(
    bank: RestBank, field: str, cron: str
) -> None:
    answer = bank.ask("POST", "/mental-models", json={**MODEL, "trigger": {field: cron}})
    assert_refused(answer, 422, cron)
    assert answer.json()["detail"][0]["loc"] == ["body", "trigger", field]


@pytest.mark.parametrize("blank", ["", "   ", "\t"])
def test_sc_09_a_blank_cron_expression_is_none(bank: RestBank, blank: str) -> None:
    """As the wire contract has it."""
    trigger = bank.model("ada", trigger={"refresh_cron": blank, "full_refresh_cron": blank})["trigger"]
    assert {"refresh_cron", "full_refresh_cron"}.isdisjoint(trigger)
