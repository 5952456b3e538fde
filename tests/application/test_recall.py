"""Recall: as the bank says and the request asks; floors, observations, sources, chunks; a reranker that may fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from application.ports import Judgement, MindFailed, StoredChunk
from application.recall import Recalled, RecallRequest, Recalls
from application.request_costs import RequestCosts
from domain.bank_config import BankConfig
from domain.memory import QUERY_TOKENS, Fact, Window, estimated_tokens
from domain.period import Period
from domain.recall.selection import SourceFactsLimit
from domain.request import ModelsAsked
from domain.scope import Scope
from tests.support.examples import BANK, call
from tests.support.in_memory import InMemoryMemoryStore, NumberedIdentities
from tests.support.scripted_minds import unusable
from tests.support.world import World

TEXT = "x" * 40  # ten tokens
ARCHES, STATUES, TOWERS = "It has 16 arches.", "It has 30 statues.", "It has 3 towers."
MAY = Period(datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 5, 31, tzinfo=UTC))
JUNE = Period(datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 6, 30, tzinfo=UTC))


class AllChunks:
    """SourceTexts: of every fact with a chunk, but those of `hidden` chunks."""

    def __init__(self) -> None:
        self.hidden: set[str] = set()

    def chunks(self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None) -> Mapping[UUID, str]:
        del bank_id, scope, upto
        return {each.id: "" for each in facts if each.chunk_id and each.chunk_id not in self.hidden}

    def documents(
        self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None
    ) -> Mapping[UUID, str]:
        raise AssertionError(f"a recall tells chunks only: {bank_id}, {facts}, {scope}, {upto}")


class NumberedChunks(InMemoryMemoryStore):
    """Any chunk `c7` is the seventh of its document."""

    def chunks(self, bank_id: str, chunk_ids: Sequence[str]) -> Mapping[str, StoredChunk]:
        assert bank_id == BANK
        return {each: StoredChunk(each, "d", int(each[1:]), f"{each} {TEXT}") for each in chunk_ids}


class ScriptedReranker:
    """Reranker: scores by text, in `scores`; raises what `broken` says."""

    model = "scripted-reranker"

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores
        self.broken: MindFailed | None = None
        self.closed = False

    def rerank(self, query: str, texts: Sequence[str]) -> Judgement:
        assert query
        if self.broken is not None:
            raise self.broken
        return Judgement([self.scores.get(text) for text in texts], (call("rerank"),))

    def close(self) -> None:
        self.closed = True


class Asking:
    """The use case over a world that knows some facts. A period is read out of a text that says "May"; `said_at` keeps
    what it was to be counted from."""

    def __init__(self, reranker: ScriptedReranker | None = None, **config: Any) -> None:
        self.world = World()
        self.memory = NumberedChunks()
        self.chunks = AllChunks()
        self.said_at: list[datetime | None] = []
        self.recalls = Recalls(
            self.memory,
            self.world.embedder,
            self._period_in,
            self.chunks,
            lambda _bank_id, ids: [each for each in self.facts.values() if each.id in ids],
            lambda _bank_id: BankConfig(**config),
            RequestCosts(self.world.handler, NumberedIdentities()),
            self.world.clock,
            reranker,
        )

    def _period_in(self, text: str, said_at: datetime | None) -> Period | None:
        self.said_at.append(said_at)
        return MAY if "May" in text else None

    @property
    def facts(self) -> dict[str, Fact]:
        return {row.fact.text: row.fact for row in self.memory.rows}

    def knows(self, *texts: str, **changes: Any) -> Asking:
        for text in texts:
            self.memory.add(BANK, text, **changes)
        return self

    def recall(self, text: str = "?", **asked: Any) -> Recalled:
        return self.recalls.recall(self.world.context, RecallRequest(BANK, text, **asked))

    def told(self) -> list[tuple[str, list[str]]]:
        """What requests had models asked for, and the purposes of their calls."""
        events = [each for stream in self.world.log.streams for each in self.world.log.of(stream)]
        asked = [each for each in events if isinstance(each, ModelsAsked)]
        return [(each.request, [call.purpose for call in each.calls]) for each in asked]


def texts(recalled: Recalled) -> list[str]:
    return [each.fact.text for each in recalled.facts]


# --- what is asked of the memory --------------------------------------------------------------------------------------


def test_facts_are_found_in_scope_and_window_and_the_call_is_counted() -> None:
    asking = Asking().knows(ARCHES, tags=("stone",)).knows(STATUES).knows(TOWERS, tags=("stone",))
    scope = Scope(tags=("stone",), tags_match="any_strict")

    recalled = asking.recall("16 arches", scope=scope, window=Window(upto=2))

    assert texts(recalled) == [ARCHES]
    assert [each.purpose for each in recalled.calls] == ["embed"]
    assert asking.told() == [("recall", ["embed"])]
    assert asking.world.embedder.texts == [("16 arches",)]


def test_a_query_that_cannot_be_embedded_fails_and_tells_its_cost() -> None:
    asking = Asking().knows(ARCHES)
    asking.world.embedder.broken = unusable()

    with pytest.raises(MindFailed):
        asking.recall()

    assert asking.told() == [("recall", ["failed"])]


def test_the_bank_says_how_many_facts_and_which_arms() -> None:
    asking = Asking(
        recall_budget_fixed_mid=7,
        recall_max_tokens=40,
        enable_text_search=False,
        enable_graph_retrieval=False,
        enable_temporal_retrieval=False,
    ).knows(*(f"{number} {TEXT}" for number in range(9)))

    recalled = asking.recall("in May", period=MAY)

    (query,) = asking.memory.queries
    assert (query.limit, query.by_word, query.by_links, query.period) == (7, False, False, None)
    assert len(recalled.facts) == 3
    assert recalled.found == 3
    assert asking.recall(min_final=0.0).found == 7


def test_every_arm_is_asked_by_default() -> None:
    asking = Asking()
    asking.recall("in May", budget="high")

    (query,) = asking.memory.queries
    assert (query.limit, query.by_word, query.by_links, query.period) == (1000, True, True, MAY)


def test_a_time_counts_from_when_it_is_asked_else_from_the_clock() -> None:
    asking, asked_at = Asking(), datetime(2020, 1, 1, tzinfo=UTC)
    asking.recall("yesterday")
    asking.recall("yesterday", at=asked_at)
    asking.recall("in May", period=JUNE)

    assert asking.said_at == [asking.world.clock.now(), asked_at]
    assert [query.period for query in asking.memory.queries] == [None, None, JUNE]


def test_of_a_text_that_is_too_long_the_beginning_counts() -> None:
    """RC-04: the limit holds for callers that do not go over HTTP, too."""
    asking = Asking()
    asking.recall("tea " * 5000)

    (query,) = asking.memory.queries
    assert estimated_tokens(query.text) == QUERY_TOKENS
    assert asking.world.embedder.texts == [(query.text,)]


# --- what is answered -------------------------------------------------------------------------------------------------


def test_floors_leave_out_before_the_tokens_are_counted() -> None:
    """The memory in these tests gives the first fact 1, the second 1/2, and so on."""
    asking = Asking().knows(*(f"{number} {TEXT}" for number in range(4)))

    assert len(asking.recall(min_final=0.4).facts) == 2
    assert len(asking.recall(min_reranker=0.4).facts) == 4


def test_an_observation_takes_the_place_of_its_sources_when_it_is_preferred() -> None:
    asking = Asking(recall_prefer_observations=True).knows(STATUES, ARCHES)
    asking.knows("It has arches.", fact_type="observation", source_ids=(asking.facts[ARCHES].id,))

    assert texts(asking.recall()) == ["It has arches.", STATUES]
    assert texts(asking.recall(prefer_observations=False)) == ["It has arches.", ARCHES, STATUES]


def test_source_facts_are_told_as_far_as_the_scope_admits_them() -> None:
    asking = Asking().knows(ARCHES, tags=("a",)).knows(STATUES, tags=("b",)).knows(TOWERS)
    sources = tuple(asking.facts[text].id for text in (ARCHES, STATUES, TOWERS))
    asking.knows("It is large.", fact_type="observation", source_ids=sources)
    scope = Scope(tags=("a",), fact_types=("observation",))

    recalled = asking.recall(scope=scope, source_facts=SourceFactsLimit())

    assert {each.text for each in recalled.sources} == {ARCHES, TOWERS}
    assert not recalled.sources_truncated
    assert asking.recall(source_facts=SourceFactsLimit(max_tokens=1)).sources_truncated
    assert asking.recall().sources == []


def test_chunks_have_their_own_room_even_when_no_fact_is_wanted() -> None:
    asking = Asking().knows(ARCHES, chunk_id="c1").knows(STATUES, chunk_id="c2").knows(TOWERS, chunk_id="c2")

    recalled = asking.recall(max_tokens=0, chunk_tokens=14)

    assert recalled.facts == []
    assert [(each.chunk_id, each.number, each.truncated) for each in recalled.chunks] == [
        ("c2", 2, False),
        ("c1", 1, True),
    ]
    asking.chunks.hidden.add("c2")
    assert [each.chunk_id for each in asking.recall(chunk_tokens=-1).chunks] == ["c1"]
    assert asking.recall().chunks == []


# --- a second opinion -------------------------------------------------------------------------------------------------


def test_a_reranker_has_the_last_word() -> None:
    asking = Asking(ScriptedReranker({ARCHES: 0.9, STATUES: 0.4})).knows(ARCHES, STATUES, TOWERS)

    recalled = asking.recall()

    assert texts(recalled) == [ARCHES, STATUES, TOWERS]
    assert [each.scores.reranker for each in recalled.facts] == [0.9, 0.4, None]
    assert (recalled.reranker, recalled.reranker_failure) == ("scripted-reranker", None)
    assert asking.told() == [("recall", ["embed", "rerank"])]
    assert texts(asking.recall(min_reranker=0.5)) == [ARCHES, TOWERS]


def test_a_reranker_that_fails_leaves_the_order_of_the_arms_and_is_told() -> None:
    reranker = ScriptedReranker({ARCHES: 0.9})
    reranker.broken = unusable()
    asking = Asking(reranker).knows(ARCHES, STATUES)

    recalled = asking.recall()

    assert texts(recalled) == [STATUES, ARCHES]
    assert recalled.reranker_failure == str(reranker.broken)
    assert asking.told() == [("recall", ["embed", "failed"])]


def test_a_bank_may_do_without_the_reranker() -> None:
    asking = Asking(ScriptedReranker({ARCHES: 0.9}), enable_reranking=False).knows(ARCHES, STATUES)

    assert texts(asking.recall()) == [STATUES, ARCHES]
    assert asking.recall().reranker is None


def test_nothing_found_is_not_judged_and_the_reranker_is_closed_at_the_end() -> None:
    reranker = ScriptedReranker({})
    asking = Asking(reranker)

    assert asking.recall().calls == asking.recall().calls
    assert asking.told()[0] == ("recall", ["embed"])
    asking.recalls.close()
    assert reranker.closed
