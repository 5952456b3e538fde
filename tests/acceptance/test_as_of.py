"""A mental model as it was, at a version or a time, deleted or not; and everything that happened to it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.rest import RestBank, assert_refused

MODEL = "/mental-models/ada"


@pytest.fixture(scope="module")
def past(client: httpx.Client) -> RestBank:
    """The bank in which the life below was lived."""
    return RestBank(client, f"bank-{uuid4().hex[:12]}")


@pytest.fixture(scope="module")
def life(past: RestBank) -> list[dict[str, Any]]:
    """The events of a mental model that is gone."""
    return _live(past)


def _live(bank: RestBank) -> list[dict[str, Any]]:
    """Created, written, renamed, written anew, cleared, deleted: the events of that."""
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada")
    bank.patch(MODEL, {"name": "Ada L.", "tags": []})
    bank.retain("Ada Lovelace moved to Paris.")
    bank.refreshed("ada")
    bank.post(f"{MODEL}/clear")
    bank.ask("DELETE", MODEL)
    events: list[dict[str, Any]] = bank.get(f"{MODEL}/events")["items"]
    return events


def _topics(events: list[dict[str, Any]]) -> list[str]:
    return [event["topic"].removeprefix("mental_model.") for event in events]


def test_each_version_reads_as_it_was(past: RestBank, life: list[dict[str, Any]]) -> None:
    assert _topics(life) == ["created", "content_written", "renamed", "content_written", "content_cleared", "deleted"]
    versions = [past.get(MODEL, as_of=number) for number in range(1, 6)]
    assert [each["version"] for each in versions] == [1, 2, 3, 4, 5]
    assert [each["name"] for each in versions] == ["ada", "ada", "Ada L.", "Ada L.", "Ada L."]
    texts = [each["content"] for each in versions]
    assert texts[0] == texts[4] == ""
    assert texts[1] == texts[2]
    assert "Paris" not in texts[1]
    assert "Paris" in texts[3]
    assert [len(each["reflect_response"]["based_on"]["world"]) for each in versions[1:4]] == [1, 1, 2]
    assert "reflect_response" not in versions[0]


def test_a_time_reads_the_last_version_before_it(past: RestBank, life: list[dict[str, Any]]) -> None:
    for event in life[:-1]:
        assert past.get(MODEL, as_of=event["occurred_at"])["version"] == event["version"]
    between = datetime.fromisoformat(life[3]["occurred_at"]) - timedelta(microseconds=1)
    assert past.get(MODEL, as_of=between.isoformat())["version"] == 3


def test_a_time_without_an_offset_is_utc_and_one_with_an_offset_is_converted(
    past: RestBank, life: list[dict[str, Any]]
) -> None:
    written = datetime.fromisoformat(life[1]["occurred_at"])
    naive = written.replace(tzinfo=None).isoformat()
    elsewhere = written.astimezone(timezone(timedelta(hours=5, minutes=30))).isoformat()
    zulu = f"{naive}Z"
    assert [past.get(MODEL, as_of=each)["version"] for each in (naive, elsewhere, zulu)] == [2, 2, 2]
    unescaped = past.ask("GET", f"{MODEL}?as_of={elsewhere}")
    assert unescaped.json()["version"] == 2, "a plus that a shell did not escape arrives as a blank"


def test_levels_of_detail_hold_for_the_past_too(past: RestBank, life: list[dict[str, Any]]) -> None:
    assert len(life) == 6
    metadata = past.get(MODEL, as_of=2, detail="metadata")
    assert not {"content", "source_query", "trigger", "reflect_response", "is_stale"} & set(metadata)
    content = past.get(MODEL, as_of=2, detail="content")
    assert content["source_query"]
    assert "reflect_response" not in content


def test_a_past_version_has_its_etag(past: RestBank, life: list[dict[str, Any]]) -> None:
    assert len(life) == 6
    then = past.ask("GET", MODEL, params={"as_of": 2})
    assert then.headers["etag"] == '"2"'
    assert past.ask("GET", MODEL, params={"as_of": 2}, headers={"If-None-Match": '"2"'}).status_code == 304


@pytest.mark.parametrize("moment", ["6", "7", "0", "1999-01-01", "2999-01-01T00:00:00Z"])
def test_a_moment_at_which_it_was_not_there_is_not_found(
    past: RestBank, life: list[dict[str, Any]], moment: str
) -> None:
    assert len(life) == 6
    assert_refused(past.ask("GET", MODEL, params={"as_of": moment}), 404, "did not exist as of", "events")


@pytest.mark.parametrize("moment", ["yesterday", "", "-1", "2024-13-01", "0001-01-01T00:00:00+05:00", "1e3", "٣"])
def test_what_is_no_moment_is_refused(past: RestBank, life: list[dict[str, Any]], moment: str) -> None:
    assert len(life) == 6
    assert_refused(past.ask("GET", MODEL, params={"as_of": moment}), 422, "as_of", "ISO 8601")


def test_a_model_that_never_was_has_no_past(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    assert_refused(bank.ask("GET", MODEL, params={"as_of": 1}), 404, "'ada' not found")
    assert_refused(bank.ask("GET", f"{MODEL}/events"), 404, "'ada' not found")


def test_a_deleted_model_is_gone_but_its_events_stay(past: RestBank, life: list[dict[str, Any]]) -> None:
    assert_refused(past.ask("GET", MODEL), 404)
    assert_refused(past.ask("GET", f"{MODEL}/history"), 404)
    assert life[-1]["sentence"] == "Deleted"
    assert {event["actor"] for event in life} == {"user", "worker"}
    assert life[1]["operation_id"]


def test_events_come_in_pages_and_with_their_payload_when_asked(past: RestBank, life: list[dict[str, Any]]) -> None:
    page = past.get(f"{MODEL}/events", limit=2, offset=1)
    assert (page["total"], page["limit"], page["offset"]) == (6, 2, 1)
    assert page["items"] == life[1:3]
    beyond = past.get(f"{MODEL}/events", offset=100)
    assert (beyond["items"], beyond["total"]) == ([], 6)
    full = past.get(f"{MODEL}/events", detail="full", limit=2)["items"]
    assert full[0]["payload"]["source_query"] == "What is known about Ada?"
    assert "Acme" in full[1]["payload"]["text"]
    assert "payload" not in page["items"][0]


def test_an_id_used_again_goes_on_with_the_same_story(bank: RestBank) -> None:
    life = _live(bank)
    bank.model("ada", name="Ada again")
    events = bank.get(f"{MODEL}/events")["items"]
    assert events[: len(life)] == life
    assert _topics(events[len(life) :]) == ["created", "content_written"]
    assert bank.get(MODEL, as_of=4)["name"] == "Ada L."
    assert bank.get(MODEL)["name"] == "Ada again"
