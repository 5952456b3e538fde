"""A lossless markdown document: text cut into sections, blocks and items with ids that last."""

from domain.document.edits.applying import Applied, AppliedOperation, SkippedOperation, apply
from domain.document.edits.operations import (
    AddSection,
    AppendBlock,
    AppendItem,
    InsertBlock,
    InsertItem,
    MoveSection,
    Operation,
    RemoveBlock,
    RemoveItem,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
    ReplaceItem,
    ReplaceSectionBlocks,
)
from domain.document.model import Block, BlockKind, Document, Heading, HeadingKind, Item, Section, ids_of
from domain.document.parsing import PARSER_VERSION, identified, parse
from domain.document.plain_text import plain_text
from domain.document.structure import STRUCTURE_VERSION, Structure, to_structure

__all__ = [
    "PARSER_VERSION",
    "STRUCTURE_VERSION",
    "AddSection",
    "AppendBlock",
    "AppendItem",
    "Applied",
    "AppliedOperation",
    "Block",
    "BlockKind",
    "Document",
    "Heading",
    "HeadingKind",
    "InsertBlock",
    "InsertItem",
    "Item",
    "MoveSection",
    "Operation",
    "RemoveBlock",
    "RemoveItem",
    "RemoveSection",
    "RenameSection",
    "ReplaceBlock",
    "ReplaceItem",
    "ReplaceSectionBlocks",
    "Section",
    "SkippedOperation",
    "Structure",
    "apply",
    "identified",
    "ids_of",
    "parse",
    "plain_text",
    "to_structure",
]
