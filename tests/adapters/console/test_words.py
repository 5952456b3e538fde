"""Names and numbers of the API in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from adapters.console import words
from domain.event import Actor
from domain.operation import ParkReason

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2026-11-30T11:59:57+00:00", "just now"),
        ("2026-11-30T11:59:00Z", "1 minute ago"),
        ("2026-11-30T10:00:00+00:00", "2 hours ago"),
        ("2026-11-28T12:00:00+00:00", "2 days ago"),
        ("2024-11-28T12:00:00+00:00", "2 years ago"),
        ("2026-11-30T12:05:00+00:00", "in 5 minutes"),
    ],
)
def test_times_are_told_as_people_count(moment: str, told: str) -> None:
    assert words.ago(moment, NOW) == told


def test_why_a_model_is_stale_is_a_sentence() -> None:
    model = {"is_stale": True, "stale_reasons": ["new_memories", "scope_changed"]}
    assert words.stale(model) == "Stale: new memories since it was written, its scope was changed"
    assert words.stale({"is_stale": False, "stale_reasons": ["new_memories"]}) == ""


def test_cost_is_told_with_and_without_a_model() -> None:
    assert words.cost(0, 0, 79) == "no model, 79 ms"
    assert words.cost(2, 1534, 2600) == "2 calls, 1,534 tokens, 2.6 s"


def test_progress_is_told_with_its_units() -> None:
    assert words.progress({"stage": "editing", "processed": 3, "total": 10}) == "Editing, 3 of 10"
    assert words.progress({"stage": "reading", "total": None}) == "Reading"


def test_every_actor_and_reason_to_wait_has_words() -> None:
    assert set(get_args(Actor)) <= set(words.ACTORS)
    assert set(get_args(ParkReason)) <= set(words.PARKED)


def test_every_reason_to_be_stale_and_every_outcome_has_words() -> None:
    root = Path(words.__file__).parent.parent.parent
    topics = re.findall(r'"mental_model\.(\w+)"', (root / "domain/mental_model/events.py").read_text())
    outcomes = [
        each
        for each in topics
        if each.startswith(("refresh_failed", "content_written", "content_unch", "content_pres"))
    ]
    assert outcomes
    assert [each for each in outcomes if each not in words.OUTCOMES] == []
