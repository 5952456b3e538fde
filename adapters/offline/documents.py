"""A document as an extract of facts: grouped by the names they share, in order of date, as much as there is room for.

The same facts give the same bytes, however they were found. A name is a section by the order of magnitude of how many
facts share it, sections stand in alphabetical order and facts in order of time: one more fact seldom moves another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from adapters.offline.markdown_text import bullet, heading, one_line
from domain.memory import Fact, estimated_tokens

FEWEST_SHARING = 2
"""Facts that must share a name for it to be a section."""
REST = "More"
"""Heading of the facts that share no name, where there are other sections."""


@dataclass(frozen=True, slots=True)
class ExtractDocument:
    """The markdown, and the facts in it in the order they stand there."""

    markdown: str
    facts: tuple[Fact, ...]


def extract_document(title: str, facts: Sequence[Fact], max_tokens: int) -> ExtractDocument:
    """A document of those facts, given best first, that fit into `max_tokens` (estimated): whole bullets only. When not
    even one fits, the best stands there alone, since a reader is better served by it than by nothing."""
    bullets = {fact.id: bullet(fact.text, _stamp(fact)) for fact in facts}
    document = _document(title, facts, bullets)
    if estimated_tokens(document.markdown) <= max_tokens:
        return document
    fitting: list[Fact] = []
    for fact in facts:
        larger = _document(title, [*fitting, fact], bullets)
        if estimated_tokens(larger.markdown) <= max_tokens:
            fitting.append(fact)
    return _document(title, fitting or facts[:1], bullets)


def _document(title: str, facts: Sequence[Fact], bullets: dict[UUID, str]) -> ExtractDocument:
    blocks = [heading(1, title)] if one_line(title) else []
    sections = _sections(facts)
    for name, members in sections:
        if name or len(sections) > 1:
            blocks.append(heading(2, name or REST))
        blocks.append("\n".join(bullets[fact.id] for fact in members))
    markdown = "".join(f"{block}\n\n" for block in blocks)[:-1]
    return ExtractDocument(markdown, tuple(fact for _, members in sections for fact in members))


def _stamp(fact: Fact) -> str:
    """When it happened, as exact as it is known: a day, a month, a year, or from when to when; empty when unknown."""
    if fact.occurred_start is None:
        return ""
    start = fact.occurred_start.astimezone(UTC)
    end = max(start, (fact.occurred_end or fact.occurred_start).astimezone(UTC))
    if start.date() == end.date():
        return f"{start:%Y-%m-%d}"
    after = end + timedelta(microseconds=1) if end < datetime.max.replace(tzinfo=UTC) else end
    begins_month, ends_month = start.day == 1, (after.day == 1 and after.month != end.month)
    if begins_month and ends_month and start.year == end.year:
        if start.month == end.month:
            return f"{start:%Y-%m}"
        if (start.month, end.month) == (1, 12):
            return f"{start:%Y}"
    return f"{start:%Y-%m-%d} to {end:%Y-%m-%d}"


def _by_time(fact: Fact) -> tuple[bool, datetime, int, UUID]:
    """Order in a section: facts of no date first, then by when they happened or were said, then as they were stored."""
    when = fact.occurred_start or fact.mentioned_at
    return when is not None, when or datetime.min.replace(tzinfo=UTC), fact.position, fact.id


# --- sections ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Name:
    """A name that facts share, spelled as the oldest of them spells it."""

    spelling: str
    rank: tuple[int, int, str]
    """Lower is more shared: by powers of two of the facts, then the name known longer, then by alphabet."""


def _sections(facts: Sequence[Fact]) -> list[tuple[str, list[Fact]]]:
    """Name and facts of every section. A fact stands under the most shared of its names that holds another fact too;
    facts with no such name come last, under an empty one."""
    names = _shared_names(facts)
    homes = {
        fact.id: sorted((key for key in _spellings(fact) if key in names), key=lambda key: names[key].rank)
        for fact in facts
    }
    first_choices = Counter(keys[0] for keys in homes.values() if keys)
    lasting = {key for key, count in first_choices.items() if count >= FEWEST_SHARING}
    sections: dict[str, list[Fact]] = defaultdict(list)
    for fact in sorted(facts, key=_by_time):
        sections[next((key for key in homes[fact.id] if key in lasting), "")].append(fact)
    in_order = sorted(sections, key=lambda key: (key == "", key))
    return [(names[key].spelling if key else "", sections[key]) for key in in_order]


def _shared_names(facts: Iterable[Fact]) -> dict[str, _Name]:
    sharing: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for fact in sorted(facts, key=lambda fact: (fact.position, fact.id)):
        for key, spelling in _spellings(fact).items():
            sharing[key].append((fact.position, spelling))
    return {
        key: _Name(spelling=shared[0][1], rank=(-len(shared).bit_length(), shared[0][0], key))
        for key, shared in sharing.items()
        if len(shared) >= FEWEST_SHARING
    }


def _spellings(fact: Fact) -> dict[str, str]:
    """The names of a fact by what they are compared as."""
    names = map(one_line, fact.entities)
    return {name.casefold(): name for name in names if any(map(str.isalnum, name))}
