"""How a bank's memory grew, by stretches of time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.rest import RestBank, assert_refused

PATH = "/stats/memories-timeseries"


def filled(series: Any) -> list[int]:
    return [each["world"] for each in series["buckets"] if each["world"]]


@pytest.mark.parametrize(
    ("period", "trunc", "buckets"),
    [
        ("1h", "minute", 60),
        ("12h", "hour", 12),
        ("1d", "hour", 24),
        ("7d", "day", 7),
        ("30d", "day", 30),
        ("90d", "day", 90),
    ],
)
def test_every_stretch_of_a_period_is_told_also_those_without_memories(
    bank: RestBank, period: str, trunc: str, buckets: int
) -> None:
    bank.retain("Ada Lovelace works at Acme.", "Bob Stone lives in Oslo.", timestamp="2020-03-01T10:00:00Z")

    series = bank.get(PATH, period=period)

    assert (series["bank_id"], series["period"], series["trunc"]) == (bank.bank_id, period, trunc)
    times = [each["time"] for each in series["buckets"]]
    assert (len(times), times) == (buckets, sorted(set(times)))
    assert sum(filled(series)) == 2
    assert sum(each["observation"] for each in series["buckets"]) <= 2
    assert filled(bank.get(PATH, period=period, time_field="mentioned_at")) == []


def test_a_memory_without_the_time_asked_for_counts_where_it_was_taken_in(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.", timestamp="unset")
    assert filled(bank.get(PATH, time_field="mentioned_at")) == [1]
    assert filled(bank.get(PATH, time_field="occurred_start")) == [1]


def test_what_cannot_be_told_is_refused(bank: RestBank) -> None:
    assert_refused(bank.ask("GET", PATH), 404, bank.bank_id)
    assert_refused(bank.ask("GET", PATH, params={"period": "1y"}), 422, "period")
    assert_refused(bank.ask("GET", PATH, params={"time_field": "never"}), 422, "time_field")
