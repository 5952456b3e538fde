"""Our use of the parser reads what the parser alone reads."""

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from domain.document.commonmark import outline
from tests.domain.document.markdown_texts import markdown_text, unhurried

_ALONE = MarkdownIt("commonmark").enable("table")
_BELOW_TOP_LEVEL = ("inline", "list_item_open", "tr_open")


def in_outline(token: Token) -> bool:
    return token.nesting >= 0 and (token.level == 0 or (token.level <= 2 and token.type in _BELOW_TOP_LEVEL))


@unhurried
@given(markdown_text)
def test_the_outline_is_that_of_markdown_it_alone(text: str) -> None:
    readable = text.replace("\ud800", "\ufffd")  # the parser alone fails on lone surrogates in the address of a link
    expected = [token for token in _ALONE.parse(readable) if in_outline(token)]
    assert [(t.type, t.tag, t.level, t.map, t.markup, t.content) for t in outline(text)] == [
        (t.type, t.tag, t.level, t.map, t.markup, t.content) for t in expected
    ]
