from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from adapters.offline.markdown_text import bullet, heading, one_line, unescaped
from tests.adapters.offline.facts_of import unhurried

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SIGNS = st.sampled_from("`<>!/?-#*_+.)1[]():~=|\\&\"' \n\tab")
TEXTS = st.text(alphabet=st.one_of(SIGNS, SIGNS, st.characters(exclude_characters="\x00")), max_size=60).filter(
    lambda text: bool(text.strip())
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Plain text.", "- Plain text."),
        ("two\nlines\r\n and  space", "- two lines and space"),
        ("# not a heading", "- \\# not a heading"),
        ("#hashtag", "- #hashtag"),
        ("- not a list", "- \\- not a list"),
        ("-5 degrees", "- -5 degrees"),
        ("+", "- \\+"),
        ("* star", "- \\* star"),
        ("*emphasis* stays", "- *emphasis* stays"),
        ("1. not a list", "- 1\\. not a list"),
        ("1986) too", "- 1986\\) too"),
        ("1.5 is a number", "- 1.5 is a number"),
        ("> not a quote", "- \\> not a quote"),
        ("---", "- \\---"),
        ("_ _ _", "- \\_ _ _"),
        ("**", "- \\**"),
        ("``` fence", "- \\``` fence"),
        ("```code``` text", "- ```code``` text"),
        ("~~~ fence", "- \\~~~ fence"),
        ("[a]: /definition", "- \\[a]: /definition"),
        ("[a](/link)", "- [a](/link)"),
        ("[ ] task", "- [ ] task"),
        ("<div>", "- \\<div>"),
        ("a <b>c</b> <!-- d -->", "- a \\<b>c\\</b> \\<!-- d -->"),
        ("a < b <3 `List<T>`", "- a < b <3 `List<T>`"),
        ("<https://a.example>", "- <https://a.example>"),
        ("escaped \\<b>", "- escaped \\<b>"),
        ("backslash \\\\<b>", "- backslash \\\\\\<b>"),
    ],
)
def test_a_text_is_one_bullet_whatever_it_begins_with(text: str, line: str) -> None:
    assert bullet(text) == line


def test_a_stamp_stands_before_the_text_which_then_needs_no_escape() -> None:
    assert bullet("# one", "2024-05-12") == "- (2024-05-12) # one"


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Plain", "## Plain"),
        ("C#", "## C#"),
        ("C #", "## C \\#"),
        ("###", "## \\###"),
        ("a\nb", "## a b"),
        ("<b>", "## \\<b>"),
    ],
)
def test_a_title_is_one_heading(title: str, line: str) -> None:
    assert heading(2, title) == line


@unhurried
@given(TEXTS, st.sampled_from("-+*"))
@example("**", "*")
@example("__", "*")
def test_a_bullet_is_one_item_in_a_list_of_any_mark(text: str, mark: str) -> None:
    tokens = PARSER.parse(mark + bullet(text).removeprefix("-"))
    assert [token.type for token in tokens] == [
        "bullet_list_open",
        *["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"],
        "bullet_list_close",
    ]


@unhurried
@given(st.text(alphabet=st.sampled_from("ab <b>*_#-+1.`\\"), min_size=1).filter(lambda text: bool(text.strip())))
def test_what_was_escaped_can_be_read_back(text: str) -> None:
    assert unescaped(bullet(text).removeprefix("- ")) == unescaped(one_line(text))


@unhurried
@given(st.lists(TEXTS, min_size=1, max_size=5))
@example(["[a](x`y) <b> `c`"])
@example(["`a <b>` `` <i> ` ``"])
@example(["<a href='`'> `<b>`"])
@example(["\\`<b>` x"])
def test_any_texts_are_as_many_bullets_and_bring_no_html(texts: list[str]) -> None:
    lines = [bullet(text) for text in texts]
    tokens = PARSER.parse("\n".join(lines) + "\n")
    assert [token.type for token in tokens] == [
        "bullet_list_open",
        *["list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close"] * len(texts),
        "bullet_list_close",
    ]
    assert [token.content for token in tokens if token.type == "inline"] == [line[2:] for line in lines]
    assert not any(is_html(token) for token in tokens)


@unhurried
@given(TEXTS)
def test_any_title_is_one_heading_without_html(title: str) -> None:
    tokens = PARSER.parse(heading(2, title))
    assert [token.type for token in tokens] == ["heading_open", "inline", "heading_close"]
    assert not any(is_html(token) for token in tokens)


@unhurried
@given(st.text(alphabet=st.sampled_from("abc 1.#-")).filter(lambda text: bool(text.strip())))
def test_a_text_without_inline_markup_reads_as_it_was(text: str) -> None:
    inline = PARSER.parse(bullet(text))[3]
    assert "".join(child.content for child in inline.children or ()) == one_line(text)


def is_html(token: Token) -> bool:
    return token.type.startswith("html") or any(child.type == "html_inline" for child in token.children or ())
