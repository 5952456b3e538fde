"""Recall: what all arms find under one snapshot, fused by the rules of the domain."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import DictRow
from pydantic import TypeAdapter

from adapters.postgres.memory_rows import FACT_COLUMNS, fact_fields
from adapters.postgres.recall_arms import SearchVector, find
from adapters.postgres.recall_conditions import Readable, newest_rows, window_of
from adapters.postgres.recall_links import links_of
from adapters.postgres.recall_plan import graph_settings, plan_recall
from adapters.postgres.scope_sql import ScopeCondition
from domain.memory import Fact, RecalledFact, RecallQuery, estimated_tokens
from domain.recall.fusion import TEMPORAL, Candidate, Found, candidates_of, pool_of, worth_of_names

# Starting a compiler or other processes takes longer than a recall should.
_SNAPSHOT = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    " SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0"
)
_FACTS = """
SELECT {columns} FROM unnest(%(positions)s::bigint[]) AS c(position)
CROSS JOIN LATERAL (SELECT * FROM fact_versions v
  WHERE v.bank_id = %(bank_id)s AND v.from_position = c.position OFFSET 0) f"""
_NEWEST = """
SELECT {columns} FROM fact_versions f WHERE {rows} AND f.from_position <= (
  SELECT max(s.position) FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND {scope})
ORDER BY f.from_position DESC LIMIT 1"""

_RECALLED = TypeAdapter(list[RecalledFact])


def recall(connection: Connection[DictRow], query: RecallQuery, vector: SearchVector) -> list[RecalledFact]:
    """The facts found, best first. Needs a connection in autocommit mode, of which it makes one snapshot."""
    if query.limit <= 0 or query.max_tokens == 0:
        return []
    with _snapshot(connection):
        plan = plan_recall(connection, query, ScopeCondition(query.scope), len(vector.numbers))
        if plan is None:
            return []
        if plan.reach:
            settings = graph_settings(plan)
            connection.execute(
                "SELECT set_config(name, value, true) FROM unnest(%s::text[], %s::text[]) AS s(name, value)",
                (list(settings), [str(value) for value in settings.values()]),
            )
        readable = Readable(query, past=plan.past)
        found = find(connection, query, readable, plan, vector)
        pool = pool_of(found, least_semantic=query.min_semantic)
        links = links_of(connection, pool, readable) if query.by_links else []
        candidates = candidates_of(pool, links, query.limit)
        rows = _rows(connection, query.bank_id, candidates)
    return _within(query.max_tokens, _ordered(candidates, rows, found, plan.named))


@contextmanager
def _snapshot(connection: Connection[DictRow]) -> Iterator[None]:
    """One transaction in which every statement sees the same; nothing of it stays on the connection."""
    connection.execute(_SNAPSHOT)
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _rows(connection: Connection[DictRow], bank_id: str, candidates: Sequence[Candidate]) -> dict[int, DictRow]:
    if not candidates:
        return {}
    parameters = {"bank_id": bank_id, "positions": [each.position for each in candidates]}
    rows = connection.execute(sql.SQL(_FACTS).format(columns=FACT_COLUMNS), parameters).fetchall()
    return {row["position"]: row for row in rows}


def _ordered(
    candidates: Sequence[Candidate], rows: Mapping[int, DictRow], found: Found, named: Collection[str]
) -> list[dict[str, Any]]:
    """The fields of what is recalled, with what the names in the question add; of equal facts the newest first."""
    in_period, recalled = set(found.in_period), []
    for position, score, lent in candidates:
        row = rows[position]
        worth = worth_of_names(row["text"], row["entities"], named) if named else 0.0
        scores = {
            "semantic": found.semantic.get(position),
            "keyword": found.keyword.get(position),
            "graph": (lent or 0.0) + worth if worth else lent,
            "temporal": TEMPORAL if position in in_period else None,
            "final": score + worth,
        }
        recalled.append({"fact": row, "scores": scores})
    return sorted(recalled, key=lambda each: (-each["scores"]["final"], -each["fact"]["position"]))


def _within(max_tokens: int | None, recalled: Sequence[dict[str, Any]]) -> list[RecalledFact]:
    """The facts in order until their text would be more than `max_tokens`. Made all at once: that takes half as long as
    one after another."""
    tokens, fitting = 0, []
    for each in recalled:
        if max_tokens is not None:
            tokens += estimated_tokens(each["fact"]["text"])
            if tokens > max_tokens:
                break
        fitting.append({**each, "fact": fact_fields(each["fact"])})
    return _RECALLED.validate_python(fitting)


def newest_in_scope(connection: Connection[DictRow], query: RecallQuery) -> Fact | None:
    condition = ScopeCondition(query.scope)
    statement = sql.SQL(_NEWEST).format(
        columns=FACT_COLUMNS, rows=newest_rows(query, condition), scope=condition.on("s")
    )
    parameters = {"bank_id": query.bank_id, **window_of(query), **condition.parameters}
    row = connection.execute(statement, parameters, prepare=False).fetchone()
    return None if row is None else Fact.model_validate(fact_fields(row))
