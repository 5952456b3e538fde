"""Line breaks and blank lines between the pieces of a document."""

import re
from collections.abc import Sequence
from typing import Final, Protocol

from domain.document.cuts import cut
from domain.document.front_matter import front_matter_length

LINE_FEED: Final = "\n"
_BLANK_LINE = re.compile("\n[ \t]*\n")


class Spaced(Protocol):
    """A piece of a document, and the gap after it."""

    @property
    def source(self) -> str: ...

    @property
    def gap(self) -> str: ...


def text_of(pieces: Sequence[Spaced]) -> str:
    """The text of neighbouring pieces, without the gap after the last, and without what leads a document."""
    texts = [part for piece in pieces if piece.source for part in (piece.source, piece.gap)]
    return "".join(texts[:-1])


def line_break_of(text: str) -> str:
    """The line break that most lines of a text end with."""
    both = text.count("\r\n")
    counts = {LINE_FEED: text.count("\n") - both, "\r\n": both, "\r": text.count("\r") - both}
    return max(counts, key=counts.__getitem__)


def with_breaks(text: str, line_break: str) -> str:
    """The text with all its lines ended in one way."""
    plain = text.replace("\r\n", LINE_FEED).replace("\r", LINE_FEED)
    return plain if line_break == LINE_FEED else plain.replace(LINE_FEED, line_break)


def with_blank_line(gap: str, line_break: str) -> str:
    """The gap, longer by what it takes for a blank line."""
    while not _holds_blank_line(gap):
        gap += line_break
    return gap


def separating(left: str, gap: str, right: str, line_break: str) -> str:
    """The gap between two sources, longer by a line break or two where they would else be read as something else."""
    for longer in (gap, gap + line_break):
        if _holds_blank_line(longer) or _reads_apart(left, longer, right):
            return longer
    return with_blank_line(gap, line_break)


def _holds_blank_line(gap: str) -> bool:
    return gap.endswith(("\n", "\r")) and _BLANK_LINE.search(with_breaks(gap, LINE_FEED)) is not None


def _reads_apart(left: str, gap: str, right: str) -> bool:
    begins_document = not left or front_matter_length(left) > 0
    leading, sections = cut(left + gap + right, begins_document=begins_document)
    read = [] if left else [leading]
    for section in sections:
        read += [] if section.heading is None else [section.heading.source]
        read += [block.source for block in section.blocks]
    return read == [left or gap, right]
