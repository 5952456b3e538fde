"""Where a new fact goes in a document that stands already: never between things that are not like it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.offline.documents import REST
from adapters.offline.markdown_text import heading, one_line
from adapters.offline.statements import statement_of
from domain.document import AddSection, Block, Document, Section, ids_of
from domain.document.ids import Ids, slug
from domain.memory import Fact


@dataclass(frozen=True, slots=True)
class Place:
    """A section, and the list in it that holds statements, if it has one."""

    section_id: str
    bullets: Block | None


class Places:
    """The places of one document.

    A fact belongs to the section that is named as one of its entities, of several to that of the entity named first.
    Other facts go under "More". A document whose headings name no such section gets one, since what stands under
    another heading is about something else; one without sections is all one place.

    Headings alone decide. How much a section holds would change while a document is edited part by part, and a fact
    whose place moved from one part to another would be in neither."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._topics = _topics(document)
        self._of_name: dict[str, list[Section]] = {}
        for section, title in self._topics:
            self._of_name.setdefault(_name(title), []).append(section)

    def of(self, fact: Fact) -> Place | None:
        """None when the document has no place for it: it needs the section `new_section` adds."""
        named = next(self._named_by(fact), None)
        if named is not None:
            return _place(named)
        rest = self._of_name.get(_name(REST))
        if rest:
            return _place(rest[0])
        if self._topics or not self._document.sections:
            return None
        return _place(self._document.sections[-1])

    def new_section(self, name: str, block: str) -> AddSection:
        """The section for facts that have no place, at the end: "More", or in an empty document its title `name`."""
        is_title = not self._document.sections and bool(one_line(name))
        title = heading(1, name if is_title else REST).removeprefix("# ")
        levels = [section.heading.level for section, _ in self._topics if section.heading]
        return AddSection(
            heading=title,
            level=1 if is_title else min(levels, default=2),
            blocks=(block,),
            new_id=Ids(ids_of(self._document)).give(slug(title)),
        )

    def _named_by(self, fact: Fact) -> Iterator[Section]:
        for name in map(_name, fact.entities):
            if any(map(str.isalnum, name)):
                yield from self._of_name.get(name, ())


def _topics(document: Document) -> list[tuple[Section, str]]:
    """Sections with their titles, without the title of the document: it is about everything below it."""
    titled = [(section, section.heading) for section in document.sections if section.heading]
    if titled:
        first, others = titled[0][1], titled[1:]
        is_title = first.level == 1 and all(other.level > 1 for _, other in others)
        if is_title or len(document.sections) == 1:
            titled = others
    return [(section, title.title) for section, title in titled]


def _name(title: str) -> str:
    return statement_of(title).words


def _place(section: Section) -> Place:
    lists = [block for block in section.blocks if _holds_statements(block)]
    return Place(section.id, lists[-1] if lists else None)


def _holds_statements(block: Block) -> bool:
    """A numbered list holds steps or ranks: one more fact is none. To an empty item nothing can be added: what follows
    it would be read as part of it, or of what comes after."""
    if block.kind != "list" or block.source.lstrip()[:1] not in ("-", "+", "*"):
        return False
    return bool(block.items) and any(map(str.isalnum, block.items[-1].source))
