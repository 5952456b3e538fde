"""From what the arms of a recall found to one order.

Scores are fused, not ranks: how much better the first fact is than the second tells most. Each arm's scores are put on
a scale of their own, from 0 for what is no better than the rest to 1 for its best. What is found lends to its
neighbours in the same document, and a fact whose subject the question names is worth more. Every weight was measured,
and lies where a little more or less changes nothing: docs/recall.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.terms import name_term, opens_with

KEYWORD = 0.6
SEMANTIC = 0.4
TEMPORAL = 0.2
"""For a fact inside the period that the question names."""
ABOUT = 0.3
"""For a fact that begins with a name in the question: its subject, or who said it."""
MENTIONS = 0.05
"""For a fact that has a name in the question elsewhere."""
CONTEXT = (0.5, 0.3, 0.2, 0.1)
"""What a fact lends to the first, second, ... fact before and after it in its document."""
SHARED_NAME = 0.1
"""What a fact lends to others with a name that few have."""
ORDINARY_RANK = 100
"""A fact of this rank by meaning is no nearer than any: similarity counts from there."""
LENDERS = 50
"""Facts that lend to their neighbours: the best ones."""
LENDERS_BY_NAME = 10


@dataclass(frozen=True)
class Found:
    """What the arms found, by position: cosine similarities, BM25 scores, and what is in the period asked for."""

    semantic: Mapping[int, float]
    keyword: Mapping[int, float]
    in_period: Collection[int] = ()


class Link(NamedTuple):
    """From a fact found to another: `steps` is how far they stand from each other in a document, 1 for cause and effect
    too, 0 when they only share a name."""

    lender: int
    position: int
    steps: int


@dataclass(frozen=True)
class Pool:
    """Scores by position before anything is lent, and the facts that lend, the best first."""

    scores: Mapping[int, float]
    lenders: Sequence[int]

    @property
    def lenders_by_name(self) -> Sequence[int]:
        return self.lenders[:LENDERS_BY_NAME]


class Candidate(NamedTuple):
    """A fact with its score and the part of it that was lent to it (None: nothing was)."""

    position: int
    score: float
    lent: float | None


def pool_of(found: Found, *, least_semantic: float) -> Pool:
    """What the arms found, each on its own scale, added up. `least_semantic` is the similarity a fact needed to be
    found by meaning."""
    near = sorted(found.semantic.values(), reverse=True)
    ordinary = near[ORDINARY_RANK - 1] if len(near) >= ORDINARY_RANK else least_semantic
    scores = dict.fromkeys(found.in_period, TEMPORAL)
    for weight, given, least in ((KEYWORD, found.keyword, 0.0), (SEMANTIC, found.semantic, ordinary)):
        most = max(given.values(), default=least) - least
        for position, score in given.items():
            share = min(1.0, max(0.0, score - least) / most) if most > 0 else float(score >= least)
            scores[position] = scores.get(position, 0.0) + weight * share
    return Pool(scores, _best(scores, LENDERS))


def candidates_of(pool: Pool, links: Iterable[Link], most: int) -> list[Candidate]:
    """The best facts after lending, `most` at most, best first; of equal ones the newest. Facts that are linked to are
    found by that alone."""
    lent: dict[int, float] = {}
    by_name: dict[int, float] = {}
    above = set(pool.lenders_by_name)
    for lender, position, steps in links:
        if steps:
            lent[position] = lent.get(position, 0.0) + CONTEXT[steps - 1] * pool.scores[lender]
        elif position not in above:
            by_name[position] = max(by_name.get(position, 0.0), SHARED_NAME * pool.scores[lender])
    for position, given in by_name.items():
        lent[position] = lent.get(position, 0.0) + given
    totals = dict(pool.scores)
    for position, given in lent.items():
        totals[position] = totals.get(position, 0.0) + given
    return [Candidate(position, totals[position], lent.get(position)) for position in _best(totals, most)]


def _best(scores: Mapping[int, float], most: int) -> list[int]:
    ordered = sorted([(-score, -position) for position, score in scores.items()])
    return [-position for _, position in ordered[:most]]


def worth_of_names(text: str, entities: Iterable[str], named: Collection[str]) -> float:
    """What a fact is worth more for the names (as terms) in the question."""
    worth = 0.0
    for entity in entities:
        if name_term(entity) in named:
            if opens_with(text, entity):
                return ABOUT
            worth = MENTIONS
    return worth
