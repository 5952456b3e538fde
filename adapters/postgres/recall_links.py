"""The arm that follows links: from facts found to their neighbours in a document, to what they came of and what came of
them, and to facts that share a rare name.

What is linked to must be in scope and window by itself: a fact found drags nothing in that the scope does not admit.
"""

from __future__ import annotations

from psycopg import Connection, sql
from psycopg.rows import DictRow, tuple_row

from adapters.postgres.memory_rows import LEXEME_MARK_LENGTH, bigints, lexeme_mark
from adapters.postgres.recall_conditions import Readable
from domain.recall.fusion import CONTEXT, Link, Pool
from domain.terms import NAME_MARK

MOST_OF_A_NAME = 200
"""A name that more facts have links none of them (the system of reference: at most 200 facts for an entity)."""

# OFFSET 0 keeps each fact a search of its own: a plan made without statistics may well read the whole bank instead.
# What stands next to a fact is looked up before the scope is asked, so that a long document costs no more than a short
# one.
_BESIDE = """
(SELECT p.bank_id, p.from_position, p.to_position, p.tag_set, p.fact_type FROM fact_versions p
WHERE p.bank_id = %(bank_id)s AND p.document_id = c.document_id AND {standing} AND p.from_position {side}
ORDER BY p.from_position {order} LIMIT {steps})"""
_SIDES = (("< c.from_position", "DESC"), ("> c.from_position", "ASC"))
_NEIGHBOURS = """
SELECT c.from_position AS lender, f.from_position AS position, f.steps
FROM unnest(%(lenders)s::bigint[]) AS s(position)
CROSS JOIN LATERAL (SELECT * FROM fact_versions v
  WHERE v.bank_id = %(bank_id)s AND v.from_position = s.position OFFSET 0) c
CROSS JOIN LATERAL (SELECT *, row_number() OVER (ORDER BY from_position {order}) AS steps
  FROM ({beside}) every ORDER BY from_position {order} LIMIT {steps}) f
WHERE {admitted}"""
_CAUSALITY = """
SELECT c.from_position AS lender, f.from_position AS position, 1 AS steps
FROM unnest(%(lenders)s::bigint[]) AS s(position)
CROSS JOIN LATERAL (SELECT * FROM fact_versions v
  WHERE v.bank_id = %(bank_id)s AND v.from_position = s.position OFFSET 0) c
CROSS JOIN LATERAL (
  SELECT k.cause_id AS fact_id FROM fact_causes k WHERE k.bank_id = %(bank_id)s AND k.fact_id = c.fact_id
  UNION SELECT k.fact_id FROM fact_causes k WHERE k.bank_id = %(bank_id)s AND k.cause_id = c.fact_id) k
CROSS JOIN LATERAL (SELECT * FROM fact_versions v
  WHERE v.bank_id = %(bank_id)s AND v.fact_id = k.fact_id OFFSET 0) f
WHERE {rows}"""
_CURRENT = "p.to_position IS NULL"
_CURRENT_THEN = "p.to_position IS NULL AND p.from_position <= %(upto)s"
_CLOSED_SINCE = "p.to_position > %(upto)s AND p.from_position <= %(upto)s"

_NAMES = """
SELECT lexeme, (array_agg(c.from_position ORDER BY s.place))[1] AS lender
FROM unnest(%(by_name)s::bigint[]) WITH ORDINALITY AS s(position, place)
CROSS JOIN LATERAL (SELECT * FROM fact_versions v
  WHERE v.bank_id = %(bank_id)s AND v.from_position = s.position OFFSET 0) c
CROSS JOIN LATERAL unnest(tsvector_to_array(c.terms)) AS lexeme
JOIN memory_terms t ON t.bank_id = %(bank_id)s AND t.term = substr(lexeme, %(mark_length)s + 1)
  AND t.facts <= %(most_of_a_name)s
WHERE starts_with(lexeme, %(name_mark)s) GROUP BY lexeme"""
_SHARING = """
SELECT n.lender, f.from_position AS position, 0 AS steps FROM names n CROSS JOIN LATERAL (
  SELECT * FROM fact_versions WHERE to_position IS NULL AND terms @@ ('''' || n.lexeme || '''')::tsquery OFFSET 0) f
WHERE {rows}"""
# Those closed since are few, and are read by their ends.
_SHARED_THEN = """
SELECT n.lender, f.from_position AS position, 0 AS steps FROM fact_versions f
JOIN names n ON f.terms @@ ('''' || n.lexeme || '''')::tsquery WHERE {rows}"""


def links_of(connection: Connection[DictRow], pool: Pool, readable: Readable) -> list[Link]:
    """From the facts that lend to all that they lend to."""
    if not pool.lenders:
        return []
    arms = [*_neighbours(readable), *(sql.SQL(arm).format(rows=readable.current) for arm in (_CAUSALITY, _SHARING))]
    if readable.past:
        arms.extend(sql.SQL(arm).format(rows=readable.closed) for arm in (_CAUSALITY, _SHARED_THEN))
    statement = sql.SQL("WITH names AS ({names}) {links}").format(
        names=sql.SQL(_NAMES), links=sql.SQL(" UNION ALL ").join(arms)
    )
    mark = lexeme_mark(readable.parameters["bank_id"])
    parameters = {
        **readable.parameters,
        "lenders": bigints(pool.lenders),
        "by_name": bigints(pool.lenders_by_name),
        "mark_length": LEXEME_MARK_LENGTH,
        "name_mark": mark + NAME_MARK,
        "most_of_a_name": MOST_OF_A_NAME,
    }
    # Prepared when it repeats, unlike the arms: it looks up by keys alone, so one plan is good for all banks, and
    # making it costs as much as carrying it out.
    rows = connection.cursor(row_factory=tuple_row).execute(statement, parameters).fetchall()
    return [Link(*row) for row in rows]


def _neighbours(readable: Readable) -> list[sql.Composed]:
    standing = [_CURRENT_THEN, _CLOSED_SINCE] if readable.past else [_CURRENT]
    steps = sql.Literal(len(CONTEXT))
    found = []
    for side, order in _SIDES:
        words = {"side": sql.SQL(side), "order": sql.SQL(order), "steps": steps}
        beside = sql.SQL(" UNION ALL ").join(
            sql.SQL(_BESIDE).format(standing=sql.SQL(each), **words) for each in standing
        )
        found.append(sql.SQL(_NEIGHBOURS).format(beside=beside, admitted=readable.admitted, **words))
    return found
