"""A document as an extract of facts: grouped by the names they share, in order of date, as much as there is room for.

The same facts give the same bytes, however they were found. Sections stand in alphabetical order and facts in order of
time, so that one more fact is one more line, unless it makes another name the most shared one.
"""

from __future__ import annotations

from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal
from uuid import UUID

from adapters.offline.markdown_text import bullet, heading, one_line
from domain.memory import Fact, estimated_tokens

FEWEST_SHARING = 2
"""Facts that must share a name for it to be a section."""
REST = "More"
"""Heading of the facts that share no name, where there are other sections."""


@dataclass(frozen=True, slots=True)
class ExtractDocument:
    """The markdown, and the facts in it in the order they stand there. `ends` are the offsets in the markdown, in
    characters, where the bullets of the facts end."""

    markdown: str
    facts: tuple[Fact, ...]
    ends: tuple[int, ...]


Layout = Literal["by_name", "by_time", "as_given"]
"""Sections by shared names, or one list: in order of time, or as the facts are given."""


def extract_document(title: str, facts: Sequence[Fact], max_tokens: int, layout: Layout = "by_name") -> ExtractDocument:
    """A document of the facts, given best first, up to the first that does not fit into `max_tokens` (estimated);
    smaller ones behind it would come and go with every change. When not even one fits, the best stands there alone,
    since a reader is better served by it than by nothing."""
    bullets = {fact.id: bullet_of(fact) for fact in facts}
    document = _document(title, facts, bullets, layout)
    if estimated_tokens(document.markdown) <= max_tokens:
        return document
    fitting: list[Fact] = []
    for fact in facts:
        larger = _document(title, [*fitting, fact], bullets, layout)
        if estimated_tokens(larger.markdown) <= max_tokens:
            fitting.append(fact)
        elif fitting:
            break
    return _document(title, fitting or facts[:1], bullets, layout)


def _document(title: str, facts: Sequence[Fact], bullets: dict[UUID, str], layout: Layout) -> ExtractDocument:
    markdown = f"{heading(1, title)}\n\n" if one_line(title) else ""
    ends: list[int] = []
    sections = _laid_out(facts, layout)
    for name, members in sections:
        if name or len(sections) > 1:
            markdown += f"{heading(2, name or REST)}\n\n"
        for fact in members:
            markdown += bullets[fact.id]
            ends.append(len(markdown))
            markdown += "\n"
        markdown += "\n"
    return ExtractDocument(markdown[:-1], tuple(fact for _, members in sections for fact in members), tuple(ends))


def bullet_of(fact: Fact) -> str:
    """The line that says a fact: `- (when it happened) text`."""
    return bullet(fact.text, stamp_of(fact))


def stamp_of(fact: Fact) -> str:
    """When it happened; empty when that is not known, or the text says it in the same form."""
    if fact.occurred_start is None:
        return ""
    when = _written(fact.occurred_start.astimezone(UTC), (fact.occurred_end or fact.occurred_start).astimezone(UTC))
    return "" if when in fact.text else when


def _written(start: datetime, end: datetime) -> str:
    """A day, a month, a year, or from when to when."""
    first, last = start.date(), max(start, end).date()
    if first == last:
        return first.isoformat()
    whole_months = first.day == 1 and last.day == monthrange(last.year, last.month)[1] and first.year == last.year
    if whole_months and first.month == last.month:
        return first.isoformat()[:7]
    if whole_months and (first.month, last.month) == (1, 12):
        return first.isoformat()[:4]
    return f"{first} to {last}"


def in_order_of_time(fact: Fact) -> tuple[str, int, UUID]:
    """Order in a section: facts of no date first, then by the day they happened or were said, then as stored."""
    when = fact.occurred_start or fact.mentioned_at
    return when.astimezone(UTC).date().isoformat() if when else "", fact.position, fact.id


# --- sections ---------------------------------------------------------------------------------------------------------


def _laid_out(facts: Sequence[Fact], layout: Layout) -> list[tuple[str, list[Fact]]]:
    match layout:
        case "by_name":
            return _sections(facts)
        case "by_time":
            return [("", sorted(facts, key=in_order_of_time))] if facts else []
        case "as_given":
            return [("", list(facts))] if facts else []


def _sections(facts: Sequence[Fact]) -> list[tuple[str, list[Fact]]]:
    """Name and facts of every section. The most shared name takes its facts first, the next one those that are left, if
    they are two or more; facts that no name took come last, under an empty one."""
    by_time = sorted(facts, key=in_order_of_time)
    sections: dict[str, tuple[str, list[Fact]]] = {}
    placed: set[UUID] = set()
    for key, spelling, sharing in _shared_names(facts):
        members = [fact for fact in by_time if fact.id in sharing and fact.id not in placed]
        if len(members) >= FEWEST_SHARING:
            sections[key] = spelling, members
            placed.update(fact.id for fact in members)
    rest = [fact for fact in by_time if fact.id not in placed]
    return [sections[key] for key in sorted(sections)] + ([("", rest)] if rest else [])


def _shared_names(facts: Iterable[Fact]) -> list[tuple[str, str, set[UUID]]]:
    """Names that facts share, most shared first, of equally shared ones the one known longer: what the name is compared
    as, as its oldest fact spells it, and the facts."""
    spellings: dict[str, str] = {}
    sharing: dict[str, set[UUID]] = defaultdict(set)
    for fact in sorted(facts, key=lambda fact: (fact.position, fact.id)):
        for name in map(one_line, fact.entities):
            if any(map(str.isalnum, name)):
                spellings.setdefault(name.casefold(), name)
                sharing[name.casefold()].add(fact.id)
    # Names are in the order they became known, and sorting keeps the order of equals.
    most_shared = sorted(spellings, key=lambda key: -len(sharing[key]))
    return [(key, spellings[key], sharing[key]) for key in most_shared if len(sharing[key]) >= FEWEST_SHARING]
