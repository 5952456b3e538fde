"""On which facts each piece of a document rests: the blame that is recorded with every write.

A piece is a section's heading, a block, or an item of a list or row of a table. A list or table itself rests on what
its items rest on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from domain.document import Document, ids_of
from domain.mental_model.outline import Piece
from domain.mental_model.record import Edit, PieceGrounds
from domain.reflection import Mention


def leaves(document: Document) -> Iterator[tuple[str, int]]:
    """The id of each heading, item, and block without items, in order, and where in the text it ends."""
    offset = len(document.leading)
    for section in document.sections:
        if section.heading is not None:
            offset += len(section.heading.source)
            yield section.id, offset
            offset += len(section.heading.gap)
        for block in section.blocks:
            inside = offset + len(block.prefix)
            for item in block.items:
                inside += len(item.source)
                yield item.id, inside
                inside += len(item.gap)
            offset += len(block.source)
            if not block.items:
                yield block.id, offset
            offset += len(block.gap)


def grounds_of_rewrite(
    document: Document, before: Iterable[str], mentions: Sequence[Mention]
) -> tuple[PieceGrounds, ...]:
    """Grounds of a document that was written anew: of each piece that is new or in which facts are named. A mention
    speaks for the piece that it stands in or directly behind; `before` are the ids the document had."""
    known = frozenset(before)
    ends = list(leaves(document))
    named: dict[str, dict[UUID, None]] = {}
    for mention in mentions:
        place = bisect_left([end for _, end in ends], mention.offset)
        if place < len(ends):
            named.setdefault(ends[place][0], {})[UUID(mention.fact_id)] = None
    return tuple(
        PieceGrounds(id=piece, facts=tuple(named.get(piece, ())), kept=piece in known)
        for piece, _ in ends
        if piece in named or piece not in known
    )


def grounds_of_edits(
    edits: Iterable[Edit], before: Document, outline: Iterable[Piece], after: Iterable[str]
) -> tuple[PieceGrounds, ...]:
    """Grounds of the pieces that edits wrote: what they rested on in the document before, and the facts each edit
    names. Of one whose grounds were not known before, they are known in part only."""
    had, there = frozenset(ids_of(before)), frozenset(after)
    known = {piece.id: piece for piece in outline if piece.facts}
    facts: dict[str, dict[UUID, None]] = {}
    for edit in edits:
        for identity in edit.wrote if edit.skipped is None else ():
            if identity in there:
                own = known[identity].facts if identity in known else ()
                facts.setdefault(identity, dict.fromkeys(own)).update(dict.fromkeys(edit.facts))
    return tuple(
        PieceGrounds(
            id=identity,
            facts=tuple(named),
            partly=identity in had and (identity not in known or known[identity].partly),
        )
        for identity, named in facts.items()
    )
