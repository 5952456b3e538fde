"""What a request does to the facts of its documents.

Rules: spec of the system of reference, "Document upsert". All items of one document in a request, with all their facts,
are that document from now on. A fact that is said again keeps its id and version, as do those of a chunk that is kept;
the others are closed, new ones are added. What an append only repeats of the text before it keeps the tags and the
context it was first said with.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from adapters.postgres.scope_sql import sorted_tags
from application.ports import EmbeddedFact, RetainedDocument, RetainedItem


@dataclass(frozen=True)
class Statement:
    """What a fact says, and for whom. Within a document equal statements are one fact. `tags` are sorted."""

    text: str
    fact_type: str
    tags: tuple[str, ...]
    context: str | None
    occurred_start: datetime | None
    occurred_end: datetime | None

    @property
    def bare(self) -> Hashable:
        """The statement without tags and context."""
        return self.text, self.fact_type, self.occurred_start, self.occurred_end


@dataclass(frozen=True)
class CurrentFact:
    """A current version, known by the position that it became valid at."""

    position: int
    fact_id: UUID
    statement: Statement
    chunk_id: str | None = None


@dataclass(frozen=True)
class Addition:
    """A fact to add, the item that says it first, and the chunk it stands in."""

    statement: Statement
    retained: RetainedItem
    embedded: EmbeddedFact
    chunk_id: str | None
    fact_id: UUID


@dataclass
class Changes:
    """`moved` are facts that stay, in another chunk; `causes` pairs of a fact and one that it came of; `leaning` chunks
    that repeat facts, and the chunks that those facts stand in."""

    closed: list[CurrentFact] = field(default_factory=list)
    added: list[Addition] = field(default_factory=list)
    moved: list[tuple[CurrentFact, str]] = field(default_factory=list)
    causes: list[tuple[UUID, UUID]] = field(default_factory=list)
    leaning: dict[str, set[str]] = field(default_factory=dict)


def tags_of(document: RetainedDocument) -> list[str]:
    return sorted_tags(tag for retained in document.items for tag in retained.item.tags)


def metadata_of(document: RetainedDocument) -> dict[str, str]:
    return {key: value for retained in document.items for key, value in retained.item.metadata}


def changes_of(
    documents: Sequence[RetainedDocument], current: Mapping[str, Sequence[CurrentFact]], ids: Iterator[UUID]
) -> Changes:
    """What to close, to move and to add, given the current facts by document; `ids` are those of new facts."""
    changes = Changes()
    for document in documents:
        _change(changes, document, current.get(document.document_id, ()), ids)
    return changes


def _change(changes: Changes, document: RetainedDocument, known: Sequence[CurrentFact], ids: Iterator[UUID]) -> None:
    made = _made(document)
    said = _said(document, made)
    kept_chunks = {str(chunk.chunk_id) for chunk in document.chunks if chunk.kept}
    fact_ids: dict[Hashable, UUID] = {}
    homes: dict[Hashable, str | None] = {}
    for fact in known:
        sameness = _sameness(document, fact.statement)
        unplaced = fact.chunk_id is None and document.keeps_unplaced
        if fact.chunk_id in kept_chunks or unplaced or sameness in said:
            fact_ids.setdefault(sameness, fact.fact_id)
        else:
            changes.closed.append(fact)
        if fact.chunk_id in kept_chunks:
            homes.setdefault(sameness, fact.chunk_id)
        again = said.get(sameness)
        if again is not None and fact.chunk_id not in kept_chunks and again.chunk_id not in (None, fact.chunk_id):
            changes.moved.append((fact, again.chunk_id or ""))
    for sameness, first in said.items():
        if sameness not in fact_ids:
            fact_ids[sameness] = next(ids)
            changes.added.append(
                Addition(first.statement, first.retained, first.embedded, first.chunk_id, fact_ids[sameness])
            )
        home = homes.get(sameness, first.chunk_id)
        for repeating in first.chunk_ids - {home} if home is not None else ():
            changes.leaning.setdefault(repeating, set()).add(home or "")
    changes.causes.extend(_causes(document, made, fact_ids))


_Made = Sequence[tuple[RetainedItem, Sequence[tuple[EmbeddedFact, Statement]]]]
"""The items of a document with their facts, and what each of those says."""


def _made(document: RetainedDocument) -> _Made:
    """Of statements that differ in nothing but their context the first counts: it is said once more, not anew."""
    firsts: dict[Hashable, Statement] = {}
    made = []
    for retained in document.items:
        stated = []
        for embedded in retained.facts:
            statement = _statement(retained, embedded)
            stated.append((embedded, firsts.setdefault((statement.bare, statement.tags), statement)))
        made.append((retained, stated))
    return made


@dataclass(frozen=True)
class _Said:
    """`chunk_ids` are those of all chunks that say it, `chunk_id` is the first."""

    statement: Statement
    retained: RetainedItem
    embedded: EmbeddedFact
    chunk_id: str | None
    chunk_ids: set[str] = field(default_factory=set)


def _said(document: RetainedDocument, made: _Made) -> Mapping[Hashable, _Said]:
    """Each statement of the document once, as it is first made."""
    chunk_ids = {chunk.number: str(chunk.chunk_id) for chunk in document.chunks}
    said: dict[Hashable, _Said] = {}
    for retained, stated in made:
        for embedded, statement in stated:
            number = embedded.fact.chunk
            chunk_id = None if number is None else chunk_ids.get(number)
            first = said.setdefault(_sameness(document, statement), _Said(statement, retained, embedded, chunk_id))
            if chunk_id is not None:
                first.chunk_ids.add(chunk_id)
    return said


def _statement(retained: RetainedItem, embedded: EmbeddedFact) -> Statement:
    fact = embedded.fact
    return Statement(
        fact.text,
        fact.fact_type,
        tuple(sorted_tags((*retained.item.tags, *fact.tags))),
        retained.item.context,
        fact.occurred_start,
        fact.occurred_end,
    )


def _causes(document: RetainedDocument, made: _Made, fact_ids: Mapping[Hashable, UUID]) -> Iterator[tuple[UUID, UUID]]:
    for _, stated in made:
        of_item = [fact_ids[_sameness(document, statement)] for _, statement in stated]
        for fact_id, (embedded, _) in zip(of_item, stated, strict=True):
            for place in embedded.fact.caused_by:
                if place < len(of_item) and of_item[place] != fact_id:
                    yield fact_id, of_item[place]


def _sameness(document: RetainedDocument, statement: Statement) -> Hashable:
    return statement if document.replaces else statement.bare
