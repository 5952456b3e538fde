"""Recall: what all arms find under one snapshot, fused by the rules of the domain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, NamedTuple

from psycopg import Connection, sql
from psycopg.rows import DictRow, tuple_row
from pydantic import TypeAdapter

from adapters.postgres.memory_rows import FACT_COLUMNS, bigints, fact_fields
from adapters.postgres.recall_arms import SearchVector, find
from adapters.postgres.recall_conditions import Readable, newest_rows, window_of
from adapters.postgres.recall_links import links_of
from adapters.postgres.recall_plan import graph_settings, plan_recall
from adapters.postgres.scope_sql import ScopeCondition
from domain.memory import Fact, RecalledFact, RecallQuery, estimated_tokens
from domain.recall.fusion import TEMPORAL, Candidate, Found, candidates_of, pool_of, worth_of_names

# Starting a compiler or other processes takes longer than a recall should. Where an index gives an order, it is the one
# to read: a plan made before there are statistics may well sort a whole bank for each fact instead.
_SNAPSHOT = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
    " SET LOCAL jit = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_sort = off"
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
    return _within(query.max_tokens, _ordered(candidates, rows, found, plan.named), rows.columns)


@contextmanager
def _snapshot(connection: Connection[DictRow]) -> Iterator[None]:
    """One transaction in which every statement sees the same; nothing of it stays on the connection."""
    connection.execute(_SNAPSHOT)
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


class _Rows(NamedTuple):
    """Rows of facts by position, as they come: most are ordered and counted, fewer are told."""

    columns: Sequence[str]
    at: Mapping[int, tuple[Any, ...]]


def _rows(connection: Connection[DictRow], bank_id: str, candidates: Sequence[Candidate]) -> _Rows:
    if not candidates:
        return _Rows((), {})
    parameters = {"bank_id": bank_id, "positions": bigints(each.position for each in candidates)}
    cursor = connection.cursor(row_factory=tuple_row).execute(sql.SQL(_FACTS).format(columns=FACT_COLUMNS), parameters)
    columns = [column.name for column in cursor.description or ()]
    position = columns.index("position")
    return _Rows(columns, {row[position]: row for row in cursor.fetchall()})


def _ordered(
    candidates: Sequence[Candidate], rows: _Rows, found: Found, named: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The fields of what is recalled, with what the names in the question add; of equal facts the newest first."""
    in_period, ordered = set(found.in_period), []
    for position, score, lent in candidates:
        worth = _worth(rows, position, named) if named else 0.0
        ordered.append((-score - worth, -position, lent, worth))
    for final, before, lent, worth in sorted(ordered, key=itemgetter(0, 1)):
        position = -before
        scores = {
            "semantic": found.semantic.get(position),
            "keyword": found.keyword.get(position),
            "graph": (lent or 0.0) + worth if worth else lent,
            "temporal": TEMPORAL if position in in_period else None,
            "final": -final,
        }
        yield {"fact": rows.at[position], "scores": scores}


def _worth(rows: _Rows, position: int, named: Collection[str]) -> float:
    row = rows.at[position]
    return worth_of_names(row[rows.columns.index("text")], row[rows.columns.index("entities")], named)


def _within(max_tokens: int | None, recalled: Iterable[dict[str, Any]], columns: Sequence[str]) -> list[RecalledFact]:
    """The facts in order until their text would be more than `max_tokens`. Made all at once: that takes half as long as
    one after another."""
    tokens, fitting = 0, []
    for each in recalled:
        fact = dict(zip(columns, each["fact"], strict=True))
        if max_tokens is not None:
            tokens += estimated_tokens(fact["text"])
            if tokens > max_tokens:
                break
        fitting.append({"fact": fact_fields(fact), "scores": each["scores"]})
    return _RECALLED.validate_python(fitting)


def newest_in_scope(connection: Connection[DictRow], query: RecallQuery) -> Fact | None:
    condition = ScopeCondition(query.scope)
    statement = sql.SQL(_NEWEST).format(
        columns=FACT_COLUMNS, rows=newest_rows(query, condition), scope=condition.on("s")
    )
    parameters = {"bank_id": query.bank_id, **window_of(query), **condition.parameters}
    row = connection.execute(statement, parameters, prepare=False).fetchone()
    return None if row is None else Fact.model_validate(fact_fields(row))
