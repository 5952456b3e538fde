"""The dry run over real HTTP: it tells what a refresh would do, in the shapes of the contract, and writes nothing."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from application.ports import MindFailed
from domain.document import AppendItem, ReplaceItem
from domain.editing import EditRequest, ProposedEdit
from tests.adapters.http.told_minds import Told
from tests.support.rest import assert_refused

ADA = "/mental-models/ada"
DRY_RUN = f"{ADA}/dry-run-refresh"
ACME, PARIS, TEA = "Ada Lovelace works at Acme.", "Ada Lovelace moved to Paris.", "Ada Lovelace likes tea."
FIELDS = {
    "mental_model_id", "name", "requested_mode", "effective_mode", "outcome", "would_persist", "scope", "window",
    "facts", "based_on", "current_content", "candidate_content", "preview_content", "diff", "trace", "usage",
    "duration_ms", "warnings",
}  # fmt: skip
OF_A_DELTA = {"delta_operations"}


def content_of_all_tables(told: Told) -> dict[str, Any]:
    with told.service.database.connection() as connection:
        tables = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        return {
            table["name"]: connection.execute(
                f"SELECT count(*), md5(string_agg(each::text, '\n' ORDER BY each::text)) FROM {table['name']} each"
            ).fetchone()
            for table in tables
        }


def appending(told: Told) -> Any:
    """The editor appends each new fact to the one list of the document."""

    def propose(request: EditRequest) -> Sequence[ProposedEdit]:
        if request.task != "edit":
            return ()
        (items,) = [block for section in request.document.sections for block in section.blocks]
        return [
            ProposedEdit(AppendItem(block_id=items.id, text=new.fact.text), (new.fact.id,)) for new in request.facts
        ]

    told.editor.proposes = propose


def test_it_tells_what_a_full_refresh_would_write(told: Told) -> None:
    told.bank.retain(ACME, tags=["ada"])
    before = told.defines(tags=["ada"])
    told.bank.retain(PARIS, tags=["ada"])
    preview = told.bank.post(DRY_RUN)
    assert set(preview) == FIELDS
    assert (preview["mental_model_id"], preview["name"]) == ("ada", "Ada")
    assert (preview["requested_mode"], preview["effective_mode"]) == ("full", "full")
    assert (preview["outcome"], preview["would_persist"]) == ("content_written", True)
    assert preview["scope"] == {
        "tags": ["ada"],
        "tags_match": "all_strict",
        "exclude_mental_models": False,
        "exclude_mental_model_ids": ["ada"],
    }
    assert set(preview["window"]) == {"created_before", "watermark"}
    assert all(each.endswith("+00:00") for each in preview["window"].values())
    assert preview["facts"] == {"retrieved": {"world": 2}, "used": {"world": 2}}
    assert sorted(each["text"] for each in preview["based_on"]["world"]) == [PARIS, ACME]
    assert preview["current_content"] == before["content"].strip()
    assert preview["candidate_content"] == preview["preview_content"] == f"# Ada\n\n- {ACME}\n- {PARIS}\n"
    assert preview["diff"] == f"--- current\n+++ preview\n@@ -1,3 +1,4 @@\n # Ada\n \n - {ACME}\n+- {PARIS}"


def test_its_trace_tells_what_each_tool_gave(told: Told) -> None:
    told.bank.retain(ACME, context="a talk", document_id="talk")
    told.defines()
    trace = told.bank.post(DRY_RUN)["trace"]
    assert (trace["effective_mode"], trace["outcome"]) == ("full", "content_unchanged")
    (call,) = trace["tool_calls"]
    assert (call["tool"], call["reason"], call["result_count"], call["iteration"]) == ("recall", "first", 1, 1)
    assert call["input"]["query"] == "What is known about Ada?"
    (memory,) = call["output"]["memories"]
    assert (memory["text"], memory["context"], memory["document_id"]) == (ACME, "a talk", "talk")
    assert "output" not in told.bank.patch(ADA, {"trigger": {"keep_trace": True}})["reflect_response"]
    kept = told.refreshes()["reflect_response"]["trace"]["tool_calls"]
    assert [each.get("output") for each in kept] == [None], "what is stored stays small"


def test_a_refresh_then_does_what_was_told(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    told.bank.retain(PARIS)
    preview = told.bank.post(DRY_RUN)
    refreshed = told.refreshes()
    assert refreshed["content"] == preview["preview_content"]
    assert refreshed["reflect_response"]["based_on"] == preview["based_on"]


def test_the_same_text_again_is_no_difference(told: Told) -> None:
    told.bank.retain(ACME)
    before = told.defines()
    preview = told.bank.post(DRY_RUN)
    assert (preview["outcome"], preview["would_persist"], preview["diff"]) == ("content_unchanged", True, "")
    assert preview["preview_content"] == preview["current_content"] == before["content"].strip()


def test_it_tells_the_operations_of_a_delta(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines(trigger={"mode": "delta"})
    told.bank.retain(PARIS, TEA)

    def propose(request: EditRequest) -> Sequence[ProposedEdit]:
        (items,) = [block for section in request.document.sections for block in section.blocks]
        paris = next(new.fact for new in request.facts if new.fact.text == PARIS)
        return [
            ProposedEdit(AppendItem(block_id=items.id, text=PARIS), (paris.id,)),
            ProposedEdit(ReplaceItem(block_id=items.id, item_id="i-none", text=TEA), ()),
        ]

    told.editor.proposes = propose
    preview = told.bank.post(DRY_RUN)
    assert set(preview) == FIELDS | OF_A_DELTA
    assert (preview["effective_mode"], preview["outcome"]) == ("delta", "content_written")
    assert preview["candidate_content"] == ""
    assert preview["preview_content"] == f"# Ada\n\n- {ACME}\n- {PARIS}\n"
    assert set(preview["window"]) == {"created_after", "created_before", "watermark"}
    assert preview["facts"] == {"retrieved": {"world": 2}, "used": {"world": 1}}
    (applied,) = preview["delta_operations"]["applied"]
    (skipped,) = preview["delta_operations"]["skipped"]
    assert applied["op"] == "append_item"
    assert (skipped["op"], skipped["item_id"]) == ("replace_item", "i-none")
    assert skipped["reason"]
    assert preview["delta_operations"] == preview["trace"]["delta_operations"]
    assert sorted(each["text"] for each in preview["based_on"]["world"]) == [PARIS, ACME]
    assert [warning for warning in preview["warnings"] if "1 of 2 operations" in warning]


def test_it_tells_which_facts_no_longer_stand(told: Told) -> None:
    told.bank.retain(ACME, document_id="work")
    told.bank.retain(PARIS, document_id="move")
    told.defines(trigger={"mode": "delta"})
    gone = str(told.fact(PARIS))
    told.bank.retain(TEA, document_id="move")
    appending(told)
    preview = told.bank.post(DRY_RUN)
    retraction = preview["retraction"]
    assert (retraction["fact_ids"], retraction["fact_texts"], retraction["applied"]) == ([gone], [PARIS], True)
    assert preview["trace"]["retraction"] == retraction
    assert sorted(each["text"] for each in preview["based_on"]["world"]) == [TEA, ACME]
    assert PARIS not in preview["preview_content"]
    assert f"-- {PARIS}" in preview["diff"].splitlines()


def test_nothing_to_read_keeps_the_document_and_what_it_rests_on(told: Told) -> None:
    told.bank.retain(ACME)
    before = told.defines()
    told.bank.patch(ADA, {"tags": ["elsewhere"]})
    preview = told.bank.post(DRY_RUN)
    assert (preview["outcome"], preview["would_persist"]) == ("content_preserved_no_new_facts", False)
    assert preview["preview_content"] == preview["current_content"] == before["content"].strip()
    assert preview["based_on"] == before["reflect_response"]["based_on"]
    assert preview["trace"]["tool_calls"] == []
    assert preview["warnings"]


def test_a_text_that_would_be_refused_is_told_and_the_present_one_shown(told: Told) -> None:
    told.bank.retain(ACME)
    before = told.defines()
    told.policy.says = "# Ada\n"
    preview = told.bank.post(DRY_RUN)
    assert (preview["outcome"], preview["would_persist"]) == ("refresh_failed_empty_candidate", False)
    assert preview["candidate_content"] == "# Ada\n"
    assert (preview["preview_content"], preview["diff"]) == (before["content"].strip(), "")
    assert preview["based_on"] == before["reflect_response"]["based_on"]


def test_edits_that_cannot_be_applied_are_told(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines(trigger={"mode": "delta"})
    told.bank.retain(PARIS)
    told.editor.proposes = lambda _request: [ProposedEdit(AppendItem(block_id="b-none", text=PARIS))]
    preview = told.bank.post(DRY_RUN)
    assert (preview["outcome"], preview["would_persist"]) == ("refresh_failed_delta_not_applied", False)
    assert [each["op"] for each in preview["delta_operations"]["skipped"]] == ["append_item"]


@pytest.mark.parametrize("mode", ["full", "delta"])
def test_it_writes_nothing(told: Told, mode: str) -> None:
    told.bank.retain(ACME)
    told.defines(trigger={"mode": mode, "keep_trace": True})
    told.bank.retain(PARIS)
    appending(told)
    before = content_of_all_tables(told)
    assert told.bank.post(DRY_RUN)["would_persist"]
    told.policy.fails = NO_KEY
    assert told.bank.ask("POST", DRY_RUN).status_code == (502 if mode == "full" else 200)
    assert content_of_all_tables(told) == before


def test_what_is_written_is_seen_in_the_tables(told: Told) -> None:
    """The test above would see a write."""
    told.bank.retain(ACME)
    told.defines()
    before = content_of_all_tables(told)
    told.refreshes()
    after = content_of_all_tables(told)
    assert {name for name in before if before[name] != after[name]} >= {
        "public.stored_events",
        "public.procrastinate_jobs",
    }


def test_it_reads_out_no_structured_view(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines(trigger={"response_schema": {"properties": {"name": {"type": "string"}}}})
    asked = told.structured.asked
    told.bank.retain(PARIS)
    assert told.bank.post(DRY_RUN)["outcome"] == "content_written"
    assert told.structured.asked == asked
    told.refreshes()
    assert told.structured.asked == asked + 1, "a refresh does"


NO_KEY = MindFailed("401: no such key", reason="unexpected_error", transient=False)
BUSY = MindFailed("429", reason="unexpected_error", transient=True)
FAILURES: dict[str, tuple[str | None, Exception | None, int, tuple[str, ...]]] = {
    "no answer": ("I don't know.", None, 502, ("no_answer",)),
    "a model that refuses": (None, NO_KEY, 502, ("unexpected_error", "401: no such key")),
    "a model that is busy": (None, BUSY, 503, ("429", "later")),
    "a defect": (None, KeyError("document"), 502, ("unexpected_error", "KeyError")),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_refresh_that_would_fail_is_an_error_that_says_why(told: Told, failure: str) -> None:
    told.bank.retain(ACME)
    told.defines()
    told.policy.says, told.policy.fails, status, words = FAILURES[failure]
    response = told.bank.ask("POST", DRY_RUN)
    assert_refused(response, status, "a refresh would fail", *words)
    assert ("retry-after" in response.headers) == (status == 503)
    assert "last_refresh_failed_at" not in told.bank.get(ADA)
    assert len(told.bank.get(f"{ADA}/history")) == 1


def test_what_is_not_there_is_not_found_and_not_made(told: Told) -> None:
    assert_refused(told.bank.ask("POST", DRY_RUN), 404, "'ada' not found")
    assert told.bank.ask("GET", "/stats").status_code == 404, "the bank was not created"
    told.bank.retain(ACME)
    told.defines()
    told.bank.ask("DELETE", ADA)
    assert_refused(told.bank.ask("POST", DRY_RUN), 404, "'ada' not found")


def test_others_are_served_while_a_model_thinks(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    asked, let_go = threading.Event(), threading.Event()

    def think() -> None:
        asked.set()
        assert let_go.wait(20)

    told.policy.before_answer = think
    with ThreadPoolExecutor(1) as elsewhere:
        running = elsewhere.submit(told.bank.post, DRY_RUN)
        try:
            assert asked.wait(20)
            assert told.bank.get(ADA)["id"] == "ada"
            assert told.bank.patch(ADA, {"name": "Ada L."})["name"] == "Ada L."
            assert not running.done()
        finally:
            let_go.set()
        assert running.result()["name"] == "Ada", "it tells of the mental model as it was asked"


def test_it_is_documented(told: Told) -> None:
    paths = told.bank.client.get("/openapi.json").json()["paths"]
    path = "/v1/default/banks/{bank_id}/mental-models/{mental_model_id}/dry-run-refresh"
    operation = paths[path]["post"]
    assert operation["operationId"] == "dry_run_refresh_mental_model"
    assert {"200", "404", "422", "502", "503"} <= set(operation["responses"])
