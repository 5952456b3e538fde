"""What happens to the gaps beside a change: they may grow where they must, and nothing else."""

import pytest

from domain.document import (
    AddSection,
    AppendBlock,
    InsertBlock,
    MoveSection,
    RemoveBlock,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
)
from tests.domain.document.edits.outcomes import b, edited


def append(text: str, section_id: str = "a") -> AppendBlock:
    return AppendBlock(section_id=section_id, text=text)


def insert(text: str, after: str | None = None) -> InsertBlock:
    return InsertBlock(section_id="a", after_block_id=after, text=text)


def remove(source: str, section_id: str = "a") -> RemoveBlock:
    return RemoveBlock(section_id=section_id, block_id=b(source))


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("", "# A\n\none\n\nnew"),
        ("\n", "# A\n\none\n\nnew\n"),
        ("\n\n\n", "# A\n\none\n\n\nnew\n\n\n"),
        ("\n  ", "# A\n\none\n  \nnew\n  "),
    ],
)
def test_a_document_ends_as_it_did(end: str, expected: str) -> None:
    text = f"# A\n\none{end}"
    assert edited(text, append("new")) == expected
    assert edited(text, append("new\n\n\n"), remove("new")) == text
    assert edited(text, AddSection(heading="N"), RemoveSection(section_id="n")) == text


@pytest.mark.parametrize("start", ["", "\n\n", "   ", "\ufeff", "\ufeff \r\n"])
def test_a_section_in_an_empty_document_ends_with_one_line_break(start: str) -> None:
    line_break = "\r\n" if "\r\n" in start else "\n"
    complete = start + line_break if start == "   " else start
    assert edited(start, AddSection(heading="N", blocks=("x",))) == f"{complete}## N{2 * line_break}x{line_break}"


@pytest.mark.parametrize("line_break", ["\r\n", "\r"])
def test_new_text_gets_the_line_breaks_of_the_document(line_break: str) -> None:
    text = f"# A{line_break}{line_break}one{line_break}"
    expected = (
        f"{text}{line_break}two{line_break}lines{line_break}{line_break}## N{line_break}{line_break}x{line_break}"
    )
    assert edited(text, append("two\r\nlines"), AddSection(heading="N", blocks=("x\n",))) == expected


def test_gaps_around_a_new_piece_stay_and_it_is_followed_by_a_blank_line() -> None:
    assert edited("# A\n\n\n\none\n \t\n\ntwo\n", insert("new", b("one"))) == "# A\n\n\n\none\n \t\n\nnew\n\ntwo\n"
    assert edited("# A\none\n# B\n", insert("new")) == "# A\nnew\n\none\n# B\n"


def test_a_gap_grows_only_where_the_pieces_beside_it_would_be_read_as_one() -> None:
    assert edited("# A\none\n# B\n", append("new")) == "# A\none\n\nnew\n\n# B\n"
    assert edited("# A\none\n# B\n", append("> new")) == "# A\none\n> new\n\n# B\n"
    assert edited("# A\none\n# B\n", append("---")) == "# A\none\n\n---\n\n# B\n"


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("# A\n- # h\n- x\n***\n", "***", "text", "# A\n- # h\n- x\n\ntext\n"),
        ("# A\none\n> q\n", "> q", "2. x\n1. y", "# A\none\n\n2. x\n1. y\n"),
        ("# A\none\n> q\n", "> q", "1. x\n2. y", "# A\none\n1. x\n2. y\n"),
    ],
)
def test_of_a_list_the_item_beside_the_gap_decides(text: str, old: str, new: str, expected: str) -> None:
    assert edited(text, ReplaceBlock(section_id="a", block_id=b(old), text=new)) == expected


def test_a_lone_cr_before_a_new_line_feed_still_makes_a_blank_line() -> None:
    assert edited("# A\n\none\r# B\n", append("two\n\nthree")) == "# A\n\none\r\n\ntwo\n\nthree\n\n# B\n"


def test_a_gap_does_not_grow_for_a_rule_and_a_heading_that_look_like_front_matter() -> None:
    text = "# A\n\n---\nk: v\n---\nx\n"
    assert edited(f"{text}\n# B\n", MoveSection(section_id="b")) == f"# B\n\n{text}"
    front = "---\nk: v\n---\n# A\n"
    assert edited(f"{front}\n# B\n", MoveSection(section_id="b")) == "---\nk: v\n---\n# B\n\n# A\n"


def test_what_is_removed_goes_with_its_gap_and_its_neighbours_stay_apart() -> None:
    assert edited("# A\n\none\n\n\n- x\n\ntwo\n", remove("- x")) == "# A\n\none\n\n\ntwo\n"
    assert edited("# A\n\none\n- x\n\ntwo\n", remove("- x")) == "# A\n\none\n\ntwo\n"
    assert edited("# A\none\n- x\n# B\n", remove("- x")) == "# A\none\n# B\n"
    assert edited("one\n# A\n\nTitle\n===\n", RemoveSection(section_id="a")) == "one\n\nTitle\n===\n"


def test_the_beginning_of_the_document_stays() -> None:
    assert edited("\ufeff\n\n# A\n\none\n", remove("one")) == "\ufeff\n\n# A\n"
    assert edited("\ufeffintro\n\n# A\n", remove("intro", "preamble")) == "\ufeff# A\n"


def test_a_block_in_the_place_of_another_keeps_the_gaps_on_both_sides() -> None:
    operation = ReplaceBlock(section_id="a", block_id=b("- x"), text="* new")
    assert edited("# A\none\n- x\n# B\n", operation) == "# A\none\n- new\n# B\n"
    operation = ReplaceBlock(section_id="a", block_id=b("- x"), text="new")
    assert edited("# A\none\n- x\n# B\n", operation) == "# A\none\n\nnew\n# B\n"


def test_renaming_and_moving_keep_gaps() -> None:
    text = "# A\none\n# B\n\n\n\ntwo\n \n# C"
    assert edited(text, RenameSection(section_id="b", new_heading="N")) == "# A\none\n# N\n\n\n\ntwo\n \n# C"
    assert edited(text, MoveSection(section_id="b")) == "# B\n\n\n\ntwo\n \n# A\none\n# C"
    assert edited(text, MoveSection(section_id="c")) == "# C\n\n# A\none\n# B\n\n\n\ntwo"
