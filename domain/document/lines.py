"""Where the lines of a text are, by the definition of CommonMark and so of the parser's line numbers."""

import re
from bisect import bisect_right

_LINE_BREAK = re.compile("\r\n?|\n")

Span = tuple[int, int]
"""Offsets in a text: start, and end exclusive."""


class Lines:
    """The lines of `text` from the offset `start`, numbered from 0.

    A line ends at `\\n`, `\\r\\n`, `\\r` or the end of the text. (str.splitlines would also break at form feeds,
    U+2028 and others, in the middle of a table row or a line of code.)
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._starts = [start, *(match.end() for match in _LINE_BREAK.finditer(text, start))]
        if self._starts[-1] < len(text):
            self._starts.append(len(text))  # the end of the last line, as the start of one that is not there

    def __len__(self) -> int:
        return len(self._starts) - 1

    def is_blank(self, first: int, last: int) -> bool:
        """Whether the lines from `first` to before `last` hold nothing but whitespace."""
        lines = self._text[self._starts[first] : self._starts[last]]
        return not lines or lines.isspace()

    def trimmed(self, first: int, last: int) -> Span | None:
        """Where the lines from `first` to before `last` are, without the blank ones at their end and the last break.

        None if there is nothing but whitespace.
        """
        start = self._starts[first]
        content = self._text[start : self._starts[last]].rstrip()
        if not content:
            return None
        end = self._starts[bisect_right(self._starts, start + len(content) - 1)]
        if self._text[end - 1] == "\n":
            end -= 1
        if self._text[end - 1] == "\r":
            end -= 1
        return start, end
