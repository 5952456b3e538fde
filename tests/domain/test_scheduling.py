"""When a document refreshes itself, waits, or is tried again: tables of times and states, and what is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from croniter import croniter
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.mental_model.trigger import Trigger
from domain.scheduling import (
    FIRST_WAIT,
    JITTER,
    LONGEST_DELAY,
    LONGEST_PAUSE,
    Failures,
    Park,
    delay_before_retry,
    due_by_cron,
    is_paused,
    last_fire,
    min_interval,
    next_day,
    next_fire,
    next_look,
    park_of,
    wait_after,
)
from tests.support.examples import NOW, OPERATION, mental_model

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
AT_THREE = "0 3 * * *"
ON_SUNDAYS = "0 4 * * sun"


def at(text: str) -> datetime:
    """A time of March 2026 in UTC, as "2 03:00" or "2 03:00:30.5"; or one with its year and month."""
    day, _, time = text.partition(" ")
    return datetime.fromisoformat(f"{day if '-' in day else f'2026-03-{int(day):02}'}T{time}+00:00")


# --- retries ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "retries", "about"),
    [
        (MINUTE, 0, MINUTE),
        (MINUTE, 1, 2 * MINUTE),
        (MINUTE, 2, 4 * MINUTE),
        (MINUTE, 5, 32 * MINUTE),
        (MINUTE, 6, LONGEST_DELAY),
        (MINUTE, 1000, LONGEST_DELAY),
        (3 * HOUR, 0, 3 * HOUR),
        (3 * HOUR, 9, 3 * HOUR),
        (timedelta(days=100_000_000), 30, timedelta(days=100_000_000)),
    ],
)
def test_a_retry_waits_twice_as_long_as_the_one_before_and_the_jitter_is_a_fifth(
    base: timedelta, retries: int, about: timedelta
) -> None:
    delay = delay_before_retry(base, retries, OPERATION)
    assert about * (1 - JITTER) <= delay <= about * (1 + JITTER)
    assert delay_before_retry(base, retries, OPERATION) == delay


def test_a_retry_without_delay_is_at_once() -> None:
    assert {delay_before_retry(timedelta(0), retries, OPERATION) for retries in (0, 3, 1000)} == {timedelta(0)}


def test_what_failed_together_is_not_tried_again_together() -> None:
    delays = {delay_before_retry(MINUTE, 0, UUID(int=number)) for number in range(50)}
    assert len(delays) > 30
    assert max(delays) - min(delays) > MINUTE * JITTER


# --- parking ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "default", "expected"), [(None, 0, 0), (None, 600, 600), (0, 600, 0), (7200, 600, 7200), (None, -5, 0)]
)
def test_the_interval_is_the_models_own_which_may_be_none_at_all(own: int | None, default: int, expected: int) -> None:
    model = mental_model(trigger=Trigger(min_refresh_interval_seconds=own))
    assert min_interval(model, default) == timedelta(seconds=expected)


@pytest.mark.parametrize(
    ("now", "interval", "spent", "budget", "expected"),
    [
        ("2 10:00", HOUR, 0, None, None),
        ("2 09:59:59", HOUR, 0, None, Park(at("2 10:00"), "min_interval")),
        ("2 09:00", timedelta(0), 0, None, None),
        ("2 11:00", HOUR, 99, 100, None),
        ("2 11:00", HOUR, 100, 100, Park(at("3 00:00"), "token_budget")),
        ("2 11:00", HOUR, 0, 0, Park(at("3 00:00"), "token_budget")),
        ("2 11:00", HOUR, 10**9, None, None),
        ("2 09:30", HOUR, 100, 100, Park(at("2 10:00"), "min_interval")),
    ],
)
def test_an_automatic_refresh_waits_for_its_interval_and_then_for_tokens(
    now: str, interval: timedelta, spent: int, budget: int | None, expected: Park | None
) -> None:
    model = mental_model(last_refreshed_at=at("2 09:00"))
    assert park_of(model, at(now), interval=interval, tokens_today=spent, tokens_a_day=budget) == expected


def test_sc_04_an_attempt_that_failed_counts_for_the_interval_too() -> None:
    model = mental_model(last_refreshed_at=at("2 09:00"), last_refresh_failed_at=at("2 11:00"), failures_in_a_row=1)
    park = park_of(model, at("2 11:30"), interval=2 * HOUR, tokens_today=0, tokens_a_day=None)
    assert park == Park(at("2 13:00"), "min_interval")


@pytest.mark.parametrize(
    ("now", "expected"),
    [("2 00:00", "3 00:00"), ("2 23:59:59.999", "3 00:00"), ("31 12:00", "2026-04-01 00:00")],
)
def test_the_tokens_of_a_day_are_new_at_the_next_midnight(now: str, expected: str) -> None:
    assert next_day(at(now)) == at(expected)


def test_the_midnight_is_that_of_utc() -> None:
    half_past_one_in_prague = datetime(2026, 3, 3, 0, 30, tzinfo=timezone(HOUR))
    assert next_day(half_past_one_in_prague) == at("3 00:00")


# --- pause ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "resume_after", "minutes_later", "paused"),
    [
        (0, None, 0, False),
        (1, None, 10_000_000, True),
        (1, HOUR, 59, True),
        (1, HOUR, 60, False),
        (2, HOUR, 119, True),
        (2, HOUR, 120, False),
        (3, HOUR, 239, True),
        (5, HOUR, 959, True),
        (6, HOUR, 24 * 60 - 1, True),
        (6, HOUR, 24 * 60, False),
        (1000, HOUR, 24 * 60, False),
        (1, 3 * LONGEST_PAUSE, 3 * 24 * 60 - 1, True),
        (9, 3 * LONGEST_PAUSE, 3 * 24 * 60, False),
    ],
)
def test_a_model_that_failed_is_paused_until_somebody_acts_or_for_ever_longer_times(
    failures: int, resume_after: timedelta | None, minutes_later: int, paused: bool
) -> None:
    model = mental_model(last_refresh_failed_at=NOW if failures else None, failures_in_a_row=failures)
    assert is_paused(model, NOW + minutes_later * MINUTE, resume_after) is paused


@pytest.mark.parametrize(
    ("count", "interval", "expected"),
    [
        (1, timedelta(0), FIRST_WAIT),
        (2, timedelta(0), 2 * FIRST_WAIT),
        (4, timedelta(0), 8 * FIRST_WAIT),
        (7, timedelta(0), LONGEST_DELAY),
        (500, timedelta(0), LONGEST_DELAY),
        (1, 2 * HOUR, 2 * HOUR),
        (500, 2 * HOUR, 2 * HOUR),
    ],
)
def test_sc_04_after_operations_that_failed_the_next_is_asked_for_ever_later(
    count: int, interval: timedelta, expected: timedelta
) -> None:
    assert wait_after(Failures(count, NOW), interval) == NOW + expected


def test_nothing_waits_where_nothing_failed() -> None:
    assert wait_after(None, HOUR) is None
    assert wait_after(Failures(0, NOW), HOUR) is None


# --- cron -------------------------------------------------------------------------------------------------------------

FIRES = [
    # expression, now, the last fire, the next
    (AT_THREE, "2 02:59:59", "1 03:00", "2 03:00"),
    (AT_THREE, "2 02:59:59.999999", "1 03:00", "2 03:00"),
    (AT_THREE, "2 03:00", "2 03:00", "3 03:00"),
    (AT_THREE, "2 03:00:00.000001", "2 03:00", "3 03:00"),
    (AT_THREE, "2 03:00:30", "2 03:00", "3 03:00"),
    ("* * * * *", "2 03:00:59.5", "2 03:00", "2 03:01"),
    ("*/15 8-18 * * 1-5", "6 18:45", "6 18:45", "9 08:00"),
    ("0 0 31 * *", "1 00:00", "2026-01-31 00:00", "31 00:00"),
    ("0 0 31 * *", "2026-04-30 23:59:59", "31 00:00", "2026-05-31 00:00"),
    ("30 23 l * *", "2026-02-28 23:30", "2026-02-28 23:30", "31 23:30"),
    ("59 23 31 12 *", "2026-12-31 23:59:00", "2026-12-31 23:59", "2027-12-31 23:59"),
    ("0 0 29 2 *", "1 00:00", "2024-02-29 00:00", "2028-02-29 00:00"),
    ("0 0 29 2 *", "2097-01-01 00:00", "2096-02-29 00:00", "2104-02-29 00:00"),
    ("0 0 13 * 5", "12 00:00", "6 00:00", "13 00:00"),  # day or weekday, as cron has it
]


@pytest.mark.parametrize(("expression", "now", "last", "following"), FIRES)
def test_a_cron_fires_to_the_second(expression: str, now: str, last: str, following: str) -> None:
    assert last_fire(expression, at(now)) == at(last)
    assert next_fire(expression, at(now)) == at(following)


@pytest.mark.parametrize("summer", [False, True])
def test_a_cron_is_in_utc_whatever_zone_the_time_is_told_in(summer: bool) -> None:
    """In Prague the clock goes forward on 29 March 2026: 03:00 UTC is at 04:00 before, at 05:00 after."""
    zone = timezone(2 * HOUR if summer else HOUR)
    day = "30" if summer else "28"
    now = at(f"{day} 03:00").astimezone(zone)
    assert last_fire(AT_THREE, now) == at(f"{day} 03:00")
    assert last_fire(AT_THREE, now - timedelta(seconds=1)) == at(f"{day} 03:00") - timedelta(days=1)
    assert next_fire(AT_THREE, now - timedelta(seconds=1)) == at(f"{day} 03:00")


TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))
CRONS = st.sampled_from(["* * * * *", "*/7 * * * *", AT_THREE, ON_SUNDAYS, "0 0 31 * *", "5 4 29 2 *", "0 12 1 */3 *"])


@for_all(CRONS, TIMES)
def test_between_the_last_fire_and_the_next_nothing_fires(expression: str, now: datetime) -> None:
    last, following = last_fire(expression, now), next_fire(expression, now)
    assert last <= now < following
    assert croniter.match(expression, last)
    assert croniter.match(expression, following)
    assert next_fire(expression, last) == following


def model_of(refreshed: str, full: str | None = None, made: str = "1 00:00", **trigger: Any) -> Any:
    return mental_model(
        created_at=at(made),
        last_refreshed_at=at(refreshed),
        last_full_refreshed_at=at(full) if full is not None else None,
        trigger=Trigger(**trigger),
    )


@pytest.mark.parametrize(
    ("refreshed", "now", "due"),
    [
        ("2 02:59", "2 02:59:30", None),
        ("2 02:59", "2 02:59:59.9", None),
        ("2 02:59", "2 03:00", "own"),
        ("2 02:59", "2 03:00:30", "own"),
        ("2 02:50", "2 05:00", "own"),
        ("2 03:00", "2 03:00", None),
        ("2 03:00:01", "2 23:00", None),
        ("1 12:00", "9 02:00", "own"),
    ],
)
def test_sc_07_a_cron_is_due_when_it_fired_since_the_last_refresh(refreshed: str, now: str, due: str | None) -> None:
    assert due_by_cron(model_of(refreshed, refresh_cron=AT_THREE), at(now)) == due


@pytest.mark.parametrize(
    ("refreshed", "full", "now", "due"),
    [
        # never refreshed in full: due at the first fire since it was made, whatever ran
        ("1 00:00", None, "1 02:59:59", None),
        ("1 00:00", None, "1 03:00", "full"),
        ("1 04:00", None, "1 05:00", "full"),
        # in full, and nothing since: what it says is what a full refresh would say
        ("2 02:00", "2 02:00", "2 03:00", None),
        ("2 02:00", "2 02:00", "9 03:00", None),
        # in full, then a delta, or an edit
        ("2 02:30", "2 02:00", "2 02:59:59", None),
        ("2 02:30", "2 02:00", "2 03:00", "full"),
        ("2 05:00", "2 02:00", "2 06:00", "full"),
        ("2 05:00", "2 03:00", "2 06:00", None),
        ("2 05:00", "2 03:00", "3 03:00", "full"),
    ],
)
def test_a_full_cron_is_due_when_it_fired_and_something_ran_since_the_last_full_refresh(
    refreshed: str, full: str | None, now: str, due: str | None
) -> None:
    assert due_by_cron(model_of(refreshed, full, full_refresh_cron=AT_THREE), at(now)) == due


def test_a_model_is_not_due_for_times_before_it_was_made() -> None:
    model = model_of("2 12:00", made="2 12:00", refresh_cron=AT_THREE, full_refresh_cron=AT_THREE)
    assert due_by_cron(model, at("2 13:00")) is None
    assert due_by_cron(model, at("3 03:00")) == "full"


def test_when_both_are_due_it_is_one_refresh_in_full() -> None:
    crons = {"refresh_cron": AT_THREE, "full_refresh_cron": "0 3 * * 1"}
    monday = model_of("1 12:00", "1 03:00", **crons)
    assert due_by_cron(monday, at("2 03:00")) == "full"
    assert due_by_cron(model_of("2 12:00", "2 03:00", **crons), at("3 03:00")) == "own"


def test_without_a_schedule_nothing_is_ever_due() -> None:
    for trigger in ({}, {"refresh_after_consolidation": True}):
        assert due_by_cron(model_of("1 00:00", **trigger), at("31 00:00")) is None
        assert next_look(model_of("1 00:00", **trigger), at("31 00:00")) is None


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ({"refresh_cron": AT_THREE}, "3 03:00"),
        ({"full_refresh_cron": ON_SUNDAYS}, "8 04:00"),
        ({"refresh_cron": AT_THREE, "full_refresh_cron": ON_SUNDAYS}, "3 03:00"),
        ({"refresh_cron": ON_SUNDAYS, "full_refresh_cron": AT_THREE}, "3 03:00"),
    ],
)
def test_it_is_looked_at_again_when_a_schedule_of_it_fires_next(trigger: dict[str, str], expected: str) -> None:
    assert next_look(model_of("1 00:00", **trigger), at("2 03:00")) == at(expected)


@for_all(TIMES, st.integers(min_value=0, max_value=20_000))
def test_missed_fires_are_one(refreshed: datetime, minutes: int) -> None:
    """Once refreshed, it is not due until the next fire, however many were missed."""
    now = refreshed + minutes * MINUTE
    before = mental_model(
        created_at=refreshed, last_refreshed_at=refreshed, trigger=Trigger(refresh_cron="*/10 * * * *")
    )
    after = before.model_copy(update={"last_refreshed_at": now})
    fired = last_fire("*/10 * * * *", now) > refreshed
    assert due_by_cron(before, now) == ("own" if fired else None)
    assert due_by_cron(after, now) is None
    assert due_by_cron(after, next_fire("*/10 * * * *", now)) == "own"
