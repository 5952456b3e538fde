"""The shapes of answers: the fields the wire contract requires, what is left out, defaults, orders and pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.rest import RestBank

ALWAYS = {
    "id", "bank_id", "name", "tags", "version", "created_at", "last_refreshed_at", "is_paused", "is_knowledge_page",
}  # fmt: skip
WITH_CONTENT = {"source_query", "max_tokens", "trigger", "content"}
BANK_STATS = {
    "bank_id", "total_nodes", "total_links", "total_documents", "nodes_by_fact_type", "links_by_link_type",
    "links_by_fact_type", "links_breakdown", "pending_operations", "failed_operations", "operations_by_status",
    "pending_consolidation", "failed_consolidation", "total_observations",
}  # fmt: skip
LISTED_OPERATION = {
    "id", "task_type", "operation_id", "operation_type", "items_count", "document_id", "filename", "mental_model_id",
    "details", "created_at", "updated_at", "status", "error_message", "retry_count", "next_retry_at", "park_reason",
    "progress",
}  # fmt: skip
FEATURES = {
    "observations", "mcp", "worker", "bank_config_api", "bank_llm_health", "file_upload_api", "document_export_api",
    "document_import_api", "audit_log", "llm_trace", "store_document_text",
}  # fmt: skip


def _is_utc(told: str) -> bool:
    return datetime.fromisoformat(told).utcoffset() == UTC.utcoffset(None)


@pytest.fixture
def ada(bank: RestBank) -> Any:
    bank.retain("Ada Lovelace works at Acme.", tags=["ada"])
    return bank.model("ada", tags=["ada"], trigger={"min_refresh_interval_seconds": 60})


def test_a_mental_model_has_the_fields_of_its_level_of_detail(bank: RestBank, ada: Any) -> None:
    stamped = {"last_memory_seen_at", "last_full_refreshed_at"}
    metadata = bank.get("/mental-models/ada", detail="metadata")
    content = bank.get("/mental-models/ada", detail="content")
    assert set(metadata) == ALWAYS | stamped
    assert set(content) == ALWAYS | stamped | WITH_CONTENT
    assert set(ada) == ALWAYS | stamped | WITH_CONTENT | {"reflect_response", "is_stale"}
    assert all(_is_utc(ada[name]) for name in (*stamped, "created_at", "last_refreshed_at"))
    assert (ada["is_stale"], ada["is_knowledge_page"], ada["max_tokens"]) == (False, False, 2048)


def test_nulls_are_left_out_of_a_mental_model_and_its_trigger(bank: RestBank, ada: Any) -> None:
    assert "last_refresh_failed_at" not in ada
    assert ada["trigger"] == {
        "mode": "full",
        "refresh_after_consolidation": False,
        "min_refresh_interval_seconds": 60,
        "exclude_mental_models": False,
        "keep_trace": False,
    }
    empty = bank.post("/mental-models/ada/clear")
    assert empty["content"] == "", "an empty document is no null"


STALE = ("is_stale", "stale_reasons")


def test_a_list_tells_staleness_at_every_level(bank: RestBank, ada: Any) -> None:
    bank.retain("Ada Lovelace moved to Paris.", tags=["ada"])
    for detail, fields in (
        ("metadata", set()),
        ("content", WITH_CONTENT),
        ("full", WITH_CONTENT | {"reflect_response"}),
    ):
        (item,) = bank.get("/mental-models", detail=detail)["items"]
        assert set(item) == ALWAYS | {"last_memory_seen_at", "last_full_refreshed_at", *STALE} | fields
        assert item["is_stale"] is True
    assert "content" not in bank.get("/mental-models")["items"][0], "metadata is what a list gives unless asked"
    assert ada["is_stale"] is False
    assert bank.get("/mental-models/ada")["stale_reasons"] == ["new_memories"]
    assert [each["stale_reasons"] for each in bank.get("/mental-models")["items"]] == [["new_memories"]]


def test_a_list_filters_by_tags_as_sets_and_pages_with_a_total(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    for name, tags in (("none", []), ("a", ["a"]), ("ab", ["a", "b"]), ("abc", ["c", "b", "a"])):
        bank.model(name, tags=tags)

    def listed(**params: Any) -> list[str]:
        return [item["id"] for item in bank.get("/mental-models", **params)["items"]]

    assert listed() == ["abc", "ab", "a", "none"], "last refreshed first"
    assert listed(tags=["b", "c"]) == ["abc", "ab"]
    assert listed(tags=["b", "a"], tags_match="all") == ["abc", "ab"]
    assert listed(tags=["b", "a"], tags_match="exact") == ["ab"]
    assert listed(limit=2, offset=1) == ["ab", "a"]
    assert listed(exclude_knowledge_pages=True) == ["abc", "ab", "a", "none"]
    page = bank.get("/mental-models", limit=2, offset=10)
    assert page == {"items": [], "total": 4, "limit": 2, "offset": 10}


def test_an_id_is_minted_when_none_is_given(bank: RestBank) -> None:
    created = bank.post(
        "/mental-models", {"name": "Ada", "source_query": "Who?", "id": None, "tags": None, "trigger": None}
    )
    assert set(created) == {"mental_model_id", "operation_id"}
    assert created["mental_model_id"].startswith("mm-")
    assert len(created["mental_model_id"]) == 35


def test_creating_a_mental_model_creates_its_bank(bank: RestBank) -> None:
    bank.model("ada")
    assert bank.get("/stats")["bank_id"] == bank.bank_id
    assert bank.get("/mental-models/ada")["content"] == ""


def test_a_change_keeps_what_is_absent_or_null_and_clears_what_is_empty(bank: RestBank, ada: Any) -> None:
    assert bank.patch("/mental-models/ada", {"name": "Ada L.", "tags": None, "max_tokens": None})["tags"] == ["ada"]
    changed = bank.patch("/mental-models/ada", {"tags": []})
    assert (changed["tags"], changed["name"], changed["content"]) == ([], "Ada L.", ada["content"])
    assert set(changed) >= WITH_CONTENT | {"reflect_response", "is_stale"}, "the answer is the whole object"


def test_a_change_of_the_trigger_merges_named_fields_and_null_sets(bank: RestBank, ada: Any) -> None:
    def trigger(**fields: Any) -> Any:
        return bank.patch("/mental-models/ada", {"trigger": fields})["trigger"]

    assert trigger(refresh_cron=" 0 3 * * * ") == ada["trigger"] | {"refresh_cron": "0 3 * * *"}
    assert trigger(mode="delta")["refresh_cron"] == "0 3 * * *"
    assert "min_refresh_interval_seconds" not in trigger(min_refresh_interval_seconds=None)
    automatic = trigger(refresh_after_consolidation=True)
    assert automatic["refresh_after_consolidation"] is True
    assert "refresh_cron" not in automatic, "setting one of the two automatic triggers drops the other"
    groups = [{"and": [{"tags": ["a"], "match": "any"}, {"not": {"tags": ["b"]}}]}]
    told = trigger(tag_groups=groups)["tag_groups"]
    assert told[0]["and"][1]["not"]["tags"] == ["b"]
    assert "tag_groups" not in trigger(tag_groups=None)


def test_refresh_clear_and_delete_answer_in_the_shapes_of_the_contract(bank: RestBank, ada: Any) -> None:
    queued = bank.post("/mental-models/ada/refresh")
    assert queued["status"] == "queued"
    bank.finished(queued["operation_id"])
    full = bank.post("/mental-models/ada/refresh", {"mode": "full"})
    bank.finished(full["operation_id"])
    assert bank.post("/mental-models/ada/clear")["id"] == ada["id"]
    deleted = bank.ask("DELETE", "/mental-models/ada")
    assert (deleted.status_code, deleted.json()) == (200, {"status": "deleted"})


def test_history_is_newest_first_and_keeps_what_was_cleared(bank: RestBank, ada: Any) -> None:
    bank.retain("Ada Lovelace moved to Paris.", tags=["ada"])
    second = bank.refreshed("ada")
    bank.post("/mental-models/ada/clear")
    cleared, written, first = bank.get("/mental-models/ada/history")
    assert (cleared["kind"], cleared["previous_content"]) == ("cleared", second["content"])
    assert (written["previous_content"], first["previous_content"]) == (ada["content"], "")
    assert "kind" not in written
    assert written["previous_reflect_response"]["based_on"]["world"][0]["text"] == "Ada Lovelace works at Acme."
    assert written["operation_id"]
    assert all(_is_utc(entry["changed_at"]) for entry in (cleared, written, first))
    assert [entry["version"] for entry in (cleared, written, first)] == [4, 3, 2]


def test_an_operation_is_listed_and_read_with_both_names_of_its_fields(bank: RestBank, ada: Any) -> None:
    later = bank.post("/memories", {"items": [{"content": "Ada likes tea.", "document_id": "d"}], "async": True})
    done = bank.finished(later["operation_id"])
    listing = bank.get("/operations")
    assert {name: listing[name] for name in ("bank_id", "total", "limit", "offset")} == {
        "bank_id": bank.bank_id, "total": 2, "limit": 20, "offset": 0,
    }  # fmt: skip
    retain, refresh = listing["operations"]
    assert set(retain) == set(refresh) == LISTED_OPERATION
    assert (retain["task_type"], retain["document_id"], retain["details"]) == ("retain", "d", None)
    assert retain["error_message"] is None, "required, so it is there though null"
    assert refresh["mental_model_id"] == ada["id"]
    assert refresh["details"] == {
        "operation_type": "refresh_mental_model", "outcome": "content_written", "failure_reason": None,
    }  # fmt: skip
    assert done["id"] == done["operation_id"] == later["operation_id"]
    assert {"error_message", "task_payload", "next_retry_at"} & set(done) == set(), "nulls are left out of one"
    assert _is_utc(done["completed_at"])
    payload = bank.get(f"/operations/{later['operation_id']}", include_payload=True)["task_payload"]
    assert payload["items_count"] == 1


def test_operations_filter_by_status_and_type_and_the_total_agrees(bank: RestBank, ada: Any) -> None:
    assert ada["bank_id"] == bank.bank_id
    for number in range(7):
        bank.finished(
            bank.post("/memories", {"items": [{"content": f"Ada has {number} cats."}], "async": True})["operation_id"]
        )
    pages = [bank.get("/operations", type="retain", status="completed", limit=3, offset=start) for start in (0, 3, 6)]
    assert {page["total"] for page in pages} == {7}
    ids = [operation["id"] for page in pages for operation in page["operations"]]
    assert len(ids) == len(set(ids)) == 7
    assert bank.get("/operations", status="failed") == {
        "bank_id": bank.bank_id, "total": 0, "limit": 20, "offset": 0, "operations": [],
    }  # fmt: skip
    assert bank.get("/operations", type="consolidation", exclude_parents=True)["total"] == 0


def test_an_operation_nobody_knows_is_told_as_such(bank: RestBank, ada: Any) -> None:
    assert ada["bank_id"] == bank.bank_id
    unknown = str(uuid4())
    assert bank.get(f"/operations/{unknown}") == {"operation_id": unknown, "status": "not_found"}


def test_a_retain_answers_with_usage_or_with_its_operation(bank: RestBank) -> None:
    now = bank.retain("Ada Lovelace works at Acme.", "Ada likes tea.")
    assert (now["success"], now["bank_id"], now["items_count"], now["async"]) == (True, bank.bank_id, 2, False)
    assert set(now["usage"]) == {"input_tokens", "output_tokens", "total_tokens", "cached_tokens", "thoughts_tokens"}
    assert "operation_id" not in now
    later = bank.post("/memories", {"items": [{"content": "Ada likes tea."}], "async": True})
    assert later["operation_ids"] == [later["operation_id"]]
    assert (later["async"], "usage" in later) == (True, False)


def test_the_same_operation_id_again_is_the_same_retain(bank: RestBank) -> None:
    body = {"items": [{"content": "Ada likes tea."}], "async": True, "operation_id": str(uuid4())}
    first = bank.post("/memories", body)
    assert bank.post("/memories", body) == first
    bank.finished(first["operation_id"])
    assert bank.post("/memories", body) == first
    assert bank.get("/operations")["total"] == 1
    assert bank.get("/stats")["total_nodes"] == 1


def test_an_item_comes_back_from_recall_as_it_was_given(bank: RestBank) -> None:
    bank.retain(
        "Ada Lovelace works at Acme.",
        timestamp="2024-03-01T10:00:00+02:00",
        context="a talk",
        document_id="notes/1 #a?",
        tags=["x", "ada", "x"],
        metadata={"drop": None, "number": 348, "half": 0.5, "yes": True, "text": "t"},
        entities=[{"text": "Countess", "type": "TITLE"}],
    )
    (found,) = bank.post("/memories/recall", {"query": "Where does Ada Lovelace work?"})["results"]
    assert found["text"] == "Ada Lovelace works at Acme."
    assert (found["context"], found["document_id"], sorted(found["tags"])) == ("a talk", "notes/1 #a?", ["ada", "x"])
    assert found["metadata"] == {"number": "348", "half": "0.5", "yes": "true", "text": "t"}
    assert "Countess" in found["entities"]
    assert found["mentioned_at"] == "2024-03-01T08:00:00+00:00"
    assert found["type"] in ("world", "experience")
    assert set(found["scores"]) <= {"final", "semantic", "keyword", "graph", "temporal"}
    assert "chunk_id" not in found or found["chunk_id"]


def test_a_time_without_an_offset_is_utc_null_is_now_and_unset_is_none(bank: RestBank) -> None:
    began = datetime.now(UTC)
    for content, timestamp in (("Ada naps.", "2024-03-01T10:00:00"), ("Bob naps.", None), ("Eve naps.", "unset")):
        bank.retain(content, timestamp=timestamp)
    found = bank.post("/memories/recall", {"query": "who naps"})["results"]
    told = {result["text"]: result.get("mentioned_at") for result in found}
    assert told["Ada naps."] == "2024-03-01T10:00:00+00:00"
    assert datetime.fromisoformat(told["Bob naps."]) >= began
    assert told["Eve naps."] is None


def test_content_may_come_in_blocks_of_text_and_tags_as_json(bank: RestBank) -> None:
    blocks = [{"type": "text", "text": "Ada Lovelace works at Acme."}, {"type": "text", "text": "Ada likes tea."}]
    bank.post("/memories", {"items": [{"content": blocks, "tags": '["a", "b"]'}], "document_tags": ["c"]})
    found = bank.post("/memories/recall", {"query": "Ada"})["results"]
    assert {result["text"] for result in found} == {"Ada Lovelace works at Acme.", "Ada likes tea."}
    assert sorted(found[0]["tags"]) == ["a", "b", "c"]


def test_special_tokens_of_models_are_text_like_any_other(bank: RestBank) -> None:
    bank.retain("Ada wrote <|endoftext|> on the board.")
    model = bank.model("ada", source_query="What about <|endoftext|>?")
    assert "<|endoftext|>" in model["content"]
    assert bank.post("/memories/recall", {"query": "<|endoftext|>"})["results"]


def test_a_recall_gives_what_it_was_asked_to_include(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")

    def asked(**body: Any) -> set[str]:
        return set(bank.post("/memories/recall", {"query": "Ada", **body}))

    assert asked() == {"results", "entities"}
    assert asked(include={"entities": None}) == {"results"}
    assert asked(include={"chunks": {}, "source_facts": {"max_tokens": -1}}) == {
        "results", "entities", "chunks", "source_facts", "source_facts_truncated",
    }  # fmt: skip
    trace = bank.post("/memories/recall", {"query": "Ada", "trace": True, "budget": "low"})["trace"]
    assert (trace["limit"], trace["results"]) == (100, 1)
    assert trace["duration_ms"] > 0


def test_a_recall_is_narrowed_by_types_tags_groups_scores_and_tokens(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.", tags=["work"])
    bank.retain("Ada Lovelace likes tea.", tags=["home"])
    bank.retain("Ada Lovelace has a cat.")

    def found(**body: Any) -> set[str]:
        results = bank.post("/memories/recall", {"query": "Ada Lovelace", **body})["results"]
        return {result["text"].removeprefix("Ada Lovelace ") for result in results}

    assert found() == {"works at Acme.", "likes tea.", "has a cat."}
    assert found(tags=["work"]) == {"works at Acme.", "has a cat."}
    assert found(tags=["work"], tags_match="any_strict") == {"works at Acme."}
    assert found(tags_match="exact") == {"has a cat."}
    assert found(tag_groups=[{"not": {"tags": ["home", "work"]}}]) == {"has a cat."}
    assert found(tags=[], tag_groups=[]) == found()
    assert found(types=["observation"]) == set()
    assert found(types=[]) == found()
    assert found(min_scores={"final": 10}) == set()
    assert found(max_tokens=0) == set()
    assert len(found(max_tokens=8)) == 1


def test_tags_are_counted_for_memories_and_for_mental_models(bank: RestBank, ada: Any) -> None:
    assert ada["tags"] == ["ada"]
    bank.retain("Ada likes tea.", tags=["ada", "User:1%"])
    assert bank.get("/tags") == {
        "items": [{"tag": "ada", "count": 2}, {"tag": "User:1%", "count": 1}], "total": 2, "limit": 100, "offset": 0,
    }  # fmt: skip
    assert bank.get("/tags", source="mental_models")["items"] == [{"tag": "ada", "count": 1}]
    for pattern, tags in (
        ("user:*", ["User:1%"]),
        ("*%", ["User:1%"]),
        ("a_a", []),
        ("ADA", ["ada"]),
        ("", ["ada", "User:1%"]),
    ):
        assert [item["tag"] for item in bank.get("/tags", q=pattern)["items"]] == tags, pattern
    assert bank.get("/tags", limit=1, offset=1)["items"][0]["tag"] == "User:1%"


def test_the_stats_of_a_bank_have_every_key(bank: RestBank, ada: Any) -> None:
    assert ada["bank_id"] == bank.bank_id
    stats = bank.get("/stats", refresh=True)
    assert set(stats) == BANK_STATS | {"last_memory_write_at"}
    assert (stats["total_nodes"], stats["total_documents"], sum(stats["nodes_by_fact_type"].values())) == (1, 1, 1)
    assert (stats["pending_operations"], stats["operations_by_status"]) == (0, {"completed": 1})
    assert (stats["total_links"], stats["links_breakdown"]) == (0, {})


def test_a_bank_is_put_changed_listed_and_deleted(bank: RestBank) -> None:
    created = bank.ask("PUT", json={"name": "Ada", "mission": "Know Ada.", "disposition": {"empathy": 5}}).json()
    assert created == {
        "bank_id": bank.bank_id, "name": "Ada", "mission": "Know Ada.",
        "disposition": {"skepticism": 3, "literalism": 3, "empathy": 5},
    }  # fmt: skip
    kept = bank.ask("PUT", json={"disposition_skepticism": 1, "retain_mission": "Only work."}).json()
    assert kept["disposition"] == {"skepticism": 1, "literalism": 3, "empathy": 5}
    assert (kept["name"], kept["mission"], kept["retain_mission"]) == ("Ada", "Know Ada.", "Only work.")
    assert bank.patch("", {"reflect_mission": ""})["mission"] == ""
    bank.retain("Ada Lovelace works at Acme.")
    listing = bank.client.get("/v1/default/banks", params={"q": bank.bank_id.upper()}).json()
    assert (listing["total"], listing["limit"], listing["offset"]) == (1, 100, 0)
    (item,) = listing["banks"]
    assert (item["bank_id"], item["fact_count"], item["matched_aliases"]) == (bank.bank_id, 1, [])
    assert _is_utc(item["last_write_at"])
    deleted = bank.ask("DELETE").json()
    assert (deleted["success"], deleted["deleted_count"]) == (True, 1)
    assert bank.ask("GET", "/stats").status_code == 404


def test_an_empty_put_creates_a_bank_named_by_its_id(bank: RestBank) -> None:
    assert bank.ask("PUT", json={}).json()["name"] == bank.bank_id


def test_the_service_tells_its_version_and_what_of_the_contract_it_has(client: httpx.Client) -> None:
    version = client.get("/version").json()
    assert version["api_version"] == "1.1.0"
    assert set(version["features"]) == FEATURES
    there = {name for name, there in version["features"].items() if there}
    assert there == {"mcp", "worker", "store_document_text", "bank_config_api", "file_upload_api"}
    assert version["palimpsest_version"]


def test_health_says_alive_and_ready(client: httpx.Client) -> None:
    live = client.get("/health/live").json()
    assert live["status"] == "alive"
    assert live["uptime_seconds"] > 0
    for path in ("/health", "/health/ready"):
        ready = client.get(path)
        assert ready.status_code == 200
        assert ready.json() == {"status": "ready", "database": "connected", "worker": "running", "reasons": []}


def test_the_api_describes_itself_under_the_names_of_the_contract(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    model = paths["/v1/default/banks/{bank_id}/mental-models/{mental_model_id}"]
    assert {method: model[method]["operationId"] for method in model} == {
        "get": "get_mental_model", "patch": "update_mental_model", "delete": "delete_mental_model",
    }  # fmt: skip
    assert client.get("/docs").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "ignored"),
    [
        (
            "POST",
            "/memories",
            {"items": [{"content": "Ada.", "colour": 1, "strategy": None}], "x": 1},
            "items.colour, x",
        ),
        (
            "POST",
            "/memories",
            {"items": [{"content": "Ada."}], "async": False, "operation_id": str(uuid4())},
            "operation_id",
        ),
        (
            "POST",
            "/mental-models",
            {"name": "A", "source_query": "Q?", "trigger": {"refreshCron": "x"}},
            "trigger.refreshCron",
        ),
        (
            "PUT",
            "",
            {"enable_dreams": True, "disposition": {"humour": 5}},
            "disposition.humour, enable_dreams",
        ),
        ("POST", "/memories/recall?trace=1", {"query": "Ada", "tag_match": "all"}, "tag_match, trace"),
        ("GET", "/mental-models?tag_match=all&limit=5", None, "tag_match"),
        ("GET", "/tags?größe=1%0d%0aX", None, "gr%C3%B6%C3%9Fe"),
        ("POST", "/memories", {"items": [{"content": "Ada."}], "a\r\nb": 1}, "a%0D%0Ab"),
    ],
    ids=str,
)
def test_names_that_change_nothing_are_told_in_a_header(
    bank: RestBank, method: str, path: str, body: Any, ignored: str
) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    response = bank.ask(method, path, json=body)
    assert response.headers["x-ignored-parameters"] == ignored


def test_a_request_that_is_all_understood_has_no_such_header(bank: RestBank) -> None:
    body = {"items": [{"content": "Ada.", "resolve_entities": True, "strategy": None}], "async": False}
    assert "x-ignored-parameters" not in bank.ask("POST", "/memories", json=body).headers
    assert "x-ignored-parameters" not in bank.ask("GET", "/mental-models?tags=a&tags=b&limit=3").headers
