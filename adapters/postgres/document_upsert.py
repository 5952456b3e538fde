"""What a request does to the facts of its documents.

Rules: spec of the system of reference, "Document upsert". All items of one document in a request, with all their facts,
are that document from now on. A fact that is said again keeps its id and version, the others are closed, new ones are
added. What an append only repeats of the text before it keeps the tags and the context it was first said with.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from adapters.postgres.scope_sql import sorted_tags
from application.ports import EmbeddedFact, RetainedItem


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
    statement: Statement


@dataclass(frozen=True)
class Addition:
    """A fact to add, and the item that says it first."""

    statement: Statement
    retained: RetainedItem
    embedded: EmbeddedFact


@dataclass
class Document:
    """A document as a request leaves it."""

    document_id: str
    items: list[RetainedItem] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.items[-1].text

    @property
    def replaces(self) -> bool:
        return any(retained.item.update_mode == "replace" for retained in self.items)

    @property
    def tags(self) -> list[str]:
        return sorted_tags(tag for retained in self.items for tag in retained.item.tags)

    @property
    def metadata(self) -> dict[str, str]:
        return {key: value for retained in self.items for key, value in retained.item.metadata}


@dataclass
class Changes:
    closed: list[CurrentFact] = field(default_factory=list)
    added: list[Addition] = field(default_factory=list)


def documents_of(items: Sequence[RetainedItem]) -> list[Document]:
    documents: dict[str, Document] = {}
    for retained in items:
        documents.setdefault(retained.document_id, Document(retained.document_id)).items.append(retained)
    return list(documents.values())


def changes_of(documents: Sequence[Document], current: Mapping[str, Sequence[CurrentFact]]) -> Changes:
    """What to close and to add, given the current facts by document."""
    changes = Changes()
    for document in documents:
        said, known = _said(document), current.get(document.document_id, ())
        kept = {_sameness(document, fact.statement) for fact in known}
        changes.closed.extend(fact for fact in known if _sameness(document, fact.statement) not in said)
        changes.added.extend(addition for sameness, addition in said.items() if sameness not in kept)
    return changes


def _said(document: Document) -> Mapping[Hashable, Addition]:
    """Each statement of the document once, as it is first made."""
    said: dict[Hashable, Addition] = {}
    for retained in document.items:
        tags = tuple(sorted_tags(retained.item.tags))
        for embedded in retained.facts:
            fact = embedded.fact
            statement = Statement(
                fact.text, fact.fact_type, tags, retained.item.context, fact.occurred_start, fact.occurred_end
            )
            said.setdefault(_sameness(document, statement), Addition(statement, retained, embedded))
    return said


def _sameness(document: Document, statement: Statement) -> Hashable:
    return statement if document.replaces else statement.bare
