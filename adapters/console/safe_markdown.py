"""Documents as HTML that can do nothing: no script, no style, no request to anywhere until a reader follows a link.

The text is hostile: a language model wrote it, on what anybody said. It is cut into blocks by the rules that keep the
document, which bound what it can cost. Raw HTML in it is shown as text, images as links, and what is made of the rest
passes a sanitiser that knows only the tags and attributes below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from domain.document.commonmark import contents

SCHEMES: Final = frozenset({"http", "https", "mailto"})
_BLOCKS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr", "div"}
_TABLES = {"table", "thead", "tbody", "tr", "th", "td"}
_INLINE = {"a", "code", "em", "strong", "s", "del", "ins", "br", "span", "mark"}
TAGS: Final = _BLOCKS | _TABLES | _INLINE
CLASSES: Final = {
    "piece",
    "image",
    "left",
    "center",
    "right",
    "line",
    "same",
    "added",
    "removed",
    "gap",
    "number",
    "diff",
}
_ATTRIBUTES = {
    "*": {"data-piece"},
    "a": {"href", "title", "target"},
    "ol": {"start"},
    "li": {"tabindex"},
    **{name: {"tabindex"} for name in ("p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "tr")},
}


def sanitised(html: str) -> str:
    """What is left of HTML when only harmless tags, attributes, classes and addresses may stay."""
    return nh3.clean(
        html,
        tags=TAGS,
        clean_content_tags={"script", "style"},
        attributes=_ATTRIBUTES,
        allowed_classes=dict.fromkeys(TAGS, CLASSES),
        url_schemes=set(SCHEMES),
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def rendered(markdown: str, starts: Sequence[tuple[int, int]] = ()) -> str:
    """CommonMark with tables as sanitised HTML.

    `starts` are the first line (from 0) and the number of pieces of the document, in order: each block that begins a
    piece carries its number as `data-piece`, to be looked up when a reader points at it."""
    tokens = [tame for token in contents(markdown) for tame in _tamed_block(token)]
    _mark_pieces(tokens, dict(starts))
    return sanitised(_RENDERING.renderer.render(tokens, _RENDERING.options, {}))


def as_plain(markdown: str) -> str:
    """A sentence without its marks of emphasis and code, as text."""
    return "".join(_text_of(each) for each in _RENDERING.parseInline(markdown)) or markdown


def first_lines(text: str, pieces: Sequence[str]) -> list[tuple[int, int]]:
    """Where pieces of a text begin: (line from 0, number of the piece). They stand in the text in this order; one that
    is empty, or that is not there, begins nowhere."""
    found: list[tuple[int, int]] = []
    text = _with_line_feeds(text)
    lines_before, counted_to, at = 0, 0, 0
    for number, piece in enumerate(map(_with_line_feeds, pieces)):
        begins = text.find(piece, at) if piece.strip() else -1
        if begins < 0:
            continue
        begins += len(piece) - len(piece.lstrip("\n"))
        lines_before += text.count("\n", counted_to, begins)
        counted_to, at = begins, begins + 1
        found.append((lines_before, number))
    return found


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


_CAN_BE_PIECES = {
    "heading_open",
    "paragraph_open",
    "list_item_open",
    "tr_open",
    "fence",
    "code_block",
    "blockquote_open",
    "hr",
}


def _mark_pieces(tokens: list[Token], starts: dict[int, int]) -> None:
    taken: set[int] = set()
    for token in tokens:
        line = token.map[0] if token.map else -1
        if token.type in _CAN_BE_PIECES and line in starts and starts[line] not in taken:
            taken.add(starts[line])
            token.attrSet("data-piece", str(starts[line]))
            token.attrSet("tabindex", "0")
            token.attrJoin("class", "piece")


def _is_harmless(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme.lower() in SCHEMES
    except ValueError:
        return False


def _tamed_block(token: Token) -> list[Token]:
    """What a page may show of a block: HTML is text, alignment is a class, code has no language."""
    if token.type == "html_block":
        told = Token("text", "", 0, content=token.content.rstrip("\n"))
        inline = Token("inline", "", 0, children=[told], content=told.content)
        return [Token("paragraph_open", "p", 1, map=token.map), inline, Token("paragraph_close", "p", -1)]
    if token.type == "fence":
        token.info = ""
    elif token.type in ("th_open", "td_open"):
        style = str(token.attrs.pop("style", ""))
        token.attrs["class"] = next((side for side in ("left", "center", "right") if side in style), "")
    elif token.children is not None:
        token.children = [tame for child in token.children for tame in _tamed_inline(child)]
    return [token]


def _tamed_inline(token: Token) -> list[Token]:
    """HTML is text, links open elsewhere, images are links."""
    match token.type:
        case "html_inline":
            return [Token("text", "", 0, content=token.content)]
        case "image":
            source = str(token.attrGet("src") or "")
            text = Token("text", "", 0, content=_text_of(token) or source or "image")
            return [_link(source, {"class": "image"}), text, Token("link_close", "a", -1)]
        case "link_open":
            return [_link(str(token.attrGet("href") or ""), {})]
        case _:
            return [token]


def _link(url: str, attributes: dict[str, str | int | float]) -> Token:
    """A link, or where it would lead elsewhere than to a page or an address for mail, one that leads nowhere."""
    leads = {"href": url, "target": "_blank"} if _is_harmless(url) else {}
    return Token("link_open", "a", 1, attrs={**attributes, **leads})


def _text_of(token: Token) -> str:
    return RendererHTML().renderInlineAsText(token.children or [], _RENDERING.options, {})


_RENDERING: Final = MarkdownIt("commonmark", {"html": False})
