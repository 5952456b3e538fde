"""Which facts a recall may find, as SQL conditions that all its arms share.

A fact is readable when one version of it is current, or was so at the position `upto` of a window. Versions closed
since are read beside the current ones: the indexes of current facts serve every position that is not long past.
"""

from __future__ import annotations

from typing import Any

from psycopg import sql

from adapters.postgres.scope_sql import ScopeCondition
from domain.memory import RecallQuery
from domain.scope import EVERYTHING

# `f` is a row of fact_versions or of fact_vectors.
_CURRENT = "f.bank_id = %(bank_id)s AND f.to_position IS NULL"
_PAST = "f.bank_id = %(bank_id)s AND f.to_position > %(upto)s"
_IN_WINDOW = "f.from_position > %(after)s AND f.from_position <= %(upto)s"
# A scope is the same for all facts of one set of tags and one type: it is worked out once for each.
_IN_SCOPE = """(f.tag_set, f.fact_type) IN
  (SELECT s.tag_set, s.fact_type FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND {scope})"""
_AND = sql.SQL(" AND ")


class Readable:
    """The facts in scope and window. `past` says that the window ends before the bank's position: then both `current`
    and `closed` rows are to be read. Statements with these conditions need `parameters`."""

    def __init__(self, query: RecallQuery, *, past: bool) -> None:
        self.past = past
        scope = ScopeCondition(query.scope)
        in_scope = [] if query.scope == EVERYTHING else [sql.SQL(_IN_SCOPE).format(scope=scope.on("s"))]
        bounded = query.window is not None and (past or query.window.after > 0)
        in_window = [sql.SQL(_IN_WINDOW)] if bounded else []
        self.admitted: sql.Composable = _AND.join((sql.SQL("TRUE"), *in_window, *in_scope))
        """That a row which is current, or was so at the time, is in scope and window."""
        self.current: sql.Composable = _AND.join((sql.SQL(_CURRENT), *in_window, *in_scope))
        self.closed: sql.Composable = _AND.join((sql.SQL(_PAST), *in_window, *in_scope))
        self.parameters: dict[str, Any] = {"bank_id": query.bank_id, **window_of(query), **scope.parameters}


def newest_rows(query: RecallQuery, condition: ScopeCondition) -> sql.Composable:
    """The condition on a row of fact_versions to be readable, whatever the bank's position is."""
    scope = condition.on("f")
    if query.window is None:
        return _AND.join((sql.SQL(_CURRENT), scope))
    readable = "f.bank_id = %(bank_id)s AND (f.to_position IS NULL OR f.to_position > %(upto)s)"
    return _AND.join((sql.SQL(readable), sql.SQL(_IN_WINDOW), scope))


def window_of(query: RecallQuery) -> dict[str, int | None]:
    if query.window is None:
        return {"after": None, "upto": None}
    return {"after": query.window.after, "upto": query.window.upto}
