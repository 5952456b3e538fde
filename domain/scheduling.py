"""When a document refreshes itself, when it waits, and when it is tried again. Pure: times and states in, answers out.

Sources: spec of the system of reference, scheduling: "Minimum interval and parking", "Retries", "Pause on failure",
"Cron tick". Cron expressions are five fields in UTC; missed fires collapse into one. Times are of any zone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal
from uuid import UUID

from croniter import croniter

from domain.mental_model.state import MentalModel
from domain.operation import ParkReason

LONGEST_DELAY = timedelta(hours=1)
LONGEST_PAUSE = timedelta(days=1)
FIRST_WAIT = timedelta(minutes=1)
"""How long after an operation that failed no other is asked for by itself."""
JITTER = 0.2
"""By how much of itself a delay is longer or shorter, so that what failed together is not tried again together."""


@dataclass(frozen=True)
class Park:
    """Run it then, not now."""

    until: datetime
    reason: ParkReason


@dataclass(frozen=True)
class CronSchedule:
    """A document that refreshes itself by the clock. Whether it is due can change with the time, with `version`, of its
    stream, and with `position`, of its bank's clock."""

    bank_id: str
    mental_model_id: str
    version: int
    position: int


@dataclass(frozen=True)
class Failures:
    """Refreshes of a document that ended as failed since it was last refreshed, and when the last one did."""

    count: int
    last: datetime


def _doubled(base: timedelta, times: int, limit: timedelta) -> timedelta:
    """Twice as long with each time, up to the limit, or to `base` where that is longer."""
    longest = max(base, limit)
    # bounded first: a product out of the range of timedelta is an error
    for _ in range(times):
        if base >= longest or not base:
            break
        base = min(base * 2, longest)
    return base


# --- retries ----------------------------------------------------------------------------------------------------------


def delay_before_retry(base: timedelta, retries: int, operation_id: UUID) -> timedelta:
    """Doubles with every retry made so far, up to an hour, or to `base` where that is longer; the jitter follows from
    the operation, so it is known."""
    doubled = _doubled(base, retries, LONGEST_DELAY)
    drawn = hashlib.sha256(f"{operation_id}/{retries}".encode()).digest()[0] / 255
    return doubled * (1 + JITTER * (2 * drawn - 1))


# --- parking ----------------------------------------------------------------------------------------------------------


def min_interval(model: MentalModel, of_bank: int) -> timedelta:
    """Least time between automatic refreshes: the model's own, where 0 exempts it, or its bank's, in seconds."""
    own = model.trigger.min_refresh_interval_seconds
    return timedelta(seconds=max(0, of_bank if own is None else own))


def park_of(
    model: MentalModel, now: datetime, *, interval: timedelta, tokens_today: int, tokens_a_day: int | None
) -> Park | None:
    """Whether an automatic refresh has to wait; asked when it is about to run. An explicit one never does. The interval
    counts from the last attempt: one that failed was paid for too."""
    due = max(model.last_refreshed_at, model.last_refresh_failed_at or model.last_refreshed_at) + interval
    if now < due:
        return Park(due, "min_interval")
    if tokens_a_day is not None and tokens_today >= tokens_a_day:
        return Park(next_day(now), "token_budget")
    return None


def next_day(now: datetime) -> datetime:
    """The midnight after a time, in UTC: when the tokens of a day are new."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


# --- pause ------------------------------------------------------------------------------------------------------------


def is_paused(model: MentalModel, now: datetime, resume_after: timedelta | None = None) -> bool:
    """Whether automatic refreshes skip it: its last refresh failed for good. With `resume_after` it is tried again so
    long after the failure, twice as long after each further one in a row, up to a day, or to `resume_after` where that
    is longer."""
    failed_at = model.last_refresh_failed_at
    if failed_at is None:
        return False
    if resume_after is None:
        return True
    return now < failed_at + _doubled(resume_after, max(model.failures_in_a_row - 1, 0), LONGEST_PAUSE)


def wait_after(failures: Failures | None, interval: timedelta) -> datetime | None:
    """Until when no further refresh is asked for by itself: operations that failed, retries and all, would else follow
    one another at every look. A minute after the first, twice as long after each further one, up to an hour, and never
    shorter than the interval between automatic refreshes."""
    if failures is None or failures.count == 0:
        return None
    return failures.last + max(interval, _doubled(FIRST_WAIT, failures.count - 1, LONGEST_DELAY))


# --- cron -------------------------------------------------------------------------------------------------------------


def last_fire(expression: str, now: datetime) -> datetime:
    """The newest time at or before `now` at which the expression fires, in UTC."""
    # croniter looks strictly before, and drops fractions of a second: they must not round up into the next fire
    whole = now.astimezone(UTC).replace(microsecond=0)
    fired: datetime = croniter(expression, whole + timedelta(seconds=1)).get_prev(datetime)
    return fired


def next_fire(expression: str, now: datetime) -> datetime:
    """The first time after `now` at which the expression fires, in UTC."""
    fires: datetime = croniter(expression, now.astimezone(UTC).replace(microsecond=0)).get_next(datetime)
    return fires


def next_look(model: MentalModel, now: datetime) -> datetime | None:
    """When a schedule of the model fires next; None when it has none."""
    crons = (model.trigger.refresh_cron, model.trigger.full_refresh_cron)
    return min((next_fire(cron, now) for cron in crons if cron is not None), default=None)


def due_by_cron(model: MentalModel, now: datetime) -> Literal["own", "full"] | None:
    """Whether a schedule of the model asks for a refresh: in full when something ran since the last full one, else in
    its own mode, when it also has to be stale. Times before the model was made, or last refreshed, ask for nothing."""
    full = model.trigger.full_refresh_cron
    if full is not None and _due_in_full(model, last_fire(full, now)):
        return "full"
    cron = model.trigger.refresh_cron
    if cron is not None and last_fire(cron, now) > model.last_refreshed_at:
        return "own"
    return None


def _due_in_full(model: MentalModel, fired: datetime) -> bool:
    last = model.last_full_refreshed_at
    if last is None:
        return fired > model.created_at
    return fired > last and model.last_refreshed_at > last
