"""Comparisons of texts: what a reader sees of a change."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from adapters.console.differences import Line, Part, as_html, compare
from adapters.console.safe_markdown import sanitised

TEXT = st.text(alphabet="ab <>&\n", max_size=60)


def test_the_same_text_differs_in_nothing() -> None:
    assert compare("a\nb", "a\nb") == []


def test_a_changed_line_tells_the_words_that_changed() -> None:
    removed, added = compare("The train leaves on Monday.", "The train leaves on Tuesday.")
    assert removed == Line("removed", (Part("The train leaves on "), Part("Monday", changed=True), Part(".")))
    assert added == Line("added", (Part("The train leaves on "), Part("Tuesday", changed=True), Part(".")))


def test_lines_that_have_little_in_common_are_told_whole() -> None:
    assert compare("One thing entirely.", "xyzzy") == [
        Line("removed", (Part("One thing entirely."),)),
        Line("added", (Part("xyzzy"),)),
    ]


def test_unchanged_lines_far_from_a_change_are_left_out_and_counted() -> None:
    before = "\n".join(f"line {number}" for number in range(20))
    lines = compare(before, before + "\nnew", context=2)
    assert [line.kind for line in lines] == ["gap", "same", "same", "added"]
    assert lines[0].skipped == 18


def test_with_enough_context_nothing_is_left_out() -> None:
    before = "\n".join(f"line {number}" for number in range(20))
    assert len(compare(before, before + "\nnew", context=1000)) == 21


@given(TEXT, TEXT)
def test_both_texts_can_be_read_from_a_comparison(before: str, after: str) -> None:
    lines = compare(before, after, context=1000)
    if lines:
        assert [line.text for line in lines if line.kind in ("same", "removed")] == before.splitlines()
        assert [line.text for line in lines if line.kind in ("same", "added")] == after.splitlines()
    else:
        assert before.splitlines() == after.splitlines()


@given(TEXT, TEXT)
def test_the_sanitiser_finds_nothing_to_take_from_a_comparison(before: str, after: str) -> None:
    html = as_html(compare(before, after))
    assert sanitised(html) == html


def test_texts_in_a_comparison_are_escaped() -> None:
    assert "<script" not in as_html(compare("", "<script>alert(1)</script>"))


def test_texts_made_to_be_slow_to_compare_are_not() -> None:
    """Each of them is within what a document may be."""
    many = "\n".join("ab"[number * number % 7 % 2] for number in range(50_000))
    other = "\n".join("ab"[number * number % 5 % 2] for number in range(50_000))
    long, longer = "a b " * 12_000, "b a " * 12_000
    lines, more = "\n".join(["a b " * 250] * 50), "\n".join(["b a " * 250] * 50)
    began = time.perf_counter()
    for before, after in ((many, other), (long, longer), (lines, more)):
        assert compare(before, after)
    assert time.perf_counter() - began < 20


def test_a_change_in_a_very_long_text_is_told_alone() -> None:
    before = "\n".join(f"line {number}" for number in range(20_000))
    changed = [
        line for line in compare(before, before.replace("line 777\n", "line x\n")) if line.kind in ("added", "removed")
    ]
    assert [line.text for line in changed] == ["line 777", "line x"]
