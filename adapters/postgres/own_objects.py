"""What of a database is Palimpsest's: what its migrations and read models make there.

A database may hold other things too; a backup leaves them out, and a restore leaves them alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import scalar_row

from adapters.postgres.migrations import migrations
from projections.registry import PROJECTIONS

_MADE = re.compile(
    r"^\s*CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?(TABLE|VIEW|SEQUENCE|TYPE|FUNCTION)\s+(?:IF\s+NOT\s+EXISTS\s+)?(\w+)",
    re.IGNORECASE | re.MULTILINE,
)
_NOT_OF_MIGRATIONS = ("schema_migrations", "read_models")
_RELATIONS = (
    "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY(%s)"
    " AND c.relkind = ANY(%s) ORDER BY c.relname"
)
_TYPES = (
    "SELECT t.typname FROM pg_type t WHERE t.typnamespace = current_schema()::regnamespace AND t.typname = ANY(%s)"
    " AND (t.typrelid = 0 OR EXISTS (SELECT FROM pg_class c WHERE c.oid = t.typrelid AND c.relkind = 'c'))"
)
_FUNCTIONS = (
    "SELECT p.oid::regprocedure::text FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace"
    " AND p.proname = ANY(%s)"
)


def tables_of_migrations(connection: Connection[Any], applied: Collection[str]) -> list[str]:
    """The tables that are there and that one of the migrations made, in the order in which they were: a table comes
    after those that it refers to."""
    made = _made("TABLE", applied)
    return sorted(_found(connection, _RELATIONS, made, ["r"]), key=made.index)


def sequences_of_migrations(connection: Connection[Any], applied: Collection[str]) -> list[str]:
    """The sequences that belong to no table, by name."""
    return _found(connection, _RELATIONS, _made("SEQUENCE", applied), ["S"])


def drop_all(connection: Connection[Any]) -> None:
    """Drops all that is ours, read models included. To be done in a transaction."""
    names = [name for name, _ in migrations()]
    tables = [*_made("TABLE", names), *_NOT_OF_MIGRATIONS, *(each.table for each in PROJECTIONS)]
    for view in _found(connection, _RELATIONS, _made("VIEW", names), ["v"]):
        connection.execute(sql.SQL("DROP VIEW IF EXISTS {} CASCADE").format(sql.Identifier(view)))
    if found := _found(connection, _RELATIONS, tables, ["r"]):
        listed = sql.SQL(", ").join(map(sql.Identifier, found))
        connection.execute(sql.SQL("DROP TABLE {} CASCADE").format(listed))
    for name in sequences_of_migrations(connection, names):
        connection.execute(sql.SQL("DROP SEQUENCE {} CASCADE").format(sql.Identifier(name)))
    for signature in _found(connection, _FUNCTIONS, _made("FUNCTION", names)):
        connection.execute(sql.SQL("DROP FUNCTION IF EXISTS {} CASCADE").format(sql.SQL(signature)))
    for name in _found(connection, _TYPES, _made("TYPE", names)):
        connection.execute(sql.SQL("DROP TYPE IF EXISTS {} CASCADE").format(sql.Identifier(name)))


def _made(kind: str, applied: Collection[str]) -> list[str]:
    texts = [text for name, text in migrations() if name in applied]
    return [made[2] for text in texts for made in _MADE.finditer(text) if made[1].upper() == kind]


def _found(connection: Connection[Any], query: str, *parameters: object) -> list[str]:
    return connection.cursor(row_factory=scalar_row).execute(query, parameters).fetchall()
