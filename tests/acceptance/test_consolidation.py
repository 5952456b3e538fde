"""From what was retained to observations, and to documents that read them, over real HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.eventually import eventually
from tests.support.live_server import live_server
from tests.support.rest import RestBank, assert_refused


@pytest.fixture(scope="module")
def observing(shared_conninfo: str) -> Iterator[httpx.Client]:
    """A client of a service that needs no model, whose banks make observations: as they do when nobody says else."""
    with (
        pytest.MonkeyPatch.context() as environment,
        opened(_service(environment, shared_conninfo)) as service,
        live_server(service) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield client


def _service(environment: pytest.MonkeyPatch, conninfo: str) -> Any:
    environment.delenv("PALIMPSEST_ENABLE_OBSERVATIONS")
    return build(Settings(_env_file=None, worker_retry_seconds=0), conninfo)


@pytest.fixture
def bank(observing: httpx.Client) -> RestBank:
    return RestBank(observing, f"bank-{uuid4().hex[:12]}")


def consolidated(bank: RestBank) -> Any:
    """The statistics of the bank once nothing waits."""

    def done() -> Any:
        stats = bank.get("/stats")
        ended = not stats["pending_consolidation"] and not stats["pending_operations"]
        return stats if ended and stats["last_consolidated_at"] else None

    return eventually(done, timeout=20)


def recalled(bank: RestBank, query: str, **more: Any) -> list[Any]:
    results = bank.post("/memories/recall", {"query": query, "types": ["observation"], **more})["results"]
    assert isinstance(results, list)
    return results


def test_what_was_retained_becomes_an_observation_and_a_document_once(bank: RestBank) -> None:
    bank.model("ada", trigger={"refresh_after_consolidation": True, "fact_types": ["observation"]})
    bank.retain("Ada works at Acme. Ada lives in Prague.", tags=[])
    stats = consolidated(bank)
    assert (stats["pending_consolidation"], stats["failed_consolidation"]) == (0, 0)
    assert stats["total_observations"] == stats["nodes_by_fact_type"]["observation"] > 0
    found = recalled(bank, "Where does Ada work?")
    assert any("Acme" in each["text"] for each in found)
    document = eventually(lambda: _written(bank, "ada"), timeout=20)
    assert "Acme" in document["content"]
    assert not document["is_stale"]
    refreshes = bank.get("/operations", type="refresh_mental_model")["operations"]
    assert len(refreshes) == 2, "one when it was made, one at the end of the consolidation"


def _written(bank: RestBank, model: str) -> Any:
    document = bank.get(f"/mental-models/{model}")
    return document if document["content"] else None


def test_what_is_said_again_strengthens_what_was_observed_and_its_history_tells(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", document_id="one")
    consolidated(bank)
    (first,) = recalled(bank, "Where does Ada work?")
    bank.retain("Ada works at Acme.", document_id="two")
    consolidated(bank)
    (second,) = recalled(bank, "Where does Ada work?")
    assert (second["id"], second["text"]) == (first["id"], first["text"])
    (change,) = bank.get(f"/memories/{first['id']}/history")
    assert (change["version"], change["previous_text"]) == (2, first["text"])
    assert [fact["text"] for fact in change["source_facts"]] == ["Ada works at Acme."]


def test_the_last_fifty_changes_of_an_observation_are_told(bank: RestBank) -> None:
    bank.ask("PUT", json={})
    bank.patch("/config", {"updates": {"consolidation_llm_batch_size": 1}})
    said = [{"content": "Ada works at Acme.", "document_id": f"d{number}"} for number in range(53)]
    bank.post("/memories", {"items": said})
    consolidated(bank)
    (found,) = recalled(bank, "Where does Ada work?")
    changes = bank.get(f"/memories/{found['id']}/history")
    assert [change["version"] for change in changes] == list(range(53, 3, -1))


def test_an_observation_goes_with_what_it_rests_on(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", document_id="one")
    consolidated(bank)
    bank.retain("Bob lives in Paris.", document_id="one")
    consolidated(bank)
    assert recalled(bank, "Where does Ada work at Acme?") == [] or all(
        "Acme" not in each["text"] for each in recalled(bank, "Where does Ada work at Acme?")
    )


def test_ws_04_only_documents_of_the_scope_become_stale_and_all_surfaces_agree(bank: RestBank) -> None:
    """WS-04: a write under tag b, consolidated, leaves the document of tag a fresh; after its refresh none is stale."""
    bank.retain("Ada works at Acme.", tags=["a"])
    bank.retain("Ada lives in Prague.", tags=["b"])
    consolidated(bank)
    for tag in ("a", "b"):
        bank.model(tag, tags=[tag])
    assert staleness(bank) == {"a": False, "b": False}
    bank.retain("Ada swims in Brno.", tags=["b"])
    consolidated(bank)
    assert staleness(bank) == {"a": False, "b": True}
    bank.refreshed("b")
    assert staleness(bank) == {"a": False, "b": False}


def staleness(bank: RestBank) -> dict[str, bool]:
    """Which documents are stale, as the list and each single document say alike."""
    listed = {each["id"]: each["is_stale"] for each in bank.get("/mental-models")["items"]}
    assert listed == {each: bank.get(f"/mental-models/{each}")["is_stale"] for each in listed}
    return listed


def test_what_waits_to_be_consolidated_makes_documents_stale_that_will_read_it(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"enable_auto_consolidation": False}})
    bank.model("observed", trigger={"fact_types": ["observation"]})
    bank.model("raw", trigger={"fact_types": ["world"]})
    bank.retain("Ada works at Acme.")
    bank.refreshed("raw")
    assert staleness(bank) == {"observed": True, "raw": False}
    assert bank.get("/mental-models/observed")["stale_reasons"] == ["pending_consolidation"]
    bank.patch("/config", {"updates": {"enable_observations": False}})
    assert staleness(bank) == {"observed": False, "raw": False}


def test_rs_12_documents_are_written_after_the_first_consolidation(bank: RestBank) -> None:
    """RS-12: five documents of an empty bank do not refresh before there is anything; each does once there is."""
    models = [f"m{number}" for number in range(5)]
    trigger = {"refresh_after_consolidation": True, "fact_types": ["observation"]}
    for model in models:
        bank.model(model, trigger=trigger)
    before = bank.get("/operations", type="refresh_mental_model", limit=100)["total"]
    items = [{"content": f"Ada met {name} at Acme."} for name in ("Bob", "Eve", "Dan")]
    for item in items:
        bank.post("/memories", {"items": [item], "async": True})
    consolidated(bank)
    for model in models:
        document = eventually(lambda model=model: _written(bank, model), timeout=20)
        assert "Acme" in document["content"]
    eventually(lambda: not bank.get("/stats")["pending_operations"] or None, timeout=20)
    after = bank.get("/operations", type="refresh_mental_model", limit=100)["total"]
    assert before == 5
    assert after - before <= 3 * len(models), "one for the end of each consolidation at most"


def test_a_consolidation_can_be_asked_for(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"enable_auto_consolidation": False}})
    bank.retain("Ada works at Acme.", tags=["a"])
    bank.retain("Bob lives in Paris.", tags=["b"])
    asked = bank.post("/consolidate", {"observation_scopes": [["a"]]})
    assert asked["deduplicated"] is False
    done = bank.finished(asked["operation_id"])
    assert (done["operation_type"], done["status"], done["result_metadata"]["facts"]) == (
        "consolidation",
        "completed",
        1,
    )
    assert bank.get("/stats")["pending_consolidation"] == 1
    bank.finished(bank.post("/consolidate")["operation_id"])
    assert bank.get("/stats")["pending_consolidation"] == 0
    assert bank.get("/observations/scopes") == {
        "scopes": [{"tags": ["a"], "count": 1}, {"tags": ["b"], "count": 1}],
        "total": 2,
        "limit": 100,
        "offset": 0,
    }
    assert bank.post("/consolidation/recover") == {"retried_count": 0}


def test_observations_can_be_cleared_all_or_those_of_one_memory(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"enable_auto_consolidation": False}})
    bank.retain("Ada works at Acme.", "Bob lives in Paris.")
    bank.finished(bank.post("/consolidate")["operation_id"])
    facts = bank.post("/memories/recall", {"query": "Where does Ada work?", "types": ["world"]})["results"]
    ada = next(fact["id"] for fact in facts if "Acme" in fact["text"])
    assert bank.ask("DELETE", f"/memories/{ada}/observations").json() == {"deleted_count": 1}
    assert bank.get("/stats")["pending_consolidation"] == 1
    assert bank.get(f"/memories/{ada}/history") == []
    cleared = bank.ask("DELETE", "/observations").json()
    assert (cleared["success"], cleared["deleted_count"]) == (True, 1)
    assert bank.get("/stats")["pending_consolidation"] == 2
    assert bank.get("/stats")["total_observations"] == 0


def test_bad_requests_are_said_to_be_so(bank: RestBank) -> None:
    for method, path in [
        ("POST", "/consolidate"),
        ("POST", "/consolidation/recover"),
        ("DELETE", "/observations"),
        ("GET", "/observations/scopes"),
        ("DELETE", f"/memories/{uuid4()}/observations"),
        ("GET", "/memories/no-id/history"),
    ]:
        assert_refused(bank.ask(method, path), 404, bank.bank_id)
    bank.retain("Ada works at Acme.")
    assert_refused(bank.ask("GET", f"/memories/{uuid4()}/history"), 404, "Memory")
    assert_refused(bank.ask("DELETE", "/memories/no-id/observations"), 404, "no-id")
    assert_refused(bank.ask("POST", "/consolidate", json={"observation_scopes": "all"}), 422, "observation_scopes")
    assert_refused(bank.ask("POST", "/consolidate", json={"observation_scopes": [[""]]}), 422, "observation_scopes")
    assert_refused(bank.ask("GET", "/observations/scopes", params={"limit": -1}), 422, "limit")
    bank.patch("/config", {"updates": {"enable_observations": False}})
    assert_refused(bank.ask("POST", "/consolidate"), 400, "enable_observations")


def test_strategies_can_be_tried_out(bank: RestBank) -> None:
    bank.retain("Ada works at Acme.", tags=["user:1"])
    bank.retain("Bob lives in Paris.", tags=["team"])
    consolidated(bank)
    strategies = [
        {"scopes": [{"tags": ["user:*"]}, {"tags": []}], "max_observations_per_scope": 3},
        {"scopes": [{"tags": ["*"]}], "observations_mission": "all"},
        {"scopes": [{"tags": ["*"]}]},
    ]
    preview = bank.post("/consolidation-strategies/preview", {"strategies": strategies, "sample_limit": 1})
    assert [each["active"] for each in preview["strategies"]] == [True, True, False]
    assert [each["claimed_count"] for each in preview["strategies"]] == [1, 1, 0]
    (second,) = preview["strategies"][1]["rules"]
    assert (second["match_count"], second["taken_count"], len(second["samples"])) == (2, 1, 1)
    assert (preview["default"]["match_count"], preview["scopes_scanned"], preview["complete"]) == (0, 2, True)
    bad = {"strategies": [{"scopes": [{"tags": "x"}]}]}
    assert_refused(bank.ask("POST", "/consolidation-strategies/preview", json=bad), 422, "strategies")


def test_a_page_in_delta_mode_does_not_say_the_same_twice(bank: RestBank) -> None:
    """The facts and the observation made of them are new to it at the same time: the observation stands for them."""
    trigger = {"mode": "delta", "refresh_after_consolidation": True}
    bank.retain("Ada works at Acme.")
    consolidated(bank)
    bank.model("ada", trigger=trigger)
    bank.retain("Ada works at Acme in Prague since May.")
    consolidated(bank)
    document = eventually(lambda: _with(bank, "ada", "Prague"), timeout=20)
    assert document["content"].count("since May") == 1
    assert document["content"].count("Ada works at Acme.") == 1


def _with(bank: RestBank, model: str, word: str) -> Any:
    document = bank.get(f"/mental-models/{model}")
    return document if word in document["content"] else None
