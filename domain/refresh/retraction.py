"""Taking back what rested on facts that no longer stand: first by blame, then by asking, only for known causes.

Sources: spec of the system of reference, refresh pipeline, "Retraction of facts that no longer exist". There a fact
that cannot be found is taken for retracted, unless none can; here the memory keeps closed versions, so a fact that was
retracted and one that this memory never had (a restored bank) are told apart, however many they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from domain.document import Document, Operation, RemoveBlock, RemoveItem, RemoveSection, Section
from domain.editing import ProposedEdit, RetractedFact
from domain.memory import Standing
from domain.mental_model.evidence import citation_of
from domain.mental_model.outline import Piece
from domain.mental_model.record import Relink
from domain.scope import Scope, admits

DEFERRED = "{count} item(s) in its scope wait to be retained: they may say again what was taken back"
REMADE = "{count} fact(s) are still pending consolidation: what was observed of them before may be said again"
BROKEN_LINKS = "{count} cited fact(s) are not known to this memory: their citations were dropped, the text was kept"
OUT_OF_SCOPE = "none of the facts the document rests on is in its scope now: it was left as it is; check its scope"
RETRACTION_FAILED = "what rested on facts that no longer stand could not be taken out; the next refresh tries again"


@dataclass(frozen=True)
class Retraction:
    """What became of the facts a document cites: `gone` were retracted or left its scope, `broken` never known here,
    `relinked` said by another fact now, `changed` have another text (by id, the text before). `out_of_scope`: none of
    them is in the scope now, which rather tells of the scope than of the document: nothing is taken back for that."""

    gone: tuple[RetractedFact, ...] = ()
    broken: tuple[UUID, ...] = ()
    relinked: tuple[Relink, ...] = ()
    changed: Mapping[UUID, str] = field(default_factory=dict)
    out_of_scope: bool = False


def retraction_of(standings: Sequence[Standing], scope: Scope) -> Retraction:
    """What became of cited facts, given how they stand and what the document reads now."""
    gone, left = [], []
    broken: list[UUID] = []
    relinked: list[Relink] = []
    changed: dict[UUID, str] = {}
    standing_in_scope = False
    for standing in standings:
        cited, now, other = standing.cited, standing.now, standing.same_text
        if now is not None and not admits(scope, now.tags, now.fact_type):
            left.append(RetractedFact(standing.fact_id, (cited or now).text))
        elif now is not None:
            standing_in_scope = True
            if cited is not None and cited.text != now.text:
                changed[standing.fact_id] = cited.text
        elif cited is None:
            broken.append(standing.fact_id)
        elif other is not None and admits(scope, other.tags, other.fact_type):
            standing_in_scope = True
            relinked.append(Relink(before=standing.fact_id, after=citation_of(other)))
        else:
            gone.append(RetractedFact(standing.fact_id, cited.text))
    if standing_in_scope:
        gone += left
    return Retraction(tuple(gone), tuple(broken), tuple(relinked), changed, bool(left) and not standing_in_scope)


SOMETHING_ELSE = UUID(int=0)
"""Stands for what a piece rests on besides, that is not known: it never goes."""


def grounds_of(outline: Iterable[Piece]) -> dict[str, tuple[UUID, ...]]:
    """What each piece of a document rests on."""
    return {piece.id: (*piece.facts, SOMETHING_ELSE) if piece.partly else piece.facts for piece in outline}


def removals(
    document: Document, grounds: Mapping[str, Sequence[UUID]], gone: Collection[UUID]
) -> tuple[ProposedEdit, ...]:
    """The operations that remove each block and item that rests on nothing but facts that are gone, and each section of
    which nothing else is left."""
    whole = _sections_gone(document, grounds, gone)
    edits = []
    for section in document.sections:
        going = [(piece, operation) for piece, operation in _pieces(section) if _is_gone(piece, grounds, gone)]
        if section.id in whole:
            facts = (fact_id for piece in (section.id, *(piece for piece, _ in going)) for fact_id in grounds[piece])
            edits.append(ProposedEdit(RemoveSection(section_id=section.id), tuple(dict.fromkeys(facts))))
        else:
            edits += [ProposedEdit(operation, tuple(grounds[piece])) for piece, operation in going]
    return tuple(edits)


def left_to_ask(
    document: Document,
    grounds: Mapping[str, Sequence[UUID]],
    gone: Sequence[RetractedFact],
    cited: Collection[UUID],
) -> tuple[RetractedFact, ...]:
    """The facts gone that a heading still rests on, or a block or item beside others, or that one without known grounds
    may say. Grounds none of which the document still cites are not known: it came to the same text on other facts.

    `document` is that before the removals: a fact all of whose pieces were removed needs no asking."""
    gone_ids = {each.fact_id for each in gone}
    whole = _sections_gone(document, grounds, gone_ids)
    pieces = [piece for section in document.sections for piece, _ in _pieces(section)]
    unknown = any(set(cited).isdisjoint(grounds.get(piece, ())) for piece in pieces)
    headings = [section.id for section in document.sections if section.id not in whole]
    left = {fact_id for heading in headings for fact_id in grounds.get(heading, ())}
    attributed: set[UUID] = set()
    for piece in pieces:
        attributed.update(grounds.get(piece, ()))
        if not _is_gone(piece, grounds, gone_ids):
            left.update(grounds.get(piece, ()))
    return tuple(each for each in gone if each.fact_id in left or (unknown and each.fact_id not in attributed))


def _is_gone(piece: str, grounds: Mapping[str, Sequence[UUID]], gone: Collection[UUID]) -> bool:
    """Whether it rests on facts, and all of them are gone."""
    facts = grounds.get(piece, ())
    return bool(facts) and all(fact_id in gone for fact_id in facts)


def _sections_gone(document: Document, grounds: Mapping[str, Sequence[UUID]], gone: Collection[UUID]) -> set[str]:
    """The sections all of whose pieces go, the heading too. One that heads deeper sections stays."""
    found = set()
    for section, following in zip(document.sections, (*document.sections[1:], None), strict=True):
        if section.heading is None or not _is_gone(section.id, grounds, gone):
            continue
        heads_others = (
            following is not None and following.heading is not None and following.heading.level > section.heading.level
        )
        if not heads_others and all(_is_gone(piece, grounds, gone) for piece, _ in _pieces(section)):
            found.add(section.id)
    return found


def _pieces(section: Section) -> Iterator[tuple[str, Operation]]:
    """Each block without items, and each item, with the operation that removes it."""
    for block in section.blocks:
        if not block.items:
            yield block.id, RemoveBlock(section_id=section.id, block_id=block.id)
        for item in block.items:
            yield item.id, RemoveItem(block_id=block.id, item_id=item.id)
