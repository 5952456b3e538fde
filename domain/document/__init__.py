"""A lossless markdown document: text cut into sections, blocks and items with ids that last."""

from domain.document.model import Block, BlockKind, Document, Heading, HeadingKind, Item, Section
from domain.document.parsing import PARSER_VERSION, parse
from domain.document.plain_text import plain_text
from domain.document.structure import STRUCTURE_VERSION, Structure, to_structure

__all__ = [
    "PARSER_VERSION",
    "STRUCTURE_VERSION",
    "Block",
    "BlockKind",
    "Document",
    "Heading",
    "HeadingKind",
    "Item",
    "Section",
    "Structure",
    "parse",
    "plain_text",
    "to_structure",
]
