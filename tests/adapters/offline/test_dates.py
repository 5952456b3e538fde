from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.dates import Period, first_period, instant
from tests.adapters.offline.facts_of import SAID, unhurried


def shown(period: Period | None) -> str:
    """A period as `first day` or `first day..last day`, checked to be whole days."""
    if period is None:
        return ""
    assert period.start.tzinfo is UTC
    assert period.end.tzinfo is UTC
    assert period.start.time() == datetime.min.time()
    assert period.end.time() == datetime.max.time()
    first, last = period.start.date().isoformat(), period.end.date().isoformat()
    return first if first == last else f"{first}..{last}"


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("Released on 2024-05-12.", "2024-05-12"),
        ("Released in 2024-05.", "2024-05-01..2024-05-31"),
        ("Released 2024/05/12, at last", "2024-05-12"),
        ("Released 2024/5/2", "2024-05-02"),
        ("On 12 May 2024 we met", "2024-05-12"),
        ("On the 12th of May 2024", "2024-05-12"),
        ("On 12 May, 2024", "2024-05-12"),
        ("May 12, 2024 was sunny", "2024-05-12"),
        ("Sept. 3rd 2023", "2023-09-03"),
        ("feb 29, 2024", "2024-02-29"),
        ("In May 2024 it rained", "2024-05-01..2024-05-31"),
        ("December 2023", "2023-12-01..2023-12-31"),
        ("发布于2024年5月12日。", "2024-05-12"),
        ("于2024-05-12发布", "2024-05-12"),
        ("2024年5月に", "2024-05-01..2024-05-31"),
        ("2024年开始", "2024-01-01..2024-12-31"),
        ("2024년 5월 12일", "2024-05-12"),
        ("from 2024-05-12 to 2024-05-14", "2024-05-12..2024-05-14"),
        ("12-15 May 2024", "2024-05-12..2024-05-15"),
        ("May 12–15, 2024", "2024-05-12..2024-05-15"),
        ("May 2023 until June 2024", "2023-05-01..2024-06-30"),
        ("between 1 May 2024 and 3 May 2024", "2024-05-01..2024-05-03"),
        ("1 May 2024 and 3 May 2024", "2024-05-01"),
        ("2024-05-14 to 2024-05-12", "2024-05-14"),
        ("Signed 1 May 2024, ended 3 May 2024", "2024-05-01"),
        ("Never on 2024-02-30", ""),
        ("Not on 2024-02-30 but on 2024-03-01", "2024-03-01"),
        ("2024-13-01", ""),
        ("call 555-2024-05-12-1", ""),
        ("version 1.2024-05-12", ""),
        ("It may 2 of them", ""),
        ("in 2019 units", ""),
        ("no date at all", ""),
        ("today we ship", "2024-05-15"),
        ("Tonight!", "2024-05-15"),
        ("Yesterday's meeting", "2024-05-14"),
        ("the day before yesterday", "2024-05-13"),
        ("tomorrow", "2024-05-16"),
        ("the day after tomorrow", "2024-05-17"),
        ("last night", "2024-05-14"),
        ("last week", "2024-05-06..2024-05-12"),
        ("this week", "2024-05-13..2024-05-19"),
        ("next week", "2024-05-20..2024-05-26"),
        ("last month", "2024-04-01..2024-04-30"),
        ("next month", "2024-06-01..2024-06-30"),
        ("last year", "2023-01-01..2023-12-31"),
        ("3 days ago", "2024-05-12"),
        ("a day ago", "2024-05-14"),
        ("two weeks ago", "2024-04-29..2024-05-05"),
        ("5 months ago", "2023-12-01..2023-12-31"),
        ("ten years ago", "2014-01-01..2014-12-31"),
        ("last Friday", "2024-05-10"),
        ("last Wednesday", "2024-05-08"),
        ("next Wednesday", "2024-05-22"),
        ("this Friday", "2024-05-17"),
        ("next Monday", "2024-05-20"),
        ("the last week of May", ""),
        ("9999 years ago", ""),
        ("昨天修复了", "2024-05-14"),
        ("上个月", "2024-04-01..2024-04-30"),
        ("去年", "2023-01-01..2023-12-31"),
        ("Yesterday we agreed on 1 June 2024", "2024-05-14"),
        ("On 1 June 2024, not yesterday", "2024-06-01"),
    ],
)
def test_the_first_date_of_a_text_is_its_period(text: str, period: str) -> None:
    assert shown(first_period(text, SAID)) == period


@pytest.mark.parametrize("text", ["today", "yesterday", "last week", "3 days ago", "昨天", "next Friday"])
def test_words_that_count_from_now_give_no_date_when_it_is_unknown_when_they_were_said(text: str) -> None:
    assert first_period(text, None) is None
    assert shown(first_period(f"{text}, that is 2024-01-02", None)) == "2024-01-02"


def test_yesterday_counts_from_the_utc_day_whatever_zone_the_timestamp_has() -> None:
    kiritimati = timezone(timedelta(hours=14))
    assert shown(first_period("yesterday", datetime(2024, 5, 15, 13, 0, tzinfo=kiritimati))) == "2024-05-13"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("at 2024-05-12T10:30:00Z", datetime(2024, 5, 12, 10, 30, tzinfo=UTC)),
        ("at 2024-05-12 10:30", datetime(2024, 5, 12, 10, 30, tzinfo=UTC)),
        ("at 2024-05-12T10:30:15.25+02:00", datetime(2024, 5, 12, 8, 30, 15, tzinfo=UTC)),
        ("at 2024-05-12T01:00-0530", datetime(2024, 5, 12, 6, 30, tzinfo=UTC)),
    ],
)
def test_a_time_of_day_is_an_instant_in_utc(text: str, moment: datetime) -> None:
    assert first_period(text, None) == Period(moment, moment)


@pytest.mark.parametrize(
    ("stamp", "known"), [("2024-05-01 10:00", True), ("2024-05-01", True), ("10:00", False), ("on 2024-05-01", False)]
)
def test_a_stamp_is_an_instant_only_when_it_is_a_date_and_nothing_else(stamp: str, known: bool) -> None:
    assert (instant(stamp) is not None) is known


@unhurried
@given(st.text(alphabet=st.sampled_from("0123456789-/:TZ+ .,年月日ago lastMy12"), max_size=60), st.datetimes())
def test_no_text_fails_and_a_period_never_ends_before_it_starts(text: str, said: datetime) -> None:
    period = first_period(text, said.replace(tzinfo=UTC))
    assert period is None or period.start <= period.end


@unhurried
@given(st.dates())
def test_every_date_is_read_back_in_every_explicit_form(on: datetime) -> None:
    if on.year < 1000 or on.year > 2999:
        return
    for text in (f"{on:%Y-%m-%d}", f"{on:%Y/%m/%d}", f"{on.day} {on:%B} {on.year}", f"{on:%b} {on.day}, {on.year}"):
        assert shown(first_period(f"It was {text}.", None)) == on.isoformat()[:10]
