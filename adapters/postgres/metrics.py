"""What the database tells of itself for Prometheus: one query, and the staleness of all documents. Any process tells
the same. No bank and no document is named: there may be any number of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from time import perf_counter

from adapters.postgres.reader import Reader
from projections import staleness
from projections.projection import Query, Row

_NUMBERS = """
SELECT 'banks' AS what, NULL AS a, NULL AS b, count(*)::float8 AS number FROM banks
UNION ALL SELECT 'models', NULL, NULL, count(*) FROM documents
UNION ALL SELECT 'paused', NULL, NULL, count(*) FROM documents WHERE last_refresh_failed_at IS NOT NULL
UNION ALL SELECT 'facts', NULL, NULL, coalesce(sum(facts), 0) FROM memory_clock
UNION ALL SELECT 'documents', NULL, NULL, count(*) FROM memory_documents
UNION ALL SELECT 'consolidation', 'waiting', NULL, count(*) FROM consolidation
    WHERE consolidated_at IS NULL AND failed_at IS NULL
UNION ALL SELECT 'consolidation', 'failed', NULL, count(*) FROM consolidation WHERE failed_at IS NOT NULL
UNION ALL SELECT 'size', NULL, NULL, pg_database_size(current_database())
UNION ALL SELECT 'set_aside', name, NULL, (set_aside_at IS NOT NULL)::int FROM read_models
UNION ALL SELECT 'open', operation_type, status, count(*) FROM operations
    WHERE status IN ('pending', 'processing') GROUP BY operation_type, status
UNION ALL SELECT 'parked', park_reason, NULL, count(*) FROM operations
    WHERE status IN ('pending', 'processing') AND status = 'pending' AND park_reason IS NOT NULL GROUP BY park_reason
UNION ALL SELECT 'oldest', NULL, NULL,
    greatest(0, extract(epoch FROM %(now)s - min(coalesce(next_retry_at, updated_at)))) FROM operations
    WHERE status IN ('pending', 'processing') AND status = 'pending' AND coalesce(next_retry_at, updated_at) <= %(now)s
UNION ALL SELECT 'ended', operation_type, status, count(*) FROM operations
    WHERE completed_at >= %(today)s GROUP BY operation_type, status
UNION ALL SELECT 'outcomes', result ->> 'outcome', coalesce(result ->> 'failure_reason', ''), count(*) FROM operations
    WHERE completed_at >= %(today)s AND operation_type = 'refresh_mental_model' AND result IS NOT NULL GROUP BY 2, 3
UNION ALL SELECT 'calls', purpose, model, sum(calls) FROM usage WHERE day = %(day)s GROUP BY purpose, model
UNION ALL SELECT 'input', purpose, model, sum(input_tokens) FROM usage WHERE day = %(day)s GROUP BY purpose, model
UNION ALL SELECT 'output', purpose, model, sum(output_tokens) FROM usage WHERE day = %(day)s GROUP BY purpose, model
"""
# the index of open operations is for those of both states

_MODELS: Query[list[tuple[str, list[str]]]] = Query(
    "SELECT bank_id, array_agg(mental_model_id) AS ids FROM staleness GROUP BY bank_id",
    {},
    lambda rows: [(row["bank_id"], row["ids"]) for row in rows],
)


@dataclass(frozen=True)
class DatabaseNumbers:
    """`by` has the numbers by what they are of, each with one or two labels or none."""

    by: Mapping[str, Mapping[tuple[str, ...], float]]
    stale: int
    seconds: float
    """How long it took to ask."""

    def one(self, what: str) -> float:
        return self.of(what).get((), 0.0)

    def of(self, what: str) -> Mapping[tuple[str, ...], float]:
        return self.by.get(what, {})


def read(reader: Reader, now: datetime, observations: bool) -> DatabaseNumbers:
    """As of now; `today` is the day of UTC. `observations`: banks make some that do not say otherwise."""
    began = perf_counter()
    midnight = datetime.combine(now.date(), time(), tzinfo=now.tzinfo)
    numbers = reader.ask(Query(_NUMBERS, {"now": now, "today": midnight, "day": now.date()}, _by_what))
    stale = 0
    for bank_id, ids in reader.ask(_MODELS):
        found = reader.ask(staleness.of_models(bank_id, ids, observations=observations))
        stale += sum(each.is_stale for each in found.values())
    return DatabaseNumbers(numbers, stale, perf_counter() - began)


def _by_what(rows: Sequence[Row]) -> dict[str, dict[tuple[str, ...], float]]:
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for row in rows:
        labels = tuple(label for label in (row["a"], row["b"]) if label is not None)
        if row["number"] is not None:
            found.setdefault(row["what"], {})[labels] = float(row["number"])
    return found
