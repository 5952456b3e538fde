"""Taking out of a document what says a fact that no longer holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from uuid import UUID

from adapters.offline.placed_edit import PlacedEdit
from adapters.offline.statements import Piece, Statement, fact_statement, pieces_of, statement_of
from domain.document import Document
from domain.editing import NewFact, ProposedEdit, RetractedFact


def edits_of_retracted_facts(
    document: Document, retracted: Iterable[RetractedFact], standing: Iterable[NewFact]
) -> Iterator[PlacedEdit]:
    """One removal for every piece that says a retracted fact and nothing more. What a standing fact says too stays; so
    do pieces that say the same about more times than there are facts retracted, for which of them holds is not known
    (spec of the system of reference, "Prompt contract for the retraction call": when in doubt keep)."""
    pieces = _by_words(document, {fact_statement(new.fact) for new in standing})
    for words, facts in _retracted_by_words(retracted).items():
        told = [(piece, statement, _told_by(statement, facts)) for piece, statement in pieces.get(words, ())]
        found = [each for each in told if each[2]]
        times = {statement.stamp for _, statement, _ in found if statement.stamp}
        if len(times) <= len(facts):
            for piece, _, facts_told in found:
                yield PlacedEdit(piece.section_id, ProposedEdit(piece.removal(), facts_told))


def _by_words(document: Document, standing: set[Statement]) -> dict[str, list[tuple[Piece, Statement]]]:
    """The pieces that no standing fact says in the very same way."""
    pieces: dict[str, list[tuple[Piece, Statement]]] = defaultdict(list)
    for piece in pieces_of(document):
        statement = piece.statement
        if statement not in standing:
            pieces[statement.words].append((piece, statement))
    return pieces


def _retracted_by_words(retracted: Iterable[RetractedFact]) -> dict[str, list[tuple[UUID, Statement]]]:
    facts: dict[str, list[tuple[UUID, Statement]]] = defaultdict(list)
    for fact in retracted:
        statement = statement_of(fact.text)
        if statement.words:
            facts[statement.words].append((fact.fact_id, statement))
    return facts


def _told_by(statement: Statement, facts: Iterable[tuple[UUID, Statement]]) -> tuple[UUID, ...]:
    return tuple(fact_id for fact_id, told in facts if told.is_said_by(statement))
