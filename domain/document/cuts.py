"""Cutting a text into the pieces a document is made of, not yet identified.

The parser's line maps say where a construct begins and ends; nothing here looks at markdown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from markdown_it.token import Token

from domain.document.commonmark import outline
from domain.document.front_matter import front_matter_length
from domain.document.lines import Lines, Span
from domain.document.model import BlockKind, Heading

BYTE_ORDER_MARK: Final = "\ufeff"
_KINDS: Final[dict[str, BlockKind | Literal["heading"]]] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "table_open": "table",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "blockquote_open": "quote",
    "hr": "rule",
}


@dataclass(slots=True)
class ItemCut:
    """An item as found in the text, and its id once it has one."""

    source: str
    gap: str
    id: str | None = None


@dataclass(slots=True)
class BlockCut:
    """A block as found in the text, and its id once it has one."""

    source: str
    gap: str
    kind: BlockKind
    prefix: str
    items: list[ItemCut]
    id: str | None = None


@dataclass(slots=True)
class SectionCut:
    """A section as found in the text, and its id once it has one."""

    heading: Heading | None
    blocks: list[BlockCut] = field(default_factory=list)
    id: str | None = None


class _Construct(NamedTuple):
    """A top-level construct: where it is, its tokens, and where its items are."""

    span: Span
    kind: BlockKind | Literal["heading"]
    tokens: list[Token]
    items: list[Span]


def cut(text: str, *, begins_document: bool = True) -> tuple[str, list[SectionCut]]:
    """What precedes the first heading or block of `text`, and its sections in order.

    Only a text that begins a document can begin with front matter.
    """
    constructs = _all_constructs(text, begins_document)
    if not constructs:
        return text, []
    gap_ends = [construct.span[0] for construct in constructs[1:]] + [len(text)]
    sections: list[SectionCut] = []
    for construct, gap_end in zip(constructs, gap_ends, strict=True):
        if construct.kind == "heading":
            sections.append(SectionCut(_heading(text, construct, gap_end)))
            continue
        if not sections:
            sections.append(SectionCut(None))
        sections[-1].blocks.append(_block(text, construct, construct.kind, gap_end))
    return text[: constructs[0].span[0]], sections


def _all_constructs(text: str, begins_document: bool) -> list[_Construct]:
    start = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    body = start + (front_matter_length(text[start:]) if begins_document else 0)
    constructs = list(_constructs(outline(text[body:]), Lines(text, body)))
    if body > start:
        end = len(text[:body].rstrip("\r\n"))
        constructs.insert(0, _Construct((start, end), "front_matter", [], []))
    return constructs


def _constructs(tokens: list[Token], lines: Lines) -> Iterator[_Construct]:
    covered = 0
    for group in _top_level(tokens):
        first, last = _line_range(group[0])
        yield from _references(lines, covered, first)
        covered = last
        span = lines.trimmed(first, last)
        if span is not None:  # a paragraph may consist of whitespace that CommonMark does not call blank: a form feed
            items = [lines.trimmed(*_line_range(token)) for token in _items(group)]
            yield _Construct(span, _KINDS[group[0].type], group, [item for item in items if item is not None])
    yield from _references(lines, covered, len(lines))


def _top_level(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of one top-level construct after the other."""
    group: list[Token] = []
    for token in tokens:
        if token.level == 0 and group:
            yield group
            group = []
        group.append(token)
    if group:
        yield group


def _references(lines: Lines, first: int, last: int) -> Iterator[_Construct]:
    """The runs of lines that are not blank, among lines of which the parser made no token.

    Those are link reference definitions, the only construct that leaves none.
    """
    if lines.is_blank(first, last):
        return
    start = first
    for number in range(first, last + 1):
        if number == last or lines.is_blank(number, number + 1):
            span = lines.trimmed(start, number)
            if span is not None:
                yield _Construct(span, "reference", [], [])
            start = number + 1


def _items(group: list[Token]) -> list[Token]:
    """The tokens of the items of a list, or of the body rows of a table."""
    kind = _KINDS[group[0].type]
    if kind == "list":
        return [token for token in group if token.type == "list_item_open" and token.level == 1]
    if kind == "table":
        return [token for token in group if token.type == "tr_open"][1:]  # the first is the header
    return []


def _line_range(token: Token) -> tuple[int, int]:
    assert token.map is not None  # all tokens that open a construct have one
    first, last = token.map
    return first, last


def _heading(text: str, construct: _Construct, gap_end: int) -> Heading:
    start, end = construct.span
    opening, inline = construct.tokens[:2]
    return Heading(
        source=text[start:end],
        gap=text[end:gap_end],
        title=" ".join(line.strip() for line in inline.content.split("\n")),
        level=int(opening.tag.removeprefix("h")),
        kind="atx" if opening.markup.startswith("#") else "setext",
    )


def _block(text: str, construct: _Construct, kind: BlockKind, gap_end: int) -> BlockCut:
    start, end = construct.span
    source, gap = text[start:end], text[end:gap_end]
    if kind not in ("list", "table"):
        return BlockCut(source, gap, kind, "", [])
    item_starts = [item[0] for item in construct.items] + [end]
    items = [
        ItemCut(text[item_start:item_end], text[item_end:next_start])
        for (item_start, item_end), next_start in zip(construct.items, item_starts[1:], strict=True)
    ]
    return BlockCut(source, gap, kind, text[start : item_starts[0]], items)
