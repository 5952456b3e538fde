"""A knowledge base is taken out of one bank as markdown files and made again in another, over REST."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest

from tests.support.rest import RestBank, assert_refused

K = "/knowledge-base"
NEW_TEXT = "# Now\r\n\n- one\n\n```\ncode\n```\nno line break at the end"


def exported(bank: RestBank, **params: Any) -> dict[str, str]:
    """By path, without ids and times."""
    told = {each["path"]: each["content"] for each in bank.get(f"{K}/export", **params)["files"]}
    times = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
    return {path: times.sub("TIME", re.sub("k[fp]-[0-9a-f]{32}", "ID", text)) for path, text in told.items()}


def imported(bank: RestBank, files: list[dict[str, str]], **more: Any) -> Any:
    return bank.post(f"{K}/import", {"files": files, **more})


def page(bank: RestBank, name: str, parent_id: str | None = None, **fields: Any) -> str:
    """Its mental model."""
    body = {"name": name, "source_query": "What is known?", "parent_id": parent_id, **fields}
    made = bank.post(f"{K}/pages", body)
    bank.finished(made["operation_id"])
    return str(made["mental_model_id"])


@pytest.fixture
def other(bank: RestBank) -> RestBank:
    """A bank that is not there yet."""
    return RestBank(bank.client, f"other-{uuid4().hex[:12]}")


@pytest.fixture
def filled(bank: RestBank) -> RestBank:
    """Titles that are one file name, two folders of one name, an order, and a page that said other things before."""
    bank.retain("Ada Lovelace works at Acme.")
    team = bank.post(f"{K}/folders", {"name": "Team/1", "sort_order": 3})["id"]
    again = bank.post(f"{K}/folders", {"name": "team 1", "parent_id": team})["id"]
    bank.post(f"{K}/folders", {"name": "team 1", "parent_id": team})
    for number, title in enumerate(["A/B", "A B", "a-b", 'x: "y" # z', "t" * 120, "---", "日本\u2028語"]):
        page(bank, title, again if number % 2 else team, sort_order=-number)
    model = page(
        bank,
        "Written",
        again,
        tags=["type:runbook", "b, c"],
        max_tokens=512,
        trigger={"fact_types": None, "refresh_cron": "0 6 * * *", "tag_groups": [{"not": {"tags": ["x"]}}]},
    )
    for text in ("# First\n", "````\nfences\n````\n", NEW_TEXT):
        bank.patch(f"/mental-models/{model}", {"content": text})
    cleared = page(bank, "Cleared")
    bank.patch(f"/mental-models/{cleared}", {"content": "Gone.\n"})
    bank.post(f"/mental-models/{cleared}/clear")
    return bank


def test_kp_06_what_is_exported_and_imported_is_exported_alike(filled: RestBank, other: RestBank) -> None:
    """KP-06"""
    files = filled.get(f"{K}/export")["files"]
    paths = [each["path"].casefold() for each in files]
    assert len(set(paths)) == len(paths)
    answer = imported(other, files)
    assert {each["change"] for each in answer["pages"]} == {"created"}
    assert answer["folders_created"] == ["team-1", "team-1/team-1", "team-1/team-1-2"]
    assert answer["ignored"] == ["index.md"]
    for each in answer["pages"]:
        if "operation_id" in each:
            other.finished(each["operation_id"])
    assert exported(other) == exported(filled)
    assert set(exported(other)) > set(exported(other, history=False))


def test_what_was_imported_is_written_by_hand_and_not_refreshed(filled: RestBank, other: RestBank) -> None:
    imported(other, filled.get(f"{K}/export")["files"])
    model = next(each["id"] for each in other.get("/mental-models")["items"] if each["name"] == "Written")
    told = other.get(f"/mental-models/{model}")
    assert (told["content"], told["tags"], told["max_tokens"]) == (NEW_TEXT, ["type:runbook", "b, c"], 512)
    assert told["trigger"]["refresh_cron"] == "0 6 * * *"
    assert told["trigger"]["tag_groups"] == [{"not": {"tags": ["x"], "match": "any_strict", "resolve": "exact"}}]
    assert "fact_types" not in told["trigger"]
    before = [each["previous_content"] for each in other.get(f"/mental-models/{model}/history")]
    assert before == ["````\nfences\n````\n", "# First\n", "# Written\n\n- Ada Lovelace works at Acme.\n", ""]
    assert [each["topic"] for each in other.get(f"/mental-models/{model}/events")["items"]] == [
        "mental_model.created",
        *["mental_model.content_edited"] * 4,
    ]


def test_an_import_into_the_same_bank_changes_what_was_edited_and_nothing_else(filled: RestBank) -> None:
    files = filled.get(f"{K}/export")["files"]
    before = filled.get(f"{K}/tree")
    answer = imported(filled, files)
    assert {each["change"] for each in answer["pages"]} == {"unchanged"}
    assert answer["folders_created"] == []
    edited = next(each for each in files if each["content"].endswith(NEW_TEXT))
    edited["content"] = edited["content"].replace("- one", "- one\n- two")
    dry = imported(filled, files, dry_run=True)
    assert {each["path"] for each in dry["pages"] if each["change"] == "updated"} == {edited["path"]}
    assert filled.get(f"{K}/tree") == before, "a dry run changes nothing"
    answer = imported(filled, files)
    (updated,) = (each for each in answer["pages"] if each["change"] == "updated")
    assert "- two" in filled.get(f"/mental-models/{updated['mental_model_id']}")["content"]


def test_files_of_others_become_pages(bank: RestBank) -> None:
    files = [
        {"path": "Guides/Start here.md", "content": "# Getting started\n\nText.\n"},
        {"path": "Guides/deep/notes.md", "content": "---\ntags: [a]\n---\nNotes."},
        {"path": "README.md", "content": "Hello."},
    ]
    imported(bank, files)
    pages = {each["name"]: each for each in bank.get("/mental-models", detail="content")["items"]}
    assert set(pages) == {"Getting started", "notes", "README"}
    started = pages["Getting started"]
    assert (started["content"], started["source_query"]) == ("# Getting started\n\nText.\n", "Getting started")
    assert (started["trigger"]["mode"], started["max_tokens"]) == ("delta", 4096)
    assert pages["notes"]["tags"] == ["a"]
    (guides, readme) = bank.get(f"{K}/tree")["roots"]
    assert (guides["name"], [each["name"] for each in guides["children"]]) == ("Guides", ["deep", "Getting started"])
    assert readme["name"] == "README"


def test_an_import_that_is_refused_leaves_nothing_behind(other: RestBank) -> None:
    same = [{"path": "a.md", "content": "# Same"}, {"path": "b.md", "content": "# same"}]
    for dry_run in (True, False):
        answer = other.ask("POST", f"{K}/import", json={"files": same, "dry_run": dry_run})
        assert_refused(answer, 409, "Same")
    bad = [{"path": "a.md", "content": "Fine."}, {"path": "b.md", "content": "---\nmax_tokens: 1\n---\n"}]
    assert_refused(other.ask("POST", f"{K}/import", json={"files": bad}), 422, "files", "max_tokens")
    deep = [{"path": f"{'d/' * 40}a.md", "content": "Text."}]
    assert_refused(other.ask("POST", f"{K}/import", json={"files": deep}), 400, "levels")
    many = [{"path": f"{number}.md", "content": ""} for number in range(2001)]
    assert_refused(other.ask("POST", f"{K}/import", json={"files": many}), 422, "2000")
    imported(other, [{"path": "a.md", "content": "Text."}], dry_run=True)
    assert_refused(other.ask("GET", f"{K}/tree"), 404, "Bank")
