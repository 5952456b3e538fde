"""Names: how they are written, and when a spelling is taken for a known name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.entities import cleaned, is_near, meant


def test_re_06_blanks_are_one_and_blank_names_none_and_case_does_not_matter() -> None:
    """RE-06: no line breaks in names, no names that show nothing, and one name for all its cases."""
    assert cleaned(["Acme\nCorp", " \t ", "acme corp", "ACME  CORP", "\u200b", ""]) == ("Acme Corp",)


def test_names_keep_their_order_and_first_spelling() -> None:
    assert cleaned(["Prague", "Ada", "prague", "ADA"]) == ("Prague", "Ada")


@given(st.lists(st.text(max_size=20)))
def test_what_is_clean_stays_as_it_is(names: list[str]) -> None:
    once = cleaned(names)
    assert cleaned(once) == once
    assert all(name == " ".join(name.split()) and name for name in once)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("acme corp", "Acme Corp"),
        ("Hewlett-Packard", "Hewlett Packard"),
        ("José Álvarez", "Jose Alvarez"),
        ("OpenAI", "Open AI"),
        ("Micheal Smith", "Michael Smith"),
        ("Kubernets", "Kubernetes"),
        ("Postgressql", "Postgresql"),
        ("Brigdewater", "Bridgewater"),
    ],
)
def test_a_slip_is_taken_for_the_known_name(name: str, known: str) -> None:
    assert meant(name, [known]) == known
    assert meant(known, [name]) == name


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Team A", "Team B"),
        ("Version 1.2", "Version 1.3"),
        ("Version 1", "Version 11"),
        ("Maria", "Mario"),
        ("Julian", "Juliana"),
        ("Martin", "Marvin"),
        ("Alice Johnson", "Bob Johnson"),
        ("Acme", "Acme Corp"),
        ("topic:travelling", "topic:traveling"),
        ("Michael Smith", "Micheal Smyth"),
        ("", "Acme"),
        ("!!", "??"),
    ],
)
def test_what_may_be_another_is_another(name: str, known: str) -> None:
    assert meant(name, [known]) is None


def test_of_two_that_may_be_meant_none_is() -> None:
    assert meant("Katherine Lee", ["Kathe-rine Lee", "Kathrine Lee"]) is None
    assert meant("Kathrine Lee", ["Katherine Lee", "kathrine lee"]) == "kathrine lee"


@given(st.text(max_size=15), st.text(max_size=15))
def test_nearness_is_mutual(one: str, two: str) -> None:
    assert is_near(one, two) == is_near(two, one)
