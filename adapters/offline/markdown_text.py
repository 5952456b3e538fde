"""Any text as one line of markdown that stays one bullet or one heading, and brings no HTML with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark")
_TICKS = re.compile(r"`+")
# What can begin a tag, comment, declaration or instruction; `<https://...>` is an address and stays one.
_TAG = re.compile(r"<(?=[A-Za-z/!?])(?!https?://)")
_BLOCK_START = re.compile(
    r"#{1,6}(?= |$)"  # heading
    r"|>"  # quote
    r"|[-+*](?= |$)"  # list
    r"|([-_*])(?: *\1)+ *$"  # rule, also together with the mark of the list, whichever it is
    r"|`{3,}(?=[^`]*$)|~{3,}"  # fence
    r"|\[(?=.*\]:)"  # link definition
)
_NUMBER = re.compile(r"(\d{1,9})([.)])(?= |$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CLOSING_HASHES = re.compile(r"(?:^|(?<= ))#+$")


def bullet(text: str, stamp: str = "") -> str:
    """A list item `- (stamp) text`; whatever the text begins with, it is text."""
    line = _inline(text)
    return f"- ({stamp}) {line}" if stamp else f"- {_as_text(line)}"


def heading(level: int, title: str) -> str:
    """A heading `## title`."""
    return "#" * level + " " + _CLOSING_HASHES.sub(r"\\\g<0>", _inline(title))


def one_line(text: str) -> str:
    """The text without line breaks and runs of space."""
    return " ".join(text.split())


def unescaped(line: str) -> str:
    """The line without the escapes that keep its signs from being markup."""
    return _ESCAPED.sub(r"\1", line).replace("&lt;", "<")


def _as_text(line: str) -> str:
    """The line with an escape where its beginning would open a block."""
    if _BLOCK_START.match(line):
        return f"\\{line}"
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def _inline(text: str) -> str:
    """One line in which tags are text. Code keeps its signs, where a parser agrees that it is code."""
    line = one_line(text)
    if "<" not in line:
        return line
    code = list(_code_spans(line))
    escaped = _TAG.sub(lambda tag: tag[0] if _inside(tag.start(), code) else _escaped(line, tag.start()), line)
    return _TAG.sub("&lt;", line) if _has_html(escaped) else escaped


def _escaped(line: str, at: int) -> str:
    """`\\<`, unless an escape stands there already."""
    before = line[:at]
    backslashes = len(before) - len(before.rstrip("\\"))
    return "<" if backslashes % 2 else "\\<"


def _has_html(line: str) -> bool:
    inline = _PARSER.parseInline(line)[0]
    return any(token.type == "html_inline" for token in inline.children or ())


def _inside(position: int, spans: list[tuple[int, int]]) -> bool:
    return any(begin <= position < end for begin, end in spans)


def _code_spans(line: str) -> Iterator[tuple[int, int]]:
    """Where code stands: from a run of backticks to the next one of the same length."""
    runs = [match.span() for match in _TICKS.finditer(line)]
    number = 0
    while number < len(runs):
        begin, end = runs[number]
        closing = next((i for i in range(number + 1, len(runs)) if runs[i][1] - runs[i][0] == end - begin), None)
        if closing is None:
            number += 1
        else:
            yield begin, runs[closing][1]
            number = closing + 1
