"""The texts that operations bring, read as the blocks they become.

A text is made to fit where there is one right reading: blank lines at its edges go, its lines end as those of the
document do, a fence left open at its end is closed, and a heading at its start that repeats the title of the section it
is for is left out. Any other heading is refused: sections are flat, so it would end the section, and whether the blocks
behind it should go with it is for whoever sent it to say, by `add_section`.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from domain.document.cuts import BlockCut, SectionCut, cut
from domain.document.edits.gaps import text_of, with_breaks
from domain.document.edits.itemized import continues
from domain.document.edits.unfit import READ_DIFFERENTLY, Unfit
from domain.document.model import Block

_FENCE = re.compile(" {0,3}(`{3,}|~{3,})")


def blocks_of_text(
    text: str, line_break: str, *, title: str | None = None, begins_document: bool = False
) -> list[BlockCut]:
    """The blocks of a text for a section with this title; none if it is blank. Raises Unfit."""
    _, sections = cut(with_breaks(text, line_break), begins_document=begins_document)
    blocks = _blocks(sections, title)
    if blocks and never_ends(blocks[-1]):
        _close(blocks[-1], line_break)
    return blocks


def blocks_of_texts(
    texts: Sequence[str], line_break: str, *, title: str | None = None, begins_document: bool = False
) -> list[BlockCut]:
    """The blocks of several texts, a blank line between them. Blank texts are left out, and a list that goes on in the
    next text is one list. Raises Unfit, also when a text would be read as a part of the one before it."""
    first, *others = [text for text in texts if text.strip()] or [""]
    parts = [blocks_of_text(first, line_break, title=title, begins_document=begins_document)]
    parts += [blocks_of_text(text, line_break) for text in others]
    parts = [blocks for blocks in parts if blocks]
    for left, right in pairwise(parts):
        left[-1].gap = line_break if continues(left[-1], right[0]) else 2 * line_break
    given = [block for blocks in parts for block in blocks]
    _, sections = cut(text_of(given), begins_document=begins_document)
    read = _blocks(sections, None)
    if _leaves(read) != _leaves(given):
        raise Unfit(READ_DIFFERENTLY)
    return read


def never_ends(block: Block | BlockCut) -> bool:
    """Whether the block, an open fence or HTML, takes everything that could follow it."""
    if block.kind not in ("fence", "html"):
        return False
    _, sections = cut(block.source + "\n\nend", begins_document=False)
    return sections[-1].blocks[-1].source != "end"


def _blocks(sections: Sequence[SectionCut], title: str | None) -> list[BlockCut]:
    headings = [section.heading.title for section in sections if section.heading is not None]
    repeated = sections and sections[0].heading is not None and headings == [title]
    if headings and not repeated:
        raise Unfit("the text holds a heading; use add_section")
    return [block for section in sections for block in section.blocks]


def _close(block: BlockCut, line_break: str) -> None:
    fence = _FENCE.match(block.source)
    if fence is None:
        raise Unfit("the text opens HTML that it does not close")
    block.source += line_break + fence[1]


def _leaves(blocks: Sequence[BlockCut]) -> list[str]:
    """The sources of the blocks, of lists those of their items."""
    leaves: list[str] = []
    for block in blocks:
        leaves += [item.source for item in block.items] if block.kind == "list" else [block.source]
    return leaves
