"""Making a document shorter without a language model: what is said twice goes first, then what was written first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from adapters.offline.placed_edit import is_shown
from adapters.offline.statements import Piece, Statement, pieces_of
from domain.editing import EditRequest, Grounds, ProposedEdit

_Age = tuple[bool, datetime, int]


def removals(request: EditRequest) -> Iterator[ProposedEdit]:
    """As many as bring the document within its budget, of pieces whose grounds are known. What no known fact stands
    behind was written by a hand, and headings hold the page together: both stay, so the budget may be missed."""
    grounds = {identity: known for identity, known in request.grounds if known.facts}
    ages = {
        piece.id: (piece, _age(grounds.get(piece.id), position))
        for position, piece in enumerate(pieces_of(request.document))
    }
    oldest_first = [piece for piece, _ in sorted(ages.values(), key=lambda each: each[1])]
    removable = [piece for piece in oldest_first if piece.id in grounds and is_shown(piece.section_id, request)]
    said_again = _said_again(oldest_first)
    size = _Size(request)
    for piece in sorted(removable, key=lambda piece: piece.id not in said_again):
        if size.tokens <= request.max_tokens:
            return
        size.take_out(piece.text)
        yield ProposedEdit(piece.removal(), grounds[piece.id].facts)


def _age(grounds: Grounds | None, position: int) -> _Age:
    """Sorts the oldest first; what is of unknown age counts as old."""
    written_at = grounds.written_at if grounds else None
    return written_at is not None, written_at or datetime.min.replace(tzinfo=UTC), position


def _said_again(oldest_first: Sequence[Piece]) -> frozenset[str]:
    """Ids of the pieces that a newer one says in the same words."""
    newest: dict[Statement, str] = {}
    repeated: set[str] = set()
    for piece in oldest_first:
        statement = piece.statement
        if statement.words and statement in newest:
            repeated.add(newest[statement])
        newest[statement] = piece.id
    return frozenset(repeated)


class _Size:
    """What a document measures while pieces are taken out, counted as `estimated_tokens` does."""

    def __init__(self, request: EditRequest) -> None:
        self._whole = request.document_tokens
        self._plain, _ = _counted(request.document.render())
        self._plain_out = self._other_out = 0

    @property
    def tokens(self) -> int:
        left = self._plain - self._plain_out
        return self._whole - ((self._plain + 3) // 4 - (left + 3) // 4) - self._other_out

    def take_out(self, text: str) -> None:
        plain, other = _counted(text)
        self._plain_out += plain
        self._other_out += other


def _counted(text: str) -> tuple[int, int]:
    """ASCII characters, and others."""
    plain = len(text.encode("ascii", "ignore"))
    return plain, len(text) - plain
