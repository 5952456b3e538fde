"""What one block is, and what its items are. Cases of the field by their id."""

import pytest

from domain.document import Block, parse
from tests.domain.document.markdown_texts import blocks_of


def only_block(text: str) -> Block:
    (block,) = blocks_of(parse(text))
    return block


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("one\ntwo\n", "paragraph"),
        ("- a\n\n  b\n\n- c\n", "list"),
        ("7) a\n8) b\n", "list"),
        ("a | b\n--|--\n1 | 2\n", "table"),
        ("```py\na\n\n# b\n```\n", "fence"),
        ("~~~\nnever closed\n\n- a\n", "fence"),
        ("    a\n\n    b\n", "code"),
        ("<div>\n*a*\n</div>\n", "html"),
        ("<!-- a\n\nb -->\n", "html"),
        ("> a\nlazy\n>\n> - b\n", "quote"),
        ("* * *\n", "rule"),
        ("[a]: /u\n[b]:\n  /v\n  'title'\n", "reference"),
    ],
)
def test_each_construct_is_one_block(text: str, kind: str) -> None:
    block = only_block(text)
    assert block.kind == kind
    assert block.source + block.gap == text


def test_definitions_are_blocks_of_their_own_between_other_blocks() -> None:
    blocks = blocks_of(parse("see [a]\n\n[a]: /u\n[b]: /v\ntext\n\n[c]: /w\n\n[d]: /x\n"))
    assert [(block.kind, block.source) for block in blocks] == [
        ("paragraph", "see [a]"),
        ("reference", "[a]: /u\n[b]: /v"),
        ("paragraph", "text"),
        ("reference", "[c]: /w"),
        ("reference", "[d]: /x"),
    ]


def test_a_source_ends_with_its_last_line_that_is_not_blank_and_keeps_its_spaces() -> None:
    blocks = blocks_of(parse("hard break  \nend  \n \n\n- a \n\n\n\nlast"))
    assert [(block.source, block.gap) for block in blocks] == [
        ("hard break  \nend  ", "\n \n\n"),
        ("- a ", "\n\n\n\n"),
        ("last", ""),
    ]


def test_blank_lines_in_a_fence_do_not_end_it_and_those_after_an_open_one_are_gap() -> None:
    assert only_block("```\na\n\n\nb\n```\n").source == "```\na\n\n\nb\n```"
    assert only_block("```\na\n\n\n").gap == "\n\n\n"


def test_a_line_with_only_a_form_feed_between_blocks_is_gap() -> None:
    assert [(block.source, block.gap) for block in blocks_of(parse("a\n\n\f\n\nb"))] == [("a", "\n\n\f\n\n"), ("b", "")]


def test_lines_end_only_where_commonmark_ends_them() -> None:
    block = only_block("| a\u2028b |\r\n|---|\r\n| c\x0cd\x85e |\r\n| f |")
    assert block.prefix == "| a\u2028b |\r\n|---|\r\n"
    assert [(item.source, item.gap) for item in block.items] == [("| c\x0cd\x85e |", "\r\n"), ("| f |", "")]


def test_md_02_a_table_without_outer_pipes_is_a_table() -> None:
    block = only_block("Env | Host\n--- | ---:\nprod | a1\nstage | b2\n")
    assert block.kind == "table"
    assert block.prefix == "Env | Host\n--- | ---:\n"
    assert [item.source for item in block.items] == ["prod | a1", "stage | b2"]


def test_md_03_ragged_rows_are_kept_as_they_are() -> None:
    block = only_block("| k | v |\n|---|---|\n| a | 1 |\n| b |\n| c | 3 | extra |\n")
    assert [item.source for item in block.items] == ["| a | 1 |", "| b |", "| c | 3 | extra |"]


def test_md_04_nested_items_belong_to_the_item_around_them() -> None:
    block = only_block("- retry\n  - only on 5xx\n    - max three times\n- log\n")
    assert [item.source for item in block.items] == ["- retry\n  - only on 5xx\n    - max three times", "- log"]


def test_md_05_a_second_paragraph_belongs_to_its_item() -> None:
    block = only_block("- first item\n  continues here\n\n  second paragraph of the item\n- second item\n")
    assert [(item.source, item.gap) for item in block.items] == [
        ("- first item\n  continues here\n\n  second paragraph of the item", "\n"),
        ("- second item", ""),
    ]


def test_md_13_html_with_blank_lines_is_kept() -> None:
    text = "<details>\n<summary>More</summary>\n\nhidden *text*\n\n</details>\n\n<!-- keep: me -->\n\nafter\n"
    document = parse(text)
    assert [block.kind for block in blocks_of(document)] == ["html", "paragraph", "html", "html", "paragraph"]
    assert document.render() == text


def test_md_19_task_boxes_are_part_of_their_items() -> None:
    block = only_block("- [ ] open\n- [x] done\n- [ ]\n- [x] \n")
    assert [item.source for item in block.items] == ["- [ ] open", "- [x] done", "- [ ]", "- [x] "]
    assert block.gap == "\n"


def test_a_loose_list_is_one_block_and_its_blank_lines_are_gaps_of_items() -> None:
    block = only_block("1. a\n\n\n2. b\n \n3.\n")
    assert [(item.source, item.gap) for item in block.items] == [("1. a", "\n\n\n"), ("2. b", "\n \n"), ("3.", "")]


def test_another_marker_begins_another_list() -> None:
    assert [len(block.items) for block in blocks_of(parse("- a\n- b\n* c\n1. d\n"))] == [2, 1, 1]


def test_a_table_without_rows_is_all_prefix() -> None:
    block = only_block("| a |\n|---|\n")
    assert (block.prefix, block.items) == ("| a |\n|---|", ())


def test_rows_and_items_inside_other_constructs_are_not_addressable() -> None:
    assert only_block("> - a\n> - b\n>\n> | a |\n> |---|\n> | b |\n").items == ()
    assert len(only_block("- a\n  - b\n  - c\n\n  | a |\n  |---|\n  | b |\n").items) == 1
