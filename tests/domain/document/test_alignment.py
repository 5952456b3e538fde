"""Which element of a new sequence is which of an old one."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.document.alignment import align
from tests.domain.document.markdown_texts import unhurried

words = st.text("abcd", max_size=12)


@unhurried
@given(words, words)
def test_as_many_as_possible_are_paired_each_once_and_only_with_equals(old: str, new: str) -> None:
    places = align(old, new)
    pairs = [(place, index) for index, place in enumerate(places) if place is not None]
    assert all(old[place] == new[index] for place, index in pairs)
    assert len({place for place, _ in pairs}) == len(pairs)
    assert Counter(new[index] for _, index in pairs) == Counter(old) & Counter(new)


def test_known_pairs_are_kept_and_have_neighbours() -> None:
    assert align("xyxy", "xyz", known=[(2, 0)]) == [2, 3, None]


@unhurried
@given(words)
def test_a_sequence_is_itself(word: str) -> None:
    assert align(word, word) == list(range(len(word)))


@pytest.mark.parametrize(
    ("old", "new", "places"),
    [
        ("abc", "cab", [2, 0, 1]),  # what is unique is found wherever it moved
        ("xaxb", "xb", [2, 3]),  # the neighbour of what is unique
        ("xaxbx", "xax", [0, 1, 2]),  # on both sides, rather than the end
        ("pxaxb", "pxb", [0, 3, 4]),  # what comes before it, rather than what comes after another
        ("xxx", "xx", [0, 1]),  # from the beginning
        ("xxay", "bxxay", [None, 0, 1, 2, 3]),
        ("xx", "axbx", [None, 0, None, 1]),  # the rest in order
    ],
)
def test_surroundings_decide_between_equals(old: str, new: str, places: list[int | None]) -> None:
    assert align(old, new) == places
