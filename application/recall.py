"""Recall: facts found by meaning, word, link and time, as a bank is configured, and what is told beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from application.ports import (
    Clock,
    Embedder,
    MemoryStore,
    MindFailed,
    PeriodReader,
    Reranker,
)
from application.ports.pages import SourceTexts
from application.request_costs import RequestCosts
from domain.bank_config import BankConfig
from domain.event import Context
from domain.memory import LEAST_SEMANTIC, QUERY_TOKENS, Budget, Fact, RecalledFact, RecallQuery, Window, beginning
from domain.period import Period
from domain.recall.budget import most_facts
from domain.recall.reranking import MOST_RERANKED, reranked
from domain.recall.selection import (
    ChunkText,
    SourceFactsLimit,
    chunks_within,
    source_facts,
    with_observations_preferred,
    within_tokens,
)
from domain.scope import EVERYTHING, Scope, admits
from domain.usage import ModelCall


@dataclass(frozen=True)
class RecallRequest:
    """What is asked of a memory. `at` is when it is asked (None: now), which "yesterday" in the text counts from;
    `period` is the time meant, in place of what the text says. None for `max_tokens` and `prefer_observations`: as the
    bank says. Least scores: the first two leave facts out of one arm, the others out of the answer."""

    bank_id: str
    text: str
    scope: Scope = EVERYTHING
    window: Window | None = None
    budget: Budget = "mid"
    max_tokens: int | None = None
    at: datetime | None = None
    period: Period | None = None
    prefer_observations: bool | None = None
    min_semantic: float = LEAST_SEMANTIC
    min_keyword: float = 0.0
    min_reranker: float | None = None
    min_final: float | None = None
    chunk_tokens: int | None = None
    """Tokens of the chunks that the facts were read from; None: none are wanted, -1: all of them."""
    source_facts: SourceFactsLimit | None = None


@dataclass(frozen=True)
class Recalled:
    """`query` is what the memory was asked, `found` counts what it gave; `reranker_failure` says
    why the order is that of the arms alone, though a reranker was asked."""

    facts: Sequence[RecalledFact]
    query: RecallQuery
    found: int
    sources: Sequence[Fact] = ()
    sources_truncated: bool = False
    chunks: Sequence[ChunkText] = ()
    reranker: str | None = None
    reranker_failure: str | None = None
    calls: tuple[ModelCall, ...] = ()


@dataclass(frozen=True)
class _Order:
    facts: Sequence[RecalledFact]
    reranker: str | None = None
    failure: str | None = None
    calls: tuple[ModelCall, ...] = ()


class Recalls:
    """`config` tells how a bank is configured, and raises BankNotFound; `current_facts` are those of some facts that
    still stand."""

    def __init__(
        self,
        memory: MemoryStore,
        embedder: Embedder,
        period_in: PeriodReader,
        texts: SourceTexts,
        current_facts: Callable[[str, Sequence[UUID]], Sequence[Fact]],
        config: Callable[[str], BankConfig],
        costs: RequestCosts,
        clock: Clock,
        reranker: Reranker | None = None,
    ) -> None:
        self._memory = memory
        self._embedder = embedder
        self._period_in = period_in
        self._texts = texts
        self._current_facts = current_facts
        self._config = config
        self._costs = costs
        self._clock = clock
        self._reranker = reranker

    def close(self) -> None:
        """Frees the connections of the reranker."""
        if self._reranker is not None:
            self._reranker.close()

    def recall(self, context: Context, request: RecallRequest) -> Recalled:
        """Of a text that is too long the beginning counts. Raises BankNotFound, and MindFailed when the text could not
        be embedded; a reranker that fails is told in the answer."""
        request = replace(request, text=beginning(request.text, QUERY_TOKENS))
        config = self._config(request.bank_id)
        try:
            embedded = self._embedder.embed([request.text])
        except MindFailed as failed:
            self._costs.record(context, request.bank_id, "recall", failed.calls)
            raise
        recalled = self._recalled(request, config, embedded.vectors[0])
        recalled = replace(recalled, calls=(*embedded.calls, *recalled.calls))
        self._costs.record(context, request.bank_id, "recall", recalled.calls)
        return recalled

    def found(self, request: RecallRequest, vector: Sequence[float]) -> Recalled:
        """The same for a text that is embedded already; whoever asks tells what it cost."""
        return self._recalled(request, self._config(request.bank_id), vector)

    def _recalled(self, request: RecallRequest, config: BankConfig, vector: Sequence[float]) -> Recalled:
        max_tokens = config.recall_max_tokens if request.max_tokens is None else request.max_tokens
        query = self._query(request, config, max_tokens)
        order = self._order(request, config, self._memory.recall(query, vector))
        passing = [each for each in order.facts if _passes(each, request)]
        select = with_observations_preferred if _prefers(request, config) else within_tokens
        facts = passing if query.max_tokens is not None else select(passing, max_tokens)
        sources, truncated = self._sources(request, facts, vector)
        return Recalled(
            facts=facts,
            query=query,
            found=len(order.facts),
            sources=sources,
            sources_truncated=truncated,
            chunks=self._chunks(request, facts if max_tokens else passing),
            reranker=order.reranker,
            reranker_failure=order.failure,
            calls=order.calls,
        )

    def _query(self, request: RecallRequest, config: BankConfig, max_tokens: int) -> RecallQuery:
        period = None
        if config.enable_temporal_retrieval:
            period = request.period or self._period_in(request.text, request.at or self._clock.now())
        return RecallQuery(
            bank_id=request.bank_id,
            text=request.text,
            scope=request.scope,
            window=request.window,
            limit=most_facts(config, request.budget, max_tokens),
            max_tokens=None if self._chooses_later(request, config, max_tokens) else max_tokens,
            min_semantic=request.min_semantic,
            min_keyword=request.min_keyword,
            period=period,
            by_word=config.enable_text_search,
            by_links=config.enable_graph_retrieval,
        )

    def _chooses_later(self, request: RecallRequest, config: BankConfig, max_tokens: int) -> bool:
        """Whether what fits is known only after all that was found is ordered and sifted."""
        sifts = request.min_final is not None or request.min_reranker is not None or _prefers(request, config)
        reranks = self._reranker is not None and config.enable_reranking
        return sifts or reranks or (max_tokens == 0 and request.chunk_tokens is not None)

    def _order(self, request: RecallRequest, config: BankConfig, found: Sequence[RecalledFact]) -> _Order:
        if self._reranker is None or not config.enable_reranking or not found:
            return _Order(found)
        try:
            judged = self._reranker.rerank(request.text, [each.fact.text for each in found[:MOST_RERANKED]])
        except MindFailed as failed:
            return _Order(found, self._reranker.model, str(failed), failed.calls)
        return _Order(reranked(found, judged.scores), self._reranker.model, None, tuple(judged.calls))

    def _sources(
        self, request: RecallRequest, facts: Sequence[RecalledFact], vector: Sequence[float]
    ) -> tuple[list[Fact], bool]:
        """Only what the scope admits: an observation may rest on facts that others alone may see."""
        observations = [each.fact for each in facts if each.fact.source_ids]
        wanted = list(dict.fromkeys(source for each in observations for source in each.source_ids))
        if request.source_facts is None or not wanted:
            return [], False
        scope = request.scope.model_copy(update={"fact_types": None})
        standing = self._current_facts(request.bank_id, wanted)
        upto = _upto(request)
        sources = {
            fact.id: fact
            for fact in standing
            if admits(scope, fact.tags, fact.fact_type) and (upto is None or fact.position <= upto)
        }
        near = self._memory.nearness(request.bank_id, [fact.position for fact in sources.values()], [vector])
        by_id: Mapping[UUID, float] = {
            fact.id: near[fact.position] for fact in sources.values() if fact.position in near
        }
        return source_facts(observations, sources, by_id, request.source_facts)

    def _chunks(self, request: RecallRequest, facts: Sequence[RecalledFact]) -> list[ChunkText]:
        """Each once, those of the best facts first."""
        if request.chunk_tokens is None or request.chunk_tokens == 0:
            return []
        read = [each.fact for each in facts if each.fact.chunk_id]
        visible = self._texts.chunks(request.bank_id, read, request.scope, _upto(request))
        chunk_ids = list(dict.fromkeys(fact.chunk_id for fact in read if fact.chunk_id and fact.id in visible))
        stored = self._memory.chunks(request.bank_id, chunk_ids)
        chunks = [
            ChunkText(chunk_id=each, number=stored[each].number, text=stored[each].text)
            for each in chunk_ids
            if each in stored
        ]
        return chunks_within(chunks, request.chunk_tokens)


def _upto(request: RecallRequest) -> int | None:
    return request.window.upto if request.window else None


def _prefers(request: RecallRequest, config: BankConfig) -> bool:
    chosen = request.prefer_observations
    return config.recall_prefer_observations if chosen is None else chosen


def _passes(recalled: RecalledFact, request: RecallRequest) -> bool:
    scores = recalled.scores
    if request.min_final is not None and scores.final < request.min_final:
        return False
    return request.min_reranker is None or scores.reranker is None or scores.reranker >= request.min_reranker
