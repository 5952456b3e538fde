"""Our OpenAPI document beside the wire contract: what differs is deliberate and says why, or is a mistake."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.contract_absences import BEYOND_SCHEMAS, NOT_SERVED
from tests.support.contract_comparison import Found, compared
from tests.support.contract_differences import DELIBERATE, matches
from tests.support.our_openapi import our_openapi
from tests.support.wire_contract import DOCUMENT, EXTRACT, Operation, contract, extract, operations


@pytest.fixture(scope="module")
def ours() -> dict[str, Operation]:
    return operations(our_openapi())


@pytest.fixture(scope="module")
def differences(ours: dict[str, Operation]) -> list[Found]:
    return compared(contract(), ours)


@pytest.mark.skipif(not DOCUMENT.exists(), reason="the OpenAPI document of the contract is not at hand")
def test_the_extract_of_the_contract_is_current() -> None:
    assert EXTRACT.read_text(encoding="utf-8") == extract(), "write it anew: python -m tests.support.wire_contract"


def test_every_difference_is_deliberate_and_listed_once(differences: list[Found]) -> None:
    listed = {each.key: [given.reason for given in DELIBERATE if given.covers(each.key)] for each in differences}
    unlisted = [f"{each.key}: {each.contract} / {each.ours}" for each in differences if not listed[each.key]]
    assert not unlisted, "\n".join(unlisted)
    assert {key: reasons for key, reasons in listed.items() if len(reasons) > 1} == {}


def test_no_difference_is_listed_that_is_none(differences: list[Found]) -> None:
    patterns = [pattern for given in DELIBERATE for pattern in given.patterns]
    found = {each.key for each in differences}
    assert [pattern for pattern in patterns if not any(matches(pattern, key) for key in found)] == []
    assert {pattern: times for pattern, times in Counter(patterns).items() if times > 1} == {}


def test_every_operation_of_the_contract_is_served_or_says_why_not(ours: dict[str, Operation]) -> None:
    absent = [name for name in contract() if name not in ours]
    assert sorted(absent) == sorted(NOT_SERVED)
    assert set(BEYOND_SCHEMAS) <= set(contract()) & set(ours)
