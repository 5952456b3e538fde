"""What every read model must be: one table, one version, and a fold that repeats without harm."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pytest

from domain.api_keys import ApiKeyEvent
from domain.bank import BankEvent
from domain.event import Event
from domain.knowledge_base import KnowledgeBaseEvent
from domain.mental_model.events import MentalModelEvent
from domain.operation import OperationEvent
from domain.request import RequestEvent
from projections.projection import Json, Projection, Statement
from projections.registry import PROJECTIONS, projection_named
from tests.support.event_examples import EVENT_EXAMPLES
from tests.support.examples import recorded

KNOWN: frozenset[type[Event]] = frozenset(type(event) for event in EVENT_EXAMPLES.values())
PLACEHOLDER = re.compile(r"%\((\w+)\)s")
every_projection = pytest.mark.parametrize("projection", PROJECTIONS, ids=lambda projection: projection.name)


def statements(projection: Projection, event: Event) -> list[Statement]:
    return list(projection.project(recorded(event, version=3)))


def handled(projection: Projection) -> Iterable[tuple[str, Event]]:
    return ((name, event) for name, event in EVENT_EXAMPLES.items() if isinstance(event, projection.handles))


def every_statement() -> list[tuple[Projection, str, Statement]]:
    return [
        (projection, name, statement)
        for projection in PROJECTIONS
        for name, event in handled(projection)
        for statement in statements(projection, event)
    ]


def test_no_name_and_no_table_is_used_twice() -> None:
    assert len({projection.name for projection in PROJECTIONS}) == len(PROJECTIONS)
    assert len({projection.table for projection in PROJECTIONS}) == len(PROJECTIONS)


def test_a_projection_is_found_by_its_name() -> None:
    assert [projection_named(projection.name) for projection in PROJECTIONS] == list(PROJECTIONS)
    assert projection_named("paintings") is None


@every_projection
def test_a_projection_has_a_version(projection: Projection) -> None:
    assert projection.version >= 1


@every_projection
def test_its_ddl_creates_its_table_and_indexes_on_it_and_nothing_else(projection: Projection) -> None:
    first, *others = [statement.strip() for statement in projection.ddl.split(";") if statement.strip()]
    assert re.match(rf"CREATE TABLE {projection.table} \(", first)
    for other in others:
        assert re.match(rf"CREATE (UNIQUE )?INDEX {projection.table}_\w+ ON {projection.table} ", other)


@every_projection
def test_its_keys_are_the_primary_key_of_its_table(projection: Projection) -> None:
    keys = re.search(r"PRIMARY KEY \(([^)]*)\)", projection.ddl)
    single = re.search(r"(\w+) \w+ PRIMARY KEY", projection.ddl)
    columns = keys.group(1).split(", ") if keys else [single.group(1)] if single else []
    assert list(projection.keys) == columns


@every_projection
def test_every_row_knows_the_version_of_the_event_it_came_from(projection: Projection) -> None:
    assert re.search(r"\n    version bigint NOT NULL,", projection.ddl)


@every_projection
def test_it_handles_only_events_of_the_domain_each_once(projection: Projection) -> None:
    assert set(projection.handles) <= KNOWN
    assert len(set(projection.handles)) == len(projection.handles)


@every_projection
def test_every_event_it_handles_changes_something(projection: Projection) -> None:
    changing = {type(event) for _, event in handled(projection) if statements(projection, event)}
    assert changing == set(projection.handles)
    for name, event in handled(projection):
        # an event of an operation tells of calls only where no other does
        assert statements(projection, event) or projection.name == "usage", name


@pytest.mark.parametrize(
    "projection",
    # the timeline knows a sentence for its own events only
    [each for each in PROJECTIONS if each.name != "timeline"],
    ids=lambda projection: projection.name,
)
def test_an_event_it_does_not_handle_changes_nothing(projection: Projection) -> None:
    for name, event in EVENT_EXAMPLES.items():
        if not isinstance(event, projection.handles):
            assert statements(projection, event) == [], name


@pytest.mark.parametrize(
    ("projection", "statement"),
    [(projection, statement) for projection, _, statement in every_statement()],
    ids=[f"{projection.name}:{name}" for projection, name, _ in every_statement()],
)
def test_a_statement_writes_its_own_table_only_and_only_what_is_newer(
    projection: Projection, statement: Statement
) -> None:
    target = re.match(r"(INSERT INTO|UPDATE|DELETE FROM) (\w+)\b", statement.sql)
    assert target is not None
    assert target.group(2) == projection.table
    if target.group(1) == "INSERT INTO":
        nothing_twice = re.search(r" ON CONFLICT (\(\w+\) )?DO NOTHING$", statement.sql)
        assert nothing_twice or statement.sql.endswith(f"WHERE {projection.table}.version < excluded.version")
    else:
        assert statement.sql.endswith("version < %(version)s")
    if target.group(1) == "UPDATE":
        assert "version = %(version)s" in statement.sql.split(" WHERE ")[0]


@pytest.mark.parametrize(
    "statement",
    [statement for _, _, statement in every_statement()],
    ids=[f"{projection.name}:{name}" for projection, name, _ in every_statement()],
)
def test_a_statement_has_a_value_for_each_of_its_parameters(statement: Statement) -> None:
    assert set(PLACEHOLDER.findall(statement.sql)) <= set(statement.params)
    for value in statement.params.values():
        assert not isinstance(value, Mapping), "objects are given as Json"
        assert not isinstance(value, Json) or value.value is not None, "null is no Json"


def test_every_event_is_seen_by_some_read_model() -> None:
    seen = {event for projection in PROJECTIONS for event in projection.handles}
    assert seen == KNOWN


def test_the_timeline_and_the_documents_see_every_event_of_a_mental_model() -> None:
    own = {event for event in KNOWN if event.TOPIC.startswith("mental_model.")}
    for name in ("timeline", "documents"):
        projection = projection_named(name)
        assert projection is not None
        assert set(projection.handles) == own


def test_the_examples_are_all_there_is() -> None:
    members = {
        type(event)
        for event in EVENT_EXAMPLES.values()
        if isinstance(
            event, MentalModelEvent | BankEvent | OperationEvent | RequestEvent | KnowledgeBaseEvent | ApiKeyEvent
        )
    }
    assert members == KNOWN
