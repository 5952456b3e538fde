"""The shape of a parsed markdown document: what is where, to the byte.

Every string called `source` or `gap` is an exact piece of the text, and the pieces in order are the text:

    leading, then per section: heading source, heading gap, then per block: block source, block gap

A source runs from the start of its first line to the end of its last line that is not blank, without that line's
break; the break and all blank lines after it are the gap. So gaps (and `leading`) hold whitespace only, apart from a
byte order mark at the very start.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal[
    "paragraph", "list", "table", "fence", "code", "html", "quote", "rule", "reference", "front_matter"
]  # "reference": a run of link reference definitions; "code": an indented code block
HeadingKind = Literal["atx", "setext"]


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a top-level list, marker and nested content included, or a body row of a table."""

    id: str
    source: str
    gap: str


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level construct of markdown.

    Of a list or table, `prefix` and then each item's source and gap are the `source`: the prefix of a table is its
    header and delimiter row, that of a list is empty. Other kinds have neither prefix nor items.
    """

    id: str
    source: str
    gap: str
    kind: BlockKind
    prefix: str = ""
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A top-level heading. `title` is its inline markdown on one line, without marks, closing hashes or underline."""

    source: str
    gap: str
    title: str
    level: int
    kind: HeadingKind


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the blocks up to the next heading of any level; without a heading, the preamble."""

    id: str
    heading: Heading | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole text. All ids in it (sections, blocks, items) differ from each other."""

    leading: str
    sections: tuple[Section, ...]

    def render(self) -> str:
        """The text, byte for byte: all pieces in order, and nothing else."""
        return "".join(self._pieces())

    def _pieces(self) -> Iterator[str]:
        yield self.leading
        for section in self.sections:
            if section.heading is not None:
                yield section.heading.source
                yield section.heading.gap
            for block in section.blocks:
                yield block.source
                yield block.gap


def ids_of(document: Document) -> tuple[str, ...]:
    """All ids in the order of the text: each section, then its blocks, each followed by its items."""
    return tuple(
        identity
        for section in document.sections
        for identity in (
            section.id,
            *(each for block in section.blocks for each in (block.id, *(item.id for item in block.items))),
        )
    )
