"""A response schema at fault is refused when it is sent, and the answer names the place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.rest import RestBank

VALID = {
    "type": "object",
    "properties": {
        "team": {"type": "array", "items": {"$ref": "#/$defs/Member", "description": "One of them."}, "maxItems": 5},
        "since": {"type": ["integer", "null"]},
    },
    "required": ["team"],
    "$defs": {
        "Member": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "reports": {"type": "array", "items": {"$ref": "#/$defs/Member"}},
            },
        }
    },
}


@pytest.fixture(scope="module")
def bank(shared_conninfo: str) -> Iterator[RestBank]:
    settings = Settings(_env_file=None)
    with (
        opened(build(settings, shared_conninfo)) as service,
        live_server(service) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield RestBank(client, "schemas")


def model(response_schema: Any) -> dict[str, Any]:
    return {"id": "team", "name": "Team", "source_query": "Who?", "trigger": {"response_schema": response_schema}}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "array"}, "response_schema.type: must be 'object' or absent"),
        ({"properties": {}}, "response_schema.properties: must be a non-empty object"),
        (
            {"properties": {"team": {"type": "array", "items": {"type": "person"}}}},
            "response_schema.properties.team.items.type: must be one of array, boolean",
        ),
        (
            {"properties": {"team": {"$ref": "https://example.org/team.json"}}},
            "response_schema.properties.team.$ref: must refer to a part of this schema",
        ),
        ({"properties": {"team": {}}, "required": ["lead"]}, "response_schema.required: must be a list of names"),
        ({"properties": {"team": {"maxItems": "3"}}}, "response_schema.properties.team.maxItems: '3' is not of type"),
    ],
)
def test_so_03_an_invalid_schema_is_refused_with_its_path(bank: RestBank, schema: Any, told: str) -> None:
    answer = bank.ask("POST", "/mental-models", json=model(schema))
    assert answer.status_code == 422
    (detail,) = answer.json()["detail"]
    assert detail["loc"] == ["body", "trigger", "response_schema"]
    assert detail["msg"].startswith(told)


def test_so_03_a_valid_nested_schema_is_kept_verbatim_and_guarded_on_change(bank: RestBank) -> None:
    assert bank.ask("POST", "/mental-models", json=model(VALID)).status_code == 200
    path = "/mental-models/team"
    assert bank.get(path)["trigger"]["response_schema"] == VALID

    refused = bank.ask("PATCH", path, json={"trigger": {"response_schema": {"properties": {"a": {"enum": []}}}}})
    assert refused.status_code == 422
    assert "response_schema.properties.a.enum: must not be empty" in refused.text
    assert bank.get(path)["trigger"]["response_schema"] == VALID
