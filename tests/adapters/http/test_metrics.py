"""Metrics as Prometheus reads them: over HTTP, parsed by its own parser."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from prometheus_client.parser import text_string_to_metric_families

from adapters.http import metrics
from application.command_handler import OPERATION, CommandHandler, Step, operation_stream
from application.ports import MindFailed
from domain.event import Context
from domain.operation import ParkOperation
from tests.adapters.http.told_minds import Told
from tests.support.examples import call
from tests.support.services import context

Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "KEPT_SECONDS", 0.0)
    monkeypatch.setattr(metrics, "KEPT_TIMES", 0.0)


def scrape(told: Told) -> Samples:
    answer = told.bank.client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    found: Samples = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.name.startswith("palimpsest_")
        assert family.documentation.endswith(".")
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels not in found.setdefault(sample.name, {})
            found[sample.name][labels] = sample.value
    return found


def value(samples: Samples, metric: str, /, **labels: str) -> float | None:
    return samples.get(metric, {}).get(tuple(sorted(labels.items())))


def test_documents_are_counted_that_are_stale_and_that_are_paused(told: Told) -> None:
    told.bank.retain("Ada Lovelace works at Acme.")
    told.defines("ada")
    told.creates("bob")
    samples = scrape(told)
    assert value(samples, "palimpsest_banks") == 1
    assert value(samples, "palimpsest_mental_models") == 2
    assert value(samples, "palimpsest_mental_models_stale") == 1
    assert value(samples, "palimpsest_mental_models_paused") == 0
    assert value(samples, "palimpsest_memory_facts") == 1
    assert value(samples, "palimpsest_consolidation_facts", status="waiting") == 1
    assert value(samples, "palimpsest_consolidation_facts", status="failed") == 0
    assert value(samples, "palimpsest_memory_documents") == 1
    assert (value(samples, "palimpsest_database_size_bytes") or 0) > 1_000_000

    told.policy.fails = MindFailed("the key was refused (401)", reason="unexpected_error", transient=False)
    told.work()
    samples = scrape(told)
    assert value(samples, "palimpsest_mental_models_paused") == 1
    failed = {"outcome": "refresh_failed_error", "failure_reason": "unexpected_error"}
    assert value(samples, "palimpsest_refresh_outcomes_today", **failed) == 1
    assert value(samples, "palimpsest_refresh_outcomes_today", outcome="content_written", failure_reason="") == 1


def test_operations_are_counted_that_wait_that_are_parked_and_that_ended(told: Told) -> None:
    told.bank.retain("Ada Lovelace works at Acme.")
    told.creates("ada")
    (first,) = told.bank.get("/operations")["operations"]
    kind = first["operation_type"]
    samples = scrape(told)
    assert value(samples, "palimpsest_operations", type=kind, status="pending") == 1
    assert (value(samples, "palimpsest_queue_oldest_due_seconds") or 0) > 0

    until = told.service.clock.now() + timedelta(hours=1)
    _goes_on(told, ParkOperation(told.bank.bank_id, UUID(first["id"]), until, "quota"))
    samples = scrape(told)
    assert value(samples, "palimpsest_operations_parked", reason="quota") == 1
    assert value(samples, "palimpsest_queue_oldest_due_seconds") == 0, "one that waits for a time is not late"

    told.bank.ask("DELETE", f"/operations/{first['id']}")
    samples = scrape(told)
    assert value(samples, "palimpsest_operations", type=kind, status="pending") is None
    assert value(samples, "palimpsest_operations_ended_today", type=kind, status="cancelled") == 1


def _goes_on(told: Told, command: ParkOperation) -> None:
    handler = CommandHandler(told.service.log, told.service.database)
    stream = operation_stream(command.bank_id, command.operation_id)
    handler.execute(Context("worker", told.service.clock.now(), cause="test"), Step(OPERATION, stream, command))


def test_what_models_cost_today_is_told_by_purpose_and_model(told: Told) -> None:
    told.service.request_costs.record(context(told.service), "b", "recall", (call("embed", 5, 0), call("embed", 6, 0)))
    samples = scrape(told)
    labels = {"purpose": "embed", "model": "scripted"}
    assert value(samples, "palimpsest_model_calls_today", **labels) == 2
    assert value(samples, "palimpsest_model_input_tokens_today", **labels) == 11
    assert value(samples, "palimpsest_model_output_tokens_today", **labels) == 0


def test_requests_are_counted_by_their_route_and_never_by_their_path(told: Told) -> None:
    told.bank.retain("Ada Lovelace works at Acme.")
    told.bank.ask("GET", "/mental-models/nobody")
    told.bank.client.get("/no/such/path")
    told.bank.client.request("PROPFIND", "/health/live")
    samples = scrape(told)
    requests = samples["palimpsest_http_requests_total"]
    route = "/v1/default/banks/{bank_id}/mental-models/{mental_model_id}"
    counted = {tuple(dict(labels)[name] for name in ("method", "route", "status")): n for labels, n in requests.items()}
    assert counted["GET", route, "404"] == 1
    assert counted["GET", "unmatched", "404"] == 1
    assert counted["POST", "/v1/default/banks/{bank_id}/memories", "200"] == 1
    assert {method for method, _, _ in counted} == {"GET", "POST", "other"}
    assert told.bank.bank_id not in told.bank.client.get("/metrics").text
    seconds = samples["palimpsest_http_request_duration_seconds_count"]
    assert seconds[("method", "GET"), ("route", route)] == 1


def test_a_read_model_that_was_set_aside_can_be_alerted_on(told: Told) -> None:
    with told.service.database.connection() as connection:
        connection.execute("UPDATE read_models SET set_aside_at = now(), error = 'no' WHERE name = 'timeline'")
    samples = scrape(told)
    assert value(samples, "palimpsest_read_model_set_aside", name="timeline") == 1
    assert value(samples, "palimpsest_read_model_set_aside", name="documents") == 0


def test_looks_of_the_scheduler_and_requests_to_models_are_those_of_the_process(told: Told) -> None:
    told.service.scheduler.counts["queued"] += 3
    told.service.metrics.model_asked("reflect_2", "m", 0.3, failed=False, input_tokens=7, output_tokens=2)
    told.service.metrics.model_asked("reflect_3", "m", 0.3, failed=True)
    samples = scrape(told)
    assert value(samples, "palimpsest_scheduler_looks_total", outcome="queued") == 3
    for outcome in ("answered", "failed"):
        labels = {"purpose": "reflect", "model": "m", "outcome": outcome}
        assert value(samples, "palimpsest_model_requests_total", **labels) == 1
    assert value(samples, "palimpsest_model_request_duration_seconds_count", purpose="reflect", model="m") == 2
    for direction, tokens in (("input", 7), ("output", 2)):
        labels = {"purpose": "reflect", "model": "m", "direction": direction}
        assert value(samples, "palimpsest_model_tokens_total", **labels) == tokens


def test_the_database_is_not_asked_again_at_once(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "KEPT_SECONDS", 60.0)
    assert value(scrape(told), "palimpsest_mental_models") == 0
    told.creates("ada")
    assert value(scrape(told), "palimpsest_mental_models") == 0


def test_without_its_database_the_process_tells_its_own(told: Told) -> None:
    assert value(scrape(told), "palimpsest_database_up") == 1
    with told.service.database.connection() as connection:
        connection.execute("ALTER TABLE read_models RENAME TO gone")
    samples: Any = scrape(told)
    assert value(samples, "palimpsest_database_up") == 0
    assert value(samples, "palimpsest_worker_up") == 0
    assert "palimpsest_mental_models" not in samples
    assert samples["palimpsest_http_requests_total"]
