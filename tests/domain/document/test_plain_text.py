"""What a search sees of a document."""

import pytest
from hypothesis import given

from domain.document import parse, plain_text
from tests.domain.document.markdown_texts import any_text, markdown_text, unhurried


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# Some *title* #\n\ntext\n", "Some title\ntext"),
        ("Over\n====\n", "Over"),
        ("a **b** _c_ ~~d~~ `e*f` \\*g\\*\n", "a b c d e*f *g*"),
        ("one\ntwo  \nthree\\\nfour\n", "one two three four"),
        ("[link *text*](http://x.example 'title') <http://y.example>\n", "link text http://y.example"),
        ("![alt *text*](/p.png)\n", "alt text"),
        ("see [the guide][g]\n\n[g]: http://x.example\n", "see the guide"),
        ("- a\n  - b\n\n    c\n- [x] done\n- [ ] open\n", "a\nb\nc\ndone\nopen"),
        ("1. a\n2. b\n", "a\nb"),
        ("| a | **b** |\n|:--|--:|\n| c \\| d | e<br>f |\n", "a b\nc | d e f"),
        ("> quoted\n> > deeper\n", "quoted\ndeeper"),
        ("```sh\n# comment\nmake\n```\n", "# comment\nmake"),
        ("    indented\n      code\n", "indented\n  code"),
        ("<div class='x'>\nhtml <b>text</b>\n<!-- hidden -->\n</div>\n", "html text"),
        ("<table><tr><td>a</td><td>b</td></tr></table>\n", "a b"),
        ("H<sub>2</sub>O &amp; &copy;\n", "H2O & ©"),
        ("a\n\n---\n\nb\n", "a\nb"),
        ("---\ntitle: A page\n---\n\ntext\n", "title: A page\ntext"),
        ("\ufeff\n# 概要\n\n甲乙\n", "概要\n甲乙"),
        ("", ""),
    ],
)
def test_only_the_words_are_left(markdown: str, expected: str) -> None:
    assert plain_text(parse(markdown)) == expected


@unhurried
@given(any_text)
def test_any_text_has_a_plain_text_that_can_be_stored(text: str) -> None:
    plain = plain_text(parse(text))
    plain.encode()
    assert "\x00" not in plain


@unhurried
@given(markdown_text)
def test_any_markdown_has_a_plain_text_that_can_be_stored(text: str) -> None:
    plain = plain_text(parse(text))
    plain.encode()
    assert "\x00" not in plain
