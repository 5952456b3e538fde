"""New facts into a document that stands already: outdated pieces are replaced, other facts become one bullet more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from adapters.offline.documents import bullet_of, in_order_of_time
from adapters.offline.placed_edit import PlacedEdit
from adapters.offline.places import Place, Places
from adapters.offline.statements import (
    Piece,
    Said,
    Statement,
    day_of,
    fact_statement,
    pieces_of,
    statement_of,
)
from domain.document import AppendBlock, AppendItem, Block, Document, InsertItem, Operation
from domain.editing import NewFact, ProposedEdit
from domain.memory import Fact


def edits_of_new_facts(document: Document, name: str, facts: Iterable[NewFact]) -> list[PlacedEdit]:
    """At most one edit a fact; none for what the document says already, or a newer fact says in the same words. Nothing
    but outdated pieces is touched, and nothing is moved."""
    saying = [new for new in facts if fact_statement(new.fact).words]
    saying.sort(key=lambda new: (-new.fact.position, new.fact.id))
    pieces = list(pieces_of(document))
    outdated = _outdated(pieces, saying)
    replaced = {piece.id for _, piece in outdated}
    said = Said(piece for piece in pieces if piece.id not in replaced)
    corrections = [_corrected(fact, piece, said) for fact, piece in outdated]
    corrected = {fact.id for fact, _ in outdated}
    unsaid = _unsaid([new.fact for new in saying if new.fact.id not in corrected], said)
    return [*corrections, *_additions(document, name, unsaid)]


def _outdated(pieces: Sequence[Piece], facts: Sequence[NewFact]) -> list[tuple[Fact, Piece]]:
    """The facts whose earlier text a piece says, with that piece; no piece twice."""
    by_words: dict[str, list[tuple[Statement, Piece]]] = {}
    for piece in pieces:
        statement = piece.statement
        by_words.setdefault(statement.words, []).append((statement, piece))
    found: list[tuple[Fact, Piece]] = []
    for new in facts:
        before, now = statement_of(new.was or ""), fact_statement(new.fact)
        candidates = by_words.get(before.words, []) if before.words else []
        saying = [each for each in candidates if before.is_said_by(each[0])]
        is_outdated = not any(now.is_said_by(statement) for statement, _ in saying)
        if is_outdated and (outdated := _about(now.stamp, saying)):
            candidates.remove(outdated)
            found.append((new.fact, outdated[1]))
    return found


def _about(stamp: str, saying: Sequence[tuple[Statement, Piece]]) -> tuple[Statement, Piece] | None:
    """Of pieces that say the same about different times, the one about this time; none of them when none is."""
    for each in saying:
        if each[0].stamp == stamp:
            return each
    return saying[0] if len({statement for statement, _ in saying}) == 1 else None


def _corrected(fact: Fact, piece: Piece, said: Said) -> PlacedEdit:
    statement = fact_statement(fact)
    if said.says(statement):
        operation = piece.removal()
    else:
        said.add(statement)
        operation = piece.replacement(fact)
    return _placed(piece.section_id, operation, fact)


def _unsaid(facts: Sequence[Fact], said: Said) -> list[Fact]:
    """The facts, newest first, without those said already; of those that say the same the newest, or one with a
    time."""
    kept: list[Fact] = []
    statements: list[tuple[Fact, Statement]] = [(fact, fact_statement(fact)) for fact in facts]
    for fact, statement in sorted(statements, key=lambda each: not each[1].stamp):
        if not said.says(statement):
            said.add(statement)
            kept.append(fact)
    return kept


# --- one bullet more --------------------------------------------------------------------------------------------------


def _additions(document: Document, name: str, facts: Sequence[Fact]) -> Iterator[PlacedEdit]:
    places = Places(document)
    inserted: list[PlacedEdit] = []
    appended: list[PlacedEdit] = []
    homeless: list[Fact] = []
    for fact in sorted(facts, key=in_order_of_time):
        place = places.of(fact)
        if place is None:
            homeless.append(fact)
            continue
        operation = _addition(fact, place)
        placed = _placed(place.section_id, operation, fact)
        (inserted if isinstance(operation, InsertItem) else appended).append(placed)
    # Each is inserted directly behind its neighbour: of several behind the same one, the last stands first.
    yield from reversed(inserted)
    yield from appended
    yield from _in_new_section(places, name, homeless)


def _in_new_section(places: Places, name: str, facts: Sequence[Fact]) -> Iterator[PlacedEdit]:
    """The first fact brings the section, the others follow in its list: so each edit rests on one fact."""
    if not facts:
        return
    section = places.new_section(name, bullet_of(facts[0]))
    yield _placed(None, section, facts[0])
    for fact in facts[1:]:
        yield _placed(None, AppendBlock(section_id=section.new_id or "", text=bullet_of(fact)), fact)


def _addition(fact: Fact, place: Place) -> Operation:
    """The bullet as this engine writes it; applying it gives it the mark of the list it joins."""
    text, bullets = bullet_of(fact), place.bullets
    if bullets is None:
        return AppendBlock(section_id=place.section_id, text=text)
    later = _first_later(bullets, in_order_of_time(fact)[0])
    if later is None:
        return AppendItem(block_id=bullets.id, text=text)
    return InsertItem(block_id=bullets.id, after_item_id=bullets.items[later - 1].id if later else None, text=text)


def _first_later(bullets: Block, day: str) -> int | None:
    """Which item is the first about a later day, in a list that is in order of time as far as its items tell."""
    days = [day_of(item.source) for item in bullets.items]
    told = [each for each in days if each]
    if not day or told != sorted(told):
        return None
    return next((number for number, each in enumerate(days) if each > day), None)


def _placed(section_id: str | None, operation: Operation, fact: Fact) -> PlacedEdit:
    return PlacedEdit(section_id, ProposedEdit(operation, (fact.id,)))
