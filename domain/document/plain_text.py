"""The words of a document without its markup, for search."""

from collections.abc import Iterable, Iterator

from markdown_it.token import Token

from domain.document.commonmark import contents
from domain.document.model import Document


def plain_text(document: Document) -> str:
    """Titles, prose, link texts, image descriptions, list items, table cells, code and front matter, as one reads them.

    One line per heading, paragraph, table row and line of code. Left out: marks of any kind, task boxes, HTML tags and
    comments, the addresses of links, link reference definitions. NUL and lone surrogates become U+FFFD.
    """
    front_matter, markdown = _without_front_matter(document)
    lines = [*front_matter, *_lines(contents(markdown))]
    return "\n".join(line for line in lines if line)


def _without_front_matter(document: Document) -> tuple[list[str], str]:
    """The lines between the fences of the front matter, and the markdown after it."""
    text = document.render()[len(document.leading) :]
    first = document.sections[0].blocks[:1] if document.sections else ()
    if not first or first[0].kind != "front_matter":
        return [], text
    source = first[0].source
    return source.splitlines()[1:-1], text[len(source) :]


def _lines(tokens: Iterable[Token]) -> Iterator[str]:
    row: list[str] | None = None
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "tr_close":
            yield " ".join(row or ())
            row = None
        elif token.type == "inline" and row is not None:
            row.append(_read(token.children))
        elif token.type == "inline":
            yield _read(token.children)
        elif token.type == "html_block":
            yield " ".join(_read(token.children, tag=" ").split())
        elif token.type in ("fence", "code_block"):
            yield token.content.rstrip("\n")


def _read(tokens: Iterable[Token] | None, tag: str = "") -> str:
    """The text of inline tokens; `tag` stands for an HTML tag or comment, a space for a line break."""
    return "".join(_word(token, tag) for token in tokens or ())


def _word(token: Token, tag: str) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return " "
    if token.type == "html_inline":
        return " " if token.content.lower().startswith("<br") else tag
    if token.type == "image":
        return _read(token.children, tag)
    return token.content
