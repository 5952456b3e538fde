"""Times, texts, tags and names as they come and go on the wire."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http import etag, ignored
from adapters.http.times import iso, to_utc
from adapters.http.unstorable import VALUES_AT_MOST, find_unstorable, printable


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_time_told_is_read_back_as_the_same(moment: datetime) -> None:
    assert to_utc(iso(moment)) == moment


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-01T10:00:00Z",
        "2024-03-01T10:00:00",
        "2024-03-01 10:00",
        "20240301T100000Z",
        "2024-03-01T12:00:00+02:00",
        "2024-03-01T12:00:00 02:00",
        "2024-03-01T12:00:00 0200",
        " 2024-03-01T05:30:00-0430 ",
    ],
)
def test_any_form_of_iso_8601_is_the_same_time_in_utc(text: str) -> None:
    assert to_utc(text) == datetime(2024, 3, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "now", "2024", "1e3", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_what_is_no_time_in_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        to_utc(text)


def test_times_are_told_in_utc() -> None:
    kolkata = timezone(timedelta(hours=5, minutes=30))
    assert iso(datetime(2024, 3, 1, 15, 30, tzinfo=kolkata)) == "2024-03-01T10:00:00+00:00"


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()) | st.integers(),
    lambda children: st.lists(children) | st.dictionaries(st.text(st.characters()), children),
)


@given(_JSON)
def test_what_is_found_storable_can_be_stored_and_the_rest_not(value: Any) -> None:
    def storable() -> bool:
        try:
            return "\\u0000" not in json.dumps(value, allow_nan=False).replace("\\\\", "") and bool(
                json.dumps(value, ensure_ascii=False).encode()
            )
        except ValueError:
            return False

    assert (find_unstorable(value, ("body",)) is None) == storable()


@pytest.mark.parametrize(
    ("value", "at", "what"),
    [
        ({"a": ["x", "y\x00"]}, ("body", "a", 1), "contains a NUL character; remove it"),
        ({"a": {"b": "\udc00"}}, ("body", "a", "b"), "contains a lone surrogate (half of a UTF-16 pair); remove it"),
        ({"a\x00": 1}, ("body", "a␀"), "in its name, contains a NUL character; remove it"),
        ([1.0, float("-inf")], ("body", 1), "contains a number that is not finite; remove it"),
        ({"first": "\x00", "second": "\x00"}, ("body", "first"), "contains a NUL character; remove it"),
        ([[1], {"a": [[]]}, "\x00"], ("body", 2), "contains a NUL character; remove it"),
        ("\x00", ("body",), "contains a NUL character; remove it"),
    ],
    ids=ascii,
)
def test_what_cannot_be_stored_is_located(value: Any, at: tuple[str | int, ...], what: str) -> None:
    assert find_unstorable(value, ("body",)) == (at, what)


def test_nesting_of_any_depth_is_searched() -> None:
    deep: Any = "\x00"
    for _ in range(5_000):
        deep = [deep]
    found = find_unstorable(deep, ("body",))
    assert found is not None
    assert found.at == ("body", *[0] * 5_000)


def test_more_values_than_anyone_sends_are_refused() -> None:
    assert find_unstorable([0] * (VALUES_AT_MOST - 1), ("body",)) is None
    found = find_unstorable([0] * VALUES_AT_MOST, ("body",))
    assert found is not None
    assert "send less" in found.problem


@given(st.text(st.characters()))
def test_what_an_error_quotes_can_be_encoded(text: str) -> None:
    assert "\x00" not in printable(text)
    assert len(printable(text)) <= 201
    printable(text).encode()


@pytest.mark.parametrize(
    ("header", "has"),
    [(None, False), ('"7"', True), ('W/"7"', True), ('"6", "7"', True), ("*", True), ('"77"', False), ("7", False)],
)
def test_if_none_match_names_versions_the_caller_has(header: str | None, has: bool) -> None:
    assert etag.already_has(header, 7) is has


@pytest.mark.parametrize(
    ("header", "allowed"),
    [('"7"', True), ("7", True), ("*", True), ('"6","7"', True), ('W/"7"', False), ('"77"', False), ("", False)],
)
def test_if_match_allows_a_change_of_the_version_it_names(header: str, allowed: bool) -> None:
    assert etag.allows(header, 7) is allowed


def test_ignored_names_are_told_once_and_safely_and_nulls_not() -> None:
    with ignored.collecting() as names:
        ignored.note({"b": 1, "none": None}, "trigger.")
        ignored.note({"b": 2}, "trigger.")
        ignored.note({"a\r\nSet-Cookie: x": 1, "é" * 200: 1})
        ignored.note(None)
    told = ignored.header_value(names)
    assert told.startswith("trigger.b, a%0D%0ASet-Cookie%3A%20x, %C3%A9")
    told.encode("ascii")
    assert told.count("%C3%A9") == 100
    assert ignored.header_value([str(number) for number in range(1000)]).count(",") == 49


def test_names_noted_outside_a_request_go_nowhere() -> None:
    ignored.note({"a": 1})
    with ignored.collecting() as names:
        assert names == []
