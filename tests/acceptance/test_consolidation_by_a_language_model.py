"""A language model says what facts come to, over real HTTP: once, paid for once, and only what it was shown counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import scripted_llm as script
from tests.support.rest import RestBank
from tests.support.scripted_pages import Page, ScriptedService, scripted_service


@pytest.fixture(scope="module")
def retrying(shared_conninfo: str) -> Iterator[ScriptedService]:
    with scripted_service(shared_conninfo, consolidates=True, worker_max_retries=2) as service:
        yield service


@pytest.fixture
def page(retrying: ScriptedService) -> Iterator[Page]:
    yield retrying.page()
    unused, unexpected = retrying.llm.unused, list(retrying.llm.unexpected)
    retrying.llm.forget()
    assert (unused, unexpected) == (0, [])


@pytest.fixture
def bank(page: Page) -> RestBank:
    """A bank that makes observations when it is asked to."""
    bank: RestBank = page.bank
    bank.ask("PUT", json={})
    bank.patch("/config", {"updates": {"enable_observations": True, "enable_auto_consolidation": False}})
    return bank


def consolidated(bank: RestBank) -> Any:
    return bank.finished(bank.post("/consolidate")["operation_id"])


def create(text: str, *facts: str) -> dict[str, Any]:
    return {"op": "create", "text": text, "facts": list(facts)}


def observed(bank: RestBank) -> list[str]:
    found = bank.post("/memories/recall", {"query": "Ada", "types": ["observation"]})["results"]
    return sorted(each["text"] for each in found)


def test_what_a_model_says_of_facts_is_observed_and_counted(bank: RestBank, retrying: ScriptedService) -> None:
    bank.retain("Ada works at Acme.", "Ada leads the team at Acme.")
    retrying.llm.script(script.changes(create("Ada leads a team at Acme, where she works.", "f1", "f2")))
    done = consolidated(bank)
    assert done["status"] == "completed"
    result = done["result_metadata"]
    assert (result["facts"], result["created"]) == (2, 1)
    assert [call["purpose"] for call in result["calls"] if call["purpose"] != "embed"], "the call is on record"
    assert observed(bank) == ["Ada leads a team at Acme, where she works."]


def test_a_failure_that_passes_is_tried_again_and_nothing_is_lost(bank: RestBank, retrying: ScriptedService) -> None:
    bank.retain("Ada works at Acme.")
    retrying.llm.script(script.too_many_requests(), script.changes(create("Ada is with Acme.", "f1")))
    assert consolidated(bank)["status"] == "completed"
    assert observed(bank) == ["Ada is with Acme."]


def test_rejected_keys_set_no_fact_aside(bank: RestBank, retrying: ScriptedService) -> None:
    bank.retain("Ada works at Acme.")
    retrying.llm.script(script.unauthorized())
    assert consolidated(bank)["status"] == "failed"
    stats = bank.get("/stats")
    assert (stats["pending_consolidation"], stats["failed_consolidation"]) == (1, 0)
