"""Facts and the clock of a bank.

A memory is never overwritten: a fact is a series of versions, each valid from one position of its bank's clock to
another. Positions are per bank, gapless and in commit order; they, not timestamps, decide what is new.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.period import Period
from domain.scope import EVERYTHING, FactType, Scope
from domain.value import Value

ObservationScopes = Literal["combined", "per_tag", "all_combinations", "shared"] | tuple[tuple[str, ...], ...]
"""For which tags observations are made of a fact: its own together, each of them, every combination, none, or sets of
tags named one by one, in which `*` stands for any text (the system of reference, "Scope resolution")."""


class ExtractedFact(Value):
    """A fact as an extractor reads it out of one item, before it is stored. All times are UTC-aware."""

    text: str
    fact_type: FactType = "world"
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    entities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Tags it has beside those of its item: labels that are tags too."""
    chunk: int | None = None
    """The number of the chunk of its item that it was read from."""
    caused_by: tuple[int, ...] = ()
    """Earlier facts of the same extraction that it came of, by their place in it."""


class Chunk(Value):
    """A part of a document that facts are read from at one time: its number in the document, from 0, and its text."""

    number: int
    text: str


class Fact(Value):
    """One stored version of a fact. `position` is where this version became valid in its bank."""

    id: UUID
    version: int
    position: int
    text: str
    fact_type: FactType
    tags: tuple[str, ...] = ()
    context: str | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    """When the source says it was said (the item's timestamp); None for an item with timestamp "unset"."""
    recorded_at: datetime
    """When this version was written; shown to people, never used for order."""
    document_id: str | None = None
    chunk_id: str | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()
    source_ids: tuple[UUID, ...] = ()
    """The facts that an observation rests on; empty for any other fact."""
    observation_scopes: ObservationScopes | None = None
    """None: as its bank says."""

    @property
    def proof_count(self) -> int:
        """How many facts say it."""
        return max(1, len(self.source_ids))


class RetainItem(Value):
    """One item of a retain request after its input was checked. `timestamp` None means "unset"."""

    content: str
    context: str | None = None
    timestamp: datetime | None = None
    document_id: str | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    entities: tuple[str, ...] = ()
    resolve_entities: bool = True
    """Whether names are matched with those the bank knows."""
    observation_scopes: ObservationScopes | None = None
    strategy: str | None = None
    """The name of the bank's retain strategy to use; None: the bank's default."""
    update_mode: Literal["replace", "append"] = "replace"
    anew: bool = False
    """No text is given: that of the document, as it stands when this is done, is read again, all of it."""


class Window(Value):
    """Positions `(after, upto]` of one bank. A memory is inside when its current version became valid there."""

    after: int = 0
    upto: int


LEAST_SEMANTIC = 0.3
"""Cosine similarity from which a fact is near enough to be found by meaning (the system of reference, recall arms)."""


QUERY_TOKENS = 500
"""Of a query that is looked up, estimated: the same limit for a recall, a standing question and a mind's search."""

Budget = Literal["low", "mid", "high"]
FACTS_OF_BUDGET: dict[Budget, int] = {"low": 100, "mid": 300, "high": 1000}
"""Facts that a recall returns at most, by budget (the system of reference, candidate budget "fixed")."""


class RecallQuery(Value):
    """What to look for: `limit` facts at most, `max_tokens` of text in all (None: no bound). Facts inside `period` are
    preferred, no others are left out for it. An arm finds nothing below its least score."""

    bank_id: str
    text: str
    scope: Scope = EVERYTHING
    window: Window | None = None
    limit: int = 300
    max_tokens: int | None = None
    min_semantic: float = LEAST_SEMANTIC
    min_keyword: float = 0.0
    period: Period | None = None
    by_word: bool = True
    by_links: bool = True
    """Whether facts are found by their links too: neighbours in a document, and names."""


class UnreadQuery(Value):
    """The facts a delta has to read, in the order of their positions: those in `scope`, current at `upto`, that

    - became valid in `(after, upto]`, or
    - are older and were not admitted by `covered_scope`, the scope of the last read (None: it was the same), or
    - stand at one of the positions `pending`.

    `limit` facts at most (None: no bound)."""

    bank_id: str
    scope: Scope
    covered_scope: Scope | None = None
    after: int
    upto: int
    pending: tuple[int, ...] = ()
    limit: int | None = None


class Standing(Value):
    """What became of a cited fact. `cited` is the version cited as it is stored (None: this memory never had it), `now`
    the version current at the position asked for (None: gone), `same_text` another current fact that says the same."""

    fact_id: UUID
    version: int
    cited: Fact | None = None
    now: Fact | None = None
    same_text: Fact | None = None


class RecallScores(Value):
    """Why a fact was found: cosine similarity, BM25 score, what it has for its links and names, and for its time (None
    where that arm did not find it), what a reranker said (0 to 1), and the score it is ordered by."""

    semantic: float | None = None
    keyword: float | None = None
    graph: float | None = None
    temporal: float | None = None
    reranker: float | None = None
    final: float


class RecalledFact(Value):
    fact: Fact
    scores: RecallScores


def estimated_tokens(text: str) -> int:
    """Tokens of a text, estimated: four ASCII characters are one token, any other character is one token."""
    if text.isascii():
        return (len(text) + 3) // 4
    plain = len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + (len(text) - plain)


def beginning(text: str, tokens: int) -> str:
    """As much of a text as has so many tokens at most, estimated."""
    if estimated_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimated_tokens(text[:middle]) <= tokens else (low, middle - 1)
    return text[:low]
