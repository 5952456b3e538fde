"""The arms that find facts by themselves: by meaning, by word and by time. One statement for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from psycopg import Connection, sql
from psycopg.rows import DictRow, tuple_row

from adapters.postgres.recall_conditions import Readable
from adapters.postgres.recall_plan import RecallPlan
from adapters.postgres.vectors import Vector
from domain.memory import RecallQuery
from domain.recall.fusion import Found

MOST_MATCHES_OF_A_TERM = 20_000
"""Facts read for one word at most: in so many, it no longer tells one from another."""
MOST_IN_PERIOD = 100
"""Facts that the arm of time finds, the nearest in meaning."""
MOST_READ_IN_PERIOD = 2_000

# OFFSET 0 keeps the distance from being worked out twice.
_COMPARED = "(SELECT f.from_position, {distance} AS distance FROM fact_vectors f WHERE {rows} OFFSET 0)"
# Of vectors of unit length the inner product is the cosine, at half the price. Vectors of other dimensions cannot be
# compared at all: CASE keeps the server from trying.
_DISTANCE = "CASE WHEN f.space = %(space)s THEN 1 + (f.embedding <#> %(vector)b::vector::halfvec) END"
_NEAREST = """
(SELECT f.from_position, f.embedding::halfvec({dimensions}) <=> %(vector)b::vector::halfvec({dimensions}) AS distance
FROM fact_vectors f WHERE {rows} AND f.space = %(space)s AND vector_dims(f.embedding) = {dimensions}
ORDER BY f.embedding::halfvec({dimensions}) <=> %(vector)b::vector::halfvec({dimensions}) LIMIT %(limit)s)"""
_SEMANTIC = """
SELECT 1 AS arm, from_position, 1 - distance AS score FROM ({found}) near WHERE distance <= %(farthest)s
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
# BM25 with k1 = 0.9, b = 0.5 and 20 terms as the usual length, for facts in which a word stands once.
_KEYWORD = """
SELECT 2 AS arm, from_position, score
FROM (SELECT from_position, 1.9 * sum(weight) / (1.45 + 0.0225 * max(length)::float8) AS score
  FROM ({found}) matches GROUP BY from_position) scored
WHERE score >= %(least_keyword)s ORDER BY score DESC, from_position DESC LIMIT %(limit)s"""

# Of one word alone each fact is found once, and needs no adding up.
_KEYWORD_ALONE = """
SELECT 2 AS arm, from_position, score
FROM (SELECT from_position, 1.9 * weight / (1.45 + 0.0225 * length::float8) AS score FROM ({found}) matches) scored
WHERE score >= %(least_keyword)s ORDER BY score DESC, from_position DESC LIMIT %(limit)s"""

_SAID = """(SELECT f.from_position FROM fact_versions f WHERE {rows} AND f.mentioned_at BETWEEN %(start)s AND %(stop)s
ORDER BY f.mentioned_at DESC LIMIT %(most_read)s)"""
_OCCURRED = """(SELECT f.from_position FROM fact_versions f WHERE {rows} AND f.occurred_start <= %(stop)s
AND coalesce(f.occurred_end, f.occurred_start) >= %(start)s ORDER BY f.occurred_start DESC LIMIT %(most_read)s)"""
_TEMPORAL = """
SELECT 3 AS arm, t.from_position, NULL::float8 AS score FROM ({found}) t
LEFT JOIN fact_vectors f ON f.bank_id = %(bank_id)s AND f.from_position = t.from_position
ORDER BY {distance} NULLS LAST, t.from_position DESC LIMIT %(most_in_period)s"""
_SEMANTIC_ARM, _KEYWORD_ARM = 1, 2
_UNION_ALL, _UNION = sql.SQL(" UNION ALL "), sql.SQL(" UNION ")


@dataclass(frozen=True)
class SearchVector:
    """What to compare with: a vector (empty: none), and the name of the space it is in."""

    numbers: Sequence[float]
    space: str


def find(
    connection: Connection[DictRow], query: RecallQuery, readable: Readable, plan: RecallPlan, vector: SearchVector
) -> Found:
    """What the arms find, each `query.limit` facts at most."""
    arms = [
        *_semantic_arm(readable, plan, len(vector.numbers)),
        *_keyword_arm(readable, plan),
        *_temporal_arm(query, readable, comparing=bool(vector.numbers)),
    ]
    if not arms:
        return Found({}, {})
    statement = _UNION_ALL.join(sql.SQL("({})").format(arm) for arm in arms)
    parameters = {
        **readable.parameters,
        "limit": query.limit,
        "vector": Vector(vector.numbers),
        "space": vector.space,
        "farthest": 1 - query.min_semantic,
        "least_keyword": query.min_keyword,
        "lexemes": [f"'{lexeme}'" for lexeme, _ in plan.lexemes],
        "weights": [weight for _, weight in plan.lexemes],
        "most_matches": MOST_MATCHES_OF_A_TERM,
        "start": query.period.start if query.period else None,
        "stop": query.period.end if query.period else None,
        "most_read": MOST_READ_IN_PERIOD,
        "most_in_period": min(MOST_IN_PERIOD, query.limit),
    }
    # Never prepared: a plan for any bank would be a bad one for most.
    rows = connection.cursor(row_factory=tuple_row).execute(statement, parameters, prepare=False).fetchall()
    return _by_arm(rows)


def _semantic_arm(readable: Readable, plan: RecallPlan, dimensions: int) -> Iterable[sql.Composed]:
    if dimensions:
        distance = sql.SQL(_DISTANCE)
        nearest = sql.SQL(_NEAREST if plan.reach else _COMPARED)
        found = [nearest.format(rows=readable.current, distance=distance, dimensions=sql.Literal(dimensions))]
        if readable.past:
            found.append(sql.SQL(_COMPARED).format(rows=readable.closed, distance=distance))
        yield sql.SQL(_SEMANTIC).format(found=_UNION_ALL.join(found))


def _keyword_arm(readable: Readable, plan: RecallPlan) -> Iterable[sql.Composed]:
    if plan.lexemes:
        found = [sql.SQL(_MATCHES).format(rows=readable.current)]
        if readable.past:
            found.append(sql.SQL(_PAST_MATCHES).format(rows=readable.closed))
        arm = _KEYWORD if len(plan.lexemes) > 1 else _KEYWORD_ALONE
        yield sql.SQL(arm).format(found=_UNION_ALL.join(found))


def _temporal_arm(query: RecallQuery, readable: Readable, *, comparing: bool) -> Iterable[sql.Composed]:
    if query.period is not None:
        rows = [readable.current, readable.closed] if readable.past else [readable.current]
        found = [sql.SQL(arm).format(rows=each) for each in rows for arm in (_SAID, _OCCURRED)]
        distance = sql.SQL(_DISTANCE if comparing else "NULL::float8")
        yield sql.SQL(_TEMPORAL).format(found=_UNION.join(found), distance=distance)


def _by_arm(rows: Iterable[tuple[int, int, float]]) -> Found:
    semantic: dict[int, float] = {}
    keyword: dict[int, float] = {}
    in_period: list[int] = []
    for arm, position, score in rows:
        if arm == _SEMANTIC_ARM:
            semantic[position] = score
        elif arm == _KEYWORD_ARM:
            keyword[position] = score
        else:
            in_period.append(position)
    return Found(semantic, keyword, in_period)
