"""A worker tells Prometheus and whoever looks after it how it is."""

from __future__ import annotations

from pathlib import Path

import httpx
import psycopg
from prometheus_client.parser import text_string_to_metric_families

from tests.adapters.cli.processes import running
from tests.support.eventually import eventually
from tests.support.services import define, retain, running_service


def samples(address: str) -> dict[tuple[str, str], float]:
    """By name and the labels' values, joined."""
    answer = httpx.get(f"{address}/metrics", timeout=10)
    answer.raise_for_status()
    return {
        (sample.name, " ".join(sorted(sample.labels.values()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def test_a_worker_tells_what_it_did_and_whether_it_can_work(conninfo: str, folder: Path) -> None:
    with running_service(conninfo) as service:
        retain(service, "b", "Ada Lovelace works at Acme.")
        define(service, "b", "acme")
    with running(folder, "worker", "--metrics-port", "0", DATABASE_URL=conninfo) as worker:
        attempts = ("palimpsest_operation_attempts_total", "ended refresh_mental_model")
        eventually(lambda: samples(worker.address).get(attempts) == 1, timeout=30)
        told = samples(worker.address)
        assert told["palimpsest_operation_attempt_duration_seconds_count", "refresh_mental_model"] == 1
        assert told["palimpsest_worker_up", ""] == told["palimpsest_database_up", ""] == 1
        for path in ("/health", "/health/ready"):
            ready = httpx.get(worker.address + path)
            assert (ready.status_code, ready.json()["status"], ready.json()["worker"]) == (200, "ready", "running")
        assert httpx.get(f"{worker.address}/health/live").status_code == 200
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("ALTER TABLE read_models RENAME TO gone")
        unready = httpx.get(f"{worker.address}/health/ready")
        assert (unready.status_code, unready.json()["reasons"]) == (503, ["the database does not answer"])
        assert samples(worker.address)["palimpsest_database_up", ""] == 0


def test_a_worker_listens_nowhere_unless_it_is_told(conninfo: str, folder: Path) -> None:
    with running(folder, "worker", DATABASE_URL=conninfo) as worker:
        assert worker.address == ""
