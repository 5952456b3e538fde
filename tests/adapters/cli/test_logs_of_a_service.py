"""What a running service logs: whose work each line is, and nothing that is secret or that somebody stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.adapters.cli.processes import Running, running
from tests.support.eventually import eventually
from tests.support.instant_llm import instant
from tests.support.scripted_llm import Reply, Request, ScriptedLlm, text, tool_call

WORD = "Quetzalcoatl"
KEY, PASSWORD, TOKEN = "sk-key-of-the-model", "pass-of-the-database", "token-of-a-client"
BANK = "/v1/default/banks/b"


def telling(request: Request) -> Reply:
    """Answers well and with the word; on request with what is no answer, or with an error that quotes all it got."""
    if "REFUSED" in request.text:
        said = {"error": {"message": f"no: {WORD} {KEY} {request.text}"}}
        return Reply(status=400, body=json.dumps(said).encode(), headers={"Content-Type": "application/json"})
    if "BROKEN" in request.text:
        return text(f"{WORD} is no answer")
    if "record_facts" in request.tools:
        return tool_call(
            "record_facts", {"facts": [{"what": f"{WORD} works", "fact_type": "world", "entities": [WORD]}]}
        )
    return instant(request)


def settled(client: httpx.Client) -> Callable[[], bool]:
    def is_so() -> bool:
        listed = [client.get(f"{BANK}/operations?status={each}").json() for each in ("pending", "processing")]
        return not any(each["operations"] for each in listed)

    return is_so


def use(client: httpx.Client, conninfo: str) -> str:
    """Good work, refused work and work that breaks; the id of an operation."""
    item = {"content": f"{WORD} works at Acme.", "document_id": "d"}
    client.post(f"{BANK}/memories", json={"items": [item]}).raise_for_status()
    created = {"id": "m", "name": WORD, "source_query": f"What does {WORD} do?"}
    operation_id: str = client.post(f"{BANK}/mental-models", json=created).json()["operation_id"]
    client.post(f"{BANK}/memories", json={"items": [{"content": f"{WORD} REFUSED."}]})
    client.post(f"{BANK}/memories", json={"items": [{"content": f"{WORD} BROKEN."}], "async": True})
    client.post(f"{BANK}/reflect", json={"query": f"{WORD} BROKEN?"})
    client.post(f"{BANK}/memories/recall", json={"query": WORD})
    client.get(f"{BANK}/memories/list", params={"q": WORD})
    client.get(f"{BANK}/entities/{WORD}")
    client.post(
        f"{BANK}/memories", content=f'{{"items": "{WORD}'.encode(), headers={"Content-Type": "application/json"}
    )
    eventually(settled(client), timeout=30)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("ALTER TABLE memory_documents ADD CONSTRAINT none CHECK (text = 'nothing') NOT VALID")
    broken = client.post(f"{BANK}/memories", json={"items": [{"content": f"{WORD} broke.", "document_id": "e"}]})
    assert broken.status_code == 500
    client.post(f"{BANK}/memories", json={"items": [{"content": f"{WORD} broke."}], "async": True})
    eventually(settled(client), timeout=30)
    return operation_id


def entries(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("level", ["debug", "WARNING"])
def test_no_line_tells_a_secret_or_what_somebody_stored(conninfo: str, folder: Path, level: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "X-Request-Id": "request-of-mine"}
    settings = {
        "DATABASE_URL": f"{conninfo} password={PASSWORD}",
        "PALIMPSEST_LLM_API_KEY": KEY,
        "PALIMPSEST_LLM_MODEL": "m",
        "PALIMPSEST_LOG_FORMAT": "json",
        "PALIMPSEST_LOG_LEVEL": level,
        "PALIMPSEST_WORKER_MAX_RETRIES": "0",
        "OPENAI_LOG": "debug",
    }
    with (
        ScriptedLlm(fallback=telling) as llm,
        running(folder, "serve", "--port", "0", PALIMPSEST_LLM_BASE_URL=llm.base_url, **settings) as service,
    ):
        with httpx.Client(base_url=service.address, headers=headers, timeout=30) as client:
            operation_id = use(client, conninfo)
        assert_all_is_told(service, level, operation_id)
    written = service.log.read_text()
    for secret in (WORD, WORD.lower(), KEY, PASSWORD, TOKEN):
        assert secret not in written, [line for line in written.splitlines() if secret in line]


def assert_all_is_told(service: Running, level: str, operation_id: str) -> None:
    told = entries(service.log)
    broken = [each for each in told if "exception" in each]
    assert any("CheckViolation: SQLSTATE 23514 at none" in each["exception"] for each in broken)
    by_request = [each for each in told if each["message"].startswith("unexpected error ")]
    assert {each["request_id"] for each in by_request} == {"request-of-mine"}
    failed = [each for each in broken if "operation_id" in each]
    assert failed, "an attempt that broke off tells whose it was"
    assert {each["bank_id"] for each in failed} == {"b"}
    assert any(each["message"].startswith("a model failed: ") and each["request_id"] for each in told)
    if level == "debug":
        of_operation = [each["message"] for each in told if each.get("operation_id") == operation_id]
        assert of_operation[0] == "refresh_mental_model begins, attempt 1"
        assert of_operation[-1].startswith("refresh_mental_model ended after ")
        access = [each for each in told if each["logger"] == "adapters.http.request_watch"]
        assert any(each["message"].startswith("POST /v1/default/banks/{bank_id}/memories 200 ") for each in access)
        assert {each["bank_id"] for each in access if "{bank_id}" in each["message"]} == {"b"}
    else:
        assert {each["level"] for each in told} <= {"warning", "error"}


def test_a_level_that_there_is_not_is_told(folder: Path) -> None:
    with (
        pytest.raises(AssertionError, match=r"PALIMPSEST_LOG_LEVEL"),
        running(folder, "serve", PALIMPSEST_LOG_LEVEL="loud", PALIMPSEST_DATA_DIR=str(folder / "data")),
    ):
        pass
