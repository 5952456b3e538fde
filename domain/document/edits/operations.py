"""What can be done to a document: the eight operations of the system of reference, and five more on items and order.

An operation names what it changes by id; what no operation names keeps its bytes. Sources: spec of the system of
reference, "Delta operations", for names, fields and defaults of the eight.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from domain.value import Value


class AppendBlock(Value):
    """A new block at the end of a section."""

    op: Literal["append_block"] = "append_block"
    section_id: str
    text: str


class InsertBlock(Value):
    """A new block directly after another one of the section; without an anchor, the first of the section."""

    op: Literal["insert_block"] = "insert_block"
    section_id: str
    after_block_id: str | None = None
    text: str


class ReplaceBlock(Value):
    """Another text for a block, which keeps its place and its id."""

    op: Literal["replace_block"] = "replace_block"
    section_id: str
    block_id: str
    text: str


class RemoveBlock(Value):
    """A block goes; its section stays, even when it is empty then."""

    op: Literal["remove_block"] = "remove_block"
    section_id: str
    block_id: str


class AddSection(Value):
    """A new section after another one; without an anchor, at the end of the document."""

    op: Literal["add_section"] = "add_section"
    heading: str
    level: int = Field(default=2, ge=1, le=6)
    blocks: tuple[str, ...] = ()
    after_section_id: str | None = None
    new_id: str | None = None


class RemoveSection(Value):
    """A section goes, with its blocks; not the deeper sections after it."""

    op: Literal["remove_section"] = "remove_section"
    section_id: str


class ReplaceSectionBlocks(Value):
    """Other blocks for a section, which keeps its heading and its id; none empty it."""

    op: Literal["replace_section_blocks"] = "replace_section_blocks"
    section_id: str
    blocks: tuple[str, ...] = ()


class RenameSection(Value):
    """Another heading for a section, which keeps its id and its level."""

    op: Literal["rename_section"] = "rename_section"
    section_id: str
    new_heading: str


class MoveSection(Value):
    """A section, with its blocks, goes behind another one; without an anchor, to the front (behind a preamble)."""

    op: Literal["move_section"] = "move_section"
    section_id: str
    after_section_id: str | None = None


class AppendItem(Value):
    """A new item at the end of a list, or row at the end of a table."""

    op: Literal["append_item"] = "append_item"
    block_id: str
    text: str


class InsertItem(Value):
    """A new item directly after another one of the block; without an anchor, the first."""

    op: Literal["insert_item"] = "insert_item"
    block_id: str
    after_item_id: str | None = None
    text: str


class ReplaceItem(Value):
    """Another text for an item, which keeps its place and its id."""

    op: Literal["replace_item"] = "replace_item"
    block_id: str
    item_id: str
    text: str


class RemoveItem(Value):
    """An item goes; with its last item, its block goes too."""

    op: Literal["remove_item"] = "remove_item"
    block_id: str
    item_id: str


Operation = Annotated[
    AppendBlock
    | InsertBlock
    | ReplaceBlock
    | RemoveBlock
    | AddSection
    | RemoveSection
    | ReplaceSectionBlocks
    | RenameSection
    | MoveSection
    | AppendItem
    | InsertItem
    | ReplaceItem
    | RemoveItem,
    Field(discriminator="op"),
]
