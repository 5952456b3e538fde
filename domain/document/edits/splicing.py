"""Putting pieces in place of others, such that all pieces remain what they are.

Gaps are the documented part of an edit that nobody asked for, so here is all that happens to them:

- A new piece is followed by a blank line in the document's own line breaks; a piece in the place of another, by the
  gap that stood there. What is removed goes with the gap after it.
- The gap before the place that changed, and those inside it, grow by a line break or two where the two pieces beside
  them would be read as one. No gap between two pieces is ever shortened.
- The document ends with the gap it ended with, whichever piece is the last now.
- Two lists of the same kind that come to stand beside each other are one list for markdown, and become one here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from domain.document.edits.block_texts import never_ends
from domain.document.edits.differences import removed, written
from domain.document.edits.draft import Draft, Piece, with_gap
from domain.document.edits.gaps import separating, text_of
from domain.document.edits.itemized import continues, rebuilt
from domain.document.edits.unfit import Unfit
from domain.document.model import Block


@dataclass(frozen=True, slots=True)
class Splice:
    """`pieces` in place of those of the draft from `start` to before `stop`.

    `texts` are what an edit inside a piece changes, then and now, where that is less than the pieces.
    """

    start: int
    stop: int
    pieces: Sequence[Piece] = ()
    texts: tuple[str, str] | None = None
    assigned_id: str | None = None
    merged_into: str | None = None


@dataclass(frozen=True, slots=True)
class Spliced:
    """What a splice did: the text changed, then and now, and the ids of what it wrote and of what is gone."""

    before: str
    after: str
    wrote: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def splice(draft: Draft, change: Splice) -> Spliced:
    """Change the draft. Raises Unfit when it ends in a block that swallows whatever follows."""
    former = draft.pieces[change.start : change.stop]
    if list(change.pieces) == former:
        return Spliced(*(change.texts or (text_of(former), text_of(former))))
    pieces = _separated(change.pieces, draft.line_break)
    before, after = change.texts or (text_of(former), text_of(pieces))
    first, last = max(change.start - 1, 0), change.stop + 1
    old = draft.pieces[first:last]
    new = [*draft.pieces[first : change.start], *pieces, *draft.pieces[change.stop : last]]
    new = _separated(_lists_joined(new, {piece.id for piece in old}), draft.line_break)
    draft.pieces[first:last] = new
    return Spliced(before, after, written(old, new), removed(old, new))


def _separated(pieces: Sequence[Piece], line_break: str) -> list[Piece]:
    """The pieces with gaps between them that keep them apart."""
    separated = [_apart(left, right, line_break) for left, right in pairwise(pieces)]
    return [*separated, *pieces[-1:]]


def _apart(left: Piece, right: Piece, line_break: str) -> Piece:
    if isinstance(left, Block) and never_ends(left):
        raise Unfit(f"block {left.id} before it never ends and would swallow it; replace that block first")
    gap = separating(_part(left, -1), left.gap, _part(right, 0), line_break)
    return left if gap == left.gap else with_gap(left, gap)


def _part(piece: Piece, place: int) -> str:
    """The piece with only its first or last item: what follows or precedes it is read the same, and faster."""
    return rebuilt(piece, [piece.items[place]]).source if isinstance(piece, Block) and piece.items else piece.source


def _lists_joined(pieces: Iterable[Piece], known: set[str | None]) -> list[Piece]:
    """Lists that markdown reads as one are one, with the id that was known before."""
    joined: list[Piece] = []
    for piece in pieces:
        left = joined[-1] if joined else None
        if isinstance(left, Block) and isinstance(piece, Block) and continues(left, piece):
            last = replace(left.items[-1], gap=left.gap)
            identity = piece.id if left.id not in known and piece.id in known else left.id
            items = (*left.items[:-1], last, *piece.items)
            joined[-1] = replace(rebuilt(left, items), id=identity, gap=piece.gap)
        else:
            joined.append(piece)
    return joined
