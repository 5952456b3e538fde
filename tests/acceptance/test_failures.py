"""What a client is told when the service, a model or the database fails: a status and a detail, never a traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import uuid4

import httpx
import psycopg
import pytest
from psycopg import sql

from adapters.app import build
from adapters.engines import Minds
from adapters.offline.editor import OfflineDocumentEditor
from adapters.service import Service, opened
from adapters.settings import Settings
from application.ports import Extraction, MindFailed, RetainSteering
from domain.memory import Chunk, RetainItem
from tests.support.eventually import eventually
from tests.support.live_server import live_server
from tests.support.rest import RestBank, assert_refused
from tests.support.services import AnsweringPolicy

TEXT = "Ada Lovelace works at Acme."
ITEMS = {"items": [{"content": TEXT}]}


class FailingExtractor:
    """A reader of facts that raises what it is told to."""

    rereads = False

    def __init__(self) -> None:
        self.raises: Exception = MindFailed("not set", reason="unexpected_error", transient=False)

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        assert (item.content, steering.mission, now.tzinfo) == (TEXT, None, UTC)
        assert chunks is not None
        assert [chunk.text for chunk in chunks] == [TEXT]
        raise self.raises

    def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
def extractor() -> FailingExtractor:
    return FailingExtractor()


@pytest.fixture
def service(conninfo: str, extractor: FailingExtractor) -> Iterator[Service]:
    minds = Minds(extractor, AnsweringPolicy(), OfflineDocumentEditor())
    with opened(build(Settings(_env_file=None), conninfo, minds=minds)) as service:
        yield service


@pytest.fixture
def bank(service: Service) -> Iterator[RestBank]:
    with live_server(service) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield RestBank(client, f"bank-{uuid4().hex[:8]}")


def test_a_model_that_may_work_later_is_503_and_one_that_will_not_is_502(
    bank: RestBank, extractor: FailingExtractor
) -> None:
    extractor.raises = MindFailed("the endpoint answered 429", reason="unexpected_error", transient=True)
    later = bank.ask("POST", "/memories", json=ITEMS)
    assert_refused(later, 503, "the endpoint answered 429", "later")
    assert later.headers["retry-after"] == "1"
    extractor.raises = MindFailed(
        "the endpoint answered 401: check the API key", reason="unexpected_error", transient=False
    )
    assert_refused(bank.ask("POST", "/memories", json=ITEMS), 502, "check the API key")
    assert_refused(bank.ask("GET", "/stats"), 404), "nothing was written, not even the bank"


def test_an_unexpected_error_is_told_by_a_reference_that_the_log_explains(
    bank: RestBank, extractor: FailingExtractor, caplog: pytest.LogCaptureFixture
) -> None:
    extractor.raises = ZeroDivisionError("secret detail")
    with caplog.at_level(logging.ERROR):
        failed = bank.ask("POST", "/memories", json=ITEMS)
    assert_refused(failed, 500, "Unexpected error")
    assert "secret" not in failed.text
    reference = failed.json()["detail"].split()[-1]
    (record,) = [record for record in caplog.records if reference in record.getMessage()]
    assert record.exc_info is not None
    assert record.exc_info[0] is ZeroDivisionError


def test_a_read_model_that_was_set_aside_is_named_with_its_cure(service: Service, bank: RestBank) -> None:
    with service.database.connection() as connection:
        connection.execute("UPDATE read_models SET set_aside_at = now(), error = 'broken' WHERE name = 'timeline'")
    ready = bank.client.get("/health/ready")
    assert ready.status_code == 503
    (reason,) = ready.json()["reasons"]
    assert "'timeline'" in reason
    assert "palimpsest rebuild timeline" in reason
    assert ready.json()["database"] == "connected"
    assert bank.client.get("/health/live").status_code == 200


def test_without_its_database_the_service_says_so_and_recovers_by_itself(
    service: Service, bank: RestBank, server: str
) -> None:
    model = {"id": "ada", "name": "Ada", "source_query": "Who is Ada?"}
    bank.finished(bank.post("/mental-models", model)["operation_id"])
    _refuse_connections(server, service.conninfo, refuse=True)
    down = bank.client.get("/health/ready")
    assert down.status_code == 503
    assert down.json()["database"] == "unreachable"
    refused = bank.ask("GET", "/mental-models/ada")
    assert_refused(refused, 503, "in a moment")
    assert refused.headers["retry-after"] == "1"
    assert bank.client.get("/health/live").status_code == 200
    _refuse_connections(server, service.conninfo, refuse=False)
    eventually(lambda: bank.client.get("/health/ready").status_code == 200, timeout=15)
    assert bank.get("/mental-models/ada")["id"] == "ada"
    operation = bank.finished(bank.post("/mental-models/ada/refresh")["operation_id"])
    assert operation["status"] == "completed", "the worker came back too"


def _refuse_connections(server: str, conninfo: str, *, refuse: bool) -> None:
    """Ends all connections to a database and lets no new ones in, as when it restarts; or lets them in again."""
    name = str(psycopg.conninfo.conninfo_to_dict(conninfo)["dbname"])
    with psycopg.connect(server, autocommit=True) as connection:
        allowed = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        connection.execute(allowed.format(sql.Identifier(name), sql.Literal(not refuse)))
        if refuse:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
