"""The banks there are."""

from __future__ import annotations

from typing import Any

import pytest

from domain.bank import (
    BankConfigured,
    BankDeleted,
    BankOpened,
    BankRenamed,
    Disposition,
    DispositionChanged,
    Missions,
    MissionsChanged,
)
from domain.bank_config import BankSettings
from domain.event import Event
from projections import banks
from projections.projection import Json
from tests.support.examples import BANK, NOW, later, recorded


def columns(event: Event) -> dict[str, Any]:
    (statement,) = banks.project(recorded(event, 2, at=later(5)))
    values = {name: value.value if isinstance(value, Json) else value for name, value in statement.params.items()}
    key = {"bank_id": BANK, "version": 2, "at": later(5)}
    assert {name: values.pop(name) for name in key} == key
    return values


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            BankOpened(bank_id=BANK, name="Prague"),
            {
                "name": "Prague",
                "missions": {"reflect": None, "retain": None, "observations": None},
                "disposition": Disposition().model_dump(),
                "overrides": {},
            },
        ),
        (BankRenamed(name="Praha"), {"value": "Praha"}),
        (
            MissionsChanged(missions=Missions(retain="Keep dates.")),
            {"value": {"reflect": None, "retain": "Keep dates.", "observations": None}},
        ),
        (
            DispositionChanged(disposition=Disposition(empathy=5)),
            {"value": {"skepticism": None, "literalism": None, "empathy": 5}},
        ),
        (
            BankConfigured(overrides=BankSettings().changed_by({"retain_chunk_size": 3000})),
            {"value": {"retain_chunk_size": 3000}},
        ),
        (BankDeleted(), {}),
    ],
    ids=lambda each: each.TOPIC if isinstance(each, Event) else "",
)
def test_an_event_sets_only_what_it_is_about(event: Event, expected: dict[str, Any]) -> None:
    assert columns(event) == expected


ROW: dict[str, Any] = {
    "bank_id": BANK,
    "name": "Prague",
    "missions": {},
    "disposition": {},
    "overrides": {},
    "created_at": NOW,
    "updated_at": NOW,
}
READ = banks.BankRow(BANK, "Prague", {}, {}, {}, NOW, NOW)


def test_a_bank_is_found_or_not() -> None:
    assert banks.find(BANK).read([ROW]) == READ
    assert banks.find(BANK).read([]) is None


def test_a_page_tells_how_many_there_are_also_when_it_is_empty() -> None:
    query = banks.page(None, 1, 0)
    assert query.read([{**ROW, "total": 7}]) == ([READ], 7)
    assert query.read([{**dict.fromkeys(ROW), "total": 7}]) == ([], 7)
    assert query.read([]) == ([], 0)
