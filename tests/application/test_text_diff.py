"""Unified diffs: with all lines around, both texts can be read out of one, to the byte."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from application.text_diff import WITHOUT_BREAK, unified_diff

NAMES = ("before", "after")
texts = st.lists(
    st.sampled_from(["a", "b", "", "-", "+++ x", "--- y", "@@ -1 +1 @@", "\r", "\x0c", "\u2028", "\\"])
).map("\n".join)


def read_out(diff: str, mark: str) -> str:
    """The text of the lines with one of the marks."""
    lines = diff.split("\n")[3:]
    told = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith((" ", mark)):
            told.append(line[1:] + ("" if following == WITHOUT_BREAK else "\n"))
    return "".join(told)


@given(texts, texts)
@example("a", "a\n")
@example("", "a")
@example("--- y\n", "")
def test_both_texts_are_in_it_to_the_byte(before: str, after: str) -> None:
    diff = unified_diff(before, after, names=NAMES, context=1000)
    if before == after:
        assert diff == ""
        return
    assert diff.split("\n")[:2] == ["--- before", "+++ after"]
    assert (read_out(diff, "-"), read_out(diff, "+")) == (before, after)


def test_only_what_is_near_a_change_is_told() -> None:
    before = "".join(f"{number}\n" for number in range(9))
    diff = unified_diff(before, before.replace("4", "four"), names=NAMES, context=1)
    assert diff.split("\n")[2:] == ["@@ -4,3 +4,3 @@", " 3", "-4", "+four", " 5"]
