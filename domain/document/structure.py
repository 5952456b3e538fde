"""The document as the system of reference shows it on the wire: schema version 2 of its structured content."""

from typing import Final, TypedDict

from domain.document.model import Document, Section

STRUCTURE_VERSION: Final = 2
_LEVEL_WITHOUT_HEADING: Final = 2


class BlockStructure(TypedDict):
    """A block: its id and its exact source."""

    id: str
    text: str


class SectionStructure(TypedDict):
    """A section; the preamble has the heading "" and level 2."""

    id: str
    heading: str
    level: int
    blocks: list[BlockStructure]


class Structure(TypedDict):
    """A document. Gaps are not part of it: it cannot be rendered back to the byte."""

    version: int
    sections: list[SectionStructure]


def to_structure(document: Document) -> Structure:
    """The document in the reference's shape, ready for JSON."""
    return {"version": STRUCTURE_VERSION, "sections": [_section(section) for section in document.sections]}


def _section(section: Section) -> SectionStructure:
    heading = section.heading
    return {
        "id": section.id,
        "heading": "" if heading is None else heading.title,
        "level": _LEVEL_WITHOUT_HEADING if heading is None else heading.level,
        "blocks": [{"id": block.id, "text": block.source} for block in section.blocks],
    }
