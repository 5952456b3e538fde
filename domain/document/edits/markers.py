"""List markers: what begins an item, and the content behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.document.edits.gaps import LINE_FEED, with_breaks

_MARKER = re.compile(r"( {0,3})(?:([0-9]{1,9})([.)])|([-+*]))(?=[ \t\r\n]|$)([ \t]*)")
_TAB = 4
_CODE = " " * 4
_WIDEST_PADDING = 4  # more than that is a space, and the content begins with indented code
_BLANK = " \t\n"
_LARGEST_NUMBER = 999_999_999


@dataclass(frozen=True, slots=True)
class Marker:
    """A bullet, or a number with its delimiter, and the indentation before it. `sign` is the bullet or delimiter."""

    indent: str
    number: int | None
    sign: str

    @property
    def text(self) -> str:
        return self.indent + ("" if self.number is None else str(self.number)) + self.sign

    def plus(self, step: int) -> Marker:
        """The marker so many numbers on; a bullet is always the same."""
        if self.number is None:
            return self
        return Marker(self.indent, min(self.number + step, _LARGEST_NUMBER), self.sign)


def marker_of(item: str) -> Marker:
    """The marker an item of a list begins with."""
    found = _MARKER.match(item)
    if found is None:
        return Marker("", None, "")
    indent, number, delimiter, bullet, _ = found.groups()
    return Marker(indent, int(number) if number else None, delimiter or bullet)


def content_of(item: str) -> str:
    """What an item of a list says: its lines without marker and indentation, ended by `\\n`, without blank edges."""
    first, *others = with_breaks(item, LINE_FEED).split(LINE_FEED)
    found = _MARKER.match(first)
    if found is None:
        return LINE_FEED.join([first, *others]).strip(_BLANK)
    behind_marker = found.start(5)
    width = len(found[0].expandtabs(_TAB))
    if found.end() == len(first) or width - behind_marker > _WIDEST_PADDING:
        width = behind_marker + 1
    content = LINE_FEED.join(_outdented(line, width) for line in [" " * behind_marker + first[behind_marker:], *others])
    return _without_padding(content)


def item_of(marker: Marker, content: str, line_break: str) -> str:
    """The item with this marker and content, its further lines indented to belong to it."""
    first, *others = with_breaks(content, LINE_FEED).split(LINE_FEED)
    indentation = " " * (len(marker.text) + 1)
    return line_break.join([f"{marker.text} {first}", *(indentation + line if line else "" for line in others)])


def with_marker(item: str, marker: Marker, line_break: str) -> str:
    """The item with this marker, and where that is as long as its own, without any other change."""
    own = marker_of(item)
    if own.text == marker.text:
        return item
    if item.startswith(own.text) and len(own.text) == len(marker.text):
        return marker.text + item[len(own.text) :]
    return item_of(marker, content_of(item), line_break)


def _without_padding(content: str) -> str:
    """Without blank lines at the edges, and without spaces at the beginning that do not make it code."""
    content = content.rstrip(_BLANK)
    content = content[content.rfind(LINE_FEED, 0, len(content) - len(content.lstrip(_BLANK))) + 1 :]
    return content if content.startswith(_CODE) else content.lstrip(_BLANK)


def _outdented(line: str, width: int) -> str:
    content = line.lstrip(" \t")
    indentation = line[: len(line) - len(content)].expandtabs(_TAB)
    return indentation[width:] + content
