"""What a consolidation never does: go on without end, show one scope what is of another, write over another life of its
bank, or spend more than is given for a day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from adapters.clock import RandomIdentities
from adapters.postgres.memory_consolidation import PostgresObservationStore
from adapters.service import Service
from application.consolidation import MOST_TAKEN_IN
from application.consolidation_requests import LONGEST_HOLD_UP, ConsolidationTrigger
from domain.consolidation import ConsolidationProposal, ConsolidationRequest, NewObservation
from domain.memory import RetainItem
from tests.support.consolidating import (
    ToldConsolidator,
    attempt,
    consolidate,
    observations,
    observing,
    operations_of,
    waiting,
)
from tests.support.services import context, retain, running_service

BANK = "b"


@pytest.fixture
def mind() -> ToldConsolidator:
    return ToldConsolidator()


@pytest.fixture
def service(conninfo: str, mind: ToldConsolidator) -> Iterator[Service]:
    with running_service(conninfo, mind, worker_retry_seconds=0) as service:
        service.after_writes.close()
        observing(service, BANK)
        yield service


def test_in_a_bank_that_is_written_to_without_pause_a_consolidation_ends(
    service: Service, mind: ToldConsolidator
) -> None:
    observing(service, BANK, consolidation_max_memories_per_round=500, consolidation_llm_batch_size=500)
    mind.act = lambda _request: ConsolidationProposal()
    retain(service, BANK, "Box 0 is sorted.")

    def writes(_request: ConsolidationRequest) -> None:
        number = len(mind.asked)
        retain(service, BANK, " ".join(f"Box {number}.{each} is sorted by hand." for each in range(400)))

    mind.before = writes
    done = consolidate(service, BANK)
    assert done.status == "completed"
    assert done.result is not None
    assert MOST_TAKEN_IN < done.result["facts"] <= 1 + MOST_TAKEN_IN + 500
    assert waiting(service, BANK)[0] > 0, "the rest is for the next one"


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


def test_documents_wait_for_a_consolidation_that_never_ends_only_so_long(service: Service) -> None:
    observing(service, BANK, enable_auto_consolidation=True)
    clock = Clock()
    store = PostgresObservationStore(service.database, RandomIdentities(), space=lambda: service.memory.space)
    requests, config_of = service.consolidation_requests, service.banks.config
    trigger = ConsolidationTrigger(requests, store, config_of, lambda _bank_id: None, clock, able=True)
    assert not trigger.holds_up(BANK, "test"), "nothing waits"
    retain(service, BANK, "Ada sings.")
    assert trigger.holds_up(BANK, "test")
    clock.time += LONGEST_HOLD_UP - timedelta(seconds=1)
    assert trigger.holds_up(BANK, "test")
    clock.time += timedelta(seconds=1)
    assert not trigger.holds_up(BANK, "test")
    assert trigger.holds_up(BANK, "test"), "not at every write from then on"
    (asked,) = operations_of(service, BANK)
    assert asked.status == "pending", "the consolidation goes on"
    consolidate(service, BANK)
    assert not trigger.holds_up(BANK, "test")
    clock.time += LONGEST_HOLD_UP
    retain(service, BANK, "Bob sings.")
    assert trigger.holds_up(BANK, "test"), "what is new waits anew"
    consolidate(service, BANK)  # another process sees the end of it
    clock.time += LONGEST_HOLD_UP
    retain(service, BANK, "Cid sings.")
    assert trigger.holds_up(BANK, "test")


def test_automatic_work_ends_when_the_tokens_of_the_day_are_spent(conninfo: str, mind: ToldConsolidator) -> None:
    with running_service(conninfo, mind, tokens_per_bank_per_day=20) as service:
        service.after_writes.close()
        observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
        retain(service, BANK, *(f"Worker {name} sings." for name in ("Ada", "Bob", "Cid", "Dan")))
        asked = service.consolidation_requests.consolidate(context(service), BANK, automatic=True)
        assert attempt(service, BANK, asked.operation_id).status == "completed"
        assert (len(mind.asked), waiting(service, BANK)) == (2, (2, 0))
        again = service.consolidation_requests.consolidate(context(service), BANK, automatic=True)
        assert attempt(service, BANK, again.operation_id).park_reason == "token_budget"
        assert consolidate(service, BANK).status == "completed"
        assert waiting(service, BANK) == (0, 0), "who asks for it is not bound"


def test_sources_are_shown_only_in_their_own_scopes(service: Service, mind: ToldConsolidator) -> None:
    """The bank made observations of all tags together once, and does no more."""
    observing(service, BANK, default_observation_scopes="shared")
    retain(service, BANK, "Ada drinks green tea at home.", tags=("private",))
    consolidate(service, BANK)
    observing(service, BANK, default_observation_scopes="combined")
    retain(service, BANK, "Ada drinks green tea.")
    consolidate(service, BANK)
    (related,) = mind.asked[-1].related
    assert (mind.asked[-1].scope, related.sources) == ((), ())


@pytest.mark.parametrize("deterministic", [False, True])
def test_a_mind_that_costs_no_tokens_is_shown_more_of_what_was_observed(
    service: Service, mind: ToldConsolidator, deterministic: bool
) -> None:
    mind.deterministic = deterministic
    retain(service, BANK, *(f"In the year {2000 + year} Ada drank green tea with Bob at home." for year in range(60)))
    consolidate(service, BANK)
    retain(service, BANK, "Ada drinks green tea with Bob at home.")
    consolidate(service, BANK)
    assert (len(mind.asked[-1].related) > 40) is deterministic


def test_what_is_near_in_words_but_of_other_names_is_kept_apart(service: Service, mind: ToldConsolidator) -> None:
    def budget(request: ConsolidationRequest) -> ConsolidationProposal:
        ids = tuple(fact.id for fact in request.facts)
        return ConsolidationProposal(creates=(NewObservation(text="The budget is small", source_ids=ids),))

    mind.act = budget
    for text, name in (("Money is short.", "Apollo"), ("Cash is scarce.", "Zeus"), ("Funds are low.", "Apollo")):
        items = [RetainItem(content=text, entities=(name,), resolve_entities=False)]
        service.memories.retain(context(service), BANK, items)
        consolidate(service, BANK)
    with service.database.connection() as connection:
        rows = connection.execute(
            "SELECT entities, cardinality(source_ids) AS sources FROM fact_versions"
            " WHERE fact_type = 'observation' AND to_position IS NULL ORDER BY entities"
        ).fetchall()
    assert [(row["entities"], row["sources"]) for row in rows] == [(["Apollo"], 2), (["Zeus"], 1)]


def test_a_bank_that_is_made_anew_while_the_mind_thinks_gets_nothing_of_its_former_life(
    service: Service, mind: ToldConsolidator
) -> None:
    retain(service, BANK, "Ada sings.")

    def made_anew(_request: ConsolidationRequest) -> None:
        mind.before = lambda _request: None
        service.banks.delete(context(service), BANK)
        observing(service, BANK)
        retain(service, BANK, "Bob dances.")

    mind.before = made_anew
    asked = service.consolidation_requests.consolidate(context(service), BANK)
    service.background.run(BANK, asked.operation_id)
    assert "Observed: Ada sings." not in observations(service, BANK)
    consolidate(service, BANK)
    assert (set(observations(service, BANK)), waiting(service, BANK)) == ({"Observed: Bob dances."}, (0, 0))


def test_a_fact_of_100_kilobytes_is_asked_about_alone_and_whole(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, retain_extraction_mode="verbatim", retain_chunk_size=200_000)
    long = "tea " * 25_000
    service.memories.retain(context(service), BANK, [RetainItem(content=text) for text in ("Ada sings.", long.strip())])
    assert consolidate(service, BANK).status == "completed"
    assert waiting(service, BANK) == (0, 0)
    assert mind.texts() == [["Ada sings."], [long.strip()]]


def test_a_fact_of_200_tags_is_asked_about_once_for_each_and_once_for_all(
    service: Service, mind: ToldConsolidator
) -> None:
    """All combinations would be more than there are atoms."""
    tags = tuple(f"tag{number}" for number in range(200))
    item = RetainItem(content="Ada sings.", tags=tags, observation_scopes="all_combinations")
    service.memories.retain(context(service), BANK, [item])
    assert consolidate(service, BANK).status == "completed"
    assert len(mind.asked) == 201
    assert {len(request.scope) for request in mind.asked} == {1, 200}
