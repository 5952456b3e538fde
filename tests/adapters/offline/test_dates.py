from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.dates import first_period, instant, periods_in, with_dates
from domain.period import Period
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


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("Wir haben gestern mit dem Kunden gesprochen.", "2024-05-14"),
        ("Das war letzte Woche, und es war gut.", "2024-05-06..2024-05-12"),
        ("Er kam vor zwei Tagen.", "2024-05-13"),
        ("Vor 3 Wochen war das anders.", "2024-04-22..2024-04-28"),
        ("Sie kam am 3. Mai 2023 und ist noch da.", "2023-05-03"),
        ("Vom 3.–5. Mai 2023 war es zu.", "2023-05-03..2023-05-05"),
        ("Das ist am 03.02.2024 gewesen.", "2024-02-03"),
        ("Im März 2024 war das so.", "2024-03-01..2024-03-31"),
        ("Nous avons fini hier.", "2024-05-14"),
        ("C'était la semaine dernière avec elle.", "2024-05-06..2024-05-12"),
        ("Il est parti il y a deux jours.", "2024-05-13"),
        ("Elle est née le 1er février 1990.", "1990-02-01"),
        ("¿Qué pasó la semana pasada?", "2024-05-06..2024-05-12"),
        ("Lo vimos hace dos días en la plaza.", "2024-05-13"),
        ("La fiesta fue el 3 de mayo de 2023.", "2023-05-03"),
        ("Ontem fomos à praia.", "2024-05-14"),
        ("Ele chegou há 2 dias e não saiu.", "2024-05-13"),
        ("Ieri siamo andati al mare.", "2024-05-14"),
        ("È stato la settimana scorsa con il capo.", "2024-05-06..2024-05-12"),
        ("Dat was vorige week, en het was goed.", "2024-05-06..2024-05-12"),
        ("To było wczoraj i nie było dobre.", "2024-05-14"),
        ("Это было вчера.", "2024-05-14"),
        ("Он уехал 3 мая 2023 года.", "2023-05-03"),
        ("三天前发布了。", "2024-05-12"),
        ("两周前我们见面了", "2024-04-29..2024-05-05"),
        ("先週は忙しかった。", "2024-05-06..2024-05-12"),
        ("어제 우리는 만났다.", "2024-05-14"),
        ("كان ذلك أمس.", "2024-05-14"),
        ("यह 12 मई 2023 को हुआ।", "2023-05-12"),
        ("Bu dün oldu ve bir daha olmadı.", "2024-05-14"),
    ],
)
def test_dates_are_read_in_many_languages(text: str, period: str) -> None:
    assert shown(first_period(text, SAID)) == period


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("We met on May 3rd.", "2024-05-03"),
        ("The launch is on 28 June.", "2024-06-28"),
        ("We left on December 28.", "2023-12-28"),
        ("What happened in March?", "2024-03-01..2024-03-31"),
        ("Am 3. Februar war das noch nicht fertig.", "2024-02-03"),
        ("Fue el 3 de marzo.", "2024-03-03"),
        ("5月3日发布", "2024-05-03"),
        ("In the last 3 days it rained.", "2024-05-12..2024-05-15"),
        ("over the past two weeks", "2024-05-01..2024-05-15"),
        ("Nothing in 2023.", "2023-01-01..2023-12-31"),
        ("Revenue of Q1 2024 grew.", "2024-01-01..2024-03-31"),
        ("we may 2 or mar 3 of it", ""),
        ("Meet in room 3 may be late", ""),
        ("The may 3 rule", ""),
        ("On 30 February it was", ""),
        ("Paragraph 3 Marchers came", ""),
    ],
)
def test_dates_without_a_year_are_those_nearest_to_when_it_was_said(text: str, period: str) -> None:
    assert shown(first_period(text, SAID)) == period


@pytest.mark.parametrize(
    ("query", "periods"),
    [
        ("What changed between May 2023 and 3 June 2023?", ["2023-05-01..2023-06-03"]),
        ("yesterday or last week or 2024-01-02", ["2024-05-14", "2024-05-06..2024-05-12", "2024-01-02"]),
        ("on 12 May 2024, in May 2024", ["2024-05-12", "2024-05-01..2024-05-31"]),
        ("when was it?", []),
    ],
)
def test_all_periods_of_a_query_are_read_in_its_order(query: str, periods: list[str]) -> None:
    assert [shown(period) for period in periods_in(query, SAID)] == periods


def test_the_language_of_the_whole_text_helps_a_sentence_that_does_not_tell_its_own() -> None:
    assert shown(first_period("Fertig gestern.", SAID, "de")) == "2024-05-14"
    assert shown(first_period("Done yesterday.", SAID, "de")) == "2024-05-14"


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("yesterday", "yesterday (2024-05-14)"),
        (
            "last week or two days ago, maybe",
            "last week (2024-05-06 to 2024-05-12) or two days ago (2024-05-13), maybe",
        ),
        ("yesterday (2024-05-14)", "yesterday (2024-05-14)"),
        ("at noon", "at noon"),
        ("last 3 days ago", "last 3 days (2024-05-12 to 2024-05-15) ago"),
    ],
)
def test_relative_words_get_their_date_in_brackets(text: str, dated: str) -> None:
    assert with_dates(text, SAID) == dated
    assert with_dates(text, None) == text


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
