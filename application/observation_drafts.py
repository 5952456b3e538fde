"""What a mind makes of a batch of facts, decided and embedded, ready to be written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from application.ports import (
    Consolidator,
    EmbeddedChanges,
    Embedder,
    MemoryStore,
    ObservationStore,
)
from domain.bank_config import BankConfig
from domain.consolidation import (
    NEAR_DUPLICATE,
    Batch,
    ConsolidationRequest,
    ObservationChanges,
    RelatedObservation,
    ScopeRules,
    Tags,
    WrittenObservation,
    about_the_same,
    absorbed,
    decide,
    resolved_scopes,
    rules_of,
    says_the_same,
)
from domain.memory import FACTS_OF_BUDGET, ExtractedFact, Fact, ObservationScopes, RecallQuery, estimated_tokens
from domain.recall.embedded_text import embedded_text
from domain.scope import Scope
from domain.usage import ModelCall

RELATED_TOKENS = 512
"""Tokens of related observations that a model is shown (the system of reference)."""
RELATED_TOKENS_UNPAID = 8192
"""The same for a mind that costs no tokens: a third of the doubles are left that it makes when shown as few."""
MOST_SOURCES_READ = 50
"""Facts looked up for one related observation: its newest."""
LONGEST_QUESTION = 8000
"""Characters of the facts of a batch by which related observations are searched, the same of each."""

Paid = Callable[[Sequence[ModelCall]], object]


class ObservationDrafts:
    def __init__(
        self, memory: MemoryStore, observations: ObservationStore, embedder: Embedder, mind: Consolidator
    ) -> None:
        self._memory = memory
        self._observations = observations
        self._embedder = embedder
        self._mind = mind

    def make(
        self, bank_id: str, batch: Batch, config: BankConfig, asked_at: datetime, paid: Paid
    ) -> list[EmbeddedChanges]:
        """One for each scope of the batch. `paid` is told of each call. Raises MindFailed."""
        share = LONGEST_QUESTION // len(batch.facts)
        question = "\n".join(fact.text[:share] for fact in batch.facts)
        (vector,) = self._embedded([question], paid)
        drafted = []
        for scope in batch.scopes:
            rules = rules_of(scope, config)
            request = ConsolidationRequest(
                scope=scope,
                facts=batch.facts,
                related=self._related(bank_id, scope, question, vector, rules, config.default_observation_scopes),
                mission=rules.mission,
                room=self._room(bank_id, scope, rules),
                asked_at=asked_at,
            )
            proposal = self._mind.consolidate(request)
            paid(proposal.calls)
            drafted.append(self._without_doubles(bank_id, decide(request, proposal), paid))
        return drafted

    def _related(
        self,
        bank_id: str,
        scope: Tags,
        question: str,
        vector: Sequence[float],
        rules: ScopeRules,
        of_bank: ObservationScopes | None,
    ) -> tuple[RelatedObservation, ...]:
        """What was observed in the scope that has to do with the facts, with its newest sources that there is room for.
        Sources that are of other scopes now, as the bank is configured or they were changed meanwhile, are not told."""
        query = RecallQuery(
            bank_id=bank_id,
            text=question,
            scope=Scope(tags=scope, tags_match="exact", fact_types=("observation",)),
            limit=FACTS_OF_BUDGET["mid" if self._mind.deterministic else "low"],
            max_tokens=RELATED_TOKENS_UNPAID if self._mind.deterministic else RELATED_TOKENS,
            by_links=False,
        )
        found = [each.fact for each in self._memory.recall(query, vector)]
        wanted = [each for observation in found for each in observation.source_ids[-MOST_SOURCES_READ:]]
        current = self._observations.current(bank_id, list(dict.fromkeys(wanted)))
        known = {
            fact.id: fact for fact in current if scope in resolved_scopes(fact.tags, fact.observation_scopes, of_bank)
        }
        left = rules.source_tokens
        related = []
        for observation in found:
            newest = [known[each] for each in reversed(observation.source_ids) if each in known]
            bounds = [bound for bound in (left, rules.source_tokens_each) if bound is not None]
            sources = tuple(_within(min(bounds, default=None), newest))
            if left is not None:
                left -= sum(estimated_tokens(fact.text) for fact in sources)
            related.append(RelatedObservation(observation=observation, sources=sources))
        return tuple(related)

    def _room(self, bank_id: str, scope: Tags, rules: ScopeRules) -> int | None:
        if rules.most is None:
            return None
        return max(0, rules.most - self._observations.count_in(bank_id, scope))

    def _without_doubles(self, bank_id: str, changes: ObservationChanges, paid: Paid) -> EmbeddedChanges:
        """What is new but for its words is added to what says it already; no mind is asked about that."""
        vectors = self._vectors(changes, paid)
        new = [number for number, written in enumerate(changes.written) if written.before is None]
        found = self._observations.nearest(bank_id, changes.scope, [vectors[number] for number in new])
        ended = {fact.id for fact in changes.dropped}
        near = {
            number: each[0]
            for number, each in zip(new, found, strict=True)
            if each is not None
            and each[1] >= NEAR_DUPLICATE
            and each[0].id not in ended
            and says_the_same(changes.written[number].text, each[0].text)
            and about_the_same(changes.written[number].entities, each[0].entities)
        }
        if not near:
            return EmbeddedChanges(changes, vectors)
        fewer = absorbed(changes, near)
        return EmbeddedChanges(fewer, self._vectors(fewer, paid))

    def _vectors(self, changes: ObservationChanges, paid: Paid) -> list[Sequence[float]]:
        return self._embedded(map(_embedded_text, changes.written), paid)

    def _embedded(self, texts: Iterable[str], paid: Paid) -> list[Sequence[float]]:
        asked = list(texts)
        if not asked:
            return []
        embedded = self._embedder.embed(asked)
        paid(embedded.calls)
        return list(embedded.vectors)


def _embedded_text(written: WrittenObservation) -> str:
    said = ExtractedFact(text=written.text, fact_type="observation", occurred_start=written.occurred_start)
    return embedded_text(said, written.mentioned_at)


def _within(tokens: int | None, facts: Sequence[Fact]) -> Iterable[Fact]:
    """The first facts whose texts have so many tokens together; None is no limit."""
    for fact in facts:
        if tokens is not None:
            tokens -= estimated_tokens(fact.text)
            if tokens < 0:
                return
        yield fact
