"""Recall: facts near in meaning and facts with the same words, fused, in one statement.

A fact is readable when one version of it is current, or was so at the position `upto` of a window. Versions closed
since are read beside the current ones: the indexes of current facts serve every position that is not long past.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import DictRow
from pydantic import TypeAdapter

from adapters.postgres.memory_rows import FACT_COLUMNS, fact_fields
from adapters.postgres.recall_plan import RecallPlan, graph_settings, plan_recall
from adapters.postgres.scope_sql import ScopeCondition
from adapters.postgres.vectors import Vector
from domain.memory import Fact, RecalledFact, RecallQuery, estimated_tokens
from domain.scope import EVERYTHING

RANK_OFFSET = 60
"""The constant of reciprocal rank fusion (spec: 60)."""
MOST_MATCHES_OF_A_TERM = 20_000
"""Facts read for one word at most: in so many, it no longer tells one from another."""

# `f` is a row of fact_versions or of fact_vectors.
_CURRENT = "f.bank_id = %(bank_id)s AND f.to_position IS NULL"
_PAST = "f.bank_id = %(bank_id)s AND f.to_position > %(upto)s"
_IN_WINDOW = "f.from_position > %(after)s AND f.from_position <= %(upto)s"
# A scope is the same for all facts of one set of tags and one type: it is worked out once for each.
_IN_SCOPE = """(f.tag_set, f.fact_type) IN
  (SELECT s.tag_set, s.fact_type FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND {scope})"""

_COMPARED = (
    "SELECT f.from_position, {distance} AS distance FROM fact_vectors f WHERE {rows} AND {distance} <= %(farthest)s"
)
# Vectors of other dimensions cannot be compared at all: CASE keeps the server from trying.
_DISTANCE = "CASE WHEN f.space = %(space)s THEN f.embedding <=> %(vector)b::vector::halfvec END"
_NEAREST = """
(SELECT f.from_position, f.embedding::halfvec({dimensions}) <=> %(vector)b::vector::halfvec({dimensions}) AS distance
FROM fact_vectors f WHERE {rows} AND f.space = %(space)s AND vector_dims(f.embedding) = {dimensions}
ORDER BY f.embedding::halfvec({dimensions}) <=> %(vector)b::vector::halfvec({dimensions}) LIMIT %(limit)s)"""
_SEMANTIC = """
SELECT from_position, 1 - distance AS semantic, NULL::float8 AS keyword,
  row_number() OVER (ORDER BY distance, from_position DESC) AS rank
FROM ({found}) near WHERE distance <= %(farthest)s
ORDER BY distance, from_position DESC LIMIT %(limit)s"""

# OFFSET 0 keeps each word a search of its own postings, which are those of this bank alone.
_MATCHES = """
SELECT m.from_position, m.length, q.weight
FROM unnest(%(lexemes)s::text[], %(weights)s::float8[]) AS q(lexeme, weight) CROSS JOIN LATERAL (
  SELECT f.from_position, length(f.terms) AS length
  FROM (SELECT * FROM fact_versions WHERE to_position IS NULL AND terms @@ q.lexeme::tsquery OFFSET 0) f
  WHERE {rows} LIMIT %(most_matches)s) m"""
_PAST_MATCHES = """
SELECT f.from_position, length(f.terms) AS length, q.weight
FROM fact_versions f JOIN unnest(%(lexemes)s::text[], %(weights)s::float8[]) AS q(lexeme, weight)
  ON f.terms @@ q.lexeme::tsquery WHERE {rows}"""
# BM25 with k1 = 1.2, b = 0.75 and 20 terms as the usual length, for facts in which a word stands once.
_KEYWORD = """
SELECT from_position, NULL::float8 AS semantic, score AS keyword,
  row_number() OVER (ORDER BY score DESC, from_position DESC) AS rank
FROM (SELECT from_position, 2.2 * sum(weight) / (1.3 + 0.045 * max(length)::float8) AS score
  FROM ({found}) matches GROUP BY from_position) scored
ORDER BY score DESC, from_position DESC LIMIT %(limit)s"""

_FUSED = """
SELECT {columns}, fused.semantic, fused.keyword, fused.final FROM (
  SELECT from_position, max(semantic) AS semantic, max(keyword) AS keyword, sum(1 / ({offset} + rank)::float8) AS final
  FROM ({arms}) ranked GROUP BY from_position ORDER BY final DESC, from_position DESC LIMIT %(limit)s) fused
JOIN fact_versions f ON f.bank_id = %(bank_id)s AND f.from_position = fused.from_position
ORDER BY fused.final DESC, f.from_position DESC"""

_NEWEST = """
SELECT {columns} FROM fact_versions f WHERE {rows} AND f.from_position <= (
  SELECT max(s.position) FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND {scope})
ORDER BY f.from_position DESC LIMIT 1"""

_RECALLED = TypeAdapter(list[RecalledFact])


@dataclass(frozen=True)
class SearchVector:
    """What to compare with: a vector (empty: none), and the name of the space it is in."""

    numbers: Sequence[float]
    space: str


def recall(connection: Connection[DictRow], query: RecallQuery, vector: SearchVector) -> list[RecalledFact]:
    """The facts found, best first. Needs a connection in autocommit mode, of which it makes one snapshot."""
    if query.limit <= 0 or query.max_tokens == 0:
        return []
    condition = ScopeCondition(query.scope)
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        plan = plan_recall(connection, query, condition, len(vector.numbers))
        if plan is None:
            return []
        statement = _statement(query, condition, plan, len(vector.numbers))
        if statement is None:
            return []
        # Starting a compiler or other processes takes longer than a recall should.
        settings = {"jit": "off", "max_parallel_workers_per_gather": 0} | (graph_settings(plan) if plan.reach else {})
        connection.execute(
            "SELECT set_config(name, value, true) FROM unnest(%s::text[], %s::text[]) AS s(name, value)",
            (list(settings), [str(value) for value in settings.values()]),
        )
        # Never prepared: a plan for any bank would be a bad one for most.
        rows = connection.execute(statement, _parameters(query, condition, plan, vector), prepare=False).fetchall()
    return _within(query.max_tokens, rows)


def newest_in_scope(connection: Connection[DictRow], query: RecallQuery) -> Fact | None:
    condition = ScopeCondition(query.scope)
    scope = condition.on("f")
    rows = sql.SQL(" AND ").join((sql.SQL(_CURRENT), scope))
    if query.window is not None:
        readable = "f.bank_id = %(bank_id)s AND (f.to_position IS NULL OR f.to_position > %(upto)s)"
        rows = sql.SQL(" AND ").join((sql.SQL(readable), sql.SQL(_IN_WINDOW), scope))
    statement = sql.SQL(_NEWEST).format(columns=FACT_COLUMNS, rows=rows, scope=condition.on("s"))
    row = connection.execute(
        statement, {"bank_id": query.bank_id, **_window(query), **condition.parameters}, prepare=False
    ).fetchone()
    return None if row is None else Fact.model_validate(fact_fields(row))


def _statement(query: RecallQuery, condition: ScopeCondition, plan: RecallPlan, dimensions: int) -> sql.Composed | None:
    """None when there is nothing to search with."""
    current, past = _current_rows(query, condition, plan), _past_rows(query, condition)
    union = sql.SQL(" UNION ALL ")
    arms = []
    if dimensions:
        compared = sql.SQL(_NEAREST if plan.reach else _COMPARED)
        distance = sql.SQL(_DISTANCE)
        found = [compared.format(rows=current, distance=distance, dimensions=sql.Literal(dimensions))]
        if plan.past:
            found.append(sql.SQL(_COMPARED).format(rows=past, distance=distance))
        arms.append(sql.SQL(_SEMANTIC).format(found=union.join(found)))
    if plan.lexemes:
        found = [sql.SQL(_MATCHES).format(rows=current)]
        if plan.past:
            found.append(sql.SQL(_PAST_MATCHES).format(rows=past))
        arms.append(sql.SQL(_KEYWORD).format(found=union.join(found)))
    if not arms:
        return None
    ranked = union.join(sql.SQL("({})").format(arm) for arm in arms)
    return sql.SQL(_FUSED).format(columns=FACT_COLUMNS, arms=ranked, offset=sql.Literal(RANK_OFFSET))


def _current_rows(query: RecallQuery, condition: ScopeCondition, plan: RecallPlan) -> sql.Composable:
    rows: list[sql.Composable] = [sql.SQL(_CURRENT)]
    if query.window is not None and (plan.past or query.window.after > 0):
        rows.append(sql.SQL(_IN_WINDOW))
    return sql.SQL(" AND ").join((*rows, *_in_scope(query, condition)))


def _past_rows(query: RecallQuery, condition: ScopeCondition) -> sql.Composable:
    return sql.SQL(" AND ").join((sql.SQL(_PAST), sql.SQL(_IN_WINDOW), *_in_scope(query, condition)))


def _in_scope(query: RecallQuery, condition: ScopeCondition) -> list[sql.Composable]:
    return [] if query.scope == EVERYTHING else [sql.SQL(_IN_SCOPE).format(scope=condition.on("s"))]


def _parameters(
    query: RecallQuery, condition: ScopeCondition, plan: RecallPlan, vector: SearchVector
) -> dict[str, Any]:
    return {
        "bank_id": query.bank_id,
        "limit": query.limit,
        "vector": Vector(vector.numbers),
        "space": vector.space,
        "farthest": 1 - query.min_semantic,
        "lexemes": [f"'{lexeme}'" for lexeme, _ in plan.lexemes],
        "weights": [weight for _, weight in plan.lexemes],
        "most_matches": MOST_MATCHES_OF_A_TERM,
        **_window(query),
        **condition.parameters,
    }


def _window(query: RecallQuery) -> dict[str, int | None]:
    if query.window is None:
        return {"after": None, "upto": None}
    return {"after": query.window.after, "upto": query.window.upto}


def _within(max_tokens: int | None, rows: Sequence[DictRow]) -> list[RecalledFact]:
    """The facts in order until their text would be more than `max_tokens`."""
    found, tokens = [], 0
    for row in rows:
        if max_tokens is not None:
            tokens += estimated_tokens(row["text"])
            if tokens > max_tokens:
                break
        scores = {name: row.pop(name) for name in ("semantic", "keyword", "final")}
        found.append({"fact": fact_fields(row), "scores": scores})
    # All at once: that takes half as long as one after another.
    return _RECALLED.validate_python(found)
