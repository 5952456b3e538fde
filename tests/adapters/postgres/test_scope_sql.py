"""The SQL of a scope against the matcher it translates, on a real server."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import sql

from adapters.postgres.database import Database
from adapters.postgres.scope_sql import ScopeCondition, sorted_tags
from domain.scope import FACT_TYPES, Scope, TagLeaf, TagNot, admits
from tests.domain.test_scope import MODES, groups

# Tags that SQL, arrays and patterns could take for something else.
TAGS = ("user:alice", "it's", '{a,"b"}', "100% NULL")
ROWS = [
    (tags, fact_type)
    for size in range(len(TAGS) + 1)
    for tags in itertools.combinations(sorted(TAGS), size)
    for fact_type in FACT_TYPES
]

tag_lists = st.lists(st.sampled_from(TAGS), max_size=3).map(tuple)
scopes = st.builds(
    Scope,
    tags=tag_lists,
    tags_match=st.sampled_from(MODES),
    tag_groups=st.none() | st.lists(groups, max_size=3).map(tuple),
    fact_types=st.none() | st.lists(st.sampled_from(FACT_TYPES), max_size=2).map(tuple),
)


@pytest.fixture(scope="module")
def rows(shared_database: Database) -> Database:
    with shared_database.connection() as connection:
        connection.execute("CREATE TABLE scoped (number int, tags text[], fact_type text)")
        connection.cursor().executemany(
            "INSERT INTO scoped VALUES (%s, %s, %s)",
            [(number, sorted_tags(tags), fact_type) for number, (tags, fact_type) in enumerate(ROWS)],
        )
    return shared_database


def selected(database: Database, scope: Scope) -> set[int]:
    condition = ScopeCondition(scope)
    statement = sql.SQL("SELECT number FROM scoped f WHERE {}").format(condition.on("f"))
    with database.connection() as connection:
        found = connection.execute(statement, condition.parameters).fetchall()
    return {row["number"] for row in found}


@settings(max_examples=300, deadline=None)
@given(scope=scopes)
@example(scope=Scope())
@example(scope=Scope(tags_match="exact"))
@example(scope=Scope(fact_types=()))
@example(scope=Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=(), match="any")),)))
def test_the_condition_selects_exactly_the_rows_the_scope_admits(rows: Database, scope: Scope) -> None:
    admitted = {number for number, (tags, fact_type) in enumerate(ROWS) if admits(scope, tags, fact_type)}

    assert selected(rows, scope) == admitted


def test_one_condition_can_be_set_on_several_tables_of_a_statement(rows: Database) -> None:
    condition = ScopeCondition(Scope(tags=("it's",), tags_match="any_strict", fact_types=("world",)))
    statement = sql.SQL("SELECT count(*) AS n FROM scoped f JOIN scoped s USING (number) WHERE {} AND {}").format(
        condition.on("f"), condition.on("s")
    )

    with rows.connection() as connection:
        counted = connection.execute(statement, condition.parameters).fetchone()

    assert counted is not None
    assert counted["n"] == 8
