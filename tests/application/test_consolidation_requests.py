"""Who asks for a consolidation, and what waits for the end of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any
from uuid import UUID

import pytest

from adapters.clock import RandomIdentities
from adapters.service import Service
from application.command_handler import CommandHandler
from application.consolidation_requests import AskedConsolidation, ConsolidationInFlight, ConsolidationRequests
from application.ports import Transaction
from domain.consolidation import ConsolidationProposal, ConsolidationRequest
from domain.mental_model.trigger import Trigger
from domain.refusals import BankNotFound, ObservationsSwitchedOff
from projections import consolidation_operations, staleness
from tests.support.consolidating import (
    ToldConsolidator,
    attempt,
    consolidate,
    failing,
    observations,
    observing,
    operation,
    operations_of,
    rows_of,
    waiting,
)
from tests.support.services import context, retain, run_pending, running_service

BANK = "b"
BY_ITSELF = {"enable_auto_consolidation": True}


@pytest.fixture
def mind() -> ToldConsolidator:
    return ToldConsolidator()


@pytest.fixture
def service(conninfo: str, mind: ToldConsolidator) -> Iterator[Service]:
    """What follows a write is done when a test says so."""
    with running_service(conninfo, mind, worker_retry_seconds=0, worker_max_retries=0) as service:
        service.after_writes.close()
        observing(service, BANK)
        yield service


def ask(service: Service, *scopes: tuple[str, ...], **how: Any) -> AskedConsolidation:
    return service.consolidation_requests.consolidate(context(service), BANK, scopes or None, **how)


def test_one_that_waits_takes_in_any_other(service: Service) -> None:
    first = ask(service)
    assert not first.deduplicated
    assert [ask(service), ask(service, ("a",)), ask(service, automatic=True)] == [
        AskedConsolidation(first.operation_id, deduplicated=True)
    ] * 3


def test_one_of_some_scopes_takes_in_only_the_same_scopes(service: Service) -> None:
    """A consolidation of all that waits must not be lost in one of a part."""
    scoped = ask(service, ("a", "b"))
    assert ask(service, ("b", "a")) == AskedConsolidation(scoped.operation_id, deduplicated=True)
    assert not ask(service, ("a",)).deduplicated
    assert not ask(service).deduplicated


def test_requests_at_the_same_time_are_one_operation(service: Service) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = list(pool.map(lambda _number: ask(service), range(16)))
    assert len({each.operation_id for each in asked}) == 1
    assert [each.deduplicated for each in asked].count(False) == 1


def test_one_that_runs_takes_in_what_nobody_asked_for_and_no_more(service: Service, mind: ToldConsolidator) -> None:
    """It goes on until nothing waits; but who asks now may know that it has passed over something."""
    retain(service, BANK, "Ada sings.")
    running = ask(service)
    meanwhile: list[AskedConsolidation] = []

    def ask_again(_request: ConsolidationRequest) -> None:
        meanwhile.extend([ask(service, automatic=True), ask(service)])

    mind.before = ask_again
    attempt(service, BANK, running.operation_id)
    assert meanwhile[0] == AskedConsolidation(running.operation_id, deduplicated=True)
    assert not meanwhile[1].deduplicated


def test_a_bank_that_makes_no_observations_is_asked_for_none(service: Service) -> None:
    observing(service, BANK, enable_observations=False)
    with pytest.raises(ObservationsSwitchedOff):
        ask(service)
    service.banks.put(context(service), "other", changes={"enable_observations": True})
    service.banks.delete(context(service), "other")
    with pytest.raises(ObservationsSwitchedOff):
        service.consolidation_requests.consolidate(context(service), "other")


def test_a_bank_that_is_not_there_is_said_to_be_so(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_ENABLE_OBSERVATIONS", "true")
    with running_service(conninfo) as service, pytest.raises(BankNotFound):
        service.consolidation_requests.consolidate(context(service), "nobody")


def test_automatic_work_waits_for_the_tokens_of_the_next_day_and_who_asks_does_not(
    conninfo: str, mind: ToldConsolidator
) -> None:
    with running_service(conninfo, mind, tokens_per_bank_per_day=5) as service:
        service.after_writes.close()
        observing(service, BANK)
        retain(service, BANK, "Ada sings.")
        assert consolidate(service, BANK).status == "completed"
        retain(service, BANK, "Bob sings.")
        asked = ask(service, automatic=True)
        parked = attempt(service, BANK, asked.operation_id)
        assert (parked.status, parked.park_reason, waiting(service, BANK)) == ("pending", "token_budget", (1, 0))
        assert ask(service) == AskedConsolidation(asked.operation_id, deduplicated=True)
        assert attempt(service, BANK, asked.operation_id).status == "completed"


# --- what follows a write ---------------------------------------------------------------------------------------------


def page(service: Service) -> None:
    """A document that refreshes itself after consolidation, written once."""
    created = service.mental_models.create(
        context(service),
        BANK,
        mental_model_id="page",
        name="page",
        source_query="Who sings?",
        tags=(),
        max_tokens=1024,
        trigger=Trigger(refresh_after_consolidation=True),
    )
    service.background.run(BANK, created.operation_id)


def refreshes(service: Service) -> list[str]:
    return [row.status for row in operations_of(service, BANK, "refresh_mental_model")]


def test_documents_are_refreshed_once_at_the_end_of_the_consolidation(service: Service) -> None:
    observing(service, BANK, consolidation_max_memories_per_round=2, consolidation_llm_batch_size=1, **BY_ITSELF)
    page(service)
    retain(service, BANK, "Ada sings.", "Bob sings.", "Eve sings.", "Dan sings.", "Cid sings.")
    assert service.scheduler.after_write(BANK) == 0
    assert len(refreshes(service)) == 1, "the one it was made with"
    (asked,) = operations_of(service, BANK)
    assert asked.work["automatic"]
    assert service.scheduler.after_write(BANK) == 0
    assert len(operations_of(service, BANK)) == 1
    attempt(service, BANK, UUID(asked.operation_id))
    assert service.scheduler.after_write(BANK) == 1
    assert refreshes(service) == ["pending", "completed"]
    assert service.scheduler.after_write(BANK) == 0
    run_pending(service, BANK)
    assert service.scheduler.after_write(BANK) == 0
    assert len(refreshes(service)) == 2


def test_a_bank_that_does_not_consolidate_by_itself_refreshes_its_documents_after_each_write(service: Service) -> None:
    page(service)
    retain(service, BANK, "Ada sings.")
    assert service.scheduler.after_write(BANK) == 1
    assert operations_of(service, BANK) == []


def test_facts_that_wait_alone_do_not_refresh_a_document_again_and_again(service: Service) -> None:
    """Nobody consolidates the bank: its documents are stale for what they will read, which is nothing to read yet."""
    page(service)
    retain(service, BANK, "Ada sings.")
    service.scheduler.after_write(BANK)
    run_pending(service, BANK)
    (found,) = service.reader.ask(staleness.of_models(BANK, ["page"], observations=False)).values()
    assert found.reasons == ("pending_consolidation",)
    assert [service.scheduler.after_write(BANK), service.scheduler.reconcile(service.clock.now())] == [0, 0]


def test_what_a_crash_lost_is_found_at_the_next_look(service: Service) -> None:
    observing(service, BANK, **BY_ITSELF)
    retain(service, BANK, "Ada sings.")
    service.scheduler.reconcile(service.clock.now())
    (asked,) = operations_of(service, BANK)
    assert attempt(service, BANK, UUID(asked.operation_id)).status == "completed"
    service.scheduler.reconcile(service.clock.now())
    assert len(operations_of(service, BANK)) == 1


def test_when_consolidation_failed_documents_wait_no_longer_and_it_is_not_asked_for_at_once(
    service: Service, mind: ToldConsolidator
) -> None:
    observing(service, BANK, **BY_ITSELF)
    page(service)
    retain(service, BANK, "Ada sings.")

    def fails(_request: ConsolidationRequest) -> None:
        raise failing(transient=True)

    mind.before = fails
    service.scheduler.after_write(BANK)
    (asked,) = operations_of(service, BANK)
    assert attempt(service, BANK, UUID(asked.operation_id)).status == "failed"
    assert service.scheduler.after_write(BANK) == 1, "the document reads the facts themselves"
    assert len(operations_of(service, BANK)) == 1


def test_a_consolidation_that_makes_nothing_leaves_fresh_documents_fresh(
    service: Service, mind: ToldConsolidator
) -> None:
    observing(service, BANK, **BY_ITSELF)
    retain(service, BANK, "Ada sings.")
    page(service)
    mind.act = lambda _request: ConsolidationProposal()
    assert consolidate(service, BANK).status == "completed"
    assert (observations(service, BANK), waiting(service, BANK)) == ({}, (0, 0))
    assert not service.reader.ask(staleness.of_models(BANK, ["page"], observations=False))["page"].is_stale


def test_clearing_has_everything_made_anew(service: Service) -> None:
    retain(service, BANK, "Ada sings.", "Bob sings.")
    consolidate(service, BANK)
    before = {row["fact_id"] for row in observations(service, BANK).values()}
    assert service.observations.clear(context(service), BANK) == 2
    assert (observations(service, BANK), waiting(service, BANK)) == ({}, (2, 0))
    consolidate(service, BANK)
    after = {row["fact_id"] for row in observations(service, BANK).values()}
    assert (len(after), after & before) == (2, set())


def test_one_that_is_restarted_by_hand_is_no_longer_automatic(service: Service) -> None:
    asked = ask(service, automatic=True)
    service.operations.cancel(context(service), BANK, asked.operation_id)
    service.operations.retry(context(service), BANK, asked.operation_id)
    again = operation(service, BANK, asked.operation_id)
    assert (again.status, again.work["automatic"]) == ("pending", False)


def test_two_requests_never_both_find_that_nobody_asked(service: Service) -> None:
    """Both look before either has written: the one that looks holds the bank until it has."""
    together = Barrier(2)

    def in_flight(bank_id: str, tx: Transaction | None) -> Sequence[ConsolidationInFlight]:
        found: Sequence[ConsolidationInFlight] = service.reader.ask(consolidation_operations.in_flight(bank_id), tx)
        if tx is not None:
            with suppress(BrokenBarrierError):
                together.wait(1)
        return found

    handler = CommandHandler(service.log, service.database)
    requests = ConsolidationRequests(handler, RandomIdentities(), in_flight, service.banks.config)
    with ThreadPoolExecutor(2) as pool:
        asked = list(pool.map(lambda _number: requests.consolidate(context(service), BANK), range(2)))
    assert sorted(each.deduplicated for each in asked) == [False, True]


def test_a_fact_that_nothing_was_made_of_can_be_asked_about_again(service: Service, mind: ToldConsolidator) -> None:
    retain(service, BANK, "Ada sings.", "Bob sings.")
    mind.act = lambda _request: ConsolidationProposal()
    consolidate(service, BANK)
    ada = next(row["fact_id"] for row in rows_of(service, BANK) if row["text"] == "Ada sings.")
    assert service.observations.clear_of(context(service), BANK, ada) == 0
    assert waiting(service, BANK) == (1, 0)
