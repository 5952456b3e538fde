"""What models were asked and what that cost: tokens and calls by bank, mental model, day and cause.

One row an event for each purpose and model, so that an event told twice is counted once. Each call is told by one
event: a refresh's by its outcome, that of a retain, a consolidation or a cut short attempt by the operation's, that of
a request answered at once by its own. What a deleted bank has spent stays spent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from typing import get_args

from domain.event import Event, Recorded
from domain.mental_model.events import RefreshOutcome
from domain.operation import (
    BankImportDone,
    ConsolidationDone,
    OperationCompleted,
    OperationFailed,
    OperationParked,
    OperationRetryScheduled,
    OperationSpent,
    RefreshAsked,
    RetainDone,
)
from domain.request import ModelsAsked
from domain.usage import ModelCall, purpose_of, total
from projections.projection import Projection, Query, Statement

DDL = """
CREATE TABLE usage (
    bank_id text NOT NULL,
    stream_kind text NOT NULL,
    stream_name text NOT NULL,
    version bigint NOT NULL,
    day date NOT NULL,
    mental_model_id text NOT NULL,
    actor text NOT NULL,
    cause text NOT NULL,
    purpose text NOT NULL,
    model text NOT NULL,
    calls int NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    PRIMARY KEY (bank_id, stream_kind, stream_name, version, purpose, model)
);
CREATE INDEX usage_by_day ON usage (bank_id, day) INCLUDE (input_tokens, output_tokens);
CREATE INDEX usage_of_day ON usage (day, purpose, model) INCLUDE (calls, input_tokens, output_tokens)"""

HANDLES: tuple[type[Event], ...] = (
    *get_args(RefreshOutcome),
    OperationRetryScheduled,
    OperationParked,
    OperationCompleted,
    OperationFailed,
    OperationSpent,
    ModelsAsked,
)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a day cost for one reason. `mental_model_id` is empty for retains and recalls; embeddings that are computed
    here are no calls."""

    day: date
    mental_model_id: str
    actor: str
    cause: str
    calls: int
    input_tokens: int
    output_tokens: int


def project(recorded: Recorded) -> Iterable[Statement]:
    """Nothing for an event that tells of no call."""
    match recorded.event:
        case OperationRetryScheduled(work=RefreshAsked(mental_model_id=mental_model_id), calls=calls):
            yield from _spent(recorded, mental_model_id, calls)
        case OperationRetryScheduled(calls=calls) | OperationParked(calls=calls) | OperationFailed(calls=calls):
            yield from _spent(recorded, "", calls)
        case OperationSpent(mental_model_id=mental_model_id, calls=calls):
            yield from _spent(recorded, mental_model_id or "", calls)
        case OperationCompleted(
            result=RetainDone(calls=calls) | ConsolidationDone(calls=calls) | BankImportDone(calls=calls)
        ):
            yield from _spent(recorded, "", calls)
        case ModelsAsked(calls=calls):
            yield from _spent(recorded, "", calls)
        case event if isinstance(event, RefreshOutcome):
            yield from _spent(recorded, recorded.stream.name, event.record.calls)


def _spent(recorded: Recorded, mental_model_id: str, calls: Sequence[ModelCall]) -> Iterable[Statement]:
    grouped: dict[tuple[str, str], list[ModelCall]] = {}
    for call in calls:
        grouped.setdefault((purpose_of(call.purpose), call.model), []).append(call)
    for (purpose, model), alike in grouped.items():
        cost = total(alike)
        yield Statement(
            "INSERT INTO usage (bank_id, stream_kind, stream_name, version, day, mental_model_id, actor, cause,"
            " purpose, model, calls, input_tokens, output_tokens)"
            " VALUES (%(bank_id)s, %(kind)s, %(name)s, %(version)s, %(day)s,"
            " %(mental_model_id)s, %(actor)s, %(cause)s, %(purpose)s, %(model)s, %(calls)s, %(input_tokens)s,"
            " %(output_tokens)s) ON CONFLICT DO NOTHING",
            {
                "bank_id": recorded.stream.bank_id,
                "kind": recorded.stream.kind,
                "name": recorded.stream.name,
                "version": recorded.version,
                "day": recorded.occurred_at.astimezone(UTC).date(),
                "mental_model_id": mental_model_id,
                "actor": recorded.actor,
                "cause": recorded.cause,
                "purpose": purpose,
                "model": model,
                "calls": len(alike),
                "input_tokens": cost.input_tokens,
                "output_tokens": cost.output_tokens,
            },
        )


PROJECTION = Projection(
    "usage", 2, "usage", ("bank_id", "stream_kind", "stream_name", "version", "purpose", "model"), DDL, HANDLES, project
)


def tokens_of_day(bank_id: str, day: date) -> Query[int]:
    """Tokens read and written for a bank on a day (UTC)."""
    return Query(
        "SELECT coalesce(sum(input_tokens + output_tokens), 0)::bigint AS tokens FROM usage"
        " WHERE bank_id = %(bank_id)s AND day = %(day)s::date",
        {"bank_id": bank_id, "day": day},
        lambda rows: int(rows[0]["tokens"]),
    )


def of_bank(bank_id: str, since: date) -> Query[list[Spent]]:
    """What each day (UTC) from `since` on cost, newest first; of a day the dearest first."""
    return Query(
        "SELECT day, mental_model_id, actor, cause, sum(calls)::int AS calls,"
        " sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens FROM usage"
        " WHERE bank_id = %(bank_id)s AND day >= %(since)s::date GROUP BY day, mental_model_id, actor, cause"
        " ORDER BY day DESC, sum(input_tokens + output_tokens) DESC, mental_model_id, actor, cause",
        {"bank_id": bank_id, "since": since},
        lambda rows: [Spent(**row) for row in rows],
    )
