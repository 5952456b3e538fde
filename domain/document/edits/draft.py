"""A document while operations change it: its headings and blocks in one row, so that every change is a splice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from domain.document.edits.gaps import line_break_of, with_blank_line
from domain.document.ids import Ids
from domain.document.model import Block, Document, Heading, Section, ids_of


@dataclass(frozen=True, slots=True)
class Opening:
    """Where a section begins: its heading.

    The first piece of a draft is an opening without a heading: the beginning of the text, where the preamble stands if
    there is one. Its gap is what leads the document; it has no id as long as there never was a preamble.
    """

    id: str | None
    heading: Heading | None = None
    leading: str = ""

    @property
    def source(self) -> str:
        return "" if self.heading is None else self.heading.source

    @property
    def gap(self) -> str:
        return self.leading if self.heading is None else self.heading.gap


Piece = Opening | Block


class SectionPlace(NamedTuple):
    """A section of a draft: its opening is the piece at `start`, its last piece the one before `stop`."""

    opening: Opening
    start: int
    stop: int

    @property
    def title(self) -> str | None:
        """The title of its heading; None for the preamble."""
        return None if self.opening.heading is None else self.opening.heading.title


def with_gap(piece: Piece, gap: str) -> Piece:
    """The piece with another gap after it."""
    if isinstance(piece, Block):
        return replace(piece, gap=gap)
    if piece.heading is None:
        return replace(piece, leading=gap)
    return replace(piece, heading=replace(piece.heading, gap=gap))


def document_of(pieces: Sequence[Piece]) -> Document:
    """The document that consists of these pieces; the first is an opening without a heading."""
    sections: list[tuple[Opening, list[Block]]] = []
    for piece in pieces:
        if isinstance(piece, Opening):
            sections.append((piece, []))
        else:
            sections[-1][1].append(piece)
    present = [
        Section(opening.id, opening.heading, tuple(blocks))
        for opening, blocks in sections
        if opening.id is not None and (opening.heading is not None or blocks)
    ]
    return Document(pieces[0].gap, tuple(present))


class Draft:
    """Pieces in their order, and how the document ends.

    What follows the last piece belongs to the document and not to the piece: it is kept in `end`, so that a document
    ends as it did whatever comes to stand last. The gap of the last piece is the one it will have when another piece
    follows. `added` are the ids of the sections added, by the headings and ids that were asked for. A preamble whose
    blocks are all gone can be named until the batch ends.
    """

    def __init__(self, pieces: Iterable[Piece], end: str, line_break: str, ids: Ids) -> None:
        self.pieces: Final = list(pieces)
        self.end: Final = end
        self.line_break: Final = line_break
        self.ids: Final = ids
        self.added: Final[dict[str, str]] = {}

    @classmethod
    def of(cls, document: Document, reserved: Iterable[str]) -> Draft:
        """A draft that says what `document` says, and gives out none of its ids and of those reserved."""
        line_break = line_break_of(document.render())
        preamble = next((section.id for section in document.sections if section.heading is None), None)
        pieces: list[Piece] = [Opening(preamble, leading=document.leading)]
        for section in document.sections:
            if section.heading is not None:
                pieces.append(Opening(section.id, section.heading))
            pieces += section.blocks
        end = line_break
        if len(pieces) > 1:
            end = pieces[-1].gap
            pieces[-1] = with_gap(pieces[-1], with_blank_line(end, line_break))
        return cls(pieces, end, line_break, Ids({*ids_of(document), *reserved}))

    def copy(self) -> Draft:
        """A draft to try something on."""
        copied = Draft(self.pieces, self.end, self.line_break, self.ids.copy())
        copied.added.update(self.added)
        return copied

    def document(self) -> Document:
        """What the draft says now."""
        return document_of(self.closed())

    def closed(self) -> list[Piece]:
        """The pieces, the last one with the gap that the document ends with."""
        *others, last = self.pieces
        return [*others, with_gap(last, self.end) if others else last]

    def sections(self) -> Iterator[SectionPlace]:
        """The sections in order, and before them the preamble, be it empty."""
        openings = [(at, piece) for at, piece in enumerate(self.pieces) if isinstance(piece, Opening)]
        stops = [at for at, _ in openings[1:]] + [len(self.pieces)]
        for (start, opening), stop in zip(openings, stops, strict=True):
            yield SectionPlace(opening, start, stop)

    @property
    def blank_line(self) -> str:
        """The gap after new pieces."""
        return 2 * self.line_break
