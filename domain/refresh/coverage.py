"""What a delta has to read, and what became of each fact: no fact of a window is silently left unread.

A window is `(covered, snapshot]` in positions of the bank's clock, widened by facts that came into scope since the last
read, and by those that are pending from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from domain.editing import RetractedFact
from domain.memory import Fact, UnreadQuery, estimated_tokens
from domain.mental_model.record import Edit, FactReading, Verdict
from domain.mental_model.state import MentalModel
from domain.scope import same

MOST_SET_ASIDE = 2000
"""Tokens of facts set aside that may wait; with more of them they are read, however far they seem."""


def unread_query(model: MentalModel, upto: int) -> UnreadQuery:
    """The facts that the document has not been through yet, as of a position."""
    before = model.covered_scope
    changed = before is not None and not same(before, model.scope)
    return UnreadQuery(
        bank_id=model.bank_id,
        scope=model.scope,
        covered_scope=before if changed else None,
        after=model.covered,
        upto=upto,
        pending=model.pending,
    )


_Told = TypeVar("_Told", Fact, RetractedFact)


def pages(facts: Sequence[_Told], room: int) -> list[tuple[_Told, ...]]:
    """The facts in their order, on pages of at most `room` estimated tokens; one that is larger has a page alone."""
    divided: list[tuple[_Told, ...]] = []
    page: list[_Told] = []
    taken = 0
    for fact in facts:
        size = prompt_tokens(fact)
        if page and taken + size > room:
            divided.append(tuple(page))
            page, taken = [], 0
        page.append(fact)
        taken += size
    if page:
        divided.append(tuple(page))
    return divided


LINE_TOKENS = 24
"""What a line with a fact takes beside its text: name, type and dates."""


def prompt_tokens(fact: Fact | RetractedFact) -> int:
    """Estimated tokens of a fact in a prompt."""
    return estimated_tokens(fact.text) + LINE_TOKENS


def may_wait(facts: Iterable[Fact]) -> bool:
    """Whether facts that seem to have nothing to do with the document are few enough to be set aside."""
    return sum(map(prompt_tokens, facts)) <= MOST_SET_ASIDE


def readings(facts: Iterable[Fact], edits: Sequence[Edit]) -> tuple[FactReading, ...]:
    """What became of the facts that an editor was shown. An entry of its reply that was no operation may have been for
    any of them: one that no edit names is not taken for irrelevant then."""
    used = {fact_id for edit in edits if edit.skipped is None for fact_id in edit.facts}
    dropped = {fact_id for edit in edits if edit.skipped is not None for fact_id in edit.facts}
    unclear = any(edit.operation is None for edit in edits)

    def verdict(fact: Fact) -> Verdict:
        if fact.id in used:
            return "integrated"
        return "pending" if unclear or fact.id in dropped else "irrelevant"

    return tuple(reading(fact, verdict(fact)) for fact in facts)


def reading(fact: Fact, verdict: Verdict) -> FactReading:
    return FactReading(fact_id=fact.id, version=fact.version, position=fact.position, verdict=verdict)


def pending_of(read: Iterable[FactReading]) -> tuple[int, ...]:
    """Positions of the facts that the next refresh has to read again."""
    return tuple(each.position for each in read if each.verdict in ("pending", "set_aside"))
