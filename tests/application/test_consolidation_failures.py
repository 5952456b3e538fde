"""Failures that may pass: a fact that no model can be asked about holds up no other, and is not asked about for ever;
where the model is at fault no fact is."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

import pytest

from adapters.service import Service
from domain.consolidation import ConsolidationRequest
from tests.support.consolidating import (
    ToldConsolidator,
    attempt,
    consolidate,
    failing,
    late,
    observing,
    waiting,
)
from tests.support.services import context, retain, running_service

BANK = "b"
TEXTS = [f"Worker {name} sorts boxes." for name in ("Ada", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal")]


@pytest.fixture
def mind() -> ToldConsolidator:
    return ToldConsolidator()


@pytest.fixture
def service(conninfo: str, mind: ToldConsolidator) -> Iterator[Service]:
    with running_service(conninfo, mind, worker_retry_seconds=0, worker_max_retries=1) as service:
        service.after_writes.close()
        observing(service, BANK)
        yield service


def never_answered(mind: ToldConsolidator, poison: str) -> None:
    def fails(request: ConsolidationRequest) -> None:
        if poison in [fact.text for fact in request.facts]:
            raise late()

    mind.before = fails


@pytest.mark.parametrize("poison", [TEXTS[0], TEXTS[4], TEXTS[-1]])
def test_a_fact_whose_requests_are_never_answered_is_found_and_set_aside(
    service: Service, mind: ToldConsolidator, poison: str
) -> None:
    retain(service, BANK, *TEXTS)
    never_answered(mind, poison)
    done = consolidate(service, BANK)
    assert (done.status, waiting(service, BANK)) == ("completed", (0, 1))
    assert [len(texts) for texts in mind.texts() if poison in texts] == [8, 4, 2, 1, 1, 1]
    assert done.result is not None
    assert len(done.result["calls"]) >= len(mind.asked), "every request is told"
    assert sum(call["purpose"] == "consolidate" for call in done.result["calls"]) == len(mind.asked)


def test_a_batch_that_fails_holds_up_no_other(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=2, consolidation_llm_parallelism=1)
    retain(service, BANK, *TEXTS)

    def fails_once(_request: ConsolidationRequest) -> None:
        if len(mind.asked) == 1:
            raise late()

    mind.before = fails_once
    assert consolidate(service, BANK).status == "completed"
    assert waiting(service, BANK) == (0, 0)
    assert mind.texts()[1:] == [TEXTS[2:4], TEXTS[4:6], TEXTS[6:], TEXTS[:1], TEXTS[1:2]]


def test_a_fact_alone_cannot_be_told_from_a_model_that_is_down(service: Service, mind: ToldConsolidator) -> None:
    """The operation fails, and says so; the fact is set aside when another one can be asked about."""
    retain(service, BANK, TEXTS[0])
    never_answered(mind, TEXTS[0])
    retried = consolidate(service, BANK)
    assert (retried.status, retried.retry_count) == ("pending", 1)
    failed = attempt(service, BANK, UUID(retried.operation_id))
    assert (failed.status, failed.error_message, waiting(service, BANK)) == ("failed", "no use", (1, 0))
    retain(service, BANK, TEXTS[1])
    assert consolidate(service, BANK).status == "completed"
    assert waiting(service, BANK) == (0, 1)
    mind.before = lambda _request: None
    assert service.observations.recover(context(service), BANK) == 1
    assert consolidate(service, BANK).status == "completed"
    assert waiting(service, BANK) == (0, 0)


@pytest.mark.parametrize("size", [1, 8])
def test_a_model_that_is_down_is_given_up_soon(service: Service, mind: ToldConsolidator, size: int) -> None:
    observing(service, BANK, consolidation_llm_batch_size=size, consolidation_llm_parallelism=1)
    retain(service, BANK, *TEXTS)

    def down(_request: ConsolidationRequest) -> None:
        raise late()

    mind.before = down
    retried = consolidate(service, BANK)
    assert (retried.status, retried.retry_count, waiting(service, BANK)) == ("pending", 1, (8, 0))
    assert len(mind.asked) <= 16


def test_a_model_that_goes_down_in_the_middle_is_no_fault_of_facts(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *TEXTS)

    def goes_down(_request: ConsolidationRequest) -> None:
        if len(mind.asked) > 6:
            raise late()

    mind.before = goes_down
    retried = consolidate(service, BANK)
    assert (retried.status, waiting(service, BANK)) == ("pending", (2, 0))
    mind.before = lambda _request: None
    assert attempt(service, BANK, UUID(retried.operation_id)).status == "completed"
    assert waiting(service, BANK) == (0, 0)


def test_a_model_that_takes_no_more_for_now_is_asked_no_more(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *TEXTS)

    def busy(_request: ConsolidationRequest) -> None:
        if len(mind.asked) > 2:
            raise failing(transient=True)

    mind.before = busy
    retried = consolidate(service, BANK)
    assert (retried.status, waiting(service, BANK), len(mind.asked)) == ("pending", (6, 0), 3)


def test_failures_between_which_the_model_answers_do_not_end_the_work(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *TEXTS)

    def every_other(_request: ConsolidationRequest) -> None:
        if len(mind.asked) in (1, 3, 5, 7):
            raise late()

    mind.before = every_other
    assert consolidate(service, BANK).status == "completed"
    assert (waiting(service, BANK), len(mind.asked)) == ((0, 0), 12)
