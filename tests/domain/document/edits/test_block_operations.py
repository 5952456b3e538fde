"""Operations on blocks: what is written where, and which texts are made to fit or skipped."""

import pytest

from domain.document import (
    AppendBlock,
    InsertBlock,
    RemoveBlock,
    ReplaceBlock,
    ReplaceSectionBlocks,
    apply,
    ids_of,
    parse,
)
from tests.domain.document.edits.outcomes import b, done, edited, i, skipped
from tests.domain.document.markdown_texts import blocks_of

TWO = "# A\n\none\n\n# B\n\ntwo\n"
HOLDS_A_HEADING = ("the text holds a heading; use add_section", False)


def append(text: str, section_id: str = "a") -> AppendBlock:
    return AppendBlock(section_id=section_id, text=text)


def insert(text: str, after: str | None = None, section_id: str = "a") -> InsertBlock:
    return InsertBlock(section_id=section_id, after_block_id=after, text=text)


def replace(source: str, text: str, section_id: str = "a") -> ReplaceBlock:
    return ReplaceBlock(section_id=section_id, block_id=b(source), text=text)


def replace_all(*blocks: str, section_id: str = "a") -> ReplaceSectionBlocks:
    return ReplaceSectionBlocks(section_id=section_id, blocks=blocks)


# --- append and insert ------------------------------------------------------------------------------------------------


def test_a_block_is_appended_at_the_end_of_its_section() -> None:
    result = done(TWO, append("new"))
    assert edited(TWO, append("new")) == "# A\n\none\n\nnew\n\n# B\n\ntwo\n"
    assert (result.before, result.after, result.wrote, result.removed) == ("", "new", (b("new"),), ())


def test_a_block_is_inserted_behind_its_anchor_or_first() -> None:
    text = "# A\n\none\n\ntwo\n"
    assert edited(text, insert("new", b("one"))) == "# A\n\none\n\nnew\n\ntwo\n"
    assert edited(text, insert("new")) == "# A\n\nnew\n\none\n\ntwo\n"


def test_nothing_is_inserted_before_front_matter() -> None:
    text = "---\ntitle: x\n---\n\nintro\n"
    assert edited(text, insert("new", section_id="preamble")) == "---\ntitle: x\n---\n\nnew\n\nintro\n"


def test_a_text_of_several_blocks_is_several_blocks_with_its_own_gaps() -> None:
    result = done(TWO, append("\n  \nnew\n\n\n- x\n- y\n\n"))
    assert edited(TWO, append("\n  \nnew\n\n\n- x\n- y\n\n")) == "# A\n\none\n\nnew\n\n\n- x\n- y\n\n# B\n\ntwo\n"
    assert result.wrote == (b("new"), b("- x\n- y"), i("- x"), i("- y"))
    assert result.after == "new\n\n\n- x\n- y"


def test_an_equal_block_gets_an_id_of_its_own() -> None:
    assert done(TWO, append("two")).wrote == (b("two") + "-2",)


def test_an_id_is_not_given_again_in_the_batch_that_removed_it_nor_when_it_is_reserved() -> None:
    removed = RemoveBlock(section_id="a", block_id=b("one"))
    assert done(TWO, removed, append("one")).wrote == (b("one") + "-2",)
    assert apply(parse(TWO), [append("new")], reserved=[b("new")]).results[0].wrote == (b("new") + "-2",)  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["", " \n\t\n", "\ufeff", "\u3000"])
def test_a_blank_text_is_skipped(text: str) -> None:
    assert skipped(TWO, append(text)) == ("block text is empty", False)
    assert skipped(TWO, replace("one", text)) == ("block text is empty", False)


@pytest.mark.parametrize("text", ["## Other", "text\n\n# B\n\nmore", "text\n---", "# A\n\n## A\n", "intro\n\n# A"])
def test_a_heading_in_a_text_is_skipped(text: str) -> None:
    assert skipped(TWO, append(text)) == HOLDS_A_HEADING
    assert skipped(TWO, insert(text)) == HOLDS_A_HEADING
    assert skipped(TWO, replace("one", text)) == HOLDS_A_HEADING
    assert skipped(TWO, replace_all(text)) == HOLDS_A_HEADING


@pytest.mark.parametrize("text", ["# A\n\nnew", "## A ##\nnew", "A\n===\nnew"])
def test_a_first_heading_that_repeats_that_of_the_section_is_left_out(text: str) -> None:
    assert edited(TWO, append(text)) == "# A\n\none\n\nnew\n\n# B\n\ntwo\n"
    assert edited(TWO, replace("one", text)) == "# A\n\nnew\n\n# B\n\ntwo\n"
    assert skipped(TWO, append("# A\n")) == ("block text is empty", False)


def test_a_heading_inside_a_fence_is_none() -> None:
    assert edited(TWO, append("```\n# x\n```")) == "# A\n\none\n\n```\n# x\n```\n\n# B\n\ntwo\n"


@pytest.mark.parametrize(("opening", "closing"), [("```py", "```"), ("~~~~", "~~~~"), ("  ````", "````")])
def test_a_fence_left_open_is_closed(opening: str, closing: str) -> None:
    expected = f"# A\n\none\n\nsee\n\n{opening}\n# x\n{closing}\n\n# B\n\ntwo\n"
    assert edited(TWO, append(f"see\n\n{opening}\n# x\n\n")) == expected


def test_html_left_open_is_skipped() -> None:
    assert skipped(TWO, append("<!-- note")) == ("the text opens HTML that it does not close", False)


def test_nothing_is_put_behind_a_block_that_never_ends() -> None:
    text = "# A\n\n```\nopen\n"
    reason = f"block {b('```' + chr(10) + 'open')} before it never ends and would swallow it; replace that block first"
    assert skipped(text, append("new")) == (reason, False)
    closed = edited(text, replace("```\nopen", "```\nopen"), replace("```\nopen", "```\nopen\n```"), append("new"))
    assert closed == "# A\n\n```\nopen\n```\n\nnew\n"


def test_a_text_that_would_become_part_of_what_stands_before_it_is_skipped() -> None:
    reason = ("it would change how the text around it is read", False)
    assert skipped("# A\n\n- x\n", append("    code")) == reason
    assert skipped("# A\n\n    code\n", append("    more code")) == reason


def test_rows_without_a_header_go_into_the_table_before_them() -> None:
    text = "# A\n\n| k | v |\n|---|---|\n| a | 1 |\n\nend\n"
    table = b("| k | v |\n|---|---|\n| a | 1 |")
    operation = insert("| b | 2 |\n  | c | 3 |\n", table)
    result = done(text, operation)
    assert edited(text, operation) == "# A\n\n| k | v |\n|---|---|\n| a | 1 |\n| b | 2 |\n| c | 3 |\n\nend\n"
    assert result.merged_into_block_id == table
    assert result.wrote == (i("| b | 2 |"), i("| c | 3 |"))
    assert result.after == "| b | 2 |\n| c | 3 |"


@pytest.mark.parametrize("text", ["| b | 2 |\n\nprose", "b | 2", "| x |\n|---|\n| 1 |"])
def test_what_is_more_than_rows_stays_a_block(text: str) -> None:
    before = "# A\n\n| k |\n|---|\n| a |\n"
    assert edited(before, append(text)) == f"{before}\n{text}\n"
    assert done(before, append(text)).merged_into_block_id is None


def test_rows_first_in_a_section_are_a_block() -> None:
    before = "# A\n\n| k |\n|---|\n| a |\n"
    assert edited(before, insert("| b |")) == "# A\n\n| b |\n\n| k |\n|---|\n| a |\n"


def test_a_list_that_continues_the_one_before_it_goes_into_it() -> None:
    text = "# A\n\n3. x\n4. y\n\nend\n"
    operation = insert("1. z\n2. zz", b("3. x\n4. y"))
    result = done(text, operation)
    assert edited(text, operation) == "# A\n\n3. x\n4. y\n5. z\n6. zz\n\nend\n"
    assert (result.merged_into_block_id, result.wrote) == (b("3. x\n4. y"), (i("5. z"), i("6. zz")))


def test_a_list_before_one_of_its_kind_goes_into_that() -> None:
    text = "# A\n\n- x\n\n- y\n"
    assert edited(text, insert("- new")) == "# A\n\n- new\n\n- x\n\n- y\n"
    assert done(text, insert("- new")).merged_into_block_id == b("- x\n\n- y")


def test_a_list_that_comes_before_one_of_its_kind_with_other_blocks_is_one_with_it() -> None:
    result = done("# A\n\n- x\n", insert("intro\n\n- new"))
    assert edited("# A\n\n- x\n", insert("intro\n\n- new")) == "# A\n\nintro\n\n- new\n\n- x\n"
    assert (result.wrote, result.removed) == ((b("intro"), i("- new")), ())


def test_a_list_of_another_kind_is_a_block_of_its_own() -> None:
    assert done("# A\n\n- x\n", append("* y")).merged_into_block_id is None
    assert edited("# A\n\n- x\n", append("* y")) == "# A\n\n- x\n\n* y\n"


# --- replace ----------------------------------------------------------------------------------------------------------


def test_a_replaced_block_keeps_its_place_its_gap_and_its_id() -> None:
    text = "# A\n\none\n\n\n\ntwo\n"
    result = done(text, replace("one", "new\n\nmore"))
    assert edited(text, replace("one", "new\n\nmore")) == "# A\n\nnew\n\nmore\n\n\n\ntwo\n"
    assert (result.before, result.after) == ("one", "new\n\nmore")
    assert (result.wrote, result.removed) == ((b("one"), b("more")), ())


@pytest.mark.parametrize("text", ["one  \nline", "\n\none  \nline\n", "one  \r\nline"])
def test_replacing_a_block_by_itself_writes_nothing(text: str) -> None:
    result = done("# A\none  \nline\n", replace("one  \nline", text))
    assert edited("# A\none  \nline\n", replace("one  \nline", text)) == "# A\none  \nline\n"
    assert (result.before, result.after, result.wrote, result.removed) == ("one  \nline", "one  \nline", (), ())


def test_an_open_fence_replaced_by_itself_stays_open() -> None:
    assert edited("# A\n\n```\nopen\n", replace("```\nopen", "\n```\nopen\n")) == "# A\n\n```\nopen\n"


def test_a_replaced_list_keeps_the_items_that_did_not_change() -> None:
    old = "*   one\n\n*   two\n    - deep\n\n*   three"
    new = "- one\n- new\n- two\n  - deep"
    result = done(f"# A\n\n{old}\n", replace(old, new))
    assert edited(f"# A\n\n{old}\n", replace(old, new)) == "# A\n\n*   one\n\n* new\n\n*   two\n    - deep\n"
    assert result.wrote == (i("* new"),)
    assert result.removed == (i("*   three"),)


def test_a_replaced_numbered_list_gets_the_numbers_given_and_keeps_ids() -> None:
    old = "1. one\n2. two"
    result = done(f"# A\n\n{old}\n", replace(old, "1. new\n2. one\n3. two"))
    assert edited(f"# A\n\n{old}\n", replace(old, "1) new\n2) one\n3) two")) == "# A\n\n1. new\n2. one\n3. two\n"
    assert (result.wrote, result.removed) == ((i("1. new"),), ())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("1.   wide\n\n     more\n2. x", "1. x\n2. wide\n\n   more", "1. x\n2.   wide\n\n     more"),
        ("1. x\n2.     code", "1.     code\n2. x", "1.     code\n2. x"),
        ("1.\tx\n\n\t\tcode\n2. y", "1. y\n2.\tx\n\n\t\tcode", "1. y\n2.\tx\n\n\t\tcode"),
        ("1. x\nlazy\n2. y", "1. y\n2. x\n   lazy", "1. y\n2. x\nlazy"),
        ("9.\tx\n\n\t\tcode\n10. y", "9. y\n10. x\n\n        code", "9. y\n10. x\n\n        code"),
        ("9.     code\n10. y", "9. y\n10.     code", "9. y\n10.     code"),
        ("007. x\n008. y", "1. y\n2. x", "1. y\n2. x"),
        ("007. x\n008. y", "7. x\n8. y", "007. x\n008. y"),
        ("-    x\n\n     more", "- x\n\n  more", "-    x\n\n     more"),
        ("-\n  x\n\n  more", "- x\n\n  more", "-\n  x\n\n  more"),
        ("- x  \n- y", "- x\n- y", "- x  \n- y"),
        ("- x\n\n\n- y\n- z", "- y\n- x\n- z", "- y\n- x\n\n\n- z"),
        ("9.\n   x\n10. y", "9. y\n10. x", "9. y\n10. x"),
    ],
)
def test_an_item_that_says_the_same_keeps_its_bytes_apart_from_its_number(old: str, new: str, expected: str) -> None:
    result = done(f"{old}\n", replace(old, new, "preamble"))
    assert (result.after, result.wrote, result.removed) == (expected, (), ())


def test_code_in_an_item_is_not_the_same_as_prose() -> None:
    assert done("-     x\n", replace("-     x", "- x", "preamble")).wrote == (i("- x"),)
    assert done("-    x\n", replace("-    x", "- x", "preamble")).wrote == ()


def test_a_list_of_bullets_may_become_numbered() -> None:
    result = done("# A\n\n- x\n- y\n", replace("- x\n- y", "1. x\n2. y"))
    assert result.after == "1. x\n2. y"
    assert (result.wrote, result.removed) == ((b("- x\n- y"),), ())


def test_a_replaced_table_keeps_rows_and_header_of_which_only_the_padding_changed() -> None:
    old = "| k   | v |\n|-----|--:|\n| a   | 1 |\n| b   | 2 |"
    new = "| k | v |\n|---|---:|\n| a | 1 |\n| b | 3 |\n| c | 4 |"
    result = done(f"# A\n\n{old}\n", replace(old, new))
    assert result.after == "| k   | v |\n|-----|--:|\n| a   | 1 |\n| b | 3 |\n| c | 4 |"
    assert (result.wrote, result.removed) == ((i("| b | 3 |"), i("| c | 4 |")), (i("| b   | 2 |"),))


def test_a_replaced_table_with_another_header_was_written_itself() -> None:
    old = "| k |\n|---|\n| a |"
    assert done(f"# A\n\n{old}\n", replace(old, "| key |\n|---|\n| a |")).wrote == (b(old),)


def test_a_paragraph_replaced_by_a_list_is_written_with_all_items() -> None:
    assert done(TWO, replace("one", "- x\n- y")).wrote == (b("one"), i("- x"), i("- y"))


def test_items_stay_the_same_when_their_list_gets_company() -> None:
    result = done("# A\n\n- x\n- y\n", replace("- x\n- y", "Intro:\n\n* x\n* y\n* z"))
    assert result.after == "Intro:\n\n- x\n- y\n- z"
    assert result.wrote == (b("- x\n- y"), b("- x\n- y\n- z"), i("- z"))
    assert result.removed == ()


def test_front_matter_is_replaced_by_front_matter() -> None:
    text = "---\na: 1\n---\n\nintro\n"
    operation = replace("---\na: 1\n---", "---\na: 2\n---", section_id="preamble")
    assert edited(text, operation) == "---\na: 2\n---\n\nintro\n"
    assert skipped("intro\n", insert("---\na: 2\n---", section_id="preamble")) == HOLDS_A_HEADING


# --- remove and replace all -------------------------------------------------------------------------------------------


def test_a_removed_block_goes_with_its_gap_and_its_section_stays() -> None:
    result = done(TWO, RemoveBlock(section_id="a", block_id=b("one")))
    assert edited(TWO, RemoveBlock(section_id="a", block_id=b("one"))) == "# A\n\n# B\n\ntwo\n"
    assert (result.before, result.after, result.wrote, result.removed) == ("one", "", (), (b("one"),))


def test_removing_a_list_removes_its_items() -> None:
    operation = RemoveBlock(section_id="a", block_id=b("- x\n- y"))
    assert done("# A\n\n- x\n- y\n", operation).removed == (b("- x\n- y"), i("- x"), i("- y"))


def test_lists_that_become_neighbours_become_one() -> None:
    text = "# A\n\n- x\n\ntext\n\n- y\n"
    operation = RemoveBlock(section_id="a", block_id=b("text"))
    assert edited(text, operation) == "# A\n\n- x\n\n- y\n"
    assert done(text, operation).removed == (b("text"), b("- y"))
    (block,) = blocks_of(apply(parse(text), [operation]).document)
    assert (block.id, [item.id for item in block.items]) == (b("- x"), [i("- x"), i("- y")])


def test_the_blocks_of_a_section_are_replaced_and_unchanged_ones_keep_their_ids() -> None:
    text = "# A\n\none\n\n\n- x\n- y\n\ntwo\n\n# B\n"
    operation = replace_all("two", "", "one", "- x\n- z")
    result = done(text, operation)
    assert edited(text, operation) == "# A\n\ntwo\n\none\n\n\n- x\n- z\n\n# B\n"
    assert result.before == "one\n\n\n- x\n- y\n\ntwo"
    assert result.after == "two\n\none\n\n\n- x\n- z"
    assert result.wrote == (b("- x\n- z"), i("- z"))
    assert result.removed == (b("- x\n- y"), i("- y"))


def test_no_blocks_empty_a_section() -> None:
    assert edited(TWO, replace_all()) == "# A\n\n# B\n\ntwo\n"


def test_a_list_given_item_by_item_is_one_tight_list() -> None:
    assert edited(TWO, replace_all("- x", "- y", "text", "1. z")) == "# A\n\n- x\n- y\n\ntext\n\n1. z\n\n# B\n\ntwo\n"


def test_texts_that_would_be_read_as_one_are_skipped() -> None:
    assert skipped(TWO, replace_all("- x", "    code")) == ("it would change how the text around it is read", False)


def test_a_preamble_whose_blocks_are_gone_can_be_written_again_in_the_batch() -> None:
    removed, added = RemoveBlock(section_id="preamble", block_id=b("one")), append("new", "preamble")
    assert done("one\n", removed).removed == ("preamble", b("one"))
    assert done("one\n", removed, added).wrote == ("preamble", b("new"))
    assert edited("one\n", removed, added) == "new\n"
    document = apply(parse("one\n\n# H\n"), [removed]).document
    assert ids_of(document) == ("h",)


def test_the_document_given_is_not_changed() -> None:
    document = parse(TWO)
    apply(document, [append("new"), replace("one", "x")])
    assert document == parse(TWO)
