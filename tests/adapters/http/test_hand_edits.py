"""Documents written by hand over real HTTP: given at birth, changed, reverted; and the history that tells of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx
import pytest

from adapters.http.fields import DOCUMENT_LENGTH
from domain.document import AppendBlock
from domain.editing import EditRequest, ProposedEdit
from tests.adapters.http.told_minds import Told, told_service
from tests.support.rest import assert_refused

ADA = "/mental-models/ada"
ACME, PARIS = "Ada Lovelace works at Acme.", "Ada Lovelace moved to Paris."
TEXT = "## Limits\r\n\n| Tier | Cap\n|---|---|\n| free | 10 |\n\n\n<!-- kept -->\n\x0cÅ\u2028漢字"


def topics(told: Told) -> list[str]:
    return [each["topic"].removeprefix("mental_model.") for each in told.bank.get(f"{ADA}/events")["items"]]


def test_a_text_written_by_hand_is_kept_to_the_byte(told: Told) -> None:
    told.bank.retain(ACME)
    before = told.defines()
    changed = told.bank.patch(ADA, {"content": TEXT})
    assert (changed["content"], changed["version"]) == (TEXT, before["version"] + 1)
    assert told.bank.get(ADA)["content"] == TEXT
    assert changed["last_refreshed_at"] > before["last_refreshed_at"]
    (edit, _) = told.bank.get(f"{ADA}/history")
    assert (edit["previous_content"], edit["kind"], edit["actor"]) == (before["content"], "edited", "user")


def test_the_same_text_again_is_no_change(told: Told) -> None:
    told.creates()
    told.bank.patch(ADA, {"content": TEXT})
    assert told.bank.patch(ADA, {"content": TEXT})["version"] == 2
    assert topics(told) == ["created", "content_edited"]


def test_a_text_and_other_fields_change_together(told: Told) -> None:
    told.creates()
    changed = told.bank.ask("PATCH", ADA, json={"content": TEXT, "name": "Ada L."}, headers={"If-Match": '"1"'})
    assert (changed.json()["content"], changed.json()["name"], changed.headers["etag"]) == (TEXT, "Ada L.", '"3"')
    assert "X-Ignored-Parameters" not in changed.headers
    late = told.bank.ask("PATCH", ADA, json={"content": "Late."}, headers={"If-Match": '"1"'})
    assert_refused(late, 412, "read it again")
    assert told.bank.get(ADA)["content"] == TEXT


def test_null_is_as_absent(told: Told) -> None:
    told.creates()
    told.bank.patch(ADA, {"content": TEXT})
    assert told.bank.patch(ADA, {"content": None, "name": "Ada L."})["content"] == TEXT
    assert_refused(told.bank.ask("PATCH", ADA, json={"content": None}), 422, "changes nothing", "content")


def sent(told: Told, method: str, path: str, body: Any) -> httpx.Response:
    """With lone surrogates as JSON can hold them."""
    content = json.dumps(body).encode()
    return told.bank.ask(method, path, content=content, headers={"Content-Type": "application/json"})


BAD_TEXTS: dict[str, tuple[Any, str]] = {
    "empty": ("", "/clear"),
    "blank": (" \n\t", "/clear"),
    "invisible": ("\u200b", "/clear"),
    "too long": ("x" * (DOCUMENT_LENGTH + 1), "100000"),
    "NUL": ("a\x00b", "NUL"),
    "a lone surrogate": ("a\ud83d", "surrogate"),
    "no text": (7, "string"),
}


@pytest.mark.parametrize("bad", BAD_TEXTS)
def test_a_text_that_cannot_be_a_document_is_refused(told: Told, bad: str) -> None:
    text, word = BAD_TEXTS[bad]
    told.creates()
    assert_refused(sent(told, "PATCH", ADA, {"content": text}), 422, "content", word)
    body = {"id": "other", "name": "Other", "source_query": "Who?", "content": text}
    assert_refused(sent(told, "POST", "/mental-models", body), 422, "content", word)
    assert topics(told) == ["created"]
    assert told.bank.ask("GET", "/mental-models/other").status_code == 404


def test_a_mental_model_may_begin_with_a_document(told: Told) -> None:
    assert told.creates(content=TEXT)["content"] == TEXT
    assert topics(told) == ["created", "content_edited"]
    assert told.bank.get("/operations")["operations"][0]["status"] == "pending", "its first refresh was asked for"


def test_md_24_what_was_written_by_hand_is_what_the_next_delta_edits(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines(content="A.\n", trigger={"mode": "delta"})
    told.bank.patch(ADA, {"content": "# B\n\nCompletely different.\n"})
    told.bank.retain(PARIS)

    def propose(request: EditRequest) -> Sequence[ProposedEdit]:
        (section,) = request.document.sections
        return [ProposedEdit(AppendBlock(section_id=section.id, text=PARIS), (request.facts[0].fact.id,))]

    told.editor.proposes = propose
    preview = told.bank.post(f"{ADA}/dry-run-refresh")
    assert (preview["effective_mode"], preview["outcome"]) == ("delta", "content_written")
    assert told.refreshes()["content"] == f"# B\n\nCompletely different.\n\n{PARIS}\n"


# --- back to an earlier text ------------------------------------------------------------------------------------------


def test_a_document_goes_back_to_a_version_with_what_it_rested_on(told: Told) -> None:
    told.bank.retain(ACME)
    first = told.defines()
    blamed = told.bank.get(f"{ADA}/blame")["pieces"]
    told.bank.retain(PARIS)
    told.refreshes()
    told.bank.patch(ADA, {"content": "Nonsense.\n", "name": "Ada L."})
    reverted = told.bank.ask("POST", f"{ADA}/revert", json={"version": 2})
    body = reverted.json()
    assert (reverted.status_code, reverted.headers["etag"]) == (200, f'"{body["version"]}"')
    assert (body["content"], body["name"]) == (first["content"], "Ada L."), "only the document goes back"
    assert [each["text"] for each in body["reflect_response"]["based_on"]["world"]] == [ACME]
    again = told.bank.get(f"{ADA}/blame")["pieces"]
    assert [(each["id"], each["text"], each["facts"]) for each in again] == [
        (each["id"], each["text"], each["facts"]) for each in blamed
    ]
    assert topics(told)[-1] == "content_reverted"
    newest = told.bank.get(f"{ADA}/history")[0]
    assert (newest["kind"], newest["previous_content"]) == ("reverted", "Nonsense.\n")


def test_going_back_to_what_it_says_is_no_change(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    assert told.bank.post(f"{ADA}/revert", {"version": 2})["version"] == 2


def test_going_back_is_refused_when_it_has_moved_on(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    told.bank.patch(ADA, {"content": "New.\n"})
    late = told.bank.ask("POST", f"{ADA}/revert", json={"version": 2}, headers={"If-Match": '"2"'})
    assert_refused(late, 412, "read it again")
    assert told.bank.get(ADA)["content"] == "New.\n"
    in_time = told.bank.ask("POST", f"{ADA}/revert", json={"version": 2}, headers={"If-Match": '"3"'})
    assert in_time.status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"version": 9}, 404, ("as of version 9",)),
        ({"version": 1}, 422, ("version", "empty", "clear")),
        ({"version": 0}, 422, ("version",)),
        ({"version": "last"}, 422, ("version",)),
        ({}, 422, ("version",)),
    ],
)
def test_going_back_to_what_there_is_not_is_refused(
    told: Told, body: dict[str, Any], status: int, words: tuple[str, ...]
) -> None:
    told.bank.retain(ACME)
    told.defines()
    assert_refused(told.bank.ask("POST", f"{ADA}/revert", json=body), status, *words)
    assert_refused(told.bank.ask("POST", "/mental-models/none/revert", json={"version": 1}), 404, "'none' not found")
    assert topics(told) == ["created", "content_written"]


# --- history ----------------------------------------------------------------------------------------------------------


def test_a_history_that_is_disabled_is_empty_and_the_log_still_has_all(conninfo: str) -> None:
    with told_service(conninfo, history_enabled=False) as told:
        told.bank.retain(ACME)
        told.defines()
        assert told.bank.get(f"{ADA}/history") == []
        assert topics(told) == ["created", "content_written"]
        assert_refused(told.bank.ask("GET", "/mental-models/none/history"), 404, "'none' not found")


@pytest.mark.parametrize(
    "name", ["PALIMPSEST_ENABLE_MENTAL_MODEL_HISTORY", "HINDSIGHT_API_ENABLE_MENTAL_MODEL_HISTORY"]
)
def test_the_history_is_disabled_by_either_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from adapters.settings import Settings

    assert Settings(_env_file=None).history_enabled
    monkeypatch.setenv(name, "false")
    assert not Settings(_env_file=None).history_enabled
