"""What the pieces of a document say, read as the bullets of this engine are written: a time, and words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from adapters.offline.documents import bullet_of, stamp_of
from adapters.offline.markdown_text import bullet, one_line, unescaped
from adapters.offline.sameness import bare
from domain.document import Block, Document, Item, Operation, RemoveBlock, RemoveItem, ReplaceBlock, ReplaceItem
from domain.memory import Fact

_STAMP = re.compile(r"\((\d{4}(?:-\d{2}(?:-\d{2})?)?(?: to \d{4}-\d{2}-\d{2})?)\)\s+(?=\S)")
_DAY = re.compile(r"(?<![\d-])\d{4}-\d{2}-\d{2}(?![\d-])")
_MARK = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])(?:\s+|$)")
_STARTS_PART = re.compile(r"\s*(?:(?:[-+*]|\d{1,9}[.)])(?:\s|$)|$)")


@dataclass(frozen=True, slots=True)
class Statement:
    """`words` are bare, without escapes; empty words say nothing. `stamp` is the time before them, as it is written."""

    words: str
    stamp: str = ""

    def is_said_by(self, other: Statement) -> bool:
        """Whether the other says these words, and the time too if there is one."""
        return self.words == other.words and self.stamp in ("", other.stamp)


def statement_of(text: str) -> Statement:
    """What a text says that stands without the mark of a list."""
    line = one_line(text)
    stamp = _STAMP.match(line)
    return Statement(bare(unescaped(line[stamp.end() :] if stamp else line)), stamp[1] if stamp else "")


def fact_statement(fact: Fact) -> Statement:
    """What the bullet of a fact says."""
    return statement_of(without_mark(bullet_of(fact)))


def without_mark(item: str) -> str:
    """The text of an item of a list."""
    return _MARK.sub("", item, count=1)


def day_of(item: str) -> str:
    """The first day (ISO) that an item is about: of its stamp, or the first one written out; empty when it tells
    none."""
    text = one_line(without_mark(item))
    if stamp := _STAMP.match(text):
        return f"{stamp[1]}-01-01"[:10]
    day = _DAY.search(text)
    return day[0] if day else ""


# --- the pieces of a document -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """An item of a list, a row of a table, or a block that has neither: what can be removed or replaced on its own."""

    section_id: str
    block: Block
    item: Item | None

    @property
    def id(self) -> str:
        return (self.item or self.block).id

    @property
    def text(self) -> str:
        """All its bytes, with the gap behind it."""
        piece = self.item or self.block
        return piece.source + piece.gap

    @property
    def statement(self) -> Statement:
        """What it says as a whole; nothing, unless it is an item or a paragraph."""
        if self.block.kind == "list" and self.item:
            return statement_of(without_mark(self.item.source))
        return statement_of(self.block.source if self.block.kind == "paragraph" else "")

    def statements(self) -> Iterator[Statement]:
        """Everything it says: what is nested in an item or goes on in a paragraph below it is said too."""
        yield self.statement
        if self.block.kind == "list" and self.item:
            yield from map(statement_of, _parts(self.item.source))

    def removal(self) -> Operation:
        if self.item:
            return RemoveItem(block_id=self.block.id, item_id=self.item.id)
        return RemoveBlock(section_id=self.section_id, block_id=self.block.id)

    def replacement(self, fact: Fact) -> Operation:
        """It says the fact instead: an item as a bullet, a paragraph in its words, with the time if it had one."""
        if self.item:
            return ReplaceItem(block_id=self.block.id, item_id=self.item.id, text=bullet_of(fact))
        line = bullet(fact.text, stamp_of(fact) if self.statement.stamp else "")
        return ReplaceBlock(section_id=self.section_id, block_id=self.block.id, text=without_mark(line))


def pieces_of(document: Document) -> Iterator[Piece]:
    """All pieces in the order of the text."""
    for section in document.sections:
        for block in section.blocks:
            for item in block.items or (None,):
                yield Piece(section.id, block, item)


def _parts(item: str) -> Iterator[str]:
    """The texts of an item and of the items and paragraphs in it, line by line."""
    part: list[str] = []
    for line in item.splitlines():
        if part and _STARTS_PART.match(line):
            yield without_mark("\n".join(part))
            part = []
        part.append(line)
    yield without_mark("\n".join(part))


class Said:
    """Everything that some pieces say."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._stamps: dict[str, set[str]] = defaultdict(set)
        for piece in pieces:
            for statement in piece.statements():
                self.add(statement)

    def add(self, statement: Statement) -> None:
        self._stamps[statement.words].add(statement.stamp)

    def says(self, statement: Statement) -> bool:
        stamps = self._stamps.get(statement.words, ())
        return statement.stamp in stamps if statement.stamp else bool(stamps)
