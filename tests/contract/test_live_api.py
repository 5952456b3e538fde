"""The live API under requests made from its own OpenAPI document, right ones and wrong ones: no error of the service,
and no status, type or body that the document does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.our_openapi import our_openapi
from tests.support.rest import RestBank

# the server is a thread of this process, and draws random numbers while requests are made up
pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")

EXAMPLES = 5
LEAF = "#/components/schemas/TagLeaf"
ANSWERS = (
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)


def without_groups_in_groups(schema: Any) -> Any:
    """The document with groups of tags that are plain: else most requests would be about groups in groups in groups."""
    if isinstance(schema, list):
        return [without_groups_in_groups(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if {"$ref": LEAF} in schema.get("anyOf", schema.get("oneOf", ())):
        return {"$ref": LEAF}
    return {name: without_groups_in_groups(part) for name, part in schema.items()}


schema = schemathesis.openapi.from_dict(
    without_groups_in_groups(our_openapi()),
    config=SchemathesisConfig.from_dict(
        {"generation": {"deterministic": True}, "phases": {"coverage": {"unexpected-methods": []}}}
    ),
)


@pytest.fixture(scope="module")
def service(shared_conninfo: str) -> Iterator[Service]:
    with opened(build(Settings(_env_file=None, worker_retry_seconds=0), shared_conninfo)) as service:
        yield service


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[httpx.Client]:
    with live_server(service) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


class Banks:
    """A bank for each operation to try itself out on; those that only read share one."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._known: dict[str, dict[str, Any]] = {}

    def known(self, operation: Any) -> dict[str, Any]:
        """The names of what there is in its bank, by the parameters that take them."""
        key = operation.label if operation.method.upper() != "GET" else "GET"
        if key not in self._known:
            self._known[key] = self._made()
        return self._known[key]

    def _made(self) -> dict[str, Any]:
        bank = RestBank(self._client, f"bank-{uuid4().hex[:12]}")
        bank.ask("PUT", json={"enable_observations": True})
        bank.retain("Ada Lovelace works at Acme.", document_id="d1")
        page = bank.post("/knowledge-base/pages", {"name": "Ada", "source_query": "Who is Ada?"})["page_id"]
        refresh = bank.post("/mental-models", {"id": "ada", "name": "Ada", "source_query": "Who is Ada?"})
        memory = bank.get("/memories/list", type="world")["items"][0]
        return {
            "bank_id": bank.bank_id,
            "mental_model_id": "ada",
            "page_id": page,
            "node_id": page,
            "operation_id": refresh["operation_id"],
            "directive_id": bank.post("/directives", {"name": "Short", "content": "Be short."})["id"],
            "memory_id": memory["id"],
            "chunk_id": memory["chunk_id"],
            "document_id": "d1",
            "entity_id": bank.get("/entities")["items"][0]["id"],
            "version": 1,
        }


@pytest.fixture(scope="module")
def banks(client: httpx.Client) -> Banks:
    return Banks(client)


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_document_tells(
    case: Any, client: httpx.Client, session: requests.Session, banks: Banks
) -> None:
    known = banks.known(case.operation)
    for name in case.path_parameters or {}:
        if name in known:
            case.path_parameters[name] = known[name]
    response = case.call(base_url=str(client.base_url), session=session, timeout=60)
    case.validate_response(response, checks=list(ANSWERS))
