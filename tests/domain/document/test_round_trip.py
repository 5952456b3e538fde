"""Every text comes back byte for byte, and every piece of a document is an exact piece of its text."""

import pytest
from hypothesis import example, given
from markdown_it import MarkdownIt

from domain.document import Document, parse
from tests.domain.document.markdown_texts import any_text, blocks_of, markdown_text, shared_json, unhurried

AWKWARD_TEXTS = {
    "empty": "",
    "only line breaks": "\n\r\n\r\r\n\n",
    "only spaces, without a line break": "   \t ",
    "only a byte order mark": "\ufeff",
    "byte order mark before a heading": "\ufeff# H\n",
    "CRLF": "# A\r\n\r\n- a\r\n\r\n- b\r\n\r\n| x |\r\n|---|\r\n| 1 |\r\n",
    "lone CR": "# A\r\rtext\r- a\r- b\r",
    "mixed line breaks": "# A\r\n\rtext\n\r\nmore\r",
    "no final line break": "# H\n\nno line break at the end",
    "runs of blank lines": "\n\n\n# H\n\n\n\ntext\n\n\n",
    "lines of spaces": "a\n   \n\t\nb\n  ",
    "form feed": "## A\n\ntext\f```\n# not in a fence\n\n## B\n",
    "form feed on a line of its own": "a\n\n\f\n\nb\n",
    "vertical tab, NEL, line separator, FS": "a\x0bb\x85c\u2028d\x1ce\n\n| a\u2028b |\n|---|\n| c\x85d |\n",
    "NUL": "# a\x00b\n\n\x00\n",
    "lone surrogates": "# \ud800\n\n[a]: /\udfff\n\n[\ud800](http://\ud800\udc00.example)\n",
    "CJK without spaces": "## 概要\n\n甲。乙。\n\n* 一\n* 二\n",
    "unclosed fence": "# A\n\n```\n# not a heading\n\n\n",
    "unclosed comment": "# A\n\n<!-- never closed\n\n# B\n",
    "reference definitions": 'a [b]\n\n[b]: /u\n[c]: </v w>\n  "title\n  goes on"\n# H\n[d]: x\ntext\n',
    "front matter": "---\ntitle: x\n---\n# H\n",
    "tabs": "-\ta\n\n\tb\n\n\tcode\n",
}


def assert_exact(text: str) -> Document:
    document = parse(text)
    assert document.render() == text
    assert not document.leading.removeprefix("\ufeff").strip()
    for section in document.sections:
        if section.heading is not None:
            assert section.heading.source.strip()
            assert not section.heading.gap.strip()
    for block in blocks_of(document):
        assert block.source.strip()
        assert block.source[-1] not in "\r\n"
        assert not block.gap.strip()
        addressable = block.source if block.kind in ("list", "table") else ""
        assert block.prefix + "".join(item.source + item.gap for item in block.items) == addressable
        if block.items:
            assert block.items[-1].gap == ""
            assert all(item.source.strip() and not item.gap.strip() for item in block.items)
    return document


@unhurried
@given(any_text)
def test_any_text_comes_back(text: str) -> None:
    assert_exact(text)


@unhurried
@given(markdown_text)
@example("> [a]: x\n\n- \n\n\n```")
def test_any_markdown_comes_back(text: str) -> None:
    assert_exact(text)


@pytest.mark.parametrize("text", AWKWARD_TEXTS.values(), ids=AWKWARD_TEXTS)
def test_awkward_text_comes_back(text: str) -> None:
    assert_exact(text)


@unhurried
@given(markdown_text)
def test_boundaries_are_those_of_markdown_it(text: str) -> None:
    plain = text.translate(str.maketrans("\ufeff\ud800\f\x0b\x85\u2028", "??????")).replace("key: ", "key ")
    document = assert_exact(plain)
    assert count_of_pieces(document) == count_of_constructs(plain)


def count_of_pieces(document: Document) -> int:
    """How many headings and blocks there are, without definitions, of which the parser makes no token."""
    headings = sum(section.heading is not None for section in document.sections)
    return headings + sum(block.kind != "reference" for block in blocks_of(document))


def count_of_constructs(text: str) -> int:
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return sum(token.level == 0 and token.nesting >= 0 for token in tokens)


def test_every_example_of_commonmark_comes_back_with_the_boundaries_of_markdown_it() -> None:
    examples = shared_json("data", "commonmark-0.31.2.json")["examples"]
    assert examples
    for case in examples:
        text = case["markdown"]
        document = assert_exact(text)
        assert count_of_pieces(document) == count_of_constructs(text), case


def test_every_document_of_the_corpus_comes_back() -> None:
    for case in shared_json("cases", "markdown-corpus.jsonl"):
        assert_exact(case["markdown"])
