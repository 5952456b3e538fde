"""Operations on the items of lists and the rows of tables."""

import pytest

from domain.document import AppendItem, InsertItem, RemoveItem, ReplaceItem
from tests.domain.document.edits.outcomes import b, done, edited, i, skipped


def append(text: str, block: str) -> AppendItem:
    return AppendItem(block_id=b(block), text=text)


def insert(text: str, block: str, after: str | None = None) -> InsertItem:
    return InsertItem(block_id=b(block), after_item_id=None if after is None else i(after), text=text)


def replace(item: str, text: str, block: str) -> ReplaceItem:
    return ReplaceItem(block_id=b(block), item_id=i(item), text=text)


def remove(item: str, block: str) -> RemoveItem:
    return RemoveItem(block_id=b(block), item_id=i(item))


@pytest.mark.parametrize(
    ("block", "text", "expected"),
    [
        ("- x", "new", "- new"),
        ("- x", "* new", "- new"),
        ("- x", "- - new", "- new"),
        ("- x", "7. new", "- new"),
        ("  + x", "- new", "  + new"),
        ("- [ ] x", "[x] new", "- [x] new"),
        ("- [ ] x", "- [ ] new", "- [ ] new"),
        ("1. x", "new", "2. new"),
        ("9) x\n10) y", "1. new", "11) new"),
        ("1. x\n1. y", "- new", "1. new"),
        ("- x", "first\nsecond", "- first\n  second"),
        ("- x", "first\n\nsecond", "- first\n\n  second"),
        ("- x", "first\n- deep", "- first\n  - deep"),
        ("9. x", "- first\n  - deep", "10. first\n    - deep"),
        ("- x", "- - deep\n  - deeper", "- - deep\n  - deeper"),
        ("- x", "see\n```\ncode", "- see\n  ```\n  code\n  ```"),
        ("- x", "2024. was a good year", "- 2024. was a good year"),
        ("- x", "$& \\1 {0} %s", "- $& \\1 {0} %s"),
        ("- x", "- one\n- two", "- one\n- two"),
        ("- x", "\u3000new", "- \u3000new"),
        ("- x", "  new  ", "- new"),
        ("- x", "* [x] ", "- [x] "),
        ("0. x", "new", "1. new"),
        ("1001) x\n1002) y", "new", "1003) new"),
        ("99. x", "- a\n-\tb\n\n\t\tcode", "100. a\n101. b\n\n         code"),
    ],
)
def test_an_item_gets_the_marker_and_the_indentation_of_its_list(block: str, text: str, expected: str) -> None:
    assert edited(f"{block}\n\nend\n", append(text, block)) == f"{block}\n{expected}\n\nend\n"
    assert done(f"{block}\n\nend\n", append(text, block)).after == expected


def test_only_the_new_item_is_written() -> None:
    result = done("- x\n", append("new", "- x"))
    assert (result.before, result.after, result.wrote, result.removed) == ("", "- new", (i("- new"),), ())


def test_an_item_is_inserted_behind_its_anchor_or_first() -> None:
    block = "1. x\n2. y\n3. z"
    assert edited(f"{block}\n", insert("new", block, "2. y")) == "1. x\n2. y\n3. new\n3. z\n"
    assert edited(f"{block}\n", insert("new", block)) == "1. new\n1. x\n2. y\n3. z\n"


def test_items_are_set_apart_as_those_around_them() -> None:
    assert edited("- x\n\n- y\n", append("new", "- x\n\n- y")) == "- x\n\n- y\n\n- new\n"
    block = "- x\n\n\n- y\n- z"
    assert edited(block, insert("new", block, "- x")) == "- x\n\n\n- new\n\n\n- y\n- z"
    assert edited(block, append("new", block)) == "- x\n\n\n- y\n- z\n- new"


def test_line_breaks_are_those_of_the_document() -> None:
    assert edited("- x\r\n", append("new\nline", "- x")) == "- x\r\n- new\r\n  line\r\n"


def test_a_replaced_item_keeps_its_id_marker_and_gap() -> None:
    block = "1. x\n\n2. y"
    result = done(f"{block}\n", replace("1. x", "* new", block))
    assert edited(f"{block}\n", replace("1. x", "* new", block)) == "1. new\n\n2. y\n"
    assert (result.before, result.after, result.wrote, result.removed) == ("1. x", "1. new", (i("1. x"),), ())


def test_an_item_replaced_by_several_is_the_first_of_them() -> None:
    result = done("1. x\n2. y\n", replace("1. x", "- new\n- more", "1. x\n2. y"))
    assert result.after == "1. new\n2. more"
    assert result.wrote == (i("1. x"), i("2. more"))


@pytest.mark.parametrize("text", ["x", "*  x", "- x\n"])
def test_an_item_replaced_by_the_same_words_keeps_its_bytes(text: str) -> None:
    assert edited("-   x\n", replace("-   x", text, "-   x")) == "-   x\n"
    assert done("-   x\n", replace("-   x", text, "-   x")).wrote == ()


def test_a_removed_item_goes_with_its_gap() -> None:
    block = "- x\n\n\n- y\n- z"
    assert edited(f"{block}\n", remove("- x", block)) == "- y\n- z\n"
    assert edited(f"{block}\n", remove("- z", block)) == "- x\n\n\n- y\n"
    result = done(f"{block}\n", remove("- y", block))
    assert (result.before, result.after, result.wrote, result.removed) == ("- y", "", (), (i("- y"),))


def test_with_its_last_item_a_block_goes() -> None:
    result = done("# A\n\n- x\n\nend\n", remove("- x", "- x"))
    assert edited("# A\n\n- x\n\nend\n", remove("- x", "- x")) == "# A\n\nend\n"
    assert result.removed == (b("- x"), i("- x"))
    assert edited("|a|\n|-|\n|x|\n\nend\n", remove("|x|", "|a|\n|-|\n|x|")) == "end\n"


def test_removing_the_first_number_does_not_glue_the_list_to_a_paragraph() -> None:
    block = "1. x\n2. y"
    assert edited(f"text\n{block}\n", remove("1. x", block)) == "text\n\n2. y\n"


@pytest.mark.parametrize(
    ("table", "text", "expected"),
    [
        ("| k | v |\n|---|---|\n| a | 1 |", "| b | 2 |", "| b | 2 |"),
        ("| k | v |\n|---|---|\n| a | 1 |", "  b | 2", "| b | 2 |"),
        ("| k | v |\n|---|---|\n| a | 1 |", "| b | 2", "| b | 2 |"),
        ("| k | v |\n|---|---|\n| a | 1 |", "b", "| b |"),
        ("| k | v |\n|---|---|\n| a | 1 |", "| b \\|", "| b \\| |"),
        ("k | v\n--- | ---\na | 1", "b | 2", "b | 2"),
        ("| k | v\n|---|---|\n| a | 1", "b | 2", "| b | 2"),
        ("| k | v |\n|---|---|", "| b | 2 |", "| b | 2 |"),
        ("| k | v |\n|---|---|\n| a | 1 |", "| b | 2 |\n\nc | 3", "| b | 2 |\n| c | 3 |"),
    ],
)
def test_rows_get_the_outer_pipes_of_their_table(table: str, text: str, expected: str) -> None:
    assert edited(f"{table}\n\nend\n", append(text, table)) == f"{table}\n{expected}\n\nend\n"


def test_rows_are_inserted_replaced_and_removed() -> None:
    table = "|k|\n|-|\n|a|\n|b|"
    assert edited(table, insert("c", table)) == "|k|\n|-|\n| c |\n|a|\n|b|"
    assert edited(table, replace("|a|", "c", table)) == "|k|\n|-|\n| c |\n|b|"
    assert edited(table, replace("|a|", "| a |", table)) == table
    assert edited(table, remove("|a|", table)) == "|k|\n|-|\n|b|"


@pytest.mark.parametrize("text", ["| k |\n|---|\n| b |", "| --- |", "x | y\n--|--"])
def test_a_whole_table_is_no_row(text: str) -> None:
    table = "| k |\n|---|\n| a |"
    assert skipped(table, append(text, table)) == ("the text is a whole table; only rows can be put into one", False)


@pytest.mark.parametrize("text", ["", " \n", "-", "- \n- ", "\ufeff"])
def test_an_item_that_says_nothing_is_skipped(text: str) -> None:
    assert skipped("- x", append(text, "- x")) == ("item text is empty", False)
    assert skipped("- x", replace("- x", text, "- x")) == ("item text is empty", False)


@pytest.mark.parametrize("text", ["", " \n", "\ufeff"])
def test_a_row_that_says_nothing_is_skipped(text: str) -> None:
    assert skipped("|k|\n|-|\n|a|", append(text, "|k|\n|-|\n|a|")) == ("item text is empty", False)


def test_what_is_more_than_items_is_skipped() -> None:
    assert skipped("- x", append("- new\n\ntext", "- x")) == ("the text has more than the items of a list", False)
    assert skipped("- x", append("# new", "- x")) == ("the text holds a heading; use add_section", False)
    assert skipped("- x", append("---", "- x")) == ("it would change how the text around it is read", False)
