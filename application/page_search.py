"""The search of pages (mental models), by meaning and by word; for reflections and for people.

A page is visible where a memory with its tags would be, and only to those who may see all that its text was made from.
Its vector is made after it was written, never while it is:
until then it is found by word. Rules: spec of the system of reference, REST, "Knowledge Base", search.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import log
from typing import Protocol

from application.ports import Embedder, MindFailed
from application.ports.pages import PageIndex, PageMatch, PageText
from domain.memory import LEAST_SEMANTIC, QUERY_TOKENS, beginning
from domain.reflection import PageFound
from domain.scope import Scope, admits
from domain.scope_inclusion import within
from domain.terms import terms
from domain.usage import ModelCall

RANK_OFFSET = 60
"""Of reciprocal rank fusion: one part in so many more than the rank."""
EMBEDDED_CHARACTERS = 8_000
"""Of a page, that its vector stands for."""
AT_ONCE = 32
"""Pages whose vectors are made in one go."""


class _Page(Protocol):
    @property
    def tags(self) -> tuple[str, ...]: ...

    @property
    def made_in(self) -> tuple[Scope, ...]: ...


def is_visible(scope: Scope, page: _Page) -> bool:
    """Whether a scope admits a page with these tags and all of the scopes that its text was made from: nobody sees
    through a page what is hidden from him. Types of facts say nothing about pages."""
    visible = scope.model_copy(update={"fact_types": None})
    return admits(visible, page.tags, "world") and all(within(each, visible) for each in page.made_in)


class PageSearch:
    """Pages, over an index."""

    def __init__(self, index: PageIndex) -> None:
        self._index = index

    def any_visible(self, bank_id: str, scope: Scope, excluded: Collection[str]) -> bool:
        origins = self._index.origins(bank_id)
        return any(page not in excluded and is_visible(scope, origin) for page, origin in origins.items())

    def search(
        self, bank_id: str, query: str, vector: Sequence[float], scope: Scope, excluded: Collection[str], limit: int
    ) -> Sequence[PageFound]:
        """Best first: `relevance` is 1 for a page that is first by meaning and by word. Pages without text are left
        out. Without a vector (empty), only by word."""
        matches = self._index.matches(bank_id, terms(query), vector)
        seen = [
            each
            for each in matches
            if not each.is_empty and each.mental_model_id not in excluded and is_visible(scope, each)
        ]
        ranked = ranking(seen, by_meaning=bool(vector))[:limit]
        pages = self._index.read(bank_id, [page for page, _ in ranked])
        found = (pages[page].model_copy(update={"relevance": relevance}) for page, relevance in ranked if page in pages)
        return [page for page in found if is_visible(scope, page)]

    def read(
        self, bank_id: str, mental_model_ids: Sequence[str], scope: Scope, excluded: Collection[str]
    ) -> Sequence[PageFound]:
        wanted = [page for page in dict.fromkeys(mental_model_ids) if page not in excluded]
        pages = self._index.read(bank_id, wanted)
        return [pages[page] for page in wanted if page in pages and is_visible(scope, pages[page])]


def ranking(matches: Sequence[PageMatch], *, by_meaning: bool) -> list[tuple[str, float]]:
    """Ids and relevance, best first. Both arms are fused by reciprocal rank; a term counts the more, the fewer pages
    have it. A page that neither arm finds is left out."""
    near = {each.mental_model_id: each.semantic or 0.0 for each in matches if (each.semantic or 0) >= LEAST_SEMANTIC}
    having = {term: sum(term in each.terms for each in matches) for term in {t for each in matches for t in each.terms}}
    weight = {term: log(1 + len(matches) / count) for term, count in having.items()}
    said = {each.mental_model_id: sum(weight[term] for term in each.terms) for each in matches if each.terms}
    arms = [said, near] if by_meaning else [said]
    fused: dict[str, float] = {}
    for scores in arms:
        for rank, page in enumerate(sorted(scores, key=lambda page: (-scores[page], page)), start=1):
            fused[page] = fused.get(page, 0.0) + (RANK_OFFSET + 1) / (RANK_OFFSET + rank) / len(arms)
    return sorted(fused.items(), key=lambda each: (-each[1], each[0]))


@dataclass(frozen=True)
class PageScore:
    """How well a page meets a query, from 0 to 1: half of `words`, half of `meaning`; `terms` are those of the query
    that it has."""

    mental_model_id: str
    words: float
    meaning: float
    terms: frozenset[str]

    @property
    def score(self) -> float:
        return (self.words + self.meaning) / 2


def page_scores(matches: Sequence[PageMatch], asked: Sequence[str]) -> list[PageScore]:
    """Best first; pages that neither arm finds are left out.

    `words` is the share of the query's terms that the page has, each term counting the more, the fewer pages have it.
    `meaning` is the cosine similarity of query and page, as far as it counts as found (LEAST_SEMANTIC). The vector of a
    text that the page no longer has says nothing. So what only one arm finds has 0.5 at most, however high it ranks,
    and 1 is a page with every word and the very meaning of the query: a score of one search can be compared with that
    of another."""
    weight = {term: log(1 + (len(matches) + 1) / (1 + sum(term in each.terms for each in matches))) for term in asked}
    whole = sum(weight.values()) or 1.0
    scored = (
        PageScore(
            each.mental_model_id,
            sum(weight[term] for term in asked if term in each.terms) / whole,
            _meaning(each),
            each.terms,
        )
        for each in matches
    )
    found = (each for each in scored if each.words or each.meaning)
    return sorted(found, key=lambda each: (-each.score, each.mental_model_id))


def _meaning(match: PageMatch) -> float:
    semantic = match.semantic if match.vector_is_current and match.semantic is not None else 0.0
    return min(semantic, 1.0) if semantic >= LEAST_SEMANTIC else 0.0


@dataclass(frozen=True)
class PagesFound:
    """`by_meaning`: the meaning of the query could be had; else pages were looked for by word only."""

    pages: Sequence[PageScore]
    by_meaning: bool


class PageFinder:
    """The search of pages for a person. `spent` is told what it cost a bank."""

    def __init__(
        self, index: PageIndex, embedder: Embedder, spent: Callable[[str, Sequence[ModelCall]], object]
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._spent = spent

    def find(self, bank_id: str, query: str, among: Collection[str]) -> PagesFound:
        """The pages of `among` (ids of mental models) that meet a query, also those that say nothing yet: by name.
        Of a query that is too long the beginning counts."""
        query = beginning(query, QUERY_TOKENS)
        asked = terms(query)
        try:
            embedded = self._embedder.embed([query])
            vector: Sequence[float] = embedded.vectors[0]
            calls = embedded.calls
        except MindFailed as failed:
            vector, calls = (), failed.calls
        if any(call.input_tokens or call.output_tokens for call in calls):
            self._spent(bank_id, calls)
        matches = self._index.matches(bank_id, asked, vector)
        return PagesFound(page_scores([each for each in matches if each.mental_model_id in among], asked), bool(vector))


class PageVectors:
    """Makes the vectors that are missing. `spent` is told what that cost a bank."""

    def __init__(
        self, index: PageIndex, embedder: Embedder, spent: Callable[[str, Sequence[ModelCall]], object] | None = None
    ) -> None:
        self._index = index
        self._embedder = embedder
        self._spent = spent

    def catch_up(self, bank_id: str | None = None) -> int:
        """Of one bank or of all; returns how many were made. Raises MindFailed when the embedder fails: what is missing
        stays so, and is found by word."""
        made = 0
        while waiting := self._index.without_vector(bank_id, AT_ONCE):
            for bank, pages in groupby(waiting, key=lambda page: page.bank_id):
                self._make(bank, list(pages))
            made += len(waiting)
            if len(waiting) < AT_ONCE:
                break
        return made

    def forget_gone(self) -> None:
        """Of pages that are gone."""
        self._index.forget_gone()

    def _make(self, bank_id: str, pages: Sequence[PageText]) -> None:
        try:
            embedded = self._embedder.embed([f"{page.name}\n{page.text}"[:EMBEDDED_CHARACTERS] for page in pages])
        except MindFailed as failed:
            self._tell(bank_id, failed.calls)
            raise
        self._tell(bank_id, embedded.calls)
        self._index.keep_vectors(list(zip(pages, embedded.vectors, strict=True)))

    def _tell(self, bank_id: str, calls: Sequence[ModelCall]) -> None:
        """Embeddings that are made here cost nothing: no event for those."""
        if self._spent is not None and any(call.input_tokens or call.output_tokens for call in calls):
            self._spent(bank_id, calls)
