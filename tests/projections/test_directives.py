"""The read model of directives: what an event sets, and what a page asks for."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from domain.bank import BankDeleted, DirectiveAdded, DirectiveChanged, DirectiveRemoved
from domain.directives import Directive
from projections import directives
from tests.support.examples import BANK, NOW, recorded

ID = UUID("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee")
CITE = Directive(directive_id=ID, name="Cite", content="Name sources.", priority=5, tags=("a",))
COLUMNS: dict[str, Any] = {
    "directive_id": ID, "name": "Cite", "content": "Name sources.", "priority": 5, "is_active": True, "tags": ["a"],
}  # fmt: skip
KEY = {"bank_id": BANK, "version": 4, "at": NOW}


@pytest.mark.parametrize(
    ("event", "verb", "values"),
    [
        (DirectiveAdded(directive=CITE), "INSERT INTO directives", COLUMNS),
        (DirectiveChanged(directive=CITE), "UPDATE directives", COLUMNS),
        (DirectiveRemoved(directive_id=ID), "DELETE FROM directives", {"directive_id": ID}),
        (BankDeleted(), "DELETE FROM directives", {}),
    ],
    ids=lambda each: getattr(each, "TOPIC", ""),
)
def test_an_event_sets_what_it_is_about(event: Any, verb: str, values: dict[str, Any]) -> None:
    (statement,) = directives.project(recorded(event, 4))
    assert statement.sql.startswith(verb)
    assert statement.params == {**KEY, **values}


ROW: dict[str, Any] = {**COLUMNS, "created_at": NOW, "updated_at": NOW}
READ = directives.DirectiveRow(**ROW)


def test_a_directive_is_found_or_not() -> None:
    assert directives.find(BANK, ID).read([ROW]) == READ
    assert directives.find(BANK, ID).read([]) is None


def test_a_page_tells_how_many_there_are_also_when_it_is_empty() -> None:
    query = directives.page(BANK, tags=(), match="any", active_only=True, limit=1, offset=0)
    assert query.read([{**ROW, "total": 7}]) == ([READ], 7)
    assert query.read([{**dict.fromkeys(ROW), "total": 7}]) == ([], 7)


@pytest.mark.parametrize(
    ("asked", "words", "others"),
    [
        ({"tags": (), "active_only": False}, [], ["is_active", "cardinality"]),
        ({"tags": (), "active_only": True}, ["AND is_active"], ["cardinality"]),
        ({"tags": ("a",), "active_only": False}, ["cardinality(tags) = 0 OR tags && "], ["AND is_active"]),
    ],
    ids=str,
)
def test_a_page_filters_by_what_is_asked_for_only(asked: dict[str, Any], words: list[str], others: list[str]) -> None:
    sql = directives.page(BANK, match="any", limit=1, offset=0, **asked).sql.replace("is_active, tags", "")
    assert all(word in sql for word in words)
    assert not any(word in sql for word in others)
