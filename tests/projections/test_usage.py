"""What calls cost: each told by one event, and counted once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from domain.event import Event
from domain.mental_model.events import (
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedStructuredOutput,
)
from domain.operation import (
    ConsolidationDone,
    OperationCompleted,
    OperationFailed,
    OperationParked,
    OperationRetryScheduled,
    OperationSpent,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    RetainDone,
)
from domain.request import ModelsAsked
from domain.usage import ModelCall
from projections import usage
from tests.support.examples import (
    BANK,
    MODEL,
    NOW,
    OPERATION,
    call,
    failed,
    later,
    preserved,
    recorded,
    refresh_record,
    unchanged,
    written,
)

CALLS = (call("reflect_1", 100, 20), call("reflect_2", 7, 3))
REFUSED = RefreshDone(outcome="refresh_failed_error", failure_reason="no_answer")
RETAIN = RetainAsked(items_count=1, items_sha256="one")


def rows(event: Event, at: datetime = NOW) -> list[dict[str, Any]]:
    told = recorded(event, 4, at=at, actor="worker", cause="operation")
    return [dict(statement.params) for statement in usage.project(told)]


def retry(work: RefreshAsked | RetainAsked, **changes: Any) -> OperationRetryScheduled:
    return OperationRetryScheduled(work=work, error_message="429", retry_count=1, next_retry_at=later(1), **changes)


def not_applied(calls: tuple[ModelCall, ...]) -> Event:
    return RefreshFailedDeltaNotApplied(
        failure_reason="delta_ops_failed", error_message="", transient=False, record=refresh_record(calls=calls)
    )


def no_view(calls: tuple[ModelCall, ...]) -> Event:
    return RefreshFailedStructuredOutput(error_message="", transient=True, record=refresh_record(calls=calls))


def empty(calls: tuple[ModelCall, ...]) -> Event:
    return RefreshFailedEmptyCandidate(record=refresh_record(calls=calls))


@pytest.mark.parametrize("outcome", [written, unchanged, preserved, failed, not_applied, no_view, empty])
def test_a_refresh_costs_what_it_asked_whatever_came_of_it(outcome: Any) -> None:
    assert rows(outcome(calls=CALLS)) == [
        {
            "bank_id": BANK,
            "kind": "mental_model",
            "name": MODEL,
            "version": 4,
            "day": NOW.date(),
            "mental_model_id": MODEL,
            "actor": "worker",
            "cause": "operation",
            "purpose": "reflect",
            "model": "scripted",
            "calls": 2,
            "input_tokens": 107,
            "output_tokens": 23,
        }
    ]
    assert rows(outcome(calls=())) == []


@pytest.mark.parametrize(
    ("event", "mental_model_id"),
    [
        (OperationCompleted(result=RetainDone(facts=2, calls=CALLS)), ""),
        (OperationFailed(error_message="401", calls=CALLS), ""),
        (OperationFailed(error_message="401", result=RetainDone(facts=0, calls=CALLS), calls=CALLS), ""),
        (retry(RETAIN, calls=CALLS), ""),
        (retry(RETAIN, result=RetainDone(facts=0, calls=CALLS), calls=CALLS), ""),
        (retry(RefreshAsked(mental_model_id=MODEL), calls=CALLS), MODEL),
    ],
)
def test_an_operation_tells_of_calls_once_and_for_a_refresh_of_whose(event: Event, mental_model_id: str) -> None:
    (row,) = rows(event)
    assert (row["kind"], row["name"], row["mental_model_id"]) == ("operation", str(OPERATION), mental_model_id)
    assert (row["calls"], row["input_tokens"], row["output_tokens"]) == (2, 107, 23)


@pytest.mark.parametrize(
    "event",
    [
        OperationCompleted(result=RefreshDone(outcome="content_written")),
        OperationFailed(error_message="401", result=REFUSED),
        retry(RefreshAsked(mental_model_id=MODEL), result=REFUSED),
    ],
)
def test_the_end_of_a_refresh_does_not_count_again_what_its_outcome_told(event: Event) -> None:
    assert rows(event) == []


def test_calls_are_told_apart_by_what_they_were_for_and_by_their_model() -> None:
    other = ModelCall(purpose="reflect_4", model="another", input_tokens=1)
    calls = (*CALLS, call("embed", 5, 0), call("reflect_3 (kept)", 0, 0), other)
    told = [(row["purpose"], row["model"], row["calls"], row["input_tokens"]) for row in rows(written(calls=calls))]
    assert told == [("reflect", "scripted", 3, 107), ("embed", "scripted", 1, 5), ("reflect", "another", 1, 1)]


def test_a_consolidation_costs_what_it_asked() -> None:
    (row,) = rows(OperationCompleted(result=ConsolidationDone(facts=3, calls=CALLS)))
    assert (row["mental_model_id"], row["calls"], row["input_tokens"]) == ("", 2, 107)


def test_embeddings_computed_here_are_calls_without_tokens() -> None:
    (row,) = rows(OperationCompleted(result=RetainDone(facts=1, calls=(call("embed", 0, 0),))))
    assert (row["calls"], row["input_tokens"], row["output_tokens"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC), date(2026, 3, 2)),
        (datetime(2026, 3, 3, tzinfo=UTC), date(2026, 3, 3)),
        (datetime(2026, 3, 3, 1, 30, tzinfo=timezone(timedelta(hours=2))), date(2026, 3, 2)),
    ],
)
def test_days_are_those_of_utc(at: datetime, day: date) -> None:
    assert rows(written(calls=CALLS), at)[0]["day"] == day


def test_a_retain_that_waits_for_a_quota_is_counted() -> None:
    parked = OperationParked(work=RETAIN, reason="quota", until=later(90), calls=CALLS)
    ((row),) = rows(parked)
    assert (row["mental_model_id"], row["calls"], row["input_tokens"], row["output_tokens"]) == ("", 2, 107, 23)
    assert rows(OperationParked(work=RETAIN, reason="quota", until=later(90))) == []


def test_what_a_request_cost_that_is_answered_at_once_counts_for_its_bank() -> None:
    (statement,) = usage.project(recorded(ModelsAsked(request="retain", calls=CALLS)))
    assert (statement.params["bank_id"], statement.params["mental_model_id"]) == (BANK, "")
    assert statement.params["calls"] == len(CALLS)


def test_what_is_told_of_an_attempt_that_came_too_late_counts_for_its_model() -> None:
    (statement,) = usage.project(recorded(OperationSpent(mental_model_id=MODEL, calls=CALLS)))
    assert (statement.params["mental_model_id"], statement.params["calls"]) == (MODEL, len(CALLS))
