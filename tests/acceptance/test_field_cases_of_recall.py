"""Reports from the field about recall: times (RC-02), scripts without spaces (RC-03), limits (RC-04).

How source facts are chosen for their room (RC-04 too) is tested in `tests/domain/recall/test_selection.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.test_recall import recall, texts
from tests.support.rest import RestBank, assert_refused

PERIOD_OF_YESTERDAY = """
import sys
from datetime import datetime
from adapters.http.recall_requests import RecallRequest
from adapters.offline.dates import first_period
asked = RecallRequest.model_validate_json(sys.argv[1])
print(first_period(asked.query, asked.query_timestamp))
"""


@pytest.mark.parametrize("given", ["2026-05-04T00:30:00", "2026-05-04T00:30:00Z", "2026-05-04T14:30:00+14:00"])
def test_yesterday_is_the_same_day_wherever_the_server_stands(given: str) -> None:
    """RC-02: relative days count in UTC from the time of the query, whose own zone is UTC unless it names one."""
    told = [
        subprocess.run(
            [sys.executable, "-c", PERIOD_OF_YESTERDAY, f'{{"query": "yesterday", "query_timestamp": "{given}"}}'],
            cwd=Path(__file__).parents[2],
            env={"PATH": os.defpath, "TZ": zone},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for zone in ("Pacific/Kiritimati", "Pacific/Midway")
    ]

    assert told[0] == told[1]
    assert "start=datetime.datetime(2026, 5, 3, 0, 0, tzinfo=datetime.timezone.utc)" in told[0]


def test_the_time_of_the_query_wins_over_the_clock(bank: RestBank) -> None:
    """RC-02, by the answer: what was said the day before the query comes first."""
    bank.retain("Tea was served in the garden.", timestamp="2026-05-03T23:59:00Z", document_id="d1")
    bank.retain("Tea was served in the kitchen.", timestamp="2026-05-04T00:01:00Z", document_id="d2")

    for asked_at, first in (("2026-05-04T08:00:00", "garden"), ("2026-05-05T08:00:00", "kitchen")):
        answer = recall(bank, "Where was tea served yesterday?", query_timestamp=asked_at)
        assert texts(answer)[0] == f"Tea was served in the {first}."


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("我们使用外币汇率换算服务", "汇率换算"),
        ("東京都庁で会議を開いた", "都庁の会議"),
        ("서울에서 회의를 열었다", "서울 회의"),
    ],
)
def test_words_are_found_in_scripts_that_separate_none(bank: RestBank, fact: str, query: str) -> None:
    """RC-03: by word, with the floor for meaning so high that nothing is found by it."""
    bank.retain(fact, document_id="d1")
    bank.retain("天气很好", document_id="d2")

    answer = recall(bank, query, min_scores={"semantic": 1})

    assert texts(answer) == [fact]
    assert answer["results"][0]["scores"]["keyword"] > 0


def test_a_question_has_one_limit_on_every_path(bank: RestBank) -> None:
    """RC-04: too long to be recalled is too long to be asked by a document, and told at once."""
    bank.retain("Quince jam is sweet.")
    long = "quince " * 2900
    model = {"name": "Jam", "source_query": long}

    assert_refused(bank.ask("POST", "/memories/recall", json={"query": long}), 422, "query", "500")
    assert_refused(bank.ask("POST", "/mental-models", json=model), 422, "source_query", "500")
    bank.model("jam")
    assert_refused(bank.ask("PATCH", "/mental-models/jam", json={"source_query": long}), 422, "source_query", "500")
