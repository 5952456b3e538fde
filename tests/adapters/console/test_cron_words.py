"""Cron expressions in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adapters.console.cron_words import NotCron, in_words, next_runs
from adapters.console.pages.trigger import preview

MONDAY = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 6 * * *", "At 06:00, every day"),
        ("30 6,18 * * *", "At 06:30 and 18:30, every day"),
        ("*/15 * * * *", "Every 15 minutes, every day"),
        ("* * * * *", "Every minute, every day"),
        ("5 * * * *", "At minute 5 of every hour, every day"),
        ("0 */2 * * *", "At minute 0 of every 2nd hour, every day"),
        ("0 6 * * 1-5", "At 06:00, from Monday to Friday"),
        ("0 6 * * MON,WED", "At 06:00, on Monday and Wednesday"),
        ("0 6 * * 0", "At 06:00, on Sunday"),
        ("0 6 * * 7", "At 06:00, on Sunday"),
        ("0 6 1 * *", "At 06:00, on day 1 of the month"),
        ("0 6 1,15 1-3 *", "At 06:00, on day 1 and 15 of the month, in January to March"),
        ("0 6 1 * 1", "At 06:00, on day 1 of the month or on Monday"),
    ],
)
def test_in_words(expression: str, words: str) -> None:
    assert in_words(expression) == words


def test_the_next_runs_are_told_in_utc() -> None:
    assert next_runs("0 6 * * 1", MONDAY, 2) == [
        datetime(2026, 12, 7, 6, 0, tzinfo=UTC),
        datetime(2026, 12, 14, 6, 0, tzinfo=UTC),
    ]


@pytest.mark.parametrize("expression", ["", "0 6 * *", "0 6 * * * *", "61 * * * *", "0 0 30 2 *", "x y z a b"])
def test_what_is_no_cron_expression_is_told(expression: str) -> None:
    with pytest.raises(NotCron):
        next_runs(expression, MONDAY)


def test_a_preview_tells_the_words_and_the_next_three_runs() -> None:
    words, runs = preview("0 6 * * *", MONDAY)
    assert words == "At 06:00, every day (UTC)"
    assert runs.count("06:00 UTC") == 3
    assert "Tue 01 Dec 2026" in runs


def test_a_preview_of_a_mistake_tells_what_is_wrong() -> None:
    assert preview("0 6", MONDAY) == ["This needs five fields: minute, hour, day of month, month, day of week"]
