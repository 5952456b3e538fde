"""A consolidation over a real database: what is done stays done, and nothing rests on what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from uuid import UUID

import pytest

from adapters.postgres.memory_consolidation_reads import of_bank
from adapters.service import Service
from application.ports import MindFailed
from domain.consolidation import ChangedObservation, ConsolidationProposal, ConsolidationRequest, NewObservation
from domain.memory import RetainItem
from tests.support.consolidating import (
    ToldConsolidator,
    all_in_one,
    attempt,
    consolidate,
    each_by_itself,
    failing,
    observations,
    observing,
    operation,
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
        observing(service, BANK)
        yield service


def texts_of(number: int, start: int = 1) -> list[str]:
    return [f"Worker {word} sorts box {word}." for word in NUMBERS[start - 1 : start - 1 + number]]


NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def test_everything_that_waits_is_consolidated_in_rounds_and_batches(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_max_memories_per_round=5, consolidation_llm_batch_size=2)
    retain(service, BANK, *texts_of(12))
    done = consolidate(service, BANK)
    assert (done.status, waiting(service, BANK)) == ("completed", (0, 0))
    assert done.result is not None
    assert (done.result["facts"], done.result["created"]) == (12, 12)
    assert max(map(len, mind.texts())) == 2
    assert sorted(text for texts in mind.texts() for text in texts) == sorted(texts_of(12))
    assert set(observations(service, BANK)) == {f"Observed: {text}" for text in texts_of(12)}


def test_facts_of_other_scopes_are_never_told_together(service: Service, mind: ToldConsolidator) -> None:
    mind.act = all_in_one
    retain(service, BANK, "Ada sings.", "Ada dances.", tags=("ada",))
    retain(service, BANK, "Bob sings.", tags=("bob",))
    retain(service, BANK, "Both sing.", tags=("ada", "bob"))
    consolidate(service, BANK)
    found = {tuple(row["tags"]): row["text"] for row in observations(service, BANK).values()}
    assert found == {
        ("ada",): "Together: Ada sings. / Ada dances.",
        ("bob",): "Together: Bob sings.",
        ("ada", "bob"): "Together: Both sing.",
    }


def test_a_fact_is_told_in_each_of_its_scopes(service: Service, mind: ToldConsolidator) -> None:
    item = RetainItem(content="Ada met Bob.", tags=("ada", "bob"), observation_scopes="per_tag")
    service.memories.retain(context(service), BANK, [item])
    consolidate(service, BANK)
    assert sorted(request.scope for request in mind.asked) == [("ada",), ("bob",)]
    with service.database.connection() as connection:
        rows = connection.execute("SELECT tags FROM fact_versions WHERE fact_type = 'observation'").fetchall()
    assert sorted(row["tags"] for row in rows) == [["ada"], ["bob"]]


def test_a_mind_is_shown_what_was_observed_in_the_scope_and_what_that_rests_on(
    service: Service, mind: ToldConsolidator
) -> None:
    observing(service, BANK, observations_mission="what they drink", max_observations_per_scope=5)
    retain(service, BANK, "Ada drinks green tea.", tags=("x",))
    retain(service, BANK, "Ada drinks green tea at four.", tags=("y",))
    consolidate(service, BANK)
    mind.asked.clear()
    retain(service, BANK, "Ada drinks green tea every day.", tags=("x",))
    consolidate(service, BANK)
    (request,) = mind.asked
    assert [each.observation.text for each in request.related] == ["Observed: Ada drinks green tea."]
    assert [fact.text for fact in request.related[0].sources] == ["Ada drinks green tea."]
    assert (request.mission, request.room) == ("what they drink", 4)


def test_no_sources_are_shown_for_which_there_are_no_tokens(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_source_facts_max_tokens_per_observation=2)
    retain(service, BANK, "Ada drinks green tea.")
    consolidate(service, BANK)
    retain(service, BANK, "Ada drinks green tea every day.")
    consolidate(service, BANK)
    (related,) = mind.asked[-1].related
    assert related.sources == ()


def test_what_is_new_but_for_its_words_is_added_without_asking(service: Service, mind: ToldConsolidator) -> None:
    mind.act = lambda request: each_by_itself(request).model_copy(
        update={
            "creates": tuple(
                NewObservation(text="The team drinks tea", source_ids=(fact.id,)) for fact in request.facts
            )
        }
    )
    retain(service, BANK, "They drink tea.")
    consolidate(service, BANK)
    retain(service, BANK, "Nobody knows why something entirely different was written here.")
    done = consolidate(service, BANK)
    (row,) = observations(service, BANK).values()
    assert (len(row["source_ids"]), row["version"]) == (2, 2)
    assert done.result is not None
    assert (done.result["created"], done.result["updated"]) == (0, 1)


def test_what_was_done_before_a_failure_that_passes_stays_done(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *texts_of(4))

    def fails_at_the_third(_request: ConsolidationRequest) -> None:
        if len(mind.asked) == 3:
            raise failing(transient=True)

    mind.before = fails_at_the_third
    retried = consolidate(service, BANK)
    assert (retried.status, retried.retry_count, waiting(service, BANK)) == ("pending", 1, (2, 0))
    assert spent(service) == 11 + 11 + 5
    done = attempt(service, BANK, UUID(retried.operation_id))
    assert (done.status, waiting(service, BANK)) == ("completed", (0, 0))
    assert mind.texts()[3:] == [[text] for text in texts_of(2, start=3)], "what is done is not asked about again"


def spent(service: Service) -> int:
    """Tokens told to have been spent in the bank."""
    with service.database.connection() as connection:
        row = connection.execute("SELECT sum(input_tokens + output_tokens)::int AS tokens FROM usage").fetchone()
    assert row is not None
    return int(row["tokens"])


def test_a_fact_that_fails_is_found_tried_again_and_set_aside(service: Service, mind: ToldConsolidator) -> None:
    retain(service, BANK, *texts_of(8))
    poison = texts_of(1, start=5)[0]

    def fails(request: ConsolidationRequest) -> None:
        if poison in [fact.text for fact in request.facts]:
            raise failing()

    mind.before = fails
    done = consolidate(service, BANK)
    assert (done.status, waiting(service, BANK)) == ("completed", (0, 1))
    assert done.result is not None
    assert (done.result["facts"], done.result["failed"]) == (7, 1)
    assert [len(texts) for texts in mind.texts() if poison in texts] == [8, 4, 2, 1, 1, 1]
    statistics = service.reader.ask(of_bank(BANK))
    assert (statistics.pending, statistics.failed, statistics.last_at is not None) == (0, 1, True)
    mind.before = lambda _request: None
    assert service.observations.recover(context(service), BANK) == 1
    assert consolidate(service, BANK).status == "completed"
    assert (len(observations(service, BANK)), waiting(service, BANK)) == (8, (0, 0))


def test_a_mind_that_answers_the_same_every_time_is_asked_once(service: Service, mind: ToldConsolidator) -> None:
    mind.deterministic = True
    retain(service, BANK, "One.")

    def fails(_request: ConsolidationRequest) -> None:
        raise failing()

    mind.before = fails
    assert consolidate(service, BANK).status == "completed"
    assert (len(mind.asked), waiting(service, BANK)) == (1, (0, 1))


def test_when_no_mind_can_be_asked_at_all_no_fact_is_at_fault(service: Service, mind: ToldConsolidator) -> None:
    retain(service, BANK, *texts_of(8))

    def refuses(_request: ConsolidationRequest) -> None:
        raise failing(replied=False)

    mind.before = refuses
    failed = consolidate(service, BANK)
    assert (failed.status, failed.error_message, waiting(service, BANK)) == ("failed", "no use", (8, 0))
    assert len(mind.asked) < 12, "it gives up soon"


def test_a_fact_that_cannot_be_asked_about_is_at_fault_when_others_can(
    service: Service, mind: ToldConsolidator
) -> None:
    retain(service, BANK, *texts_of(4))
    poison = texts_of(1, start=2)[0]

    def refuses(request: ConsolidationRequest) -> None:
        if poison in [fact.text for fact in request.facts]:
            raise failing(replied=False)

    mind.before = refuses
    assert consolidate(service, BANK).status == "completed"
    assert waiting(service, BANK) == (0, 1)


def test_a_fact_that_is_deleted_while_the_mind_thinks_is_in_no_observation(
    service: Service, mind: ToldConsolidator
) -> None:
    mind.act = all_in_one
    retain(service, BANK, "Ada lives in Rome.", document_id="secret")
    retain(service, BANK, "Ada sings.", document_id="other")

    def deletes(_request: ConsolidationRequest) -> None:
        mind.before = lambda _request: None
        retain(service, BANK, "Bob is new.", document_id="secret")

    mind.before = deletes
    assert consolidate(service, BANK).status == "completed"
    assert set(observations(service, BANK)) == {"Together: Ada sings. / Bob is new."}
    assert waiting(service, BANK) == (0, 0)


def test_an_observation_that_changes_while_the_mind_thinks_is_looked_at_again(
    service: Service, mind: ToldConsolidator
) -> None:
    retain(service, BANK, "Ada drinks tea.", document_id="a")
    consolidate(service, BANK)
    retain(service, BANK, "Ada drinks tea daily.", document_id="b")

    def extend(request: ConsolidationRequest) -> ConsolidationProposal:
        if not request.related:
            return all_in_one(request)
        shown = request.related[0].observation
        update = ChangedObservation(
            observation_id=shown.id, text="Ada drinks tea, daily.", source_ids=tuple(f.id for f in request.facts)
        )
        return ConsolidationProposal(updates=(update,))

    def takes_the_first_back(_request: ConsolidationRequest) -> None:
        mind.before = lambda _request: None
        retain(service, BANK, "Bob drinks milk.", document_id="a")

    mind.act, mind.before = extend, takes_the_first_back
    assert consolidate(service, BANK).status == "completed"
    assert "Ada drinks tea, daily." not in observations(service, BANK)
    assert waiting(service, BANK) == (0, 0)


def test_what_changes_again_and_again_waits_for_another_time(service: Service, mind: ToldConsolidator) -> None:
    retain(service, BANK, "Version 0.", document_id="a")
    retain(service, BANK, "Steady.", document_id="b")

    def changes(_request: ConsolidationRequest) -> None:
        retain(service, BANK, f"Version {len(mind.asked)}.", document_id="a")

    mind.before = changes
    assert consolidate(service, BANK).status == "completed"
    assert len(mind.asked) < 20
    assert waiting(service, BANK)[0] >= 1


def test_what_is_cancelled_goes_no_further(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *texts_of(4))
    asked = service.consolidation_requests.consolidate(context(service), BANK)

    def cancels(_request: ConsolidationRequest) -> None:
        if len(mind.asked) == 2:
            service.operations.cancel(context(service), BANK, asked.operation_id)

    mind.before = cancels
    assert attempt(service, BANK, asked.operation_id).status == "cancelled"
    assert (len(mind.asked), waiting(service, BANK)) == (2, (3, 0))
    assert spent(service) == 22, "also what came too late was paid for"


def test_an_unexpected_error_is_tried_again_and_what_was_done_stays(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *texts_of(3))

    def breaks(_request: ConsolidationRequest) -> None:
        if len(mind.asked) == 2:
            raise ZeroDivisionError("a bug")

    mind.before = breaks
    retried = consolidate(service, BANK)
    assert (retried.status, waiting(service, BANK)) == ("pending", (2, 0))
    assert retried.error_message is not None
    assert "a bug" in retried.error_message
    assert attempt(service, BANK, UUID(retried.operation_id)).status == "completed"


def test_batches_that_share_a_scope_never_run_at_the_same_time(service: Service, mind: ToldConsolidator) -> None:
    """Else two would add the same observation. Those that do not may."""
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=4)
    retain(service, BANK, "Shared one.", "Shared two.", tags=("x",))
    retain(service, BANK, "Alone.", tags=("y",))
    in_scope: list[tuple[str, ...]] = []
    together = Event()

    def watch(request: ConsolidationRequest) -> None:
        assert request.scope not in in_scope
        in_scope.append(request.scope)
        if len(in_scope) == 2:
            together.set()
        assert together.wait(10), "batches of different scopes run side by side"
        in_scope.remove(request.scope)

    mind.before = watch
    assert consolidate(service, BANK).status == "completed"
    assert waiting(service, BANK) == (0, 0)


def test_only_facts_of_the_scopes_asked_for_are_consolidated(service: Service, mind: ToldConsolidator) -> None:
    retain(service, BANK, "Ada sings.", tags=("ada", "loud"))
    retain(service, BANK, "Bob sings.", tags=("bob",))
    asked = service.consolidation_requests.consolidate(context(service), BANK, (("ada",),))
    assert attempt(service, BANK, asked.operation_id).status == "completed"
    assert (mind.texts(), waiting(service, BANK)) == ([["Ada sings."]], (1, 0))


def test_a_second_attempt_after_a_crash_finds_what_is_left(service: Service, mind: ToldConsolidator) -> None:
    """The worker died: its operation is still running, as far as anybody knows."""
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *texts_of(3))
    asked = service.consolidation_requests.consolidate(context(service), BANK)

    class Died(BaseException):
        pass

    def dies(_request: ConsolidationRequest) -> None:
        if len(mind.asked) == 2:
            raise Died

    mind.before = dies
    with pytest.raises(Died):
        service.background.run(BANK, asked.operation_id)
    assert (operation(service, BANK, asked.operation_id).status, waiting(service, BANK)) == ("processing", (2, 0))
    mind.before = lambda _request: None
    assert attempt(service, BANK, asked.operation_id).status == "completed"
    assert len(observations(service, BANK)) == 3


def test_two_workers_at_once_write_nothing_twice(service: Service) -> None:
    """One that was taken for dead goes on: what it comes to is not written again."""
    retain(service, BANK, *texts_of(6))
    asked = service.consolidation_requests.consolidate(context(service), BANK)
    threads = [Thread(target=service.background.run, args=(BANK, asked.operation_id)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (len(observations(service, BANK)), waiting(service, BANK)) == (6, (0, 0))
    (row,) = operations_of(service, BANK)
    assert row.status == "completed"


def test_without_a_mind_for_it_a_consolidation_fails_and_says_so(conninfo: str) -> None:
    with running_service(conninfo) as service:
        observing(service, BANK)
        retain(service, BANK, "One.")
        failed = consolidate(service, BANK)
        assert (failed.status, failed.error_message) == ("failed", "this engine makes no observations")


def test_mind_failures_tell_all_that_was_paid_for(service: Service, mind: ToldConsolidator) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *texts_of(2))

    def fails(_request: ConsolidationRequest) -> None:
        if len(mind.asked) == 2:
            raise MindFailed("quota", reason="unexpected_error", transient=True, resume_at=service.clock.now())

    mind.before = fails
    parked = consolidate(service, BANK)
    assert (parked.status, parked.park_reason, spent(service)) == ("pending", "quota", 11)


def test_work_that_the_end_of_the_process_cuts_off_is_left_to_the_next_worker(
    service: Service, mind: ToldConsolidator, caplog: pytest.LogCaptureFixture
) -> None:
    observing(service, BANK, consolidation_llm_batch_size=1, consolidation_llm_parallelism=1)
    retain(service, BANK, *texts_of(3))
    asked = service.consolidation_requests.consolidate(context(service), BANK)
    mind.before = lambda _request: service.background.stop()
    assert attempt(service, BANK, asked.operation_id).status == "processing"
    assert (len(mind.asked), waiting(service, BANK)) == (1, (3, 0))
    assert [record.levelname for record in caplog.records if record.levelname == "ERROR"] == []
