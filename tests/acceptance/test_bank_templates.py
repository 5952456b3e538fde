"""Bank templates over REST: a bank is written as a manifest, and made of one."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import jsonschema
import pytest

from tests.support.rest import RestBank, assert_refused

MODEL = {
    "id": "sentiment-overview",
    "name": "Customer sentiment",
    "source_query": "What is the overall sentiment?",
    "trigger": {"refresh_after_consolidation": True},
}
DIRECTIVE = {"name": "Be kind", "content": "Answer with empathy.", "priority": 10}
MANIFEST: dict[str, Any] = {
    "version": "1",
    "bank": {"reflect_mission": "Help a support agent.", "disposition_empathy": 5, "retain_chunk_size": 500},
    "mental_models": [MODEL, {"id": "bugs", "name": "Bugs", "source_query": "Which bugs?", "max_tokens": 512}],
    "directives": [DIRECTIVE, {"name": "Cite", "content": "Name sources.", "tags": ["press"], "is_active": False}],
}
NOTHING = {
    "mental_models_created": [],
    "mental_models_updated": [],
    "directives_created": [],
    "directives_updated": [],
    "operation_ids": [],
}


def imported(bank: RestBank, manifest: Any = MANIFEST, *, dry_run: bool = False) -> Any:
    told = bank.post(f"/import{'?dry_run=true' if dry_run else ''}", manifest)
    for operation_id in told["operation_ids"]:
        bank.finished(operation_id)
    return told


def test_a_manifest_makes_a_bank(bank: RestBank) -> None:
    bank_2 = RestBank(bank.client, f"{bank.bank_id}-2")
    bank_2.retain("Ada Lovelace found a bug.")
    told = imported(bank_2)
    assert told == {
        "bank_id": bank_2.bank_id,
        "config_applied": True,
        "mental_models_created": ["sentiment-overview", "bugs"],
        "mental_models_updated": [],
        "directives_created": ["Be kind", "Cite"],
        "directives_updated": [],
        "operation_ids": told["operation_ids"],
        "dry_run": False,
    }
    assert len(told["operation_ids"]) == 2
    assert bank_2.get("/config")["overrides"] == MANIFEST["bank"]
    model = bank_2.get("/mental-models/bugs")
    assert (model["name"], model["source_query"], model["max_tokens"]) == ("Bugs", "Which bugs?", 512)
    assert "bug" in model["content"], "it was refreshed"
    sentiment = bank_2.get("/mental-models/sentiment-overview")
    assert (sentiment["trigger"]["refresh_after_consolidation"], sentiment["max_tokens"]) == (True, 2048)
    assert [each["name"] for each in bank_2.get("/directives", active_only="false")["items"]] == ["Be kind", "Cite"]


def test_an_export_makes_another_bank_whose_export_is_equal(bank: RestBank) -> None:
    imported(bank)
    bank.post("/directives", {**DIRECTIVE, "content": "Twice."})
    bank.patch("/mental-models/bugs", {"trigger": {"tag_groups": [{"not": {"tags": ["old"]}}]}, "tags": ["a"]})
    exported = bank.get("/export")
    assert exported["version"] == "1"
    assert exported["bank"] == MANIFEST["bank"]
    assert [each["id"] for each in exported["mental_models"]] == ["bugs", "sentiment-overview"]
    assert [each["name"] for each in exported["directives"]] == ["Be kind", "Cite", "Be kind (2)"]
    other = RestBank(bank.client, f"{bank.bank_id}-2")
    imported(other, exported)
    assert other.get("/export") == exported
    assert imported(bank, exported) == {**NOTHING, "bank_id": bank.bank_id, "config_applied": False, "dry_run": False}


def test_an_empty_bank_is_exported_and_an_empty_manifest_creates_one(bank: RestBank) -> None:
    assert imported(bank, {"version": "1"})["config_applied"] is False
    assert bank.get("/export") == {"version": "1", "bank": {}, "mental_models": [], "directives": []}


def test_what_differs_is_updated_and_the_rest_left_alone(bank: RestBank) -> None:
    imported(bank)
    (kind, _) = bank.get("/directives", active_only="false")["items"]
    before = bank.get("/mental-models/bugs")
    bank.patch("/config", {"updates": {"recall_max_tokens": 100}})
    manifest = {
        "version": "1",
        "bank": {"retain_chunk_size": 700, "reflect_mission": None},
        "mental_models": [{**MODEL, "name": "Mood"}, MANIFEST["mental_models"][1]],
        "directives": [{**DIRECTIVE, "priority": 0}],
    }
    told = imported(bank, manifest)
    assert (told["config_applied"], told["mental_models_created"], told["directives_created"]) == (True, [], [])
    assert (told["mental_models_updated"], told["directives_updated"]) == (["sentiment-overview"], ["Be kind"])
    assert len(told["operation_ids"]) == 1
    assert bank.get("/config")["overrides"] == {**MANIFEST["bank"], "retain_chunk_size": 700, "recall_max_tokens": 100}
    assert bank.get("/mental-models/bugs") == before
    assert bank.get("/mental-models/sentiment-overview")["name"] == "Mood"
    (now, _) = sorted(bank.get("/directives", active_only="false")["items"], key=lambda each: each["name"])
    assert (now["id"], now["priority"], now["created_at"]) == (kind["id"], 0, kind["created_at"])


def test_a_dry_run_tells_the_same_and_changes_nothing(bank: RestBank) -> None:
    planned = imported(bank, dry_run=True)
    assert bank.ask("GET", "/export").status_code == 404
    done = imported(bank)
    assert planned == {**done, "operation_ids": [], "dry_run": True}
    before = bank.get("/export")
    assert imported(bank, {"version": "1", "bank": {"retain_chunk_size": 1}}, dry_run=True)["config_applied"] is True
    assert bank.get("/export") == before


@pytest.mark.parametrize("dry_run", ["", "?dry_run=true"], ids=["in earnest", "dry run"])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"version": "2"}, ["version: '2' is not known", "'1'"]),
        ({"bank": {"chunk_size": 1}}, ["'chunk_size' cannot be configured"]),
        ({"bank": {"retain_chunk_size": "many"}}, ["retain_chunk_size"]),
        ({"bank": {"retain_default_strategy": "mail"}}, ["no strategy 'mail'"]),
        ({"mental_models": [MODEL, MODEL]}, ["id 'sentiment-overview' is there more than once"]),
        ({"mental_models": [{**MODEL, "id": "Bad Id"}]}, ["id 'Bad Id'", "lower-case"]),
        ({"directives": [DIRECTIVE, DIRECTIVE]}, ["name 'Be kind' is there more than once"]),
    ],
    ids=lambda each: str(each)[:50],
)
def test_a_manifest_that_says_what_cannot_be_is_refused_as_a_whole(
    bank: RestBank, dry_run: str, changes: dict[str, Any], words: list[str]
) -> None:
    assert_refused(bank.ask("POST", f"/import{dry_run}", json={**MANIFEST, **changes}), 400, *words)
    assert bank.ask("GET", "/export").status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, ["version"]),
        ({"version": 1}, ["version"]),
        ({"version": "1", "bank": []}, ["bank"]),
        ({"version": "1", "mental_models": [{"id": "a"}]}, ["source_query"]),
        ({"version": "1", "mental_models": [{**MODEL, "max_tokens": 1}]}, ["max_tokens", "256"]),
        ({"version": "1", "mental_models": [{**MODEL, "trigger": {"refresh_cron": "daily"}}]}, ["refresh_cron"]),
        ({"version": "1", "directives": [{"name": "x"}]}, ["content"]),
    ],
    ids=str,
)
def test_a_manifest_of_another_shape_is_refused(bank: RestBank, body: Any, words: list[str]) -> None:
    assert_refused(bank.ask("POST", "/import", json=body), 422, *words)


def test_names_of_a_manifest_that_change_nothing_are_told(bank: RestBank) -> None:
    body = {**MANIFEST, "colour": 1, "mental_models": [{**MODEL, "colour": 1}]}
    response = bank.ask("POST", "/import?dry_run=true", json=body)
    assert response.headers["x-ignored-parameters"] == "mental_models.colour, colour"


def test_the_schema_takes_what_is_exported_and_refuses_what_is_not_a_manifest(
    client: httpx.Client, bank: RestBank
) -> None:
    schema = client.get("/v1/bank-template-schema").json()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    imported(bank)
    validator.validate(bank.get("/export"))
    validator.validate(MANIFEST)
    for wrong in (
        {},
        {"version": "1", "bank": {"chunk_size": 1}},
        {"version": "1", "bank": {"retain_extraction_mode": "brief"}},
        {"version": "1", "mental_models": [{"id": "a"}]},
    ):
        assert list(validator.iter_errors(wrong)), wrong


def test_an_updated_document_whose_refresh_waits_is_refreshed_once(bank: RestBank) -> None:
    created = bank.post("/import", MANIFEST)
    changed = bank.post("/import", {"version": "1", "mental_models": [{**MODEL, "name": f"Mood {uuid4().hex}"}]})
    (operation,) = changed["operation_ids"]
    for each in {*created["operation_ids"], operation}:
        assert bank.finished(each)["status"] == "completed"
