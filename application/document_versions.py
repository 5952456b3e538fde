"""The versions of a document: what changed between two of them and why, and where each piece of one comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from application.mental_models import AsOf, MentalModels, stood
from application.ports import MemoryStore
from domain.document import Block, BlockKind, Document, Section
from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
)
from domain.mental_model.outline import Piece
from domain.mental_model.record import Evidence
from domain.mental_model.state import Absent, MentalModel, State, evolve
from domain.refresh import document_of

PieceKind = Literal["section", "item", "row"] | BlockKind
ContentEvent = ContentWritten | ContentEdited | ContentReverted | ContentCleared
"""What gives the document another text."""


class KnownFacts:
    """The facts that a document was ever said to rest on, as they were read."""

    def __init__(self, events: Iterable[Recorded]) -> None:
        self._by_version: dict[tuple[UUID, int], Evidence] = {}
        self._last: dict[UUID, Evidence] = {}
        for recorded in events:
            if isinstance(recorded.event, ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts):
                self._learn(recorded.event)

    def _learn(self, event: ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts) -> None:
        relinked = event.record.retraction.relinked if event.record.retraction else ()
        said_again = [
            Evidence(**relink.after.model_dump(), text=known.text, context=known.context)
            for relink in relinked
            if (known := self._last.get(relink.before)) is not None
        ]
        for evidence in (*said_again, *event.record.evidence):
            self._last[evidence.fact_id] = self._by_version[evidence.fact_id, evidence.version] = evidence

    def get(self, fact_id: UUID, version: int | None = None) -> Evidence | None:
        """In the version that was cited; without one, in the version cited last. None when it never was evidence."""
        return self._last.get(fact_id) if version is None else self._by_version.get((fact_id, version))


@dataclass(frozen=True)
class RestsOn:
    """A fact that a piece rests on, as it was read (None: not known), and whether the memory has it so now."""

    fact_id: UUID
    evidence: Evidence | None
    current: bool


@dataclass(frozen=True)
class BlamedPiece:
    """A heading, block, item or row of a document. `text` is exactly its own: of a list or table, what is before its
    items. `piece` and `written` tell of the write it comes from (None: of a time before that was recorded)."""

    id: str
    kind: PieceKind
    section_id: str
    block_id: str | None
    text: str
    piece: Piece | None
    written: Recorded | None
    facts: tuple[RestsOn, ...]


@dataclass(frozen=True)
class Blame:
    """Where each piece of a document comes from, in the order of its text."""

    at: AsOf
    document: Document
    pieces: tuple[BlamedPiece, ...]


@dataclass(frozen=True)
class Comparison:
    """Two versions of a document, and the events between them that changed its text, in their order."""

    before: AsOf
    after: AsOf
    changes: tuple[Recorded, ...]
    facts: KnownFacts


class DocumentVersions:
    def __init__(self, mental_models: MentalModels, memory: MemoryStore) -> None:
        self._mental_models = mental_models
        self._memory = memory

    def blame(self, bank_id: str, mental_model_id: str, moment: int | datetime | None = None) -> Blame:
        """Of the document as it stands, or as it stood. Raises MentalModelNotFound, VersionNotFound."""
        now = self._mental_models.load(bank_id, mental_model_id) if moment is None else None
        events = self._mental_models.events(bank_id, mental_model_id)
        at = stood(mental_model_id, events, now.version if now else moment or 0)
        rests_on = self._standing(at.model, KnownFacts(each for each in events if each.version <= at.version))
        pieces = {piece.id: piece for piece in at.model.outline}
        writes = {each.version: each for each in events}
        document = document_of(at.model)
        return Blame(at, document, tuple(_blamed(document, pieces, writes, rests_on)))

    def compare(
        self, bank_id: str, mental_model_id: str, before: int | None = None, after: int | None = None
    ) -> Comparison:
        """Two versions: by default the one as it stands, and the last one with another text.

        Raises MentalModelNotFound, VersionNotFound."""
        if after is None:
            after = self._mental_models.load(bank_id, mental_model_id).version
        events = self._mental_models.events(bank_id, mental_model_id)
        if before is None:
            before = _before_last_change(events, after)
        first, last = sorted((before, after))
        between = (each for each in events if first < each.version <= last)
        return Comparison(
            before=stood(mental_model_id, events, before),
            after=stood(mental_model_id, events, after),
            changes=tuple(each for each in between if isinstance(each.event, ContentEvent)),
            facts=KnownFacts(each for each in events if each.version <= last),
        )

    def _standing(self, model: MentalModel, known: KnownFacts) -> Mapping[UUID, RestsOn]:
        """Every fact that a piece of a document rests on."""
        versions = {citation.fact_id: citation.version for citation in model.evidence}
        named = dict.fromkeys(fact_id for piece in model.outline for fact_id in piece.facts)
        evidence = {fact_id: known.get(fact_id, versions.get(fact_id)) for fact_id in named}
        cited = [each for each in evidence.values() if each is not None]
        upto = self._memory.position(model.bank_id)
        standings = self._memory.standings(model.bank_id, cited, upto)
        now = {each.fact_id: each.now.text for each in standings if each.now is not None}
        return {
            fact_id: RestsOn(fact_id, told, told is not None and now.get(fact_id) == told.text)
            for fact_id, told in evidence.items()
        }


def _before_last_change(events: Sequence[Recorded], upto: int) -> int:
    """The last version before `upto` with another text, in the same life of the mental model; `upto` when there is
    none."""
    state: State = Absent()
    before = upto
    for recorded in events[:upto]:
        was, state = state, evolve(state, recorded)
        if isinstance(state, Absent) or isinstance(was, Absent):
            before = upto
        elif state.content != was.content:
            before = recorded.version - 1
    return before


def _blamed(
    document: Document,
    pieces: Mapping[str, Piece],
    writes: Mapping[int, Recorded],
    rests_on: Mapping[UUID, RestsOn],
) -> Iterator[BlamedPiece]:
    for identity, kind, section_id, block_id, text, of in _parts(document):
        piece = pieces.get(identity)
        named = dict.fromkeys(fact_id for each in of if each in pieces for fact_id in pieces[each].facts)
        yield BlamedPiece(
            id=identity,
            kind=kind,
            section_id=section_id,
            block_id=block_id,
            text=text,
            piece=piece,
            written=writes.get(piece.version) if piece else None,
            facts=tuple(rests_on[fact_id] for fact_id in named),
        )


_Part = tuple[str, PieceKind, str, str | None, str, tuple[str, ...]]
"""Id, kind, section, block, text, and the pieces whose facts it rests on (of a list: its items too)."""


def _parts(document: Document) -> Iterator[_Part]:
    for section in document.sections:
        heading = section.heading.source if section.heading else ""
        yield section.id, "section", section.id, None, heading, (section.id,)
        for block in section.blocks:
            yield from _parts_of_block(section, block)


def _parts_of_block(section: Section, block: Block) -> Iterator[_Part]:
    own = block.prefix if block.items else block.source
    yield block.id, block.kind, section.id, block.id, own, (block.id, *(item.id for item in block.items))
    for item in block.items:
        yield item.id, "row" if block.kind == "table" else "item", section.id, block.id, item.source, (item.id,)
