"""The pieces of a document, each with the write it comes from and the facts it rests on: what blame is read from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from domain.event import Recorded
from domain.mental_model.evidence import pruned
from domain.mental_model.record import PieceGrounds, RefreshRecord
from domain.value import Value


class Piece(Value):
    """A section, block or item of the document: the version of the stream that wrote its text, when that was, and the
    facts it rests on (none: not known)."""

    id: str
    version: int
    written_at: datetime
    facts: tuple[UUID, ...] = ()
    partly: bool = False
    """It holds something besides, of which it is not known what it rests on."""


def outline_after(
    before: Sequence[Piece], ids: Sequence[str], written: Sequence[PieceGrounds], recorded: Recorded
) -> tuple[Piece, ...]:
    """The pieces after a write: those it names are its own, unless their text is older; the others are as before."""
    known = {piece.id: piece for piece in before}
    grounds = {each.id: each for each in written}
    pieces = []
    for identity in ids:
        piece, named = known.get(identity), grounds.get(identity)
        if piece is not None and named is None:
            pieces.append(piece)
        elif piece is not None and named is not None and named.kept:
            pieces.append(piece.model_copy(update={"facts": named.facts, "partly": named.partly}))
        else:
            new = named or PieceGrounds(id=identity)
            pieces.append(
                Piece(
                    id=identity,
                    version=recorded.version,
                    written_at=recorded.occurred_at,
                    facts=new.facts,
                    partly=new.partly,
                )
            )
    return tuple(pieces)


def without_pruned(outline: tuple[Piece, ...], record: RefreshRecord) -> tuple[Piece, ...]:
    """What a piece rests on, without facts whose citations ended; those that another fact says now, by that one."""
    gone = pruned(record)
    if not gone or record.retraction is None:
        return outline
    now = {relink.before: relink.after.fact_id for relink in record.retraction.relinked}
    return tuple(
        piece.model_copy(
            update={
                "facts": tuple(
                    dict.fromkeys(now.get(each, each) for each in piece.facts if each in now or each not in gone)
                )
            }
        )
        if not gone.isdisjoint(piece.facts)
        else piece
        for piece in outline
    )
