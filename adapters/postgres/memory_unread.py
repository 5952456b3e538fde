"""The facts that a delta has to read: new ones, those newly in scope, and those left over from the last time.

Each kind is a search of its own, and none finds what another one does, so that the usual case (a few new facts, the
scope of before) reads no more than those facts, whatever else is in the bank.
"""

from __future__ import annotations

from psycopg import Connection, sql
from psycopg.rows import DictRow

from adapters.postgres.memory_rows import FACT_COLUMNS, READABLE, facts_of
from adapters.postgres.scope_sql import ScopeCondition
from domain.memory import Fact, UnreadQuery

_NEW = "f.from_position > %(after)s"
_PENDING = "f.from_position <= %(after)s AND f.from_position = ANY(%(pending)s::bigint[])"
# A scope is the same for all facts of one set of tags and one type: what came into scope is worked out on those. When
# that is nothing, EXISTS, which is asked once and first, keeps the server from reading any fact.
_NEWLY_IN_SCOPE = """f.from_position <= %(after)s AND f.from_position <> ALL(%(pending)s::bigint[])
  AND EXISTS (SELECT {sets}) AND (f.tag_set, f.fact_type) IN (SELECT s.tag_set, s.fact_type {sets})"""
_SETS_NEWLY_IN_SCOPE = "FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND {scope} AND NOT {covered_scope}"

_UNREAD = "SELECT {columns} FROM ({found}) f ORDER BY f.from_position LIMIT %(limit)s"
_FOUND = "SELECT f.* FROM fact_versions f WHERE {conditions}"


def unread(connection: Connection[DictRow], query: UnreadQuery) -> list[Fact]:
    """Those facts, by position."""
    condition = ScopeCondition(query.scope)
    covered = None if query.covered_scope is None else ScopeCondition(query.covered_scope, name="covered")
    parameters = {
        "bank_id": query.bank_id,
        "after": query.after,
        "upto": query.upto,
        "pending": list(query.pending),
        "limit": query.limit,
    }
    statement = _statement(query, condition, covered)
    parameters |= condition.parameters | (covered.parameters if covered else {})
    # Never prepared: a plan for any bank would be a bad one for most.
    return facts_of(connection.execute(statement, parameters, prepare=False).fetchall())


def _statement(query: UnreadQuery, condition: ScopeCondition, covered: ScopeCondition | None) -> sql.Composed:
    in_scope, readable = condition.on("f"), sql.SQL(READABLE)
    found: list[tuple[sql.Composable, ...]] = [(readable, sql.SQL(_NEW), in_scope)]
    if query.pending:
        found.append((readable, sql.SQL(_PENDING), in_scope))
    if covered is not None:
        sets = sql.SQL(_SETS_NEWLY_IN_SCOPE).format(scope=condition.on("s"), covered_scope=covered.on("s"))
        found.append((readable, sql.SQL(_NEWLY_IN_SCOPE).format(sets=sets)))
    searches = [sql.SQL(_FOUND).format(conditions=sql.SQL(" AND ").join(each)) for each in found]
    return sql.SQL(_UNREAD).format(columns=FACT_COLUMNS, found=sql.SQL(" UNION ALL ").join(searches))
